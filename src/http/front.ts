// The layers of this package in Node-RED's web server.

import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import type { NodeAPI } from "node-red";
import { createRequire } from "node:module";
import { findNetwork } from "../auth/limits";
import { getServer } from "../config/node-red";
import { acceptsMethod, type Endpoint, mayGreetBy } from "../flow/endpoint";
import { sendProblem } from "../flow/reply";
import { parseTarget } from "../request/head";
import { hasCaseOf, readParameters } from "../request/path-patterns";
import { problems } from "../request/problem";
import { type Apps, DirectRule, findPathInAdmin, hasRoute, makeEntry, type RuleOptions } from "./entry";
import { handleRequest, refuse, type Services } from "./handle-request";
import {
  canParseUrl,
  canRunParameterHandlers,
  clientAddress,
  findOwnMountPath,
  findParsers,
  getLayers,
  getParent,
  getRouter,
  hasKnownLayers,
  insertLayer,
  type Layer,
  matches,
  type MissingInternal,
  removeLayer,
  runParameterHandlers,
  type UpgradingServer,
} from "./host-internals";
import type { MissedRequests } from "./missed-requests";
import { addHandshakeLayer, addRawBodyLayer, type RawBodyOptions } from "./raw-body";
import { type Arrived, arrive, hasNoBody, isHandshake } from "./receive-request";

interface FrontOptions extends Services, RuleOptions {
  readonly missed: MissedRequests;
  /** Node-RED's `httpNodeMiddleware`, as it is now. */
  readonly getMiddleware: () => RequestHandler[];
}

/** Matches every path. It is a route because a middleware may leave its route. */
const anyPath = /^/;
/** Loads what only some settings need. An `import()` would be late: layers and endpoints have their places at once. */
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

/**
 * Four kinds of layers: the entry in the app that contains Node-RED's apps, the raw body in front of the admin app's
 * parsers, and in the app for HTTP nodes those of endpoints, which stand where an `http in` node would, behind all
 * guards; behind all nodes, the last word.
 */
export class HttpFront {
  readonly #server: UpgradingServer | undefined;
  readonly #options: FrontOptions;
  readonly #apps: Apps;
  readonly #rule: DirectRule;
  /** Node-RED's `httpNodeCors`. */
  readonly #cors: RequestHandler | undefined;
  readonly #ours = new Set<Layer>();
  readonly #places = new Map<Endpoint, LayerPlace>();
  #last: LayerPlace | undefined;
  /** During a deploy, endpoints of closed nodes are still known. */
  readonly #closed = new Set<Endpoint>();
  /** The last layer: it refuses other methods. */
  #lastWord: Layer | undefined;

  constructor(RED: NodeAPI, options: FrontOptions) {
    const { httpNode: nodes, httpAdmin: adminNodes } = RED;
    const { httpNodeCors } = options.settings;
    this.#server = getServer(RED);
    this.#options = options;
    const parent = getParent(nodes);
    const root = parent && findOwnMountPath(nodes) !== undefined ? parent : undefined;
    const mountPath = findOwnMountPath(nodes) ?? "";
    this.#apps = { nodes, mountPath, root, adminNodes, admin: getParent(adminNodes) };
    this.#rule = new DirectRule(RED, this.#apps, options, {
      isOurs: (layer) => this.#ours.has(layer),
      getLayer: (endpoint) => this.#places.get(endpoint)?.layer,
    });
    this.#cors = httpNodeCors ? ((load("cors") as typeof import("cors"))(httpNodeCors) as RequestHandler) : undefined;
    this.#moveLastWord();
    if (root) this.#own(insertLayer(root, makeEntry({ ...options, nodes, mountPath, rule: this.#rule }), 0));
    this.#addRawBody();
    this.#declineUpgrades();
    this.#refuseUnreadableUpgrades();
    for (const missing of this.#findMissing()) RED.log.warn(RED._(`internals.${missing}`));
  }

  /** What of the host's internals is missing. */
  #findMissing(): MissingInternal[] {
    const { nodes, root, admin, mountPath } = this.#apps;
    const isAdminInFront = findPathInAdmin(this.#apps, mountPath) !== undefined;
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const mayDecline = major > 24 || (major === 24 && minor >= 9);
    const rows: [MissingInternal, boolean][] = [
      ["holds", root === undefined || !hasKnownLayers(root)],
      ["order", !hasKnownLayers(nodes)],
      ["parameters", !canRunParameterHandlers(nodes)],
      ["parsers", admin !== undefined && isAdminInFront && findParsers(admin) === -1],
      ["upgrades", mayDecline && this.#server !== undefined && !this.#server.shouldUpgradeCallback],
    ];
    return rows.filter(([, isMissing]) => isMissing).map(([name]) => name);
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
      last.layer === getLayers(this.#apps.nodes).findLast((layer) => layer !== this.#lastWord) &&
      last.middleware.length === middleware.length &&
      last.middleware.every(isSame);
    const place = fits ? last : this.#addPlace(middleware);
    place.endpoints.add(endpoint);
    this.#places.set(endpoint, place);
    return () => this.#closed.add(endpoint);
  }

  /** Forgets closed endpoints; other nodes may have added layers. */
  refresh(): void {
    this.#moveLastWord();
    for (const endpoint of this.#closed) {
      const place = this.#places.get(endpoint);
      this.#places.delete(endpoint);
      place?.endpoints.delete(endpoint);
      if (place?.layer && place.endpoints.size === 0 && place !== this.#last) {
        this.#remove(place.layer);
      }
    }
    this.#closed.clear();
    this.#rule.refresh();
  }

  #moveLastWord(): void {
    const { nodes } = this.#apps;
    if (this.#lastWord) this.#remove(this.#lastWord);
    this.#lastWord = this.#own(insertLayer(nodes, this.#conclude, getLayers(nodes).length));
  }

  #own(layer: Layer | undefined): Layer | undefined {
    if (layer) this.#ours.add(layer);
    return layer;
  }

  #remove(layer: Layer): void {
    removeLayer(this.#apps.nodes, layer);
    this.#ours.delete(layer);
  }

  #addPlace(middleware: readonly RequestHandler[]): LayerPlace {
    const { nodes } = this.#apps;
    const place: LayerPlace = { endpoints: new Set(), middleware, layer: undefined };
    const match: RequestHandler = (request, response, next) => this.#match(place, request, response, next);
    const between = [...withCookies(middleware), ...(this.#cors ? [this.#crossOrigin] : [])];
    nodes.all(anyPath, match, ...between, this.#handle, this.#fail as unknown as RequestHandler);
    place.layer = this.#own(getLayers(nodes).at(-1));
    const former = this.#last;
    this.#last = place;
    if (former?.layer && former.endpoints.size === 0) this.#remove(former.layer);
    return place;
  }

  /** Finds the endpoint of a path as Express compares paths. */
  #find(path: string): Endpoint | undefined {
    const endpoint = this.#options.registry.find(path);
    if (!endpoint || path === endpoint.config.path) return endpoint;
    const { caseSensitive, strict } = getRouter(this.#apps.nodes) ?? {};
    if (strict && path.endsWith("/")) return undefined;
    return caseSensitive && !hasCaseOf(endpoint.config.path, path) ? undefined : endpoint;
  }

  #match(place: LayerPlace, ...[request, response, next]: Parameters<RequestHandler>): void {
    const endpoint = this.#find(request.path);
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
    runParameterHandlers(this.#apps.nodes, request, response, (error) => {
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
    const { missed, deployGate } = this.#options;
    const { nodes } = this.#apps;
    const { method, path } = request;
    const endpoint = this.#find(path);
    if (!endpoint) {
      missed.watch(request, response);
      // Before the first start it may be for a node that has not come yet.
      if (!deployGate.isClosed || deployGate.hasOpened) return next();
      const isSaved = missed.isSaved(path, method);
      if (!isSaved && this.#rule.mayBeAnsweredBehind(path, method)) return next();
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
    if (method === "OPTIONS" && this.#cors) return void this.#cors(request, response, next);
    // A static folder behind this app may have an answer.
    if (acceptsMethod(endpoint.config, method) || method === "OPTIONS") return next();
    if (this.#rule.mayBeAnsweredBehind(path, method)) return next();
    missed.ignore(response);
    const arrived = this.#arrive(request, response);
    if (mayGreetBy(endpoint, method)) void handleRequest(arrived, endpoint, this.#options);
    else refuse(arrived, endpoint, endpoint.methodNotAllowed);
  };

  /** A handshake by OPTIONS looks like a preflight request (Fetch §4.8). */
  readonly #crossOrigin: RequestHandler = (request, response, next) => {
    const cors = this.#cors;
    if (!cors || request.method === "OPTIONS") next();
    else void cors(request, response, next);
  };

  readonly #handle: RequestHandler = (request, response, next) => {
    const endpoint = this.#find(request.path);
    if (!endpoint && this.#options.deployGate.isClosed) return void sendProblem(request, response, problems.deploying);
    if (!endpoint) return leave(request, next);
    void handleRequest(this.#arrive(request, response), endpoint, this.#options);
  };

  /** A middleware has failed. */
  readonly #fail: ErrorRequestHandler = (error: unknown, request: Request, response, _next) => {
    const endpoint = this.#find(request.path);
    if (endpoint) refuse(this.#arrive(request, response), endpoint, problems.unforeseen, undefined, error);
    else sendProblem(request, response, problems.unforeseen);
  };

  #arrive(request: Request, response: Response): Arrived {
    const { search } = parseTarget(request.url);
    return arrive(this.#apps.nodes, request, response, { path: request.path, search });
  }

  #addRawBody(): void {
    const { adminNodes, admin, nodes, mountPath } = this.#apps;
    const below = findPathInAdmin(this.#apps, mountPath);
    if (!admin || below === undefined) return;
    const pathOf = (path: string) => (path.startsWith(`${below}/`) ? path.slice(below.length) : undefined);
    const options: RawBodyOptions = {
      admin,
      deployGate: this.#options.deployGate,
      find: ({ path, method }) => {
        const nodePath = pathOf(path);
        const endpoint = nodePath === undefined ? undefined : this.#find(nodePath);
        if (!endpoint || nodePath === undefined || this.#rule.isShadowed(endpoint, nodePath, method)) return undefined;
        const isAdminRoute = endpoint.hasParameters && hasRoute(getLayers(adminNodes), path, method);
        return isAdminRoute ? undefined : endpoint;
      },
      arrive: (request, response) => {
        const { search } = parseTarget(request.url);
        return arrive(nodes, request, response, { path: pathOf(request.path) ?? "", search });
      },
      mayLeaveAdmin: (endpoint) => this.#rule.getFront(endpoint).isAdminPlain,
    };
    this.#own(addHandshakeLayer(options));
    this.#own(addRawBodyLayer(options));
  }

  /**
   * RFC 9110 §7.8 allows to ignore `Upgrade`. curl's `--http2` and Java's HttpClient ask for HTTP/2 with every POST;
   * because the editor listens for upgrades, Node would take the request away from HTTP.
   */
  #declineUpgrades(): void {
    const server = this.#server;
    const decide = server?.shouldUpgradeCallback;
    if (!decide) return;
    const { mountPath } = this.#apps;
    server.shouldUpgradeCallback = (request) => {
      const { path } = parseTarget(request.url ?? "");
      const isOurs = path.startsWith(`${mountPath}/`) && this.#options.registry.find(path.slice(mountPath.length));
      // A web socket on the same path belongs to another node.
      const isWebSocket = request.method === "GET" && /\bwebsocket\b/i.test(request.headers.upgrade ?? "");
      return (!isOurs || isWebSocket) && decide.call(server, request);
    };
  }

  /**
   * Node-RED reads the target of an upgrade by a function that throws for some, which ends the process. Its runtime
   * listens from the start, so that this listener takes no upgrade away from HTTP.
   */
  #refuseUnreadableUpgrades(): void {
    this.#server?.prependListener("upgrade", (request, socket) => {
      if (canParseUrl(request.url ?? "")) return;
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", () => socket.destroy());
      // The listeners behind this one get the request all the same: this is nobody's path.
      request.url = "*";
    });
  }
}

function leave(request: Request, next: (deferral: "route") => void): void {
  request.route = undefined;
  next("route");
}
