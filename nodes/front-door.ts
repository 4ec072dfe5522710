import cookieParser from "cookie-parser";
import cors from "cors";
import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import type { IncomingMessage } from "node:http";
import type { NodeAPI } from "node-red";
import { Endpoints } from "../src/endpoints";
import { problems } from "../src/problem";
import { type Endpoint, serve } from "../src/receive";
import { refuse } from "../src/reply";
import { parseTarget } from "../src/target";
import { settingsOf } from "./host";

/** Matches every path: endpoints are found by a map, never by route patterns. */
const anyPath = /^/;

/**
 * Meets requests in the runtime's own web server, for all endpoints at once.
 *
 * They are served in Node-RED's app for HTTP nodes: behind whatever the operator or the host application put in
 * front of it, and ahead of the routes of other nodes, whose patterns might take an endpoint's requests.
 */
export function openFrontDoor(RED: NodeAPI): Endpoints<Endpoint> {
  const endpoints = new Endpoints<Endpoint>();
  const { httpNodeRoot, httpNodeMiddleware = [], httpNodeCors } = settingsOf(RED);
  if (httpNodeRoot === false) return endpoints;

  const onlyOurs: RequestHandler = (request, _response, next) => {
    next(endpoints.find(parseTarget(request.url).path) ? undefined : "route");
  };
  const handCorsOut = httpNodeCors ? [cors(httpNodeCors)] : [];
  const serveIt: RequestHandler = (request, response, next) => {
    const { path, search } = parseTarget(request.url);
    const endpoint = endpoints.find(path);
    // The endpoint may have closed while the operator's middleware was at work.
    if (!endpoint) next("route");
    else void serve({ request, path, search, ip: request.ip ?? "" }, response, endpoint);
  };
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    endpoints.find(parseTarget(request.url).path)?.failed(error);
    refuse(request, response, problems.unforeseen);
  };
  const refuseOtherMethods: RequestHandler = (request, response, next) => {
    const endpoint = endpoints.find(parseTarget(request.url).path);
    if (!endpoint) return next();
    refuse(request, response, problems.methodNotAllowed);
    endpoint.refused(problems.methodNotAllowed);
  };

  const app = RED.httpNode;
  const first = layersAddedBy(app, () => {
    if (httpNodeCors) app.options(anyPath, onlyOurs, handCorsOut);
    app.post(anyPath, onlyOurs, cookieParser(), httpNodeMiddleware, handCorsOut, serveIt, onError);
  });
  const last = layersAddedBy(app, () => app.use(refuseOtherMethods));
  keepPlaces(RED, first, last);
  claimBodies(RED, endpoints);
  return endpoints;
}

/**
 * With equal roots the admin app's body parsers come before any node, and in a host application its own may.
 * They pass over a request marked as parsed, which leaves its bytes, and all checks before them, to us.
 */
function claimBodies(RED: NodeAPI, endpoints: Endpoints<Endpoint>): void {
  // A host application that runs Node-RED without an editor need not tell its server.
  const server = RED.server as NodeAPI["server"] | null | undefined;
  server?.prependListener("request", (request: IncomingMessage & { _body?: boolean }) => {
    if (request.method !== "POST") return;
    const path = pathBelow(RED.httpNode.path(), parseTarget(request.url ?? "").path);
    if (path !== undefined && endpoints.find(path)) request._body = true;
  });
}

/** The path that an app sees below its mount: Express takes one slash more away than the mount has. */
function pathBelow(mount: string, path: string): string | undefined {
  const prefix = mount.replace(/\/+/g, "/").replace(/\/$/, "");
  if (prefix === "") return path;
  if (!path.toLowerCase().startsWith(prefix.toLowerCase())) return undefined;
  return path.slice(prefix.length).replace(/^\/\//, "/");
}

/** What Express 4 keeps of each `use` and each route, in their order. Other versions keep nothing that can be seen. */
interface Layer {
  name: string;
}

interface Router {
  stack: Layer[];
}

function routerOf(app: Express): Router | undefined {
  return (app as unknown as { _router?: Router })._router;
}

function layersAddedBy(app: Express, add: () => void): Layer[] {
  const before = routerOf(app)?.stack.length;
  add();
  return (
    routerOf(app)
      ?.stack.slice(before)
      .filter((layer) => !isExpressOwn(layer)) ?? []
  );
}

/** The layers that Express puts into a new app, to prepare each request. */
function isExpressOwn(layer: Layer): boolean {
  return layer.name === "query" || layer.name === "expressInit";
}

/** Nodes add their routes at every start of the flows; after it, ours take their places again. */
function keepPlaces(RED: NodeAPI, first: readonly Layer[], last: readonly Layer[]): void {
  const place = () => {
    const router = routerOf(RED.httpNode);
    if (!router) return;
    const others = router.stack.filter((layer) => !first.includes(layer) && !last.includes(layer));
    const prepare = others.filter(isExpressOwn);
    // A new array: requests in flight are walking the old one.
    router.stack = [...prepare, ...first, ...others.filter((layer) => !isExpressOwn(layer)), ...last];
  };
  place();
  RED.events.on("flows:started", place);
}
