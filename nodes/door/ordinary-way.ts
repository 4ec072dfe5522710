// The ordinary way: that of an `http in` node in the place of the endpoint.

import cookieParser from "cookie-parser";
import type { ErrorRequestHandler, Express, Request, RequestHandler } from "express";
import { Caller } from "../../src/caller";
import { problems } from "../../src/problem";
import type { Endpoint } from "../../src/endpoint";
import { refuse } from "../../src/reply/reply";
import { inLowerCase, parseTarget, type Target } from "../../src/request/target";
import { fail, isGreeting, type Next, type Ways } from "./ways";
import type { Slot } from "./slots";
import { routerOf } from "./stack";

/** Core's `http in` has cookies read for those who look for them. */
const parseCookies = cookieParser();
/** What an endpoint was found by, on requests that are for it. */
const matched = Symbol("matched");
/** The path of a request that is for an endpoint but for its method. */
const misdirected = Symbol("misdirected");

type Met = Request & { [matched]?: Target; [misdirected]?: string };

/** Meets requests inside the app for HTTP nodes, once all that stands in front has run, in its own way. */
export class OrdinaryWay {
  readonly #app: Express;
  readonly #ways: Ways;
  readonly #routes = new WeakMap<Endpoint, object>();
  readonly #cors: RequestHandler;

  constructor(app: Express, ways: Ways) {
    this.#app = app;
    this.#ways = ways;
    this.#cors = ways.cors ?? ((_request, _response, next) => next());
  }

  /**
   * In front of all that the nodes of the flows have put into the app: while those are being deployed, requests wait
   * here, and then go through what is there by then.
   */
  readonly gate: RequestHandler = (request: Met, response, next) => {
    const found = this.#ways.endpoints.find(request.path);
    if (!found) return next();
    if (this.#isFor(request)) return found === "deploying" ? this.#begin(request, response, next) : next();
    request[misdirected] = request.path;
    if (request.method === "OPTIONS") this.#cors(request, response, next);
    else next();
  };

  /** What stands in one place for the endpoints that are served there. */
  handlersOf(slot: Slot): RequestHandler[] {
    const between = this.#ways.cors ? [...slot.middleware, this.#crossOrigin] : slot.middleware;
    const match: RequestHandler = (request: Met, response, next) => {
      const { path, url } = request;
      const found = this.#isFor(request) ? this.#ways.endpoints.find(path) : undefined;
      if (found === "deploying") return this.#begin(request, response, next);
      if (!found || !slot.endpoints.has(found) || !this.isReached(request, path, found)) return leave(request, next);
      request[matched] = { path, search: parseTarget(url).search };
      // What comes now sees the route that an `http in` node would have.
      request.route = this.#routeFor(found, request.route as object);
      // What Express need not look for costs less.
      const goOn = between.length > 0 ? next : () => answer(request, response, next);
      parseCookies(request, response, goOn);
    };
    const answer: RequestHandler = (request: Met, response, next) => {
      const target = request[matched];
      if (target) this.#ways.serve(request, target, response, () => this.#again(request, response, next));
    };
    const onError: ErrorRequestHandler = (error: unknown, request: Met, response, _next) => {
      const holder = this.#ways.endpoints.find(request[matched]?.path ?? "");
      if (typeof holder === "object") fail(request, response, holder, error);
      else refuse(request, response, problems.unforeseen);
    };
    return [match, ...between, answer, onError] as RequestHandler[];
  }

  /** A route of the endpoint's own path, where that of its slot has none. */
  #routeFor(endpoint: Endpoint, shared: object): unknown {
    let route = this.#routes.get(endpoint);
    if (!route) {
      const path = { value: this.#ways.slots.of(endpoint)?.path, enumerable: true };
      route = Object.create(shared, { path }) as object;
      this.#routes.set(endpoint, route);
    }
    return route;
  }

  /**
   * Behind everything else: another method on an endpoint's path, which nothing has answered.
   *
   * @param isLast whether nothing is behind this
   */
  refuseOtherMethods(isLast: () => boolean): RequestHandler {
    return (request: Met, response, next) => {
      const found = this.#ways.endpoints.find(request[misdirected] ?? "");
      // Who came later is behind this, and may have an answer.
      if (!found || !isLast()) return next();
      const target = { path: request[misdirected] ?? "", search: parseTarget(request.url).search };
      const endpoint = typeof found === "object" ? found : undefined;
      // Its sender asks something by this method, and has an answer also for what is not that.
      if (endpoint?.gate.methods.includes(request.method)) this.#ways.serve(request, target, response, next);
      else new Caller({ request, search: target.search }, response).refuse(problems.methodNotAllowed, endpoint);
    };
  }

  /** Whether a request has the method of an endpoint's requests, or is a handshake of its sender. */
  #isFor(request: Request): boolean {
    if (request.method === "POST") return true;
    const { endpoints, addressOf } = this.#ways;
    const endpoint = endpoints.lastKnown(request.path);
    return endpoint !== undefined && isGreeting(endpoint, request, parseTarget(request.url).search, addressOf(request));
  }

  /** What answers preflight requests (Fetch §4.8) would take a handshake by OPTIONS for one. */
  readonly #crossOrigin: RequestHandler = (request, response, next) => {
    if (request.method === "OPTIONS") next();
    else this.#cors(request, response, next);
  };

  /** Lets a request wait, and has it begin again: the deploy may have put something in front of its endpoint. */
  #begin(request: Request, response: Parameters<RequestHandler>[1], next: Next): void {
    const target = { path: request.path, search: parseTarget(request.url).search };
    this.#ways.serve(request, target, response, () => this.#again(request, response, next));
  }

  #again(request: Request, response: Parameters<RequestHandler>[1], next: Next): void {
    void this.#app(request, response, (error?: unknown) => next(error ?? "router"));
  }

  /**
   * Whether a path leads to an endpoint. Express may be set to mind letter case and slashes; and where something stands
   * in front, as may be the case with any other server, it may have decided by the path as it was sent, so nothing is
   * left to be decoded.
   */
  isReached(request: Request, sent: string, endpoint: Endpoint): boolean {
    const opened = this.#ways.slots.of(endpoint);
    if (!opened || sent === opened.path) return opened !== undefined;
    const { caseSensitive, strict } = routerOf(this.#app) ?? {};
    const path = strict ? sent : sent.replace(/\/$/, "");
    const isWritten = caseSensitive ? path === opened.path : inLowerCase(path) === inLowerCase(opened.path);
    const { surroundings, views } = this.#ways;
    return isWritten || (surroundings.areOf(request) && views.of(opened).obstacle === undefined);
  }
}

/** Goes on behind a route, which has been the request's own no longer than that. */
function leave(request: Request, next: Next): void {
  request.route = undefined;
  next("route");
}
