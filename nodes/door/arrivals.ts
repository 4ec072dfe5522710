// What the endpoints are told of a request that is met.

import type { Express, Request } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import proxyAddr from "proxy-addr";
import type { Endpoint } from "../../src/endpoint";
import type { Arrival } from "../../src/request/summary";
import type { Target } from "../../src/request/target";
import { continueOf } from "./expectations";
import { readBefore } from "./read-ahead";
import type { View } from "./surroundings";
import type { Ways } from "./ways";

export class Arrivals {
  readonly #app: Express;
  readonly #ways: Ways;

  constructor(app: Express, ways: Ways) {
    this.#app = app;
    this.#ways = ways;
  }

  /** @param view what it has passed, if that is known already */
  of(request: IncomingMessage, { path, search }: Target, response: ServerResponse, view?: View): Arrival {
    const { admittedBy, received, parsed } = readBefore(request as Request, search);
    return {
      request,
      path,
      search,
      ip: this.#addressOf(request),
      continue: continueOf(request, response),
      mayGoTo: this.#mayGoOn(view ?? this.#passedOn(path)),
      admittedBy,
      received,
      parsed,
    };
  }

  /** After a deploy, a request may go on to an endpoint that has nothing in front but what the request has passed. */
  #mayGoOn(passed: View | undefined): ((endpoint: object) => boolean) | undefined {
    if (!passed) return undefined;
    return (endpoint) => {
      const view = this.#viewOf(endpoint as Endpoint);
      if (!view || (view.obstacle && !passed.obstacle)) return false;
      return view.front.every((layer) => passed.front.includes(layer));
    };
  }

  #passedOn(path: string): View | undefined {
    const met = this.#ways.endpoints.lastKnown(path);
    return met && this.#viewOf(met);
  }

  #viewOf(endpoint: Endpoint): View | undefined {
    const { slots, views } = this.#ways;
    const opened = slots.of(endpoint);
    return opened && views.of(opened);
  }

  #addressOf(request: IncomingMessage): string {
    // Without this field it is the sender's own address, whoever is trusted.
    if (request.headers["x-forwarded-for"] === undefined) return request.socket.remoteAddress ?? "";
    return proxyAddr(request, this.#app.get("trust proxy fn") as Parameters<typeof proxyAddr>[1]);
  }
}
