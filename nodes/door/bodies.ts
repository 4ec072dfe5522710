// The bodies of endpoints, and Node-RED's own body parsers.

import type { ErrorRequestHandler, Express, Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import type { Endpoint } from "../../src/endpoint";
import { Problem, problems } from "../../src/problem";
import { type Entry, isAdmission, isClaim } from "../../src/trust/gate";
import { isParsable, leaveNothing, type Parsed, readAhead, type Unread } from "./read-ahead";
import { addLayer, foremost, type Layer, layersOf } from "./stack";
import type { View } from "./surroundings";

/** A request that is for an endpoint, as the admin app sees it. */
export interface Passing {
  readonly endpoint: Endpoint;
  /** The query of its URL, as it was sent. */
  readonly search: string;
  readonly view: View;
  /** How it may come in, as far as its head tells. */
  readonly entry: Entry;
  /** Whether its target is written as the endpoint's path was configured. */
  readonly canonical: boolean;
  /** Whether the flows do not run at the moment. */
  readonly isHeld: boolean;
}

const passing = Symbol("passing");

type Passed = Parsed & { [passing]?: Passing | undefined };

/** What the door does for bodies. */
export interface DoorForBodies {
  /** Whether a layer is one of Node-RED's own parsers, or was made in the same way. */
  isParser(layer: Layer): boolean;
  /** What a request is for. */
  find(request: Request): Passing | undefined;
  /** Which endpoint's a request would be with another method, if it is nobody else's. */
  findMisdirected(request: Request): Endpoint | undefined;
  /** Lets a request wait for the flows, and go on. */
  wait(request: Request, response: ServerResponse, goOn: () => void): void;
  /** Waits until the flows run; tells whether they do, with nothing in front that the request has not passed. */
  settled(request: Request, bytes: number, passed: View): Promise<boolean>;
  refuse(request: Request, response: ServerResponse, endpoint: Endpoint, unread: Unread): void;
}

/**
 * With equal roots the admin app's body parsers come before any node. Of a request for an endpoint they would take the
 * bytes, and answer for it, before anybody has looked for its token: so they are kept from it, and only they. Who stands
 * behind them, and is not known, still finds in `request.body` what they would have left, if the request may come in at
 * all; where somebody else might take the request for themselves, nobody is kept from anything.
 */
export class Bodies {
  readonly #door: DoorForBodies;
  /** Node-RED's own parser of forms. */
  #parseForm: RequestHandler = (_request, _response, next) => next();

  constructor(door: DoorForBodies) {
    this.#door = door;
  }

  /**
   * Takes the places around the parsers of the admin app.
   *
   * @param isBelowExpress whether requests have been through an app of Express before
   * @param ours gets the layers that are added
   */
  surround(admin: Express, isBelowExpress: boolean, ours: Set<Layer>): void {
    const [first, second, ...more] = layersOf(admin).filter((layer) => this.#door.isParser(layer));
    // With others, the operator's among them, it is not known which are Node-RED's: then nobody is kept from anything.
    if (!first || !second || more.length > 0) return;
    this.#parseForm = second.handle as RequestHandler;
    const layers = [
      isBelowExpress ? addLayer(admin, this.#lead, foremost) : undefined,
      addLayer(admin, this.#keep, (others) => others.indexOf(first)),
      addLayer(admin, this.#give, (others) => others.indexOf(second) + 1),
      // One for errors, which Express's types do not tell from others here.
      addLayer(admin, this.#refuseUnread as unknown as RequestHandler, (others) => others.indexOf(second) + 2),
    ];
    for (const layer of layers) if (layer) ours.add(layer);
  }

  /** In front of all else: where that is only Node-RED's own, to leave the app spares it. */
  readonly #lead: RequestHandler = (request: Passed, response, next) => {
    const found = this.#find(request);
    if (!found?.canonical || !found.view.adminIsPlain) return next();
    if (this.#hasToWait(found)) {
      return this.#door.wait(request, response, () => this.#lead(request, response, next));
    }
    const leave = (error?: unknown) => next(error ?? "router");
    const { adminCors } = found.view;
    if (adminCors) adminCors(request, response, () => this.#handOut(request, response, found, leave));
    else this.#handOut(request, response, found, leave);
  };

  /** In front of the parsers. */
  readonly #keep: RequestHandler = (request: Passed, response, next) => {
    const found = this.#find(request);
    if (!found) return next();
    if (this.#hasToWait(found)) {
      return this.#door.wait(request, response, () => this.#keep(request, response, next));
    }
    request._body = true;
    request[passing] = found;
    next();
  };

  /** What a request is for, if its body is to be kept from the parsers. */
  #find(request: Parsed): Passing | undefined {
    const found = request.method === "POST" && !request._body ? this.#door.find(request) : undefined;
    return found?.view.readers === "anybody" && found.entry instanceof Problem ? undefined : found;
  }

  /** What has to wait waits as it was sent: its body is not read for anybody before. */
  #hasToWait({ view, isHeld }: Passing): boolean {
    return isHeld && view.readers !== "nobody";
  }

  /** Behind them. */
  readonly #give: RequestHandler = (request: Passed, response, next) => {
    const found = request[passing];
    if (!found) return next();
    request._body = false;
    request[passing] = undefined;
    this.#handOut(request, response, found, next);
  };

  /** What the parsers could not read would have been refused without a look at it. */
  readonly #refuseUnread: ErrorRequestHandler = (error: unknown, request, response, next) => {
    const endpoint = this.#door.findMisdirected(request);
    if (endpoint) this.#door.refuse(request, response, endpoint, { problem: problems.methodNotAllowed });
    else next(error);
  };

  /** Leaves a value for those who look for one in `request.body`. */
  #handOut(request: Parsed, response: ServerResponse, found: Passing, next: (error?: unknown) => void): void {
    const { endpoint, search, view, entry } = found;
    if (view.readers === "nobody" || request.readableDidRead || response.headersSent) return next();
    leaveNothing(request);
    if (entry instanceof Problem || !isParsable(request)) return next();
    if (!isAdmission(entry) && !isClaim(entry)) return next();
    const settled = (bytes: number) => this.#door.settled(request, bytes, view);
    readAhead(request, endpoint, entry, search, this.#parseForm, settled).then((refusal) => {
      if (refusal) this.#door.refuse(request, response, endpoint, refusal);
      else next();
    }, next);
  }
}
