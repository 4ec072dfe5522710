// Meets requests in the runtime's own web server.

import cors from "cors";
import type { Express, Request } from "express";
import type { IncomingMessage } from "node:http";
import type { NodeAPI } from "node-red";
import { arrivalOf, Caller } from "../../src/caller";
import type { Endpoints } from "../../src/endpoints";
import type { Endpoint } from "../../src/endpoint";
import { problems } from "../../src/problem";
import { serve } from "../../src/receive";
import { parseTarget } from "../../src/request/target";
import { middlewareOf, serverOf, settingsOf } from "../runtime/host";
import { Arrivals } from "./arrivals";
import { Bodies, type Passing } from "./bodies";
import { honourExpectations } from "./expectations";
import { FastWay } from "./fast-way";
import type { Cors, Serve, Ways } from "./ways";
import { pathBelow, pathBelowNodes } from "./mounts";
import { LastWord } from "./last-word";
import { OrdinaryWay } from "./ordinary-way";
import { Slots } from "./slots";
import { addLayer, behindExpress, foremost, type Layer } from "./stack";
import { hasPassed, Surroundings } from "./surroundings";
import { declineUpgrades } from "./upgrades";
import { Views } from "./views";

/**
 * Where all endpoints are met, in one of two ways. The ordinary way is that of an `http in` node in their place: behind
 * all that stands in front of it, on the request as that left it. The fast way goes past all of this, and is open only
 * as long as nothing is there but what a plain Node-RED and Express have there themselves.
 */
export class Door {
  readonly #RED: NodeAPI;
  readonly #app: Express;
  /** The layers of this package. */
  readonly #ours = new Set<Layer>();
  readonly #ways: Ways;
  readonly #arrivals: Arrivals;
  readonly #ordinary: OrdinaryWay;
  readonly #fast: FastWay;
  readonly #lastWord: LastWord;

  constructor(RED: NodeAPI, endpoints: Endpoints<Endpoint>) {
    const { httpNodeCors } = settingsOf(RED);
    this.#RED = RED;
    this.#app = RED.httpNode;
    const surroundings = new Surroundings(RED, this.#ours);
    this.#ways = {
      surroundings,
      endpoints,
      slots: new Slots(
        this.#app,
        this.#ours,
        (layer) => surroundings.isPlainRoute(layer),
        () => middlewareOf(RED),
        (slot) => this.#ordinary.handlersOf(slot),
      ),
      views: new Views(RED, surroundings),
      // It is made for Express, and needs nothing of it.
      cors: httpNodeCors && (cors(httpNodeCors) as Cors),
      serve: this.#serve,
      addressOf: (request) => this.addressOf(request),
    };
    this.#arrivals = new Arrivals(this.#app, this.#ways);
    this.#ordinary = new OrdinaryWay(this.#app, this.#ways);
    this.#lastWord = new LastWord(surroundings, this.#ours, (isLast) => this.#ordinary.refuseOtherMethods(isLast));
    this.#fast = new FastWay(this.#ways, surroundings.root);
    this.#takePlaces();
    RED.events.on("flows:started", () => this.#lookAround());
  }

  /**
   * Has an endpoint served.
   *
   * @param path the path of the endpoint, as it was configured
   * @returns what ends that
   */
  open(path: string, endpoint: Endpoint): () => void {
    this.#ways.slots.take(endpoint, path);
    return () => this.#ways.slots.leave(endpoint);
  }

  /** The address of a request's sender, as far as its proxies are trusted. */
  addressOf(request: IncomingMessage): string {
    return this.#arrivals.addressOf(request);
  }

  #takePlaces(): void {
    const { root, admin } = this.#ways.surroundings;
    this.#place(this.#app, this.#ordinary.gate, behindExpress);
    if (admin) this.#bodies().surround(admin, root !== undefined, this.#ours);
    if (root) {
      this.#place(root, this.#fast.meet, foremost);
      this.#lastWord.isLast();
    }
    const server = serverOf(this.#RED);
    if (!server) return;
    honourExpectations(server, this.#fast.isFor);
    declineUpgrades(server, (request) => this.#isForUs(request));
  }

  #place(...where: Parameters<typeof addLayer>): void {
    const layer = addLayer(...where);
    if (layer) this.#ours.add(layer);
  }

  /** Others may have come since: the last word has to be the last again, and which way is open is told. */
  #lookAround(): void {
    const { slots, views } = this.#ways;
    this.#lastWord.isLast();
    const opened = slots.any && slots.of(slots.any);
    if (opened) views.of(opened);
  }

  readonly #serve: Serve = (request, target, response, passOn, view) => {
    const { path } = target;
    const passed = view ?? this.#arrivals.passedOn(path);
    const outside = passed?.outside ?? this.#arrivals.outside(path);
    const arrival = this.#arrivals.of(request, target, response, passed);
    // One that has waited goes on from where it was met: past all that a deploy has put in front of that.
    const goOn = () => {
      if (hasPassed(outside, this.#arrivals.outside(path))) return passOn();
      new Caller(arrival, response).refuse(problems.deploying, this.#ways.endpoints.lastKnown(path));
    };
    void serve(arrival, response, this.#ways.endpoints, goOn);
  };

  #bodies(): Bodies {
    return new Bodies({
      isParser: (layer) => this.#ways.surroundings.isParser(layer),
      find: (request) => this.#passing(request),
      findMisdirected: (request) => this.#misdirected(request),
      wait: (request, response, goOn) => {
        const path = this.#pathOf(request) ?? request.path;
        this.#serve(request, { path, search: parseTarget(request.url).search }, response, goOn);
      },
      settled: async (request, bytes, { outside }) => {
        const isSettled = await this.#ways.endpoints.settled({ caller: request.socket, bytes });
        return isSettled && hasPassed(outside, this.#arrivals.outside(this.#pathOf(request) ?? request.path));
      },
      refuse: (request, response, endpoint, { problem, bytes }) => {
        const caller = new Caller({ request, search: parseTarget(request.url).search }, response);
        caller.bytes = bytes;
        // After a deploy it is another that counts.
        caller.refuse(problem, this.#ways.endpoints.lastKnown(this.#pathOf(request) ?? "") ?? endpoint);
      },
    });
  }

  /** The path that the app for HTTP nodes will see of a request which the admin app sees now. */
  #pathOf(request: Request): string | undefined {
    return pathBelowNodes(this.#RED, this.#ways.surroundings.mount, request);
  }

  /** What a request that passes the admin app is for. */
  #passing(request: Request): Passing | undefined {
    const { endpoints, slots, views } = this.#ways;
    const path = this.#pathOf(request);
    const endpoint = path === undefined ? undefined : endpoints.lastKnown(path);
    if (path === undefined || !endpoint || !this.#ordinary.isReached(request, path, endpoint)) return undefined;
    const opened = slots.of(endpoint);
    if (!opened) return undefined;
    const { search } = parseTarget(request.url);
    const { method, rawHeaders } = request;
    return {
      endpoint,
      search,
      view: views.of(opened),
      entry:
        endpoint.limits?.judge(request, this.#arrivals.addressOf(request)) ??
        endpoint.gate.begin({ method, rawHeaders, search }, arrivalOf(request)),
      canonical: path === opened.path,
      isHeld: endpoints.find(path) === "deploying",
    };
  }

  #misdirected(request: Request): Endpoint | undefined {
    const found = request.method === "POST" ? undefined : this.#passing(request);
    const { path } = (found && this.#ways.slots.of(found.endpoint)) ?? {};
    const isOurs = path !== undefined && this.#ways.surroundings.isLeftToUs(path, request.method);
    return isOurs && found?.view.readers !== "anybody" && this.#lastWord.isLast() ? found?.endpoint : undefined;
  }

  /** Whether a request is for an endpoint, in the protocol that it came in. */
  #isForUs({ method, url = "", headers }: IncomingMessage): boolean {
    // Other nodes may want to speak WebSocket on the same path.
    if (method === "GET" && /\bwebsocket\b/i.test(headers.upgrade ?? "")) return false;
    if (!this.#ways.surroundings.upgradesArePlain) return false;
    const path = pathBelow(this.#RED.httpNode.path(), parseTarget(url).path);
    return path !== undefined && this.#ways.endpoints.find(path) !== undefined;
  }
}
