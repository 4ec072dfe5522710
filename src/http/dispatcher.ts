// The dispatcher: endpoints stand where an `http in` node would, behind all guards.

import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import { createRequire } from "node:module";
import { findNetwork } from "../auth/limits";
import { acceptsMethod, type Endpoint, mayGreetBy } from "../flow/endpoint";
import { sendProblem } from "../flow/reply";
import { hasCaseOf, readParameters } from "../request/path-patterns";
import { problems } from "../request/problem";
import { parseTarget } from "../request/target";
import type { DirectRule } from "./direct-rule";
import {
  clientAddress,
  getLayers,
  getRouter,
  insertLayer,
  type Layer,
  matches,
  removeLayer,
  runParameterHandlers,
} from "./host-internals";
import { handleRequest, refuse, type Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import { type Arrived, arrive, hasNoBody, isHandshake } from "./receive-request";

interface DispatcherOptions extends Services {
  readonly nodes: Express;
  readonly rule: DirectRule;
  readonly missed: MissedRequests;
  /** Node-RED's `httpNodeMiddleware`, as it is now. */
  readonly getMiddleware: () => RequestHandler[];
  /** Node-RED's `httpNodeCors`. */
  readonly cors: RequestHandler | undefined;
}

/** Matches every path. It is a route because a middleware may leave its route. */
const anyPath = /^/;
/** Loads what only middleware needs. An `import()` would be late, as an endpoint has its place in the order at once. */
const load = createRequire(__filename);

/** Middleware, with cookies parsed for it as core's `http in` does. */
function withCookies(middleware: readonly RequestHandler[]): readonly RequestHandler[] {
  if (middleware.length === 0) return middleware;
  const cookieParser = load("cookie-parser") as typeof import("cookie-parser");
  return [cookieParser(), ...middleware];
}

/** A layer and the endpoints served in it, which were opened one after the other. */
interface LayerPlace {
  readonly endpoints: Set<Endpoint>;
  readonly middleware: readonly RequestHandler[];
  layer: Layer | undefined;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #places = new Map<Endpoint, LayerPlace>();
  #last: LayerPlace | undefined;
  /** During a deploy, endpoints of closed nodes are still known. */
  readonly #closed = new Set<Endpoint>();
  /** The last layer: it refuses other methods. */
  #lastWord: Layer | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#moveLastWord();
  }

  /** The layer that serves an endpoint. */
  getLayer(endpoint: Endpoint): Layer | undefined {
    return this.#places.get(endpoint)?.layer;
  }

  isOurs(layer: Layer): boolean {
    return layer === this.#lastWord || [...this.#places.values(), this.#last].some((place) => place?.layer === layer);
  }

  /**
   * Adds an endpoint where an `http in` node would be added: behind the present layers.
   *
   * @returns the function that closes it
   */
  open(endpoint: Endpoint): () => void {
    const middleware = this.#options.getMiddleware();
    const isSame = (each: RequestHandler, index: number) => each === middleware[index];
    const last = this.#last;
    const fits =
      last !== undefined &&
      last.layer === getLayers(this.#options.nodes).findLast((layer) => layer !== this.#lastWord) &&
      last.middleware.length === middleware.length &&
      last.middleware.every(isSame);
    const place = fits ? last : this.#add(middleware);
    place.endpoints.add(endpoint);
    this.#places.set(endpoint, place);
    return () => this.#closed.add(endpoint);
  }

  /** Forgets closed endpoints; other nodes may have added layers behind. */
  refresh(): void {
    this.#moveLastWord();
    const { nodes } = this.#options;
    for (const endpoint of this.#closed) {
      const place = this.#places.get(endpoint);
      this.#places.delete(endpoint);
      place?.endpoints.delete(endpoint);
      if (place?.layer && place.endpoints.size === 0 && place !== this.#last) {
        removeLayer(nodes, place.layer);
      }
    }
    this.#closed.clear();
  }

  #moveLastWord(): void {
    const { nodes } = this.#options;
    if (this.#lastWord) removeLayer(nodes, this.#lastWord);
    this.#lastWord = insertLayer(nodes, this.#conclude, getLayers(nodes).length);
  }

  #add(middleware: readonly RequestHandler[]): LayerPlace {
    const { nodes, cors } = this.#options;
    const place: LayerPlace = { endpoints: new Set(), middleware, layer: undefined };
    const match: RequestHandler = (request, response, next) => this.#match(place, request, response, next);
    const between = [...withCookies(middleware), ...(cors ? [this.#crossOrigin] : [])];
    nodes.all(anyPath, match, ...between, this.#handle, this.#fail as unknown as RequestHandler);
    place.layer = getLayers(nodes).at(-1);
    const former = this.#last;
    this.#last = place;
    if (former?.layer && former.endpoints.size === 0) removeLayer(nodes, former.layer);
    return place;
  }

  /** Finds the endpoint of a path as Express compares paths. */
  find(path: string): Endpoint | undefined {
    const { registry, nodes } = this.#options;
    const endpoint = registry.find(path);
    if (!endpoint || path === endpoint.config.path) return endpoint;
    const { caseSensitive, strict } = getRouter(nodes) ?? {};
    if (strict && path.endsWith("/")) return undefined;
    return caseSensitive && !hasCaseOf(endpoint.config.path, path) ? undefined : endpoint;
  }

  #match(place: LayerPlace, ...[request, response, next]: Parameters<RequestHandler>): void {
    const endpoint = this.find(request.path);
    if (!endpoint || !place.endpoints.has(endpoint)) return leave(request, next);
    if (!this.#isFor(request, response, endpoint)) return leave(request, next);
    this.#options.missed.ignore(response);
    const params = endpoint.hasParameters ? readParameters(endpoint.config.path, request.path) : {};
    if (!params) return refuse(this.#arrive(request, response), endpoint, problems.pathMalformed);
    // A middleware sees the route and the parameters that an `http in` node would have.
    request.params = params;
    request.route = Object.create(request.route as object, {
      path: { value: endpoint.config.path, enumerable: true },
    }) as unknown;
    runParameterHandlers(this.#options.nodes, request, response, (error) => {
      if (error === "route") leave(request, next);
      else next(error);
    });
  }

  #isFor(request: Request, response: Response, endpoint: Endpoint): boolean {
    if (acceptsMethod(endpoint.config, request.method)) return true;
    return mayGreetBy(endpoint, request.method) && isHandshake(this.#arrive(request, response), endpoint);
  }

  /** Behind all nodes: refuses other methods, and requests that need the restarted flows. */
  readonly #conclude: RequestHandler = (request, response, next) => {
    const { nodes, rule, missed, deployGate, cors } = this.#options;
    const { method, path } = request;
    const endpoint = this.find(path);
    if (!endpoint) {
      missed.watch(request, response);
      // Before the first start it may be for a node that has not come yet.
      if (!deployGate.isClosed || deployGate.hasOpened) return next();
      const isSaved = missed.isSaved(path, method);
      if (!isSaved && rule.mayBeAnsweredBehind(path, method)) return next();
      return void deployGate.wait(response, findNetwork(clientAddress(nodes, request))).then((isOpen) => {
        // From the beginning: the flows have new layers, guards among them.
        if (isOpen) nodes(request, response, next);
        else if (!isSaved && hasNoBody(method)) next();
        else sendProblem(request, response, problems.deploying);
      });
    }
    // Nodes may add routes at any time.
    const layers = getLayers(nodes);
    const behind = layers.slice(1 + layers.findIndex((layer) => layer === this.#lastWord));
    if (behind.some((layer) => matches(layer, path, method))) return next();
    // Core's `http in` does this, where it is loaded.
    if (method === "OPTIONS" && cors) return void cors(request, response, next);
    // A static folder behind this app may have an answer.
    if (acceptsMethod(endpoint.config, method) || method === "OPTIONS") return next();
    if (rule.mayBeAnsweredBehind(path, method)) return next();
    missed.ignore(response);
    const arrived = this.#arrive(request, response);
    if (mayGreetBy(endpoint, method)) void handleRequest(arrived, endpoint, this.#options);
    else refuse(arrived, endpoint, endpoint.methodNotAllowed);
  };

  /** A handshake by OPTIONS looks like a preflight request (Fetch §4.8). */
  readonly #crossOrigin: RequestHandler = (request, response, next) => {
    const { cors } = this.#options;
    if (!cors || request.method === "OPTIONS") next();
    else void cors(request, response, next);
  };

  readonly #handle: RequestHandler = (request, response, next) => {
    const endpoint = this.find(request.path);
    if (!endpoint && this.#options.deployGate.isClosed) return void sendProblem(request, response, problems.deploying);
    if (!endpoint) return leave(request, next);
    void handleRequest(this.#arrive(request, response), endpoint, this.#options);
  };

  /** A middleware has failed. */
  readonly #fail: ErrorRequestHandler = (error: unknown, request: Request, response, _next) => {
    const endpoint = this.find(request.path);
    if (endpoint) refuse(this.#arrive(request, response), endpoint, problems.unforeseen, { cause: error });
    else sendProblem(request, response, problems.unforeseen);
  };

  #arrive(request: Request, response: Response): Arrived {
    const { search } = parseTarget(request.url);
    return arrive(this.#options.nodes, request, response, { path: request.path, search });
  }
}

function leave(request: Request, next: (deferral: "route") => void): void {
  request.route = undefined;
  next("route");
}
