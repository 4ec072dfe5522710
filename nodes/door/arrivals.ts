// What the endpoints are told of a request that is met.

import type { Express, Request } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "../../src/endpoint";
import { clientAddress } from "../../src/http/client-address";
import type { Arrival } from "../../src/request/summary";
import type { Target } from "../../src/request/target";
import { continueOf } from "./expectations";
import { readBefore } from "./read-ahead";
import { type Front, hasPassed, type View } from "./surroundings";
import type { Ways } from "./ways";

export class Arrivals {
  readonly #app: Express;
  readonly #ways: Ways;

  constructor(app: Express, ways: Ways) {
    this.#app = app;
    this.#ways = ways;
  }

  /** @param passed what it has passed, if an endpoint is known there */
  of(request: IncomingMessage, { path, search }: Target, response: ServerResponse, passed: View | undefined): Arrival {
    const { admitted, received, parsed } = readBefore(request as Request, search);
    return {
      request,
      path,
      search,
      ip: this.addressOf(request),
      continue: continueOf(request, response),
      mayGoTo: this.#mayGoTo(passed),
      admitted,
      received,
      parsed,
    };
  }

  /** After a deploy, a request may go on to an endpoint that has nothing in front but what the request has passed. */
  #mayGoTo(passed: View | undefined): ((endpoint: object) => boolean) | undefined {
    if (!passed) return undefined;
    return (endpoint) => {
      const view = this.#viewOf(endpoint as Endpoint);
      return view !== undefined && hasPassed(passed, view);
    };
  }

  /** What a request for a path has passed by now, if an endpoint is known there. */
  passedOn(path: string): View | undefined {
    const met = this.#ways.endpoints.lastKnown(path);
    return met && this.#viewOf(met);
  }

  /** What requests for a path meet before they get to the app for HTTP nodes. */
  outside(path: string): Front {
    return this.passedOn(path)?.outside ?? this.#ways.surroundings.outside(path);
  }

  #viewOf(endpoint: Endpoint): View | undefined {
    const { slots, views } = this.#ways;
    const opened = slots.of(endpoint);
    return opened && views.of(opened);
  }

  /** The address of a request's sender, as far as its proxies are trusted. */
  addressOf(request: IncomingMessage): string {
    return clientAddress(this.#app, request);
  }
}
