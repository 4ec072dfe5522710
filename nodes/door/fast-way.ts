// The fast way: past everything, where there is nothing to be passed but what is Node-RED's and Express's own.

import type { Express, RequestHandler } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "../../src/endpoint";
import { parseTarget, type Target } from "../../src/request/target";
import { continueOf } from "./expectations";
import type { View } from "./surroundings";
import { fail, isGreeting, type Next, type Ways } from "./ways";

export class FastWay {
  readonly #ways: Ways;
  readonly #root: Express | undefined;

  /** @param root the app in which it begins */
  constructor(ways: Ways, root: Express | undefined) {
    this.#ways = ways;
    this.#root = root;
  }

  /** Whether a request takes this way. */
  readonly isFor = (request: IncomingMessage): boolean => this.#find(request) !== undefined;

  /** The first of all layers. */
  readonly meet: RequestHandler = (request: IncomingMessage, response: ServerResponse, next: Next) => {
    const found = this.#find(request);
    const goOn = continueOf(request, response);
    const passOn: Next = (error) => {
      goOn?.();
      next(error);
    };
    if (!found) return passOn();
    const { endpoint, target, view } = found;
    const serve = (error?: unknown) => {
      if (error === undefined) this.#ways.serve(request, target, response, passOn, view);
      else fail(request, response, endpoint, error);
    };
    // What answers preflight requests (Fetch §4.8) would take a handshake by OPTIONS for one.
    if (request.method === "OPTIONS") return serve();
    const { cors } = this.#ways;
    const handOut = cors ? () => cors(request, response, serve) : serve;
    if (view.adminCors) view.adminCors(request, response, handOut);
    else handOut();
  };

  #find(request: IncomingMessage): { endpoint: Endpoint; target: Target; view: View } | undefined {
    const { surroundings, endpoints, slots, views } = this.#ways;
    const { mount = "" } = surroundings;
    const { method, url = "" } = request;
    // The app for HTTP nodes may have been mounted elsewhere since.
    if (surroundings.root !== this.#root || !surroundings.areOf(request)) return undefined;
    // Only a target that nobody could read in another way: in origin-form, and written as it was configured.
    if (!url.startsWith(mount) || url[mount.length] !== "/" || url.includes("#")) return undefined;
    const target = parseTarget(url.slice(mount.length));
    const endpoint = endpoints.find(target.path);
    if (typeof endpoint !== "object") return undefined;
    const { addressOf } = this.#ways;
    if (method !== "POST" && !isGreeting(endpoint, request, target.search, addressOf(request))) return undefined;
    const opened = slots.of(endpoint);
    if (!opened?.isOpen || opened.path !== target.path) return undefined;
    const view = views.of(opened);
    return view.obstacle ? undefined : { endpoint, target, view };
  }
}
