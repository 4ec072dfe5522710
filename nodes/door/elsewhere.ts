// Requests that have not reached the endpoint that they were meant for, as it seems.

import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { NodeAPI } from "node-red";
import type { Delivery } from "../../src/deliveries/delivery";
import type { Endpoint } from "../../src/endpoint";
import type { Endpoints } from "../../src/endpoints";
import { nearestOf } from "../../src/nearest";
import { Ration } from "../../src/ration";
import { mostRefusedASecond } from "../../src/records";
import { isOurs } from "../../src/reply/ours";
import { Budget } from "../../src/request/budget";
import { parseTarget, pathKey } from "../../src/request/target";
import { lengthOf, shapeOf } from "../../src/shape";
import { normaliseAddress } from "../../src/trust/limits";
import type { Secrecy } from "../../src/trust/secrecy";
import type { Reason } from "../../src/trust/diagnosis/explanation";
import { mountOf, rootsOf, serverOf } from "../runtime/host";
import { pathBelow } from "./mounts";

/** What Node.js tells of each answer that is complete. */
interface Finished {
  readonly request: IncomingMessage & { originalUrl?: string; route?: unknown };
  readonly response: ServerResponse;
  readonly server: Server;
}

/** Where and why a request went astray, as far as that can be told. */
interface Astray {
  /** The path as it is told: with the root of HTTP nodes, if it has that, where it did not get to an endpoint. */
  readonly path: string;
  /** The path of the endpoint that was meant; nothing where none is like it. */
  readonly meant: string | undefined;
  readonly problem: "noEndpoint" | "inFront";
  readonly reasons: readonly Reason[];
}

const channel = "http.server.response.finish";
/** Of a path, so many characters are told. */
const longestPath = 200;
/** A longer part of a path may be a token. */
const longestSegment = 30;

/** So many endpoints are asked whether a path has their secrets in it. */
const mostAsked = 200;

/** What `Elsewhere` has to know. */
export interface Surveyed {
  readonly endpoints: Endpoints<Endpoint>;
  /** Whether a webhook is configured at a path, by its key. */
  isConfigured(key: string): boolean;
  addressOf(request: IncomingMessage): string;
  note(delivery: Delivery): void;
  /** A request has come that reached none. @param node whose it was; empty where nobody has found out */
  count(node: string): void;
}

/** Looks at answers that somebody else has given: they cost nothing as long as all is well. */
export class Elsewhere {
  static #watching: ChannelListener | undefined;
  readonly #RED: NodeAPI;
  readonly #known: Surveyed;
  readonly #ration = new Ration(mostRefusedASecond);
  /** Of what is no POST: browsers ask for much that is nobody's. */
  readonly #asking = new Ration(mostRefusedASecond);

  constructor(RED: NodeAPI, known: Surveyed) {
    this.#RED = RED;
    this.#known = known;
  }

  /** From now on, in the place of the one before: a process may load the package again, as tests of flows do. */
  watch(): void {
    if (Elsewhere.#watching) unsubscribe(channel, Elsewhere.#watching);
    Elsewhere.#watching = (message) => {
      try {
        this.#finished(message as Finished);
      } catch (error) {
        // Whoever throws here ends the process.
        this.#RED.log.debug(error);
      }
    };
    subscribe(channel, Elsewhere.#watching);
  }

  #finished({ request, response, server }: Finished): void {
    if (response.statusCode < 400 || server !== serverOf(this.#RED)) return;
    // What a route has answered was meant for that, and so was it where an endpoint has.
    if (request.route !== undefined || isOurs(response)) return;
    const { path, search } = parseTarget(request.originalUrl ?? request.url ?? "");
    const root = mountOf(this.#RED.httpNode, rootsOf(this.#RED).node);
    const below = pathBelow(root, path);
    const { method = "" } = request;
    const met = below !== undefined && this.#isAsked(below, method);
    if (!met && response.statusCode !== 404) return;
    const isPost = method === "POST";
    // Which path was meant takes its time to find out: a flood must not have that done for each of its requests.
    if (!(isPost ? this.#ration : this.#asking).takes()) {
      if (isPost || met) this.#known.count(this.#ownerOf(met ? below : path));
      return;
    }
    const astray = met ? inFrontOf(below, response.statusCode) : this.#trace(method, path, root, below);
    if (!isPost && astray.meant === undefined) return;
    this.#known.count(this.#ownerOf(astray.meant));
    this.#note(astray, request, search, response.statusCode);
  }

  #ownerOf(path: string | undefined): string {
    return (path === undefined ? undefined : this.#known.endpoints.ownerOf(path)) ?? "";
  }

  /** Whether an endpoint holds a path whose sender may come by a method: by others than POST, a few ask something. */
  #isAsked(path: string, method: string): boolean {
    const endpoint = this.#known.endpoints.lastKnown(path);
    return endpoint !== undefined && (method === "POST" || endpoint.gate.methods.includes(method));
  }

  #trace(method: string, path: string, root: string, below = path): Astray {
    if (this.#isAsked(path, method)) {
      const reason = { key: "pathRootMissing", values: { root, path: root + path } };
      return { path, meant: path, problem: "noEndpoint", reasons: [reason] };
    }
    if (this.#known.isConfigured(pathKey(below))) {
      return { path, meant: undefined, problem: "noEndpoint", reasons: [{ key: "pathClosed", values: {} }] };
    }
    const keys = [...this.#known.endpoints.keys].filter((key) => this.#isAsked(key, method));
    const meant = nearestOf(below, keys);
    const reason =
      meant === undefined ? { key: "pathUnknown", values: {} } : { key: "pathNear", values: { path: root + meant } };
    return { path: this.#shown(path, meant), meant, problem: "noEndpoint", reasons: [reason] };
  }

  /** A path without what may be a token. */
  #shown(path: string, meant: string | undefined): string {
    const segments = path.split("/").map((segment) => (segment.length > longestSegment ? "…" : segment));
    const text = segments.join("/");
    // All that are asked have one budget together: whoever sends such a path is a stranger.
    return this.#everybody(meant).tells(text, new Budget()) ? "/…" : text.slice(0, longestPath);
  }

  /**
   * Whose secrets may stand in a request that was meant for one of them: everybody's. Where these are too many to ask,
   * that one's; and where none is known to be meant, anything may be a secret.
   */
  #everybody(meant: string | undefined): Pick<Secrecy, "tells" | "names"> {
    const { endpoints } = this.#known;
    const everybody = [...endpoints.all];
    const one = meant === undefined ? undefined : endpoints.lastKnown(meant);
    const isTooMany = everybody.length > mostAsked;
    const asked = isTooMany ? (one ? [one] : []) : everybody;
    const isAny = isTooMany && !one;
    return {
      tells: (text, budget) => isAny || asked.some(({ gate }) => gate.secrecy.tells(text, budget)),
      names: (field, budget) => isAny || asked.some(({ gate }) => gate.secrecy.names(field, budget)),
    };
  }

  #note({ path, meant, problem, reasons }: Astray, request: IncomingMessage, search: string, status: number): void {
    const { method = "", rawHeaders } = request;
    const shape = shapeOf({ rawHeaders, search }, this.#everybody(meant));
    const ip = normaliseAddress(this.#known.addressOf(request)) ?? "";
    this.#known.note({
      id: this.#RED.util.generateId(),
      node: this.#ownerOf(meant),
      at: Date.now(),
      ...{ state: "refused", status, problem, reasons, attempt: 0 },
      head: { method, path, ...shape, ip },
      size: lengthOf({ rawHeaders }),
    });
  }
}

/** What may have answered in front of an endpoint. */
function inFrontOf(path: string, status: number): Astray {
  const key = status === 401 ? "frontAuth" : status === 413 ? "frontTooLarge" : "frontOther";
  return { path, meant: path, problem: "inFront", reasons: [{ key, values: {} }] };
}
