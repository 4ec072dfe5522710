// What the two ways to an endpoint have in common.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "../../src/endpoint";
import type { Endpoints } from "../../src/endpoints";
import { Problem, problems } from "../../src/problem";
import { refuse } from "../../src/reply/reply";
import type { Target } from "../../src/request/target";
import type { Slots } from "./slots";
import type { Surroundings, View } from "./surroundings";
import type { Views } from "./views";

export type Next = (error?: unknown) => void;

/**
 * Serves a request that has arrived at its endpoint; `passOn` goes on from where it was met, and `view` is what it has
 * passed, where that is known already.
 */
export type Serve = (
  request: IncomingMessage,
  target: Target,
  response: ServerResponse,
  passOn: Next,
  view?: View,
) => void;

/** Sets fields of a response, and goes on: what the package `cors` makes, which needs nothing of Express. */
export type Cors = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** What both ways need to know. */
export interface Ways {
  readonly surroundings: Surroundings;
  readonly endpoints: Endpoints<Endpoint>;
  readonly slots: Slots;
  readonly views: Views;
  /** Node-RED's `httpNodeCors`. */
  readonly cors: Cors | undefined;
  readonly serve: Serve;
  /** The address of a request's sender, as far as its proxies are trusted. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** Refuses a request because of an error that no rule foresees. */
export function fail(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint, cause: unknown): void {
  refuse(request, response, problems.unforeseen);
  endpoint.refused(problems.unforeseen, undefined, cause);
}

/**
 * Whether an endpoint has an answer of its own to a request with another method than POST. Who is beyond its limits finds
 * out nothing by it: whatever else answers then, it does so with the right secret and with a wrong one.
 */
export function isGreeting({ gate, limits }: Endpoint, request: IncomingMessage, search: string, ip: string): boolean {
  const { method = "", rawHeaders } = request;
  if (!gate.methods.includes(method) || limits?.judge(request, ip)) return false;
  const answer = gate.begin({ method, rawHeaders, search }, Date.now());
  return !(answer instanceof Problem) && "status" in answer && !answer.isFallback;
}
