// What Express, Node-RED and Node.js do not document, and this package uses all the same. It is checked at start: what
// is missing is logged, with what is then not done.

import type { Express, Request, RequestHandler, Response } from "express";
import type { IncomingMessage, Server } from "node:http";
import { createRequire } from "node:module";

/** Deprecated, but that very function: which targets it throws for depends on the version of Node.js. */
const legacyUrl = createRequire(__filename)("node:url") as { parse(url: string): unknown };

/** The names of layers, by their functions. Middleware of others has another one, or is one more than these. */
export const layerNames = {
  /** In each app of Express 4. */
  ofExpress: ["query", "expressInit"],
  /** In front of Node-RED's apps: what its `http in` adds. Behind them: Express's static files. */
  httpInCapture: "rawBodyCapture",
  files: "serveStatic",
  /** An app, or a router, in an app. */
  mount: "mounted_app",
  router: "router",
  /** Node-RED's admin app: parsers of bodies, one behind the other; CORS, which in 4.1 answers each OPTIONS; a login. */
  json: "jsonParser",
  form: "urlencodedParser",
  cors: "corsMiddleware",
  login: "initialize",
} as const;

/** What Node-RED's parsers of bodies put into a request: body-parser's mark for a body that was read is `_body`. */
export const readMark = "_body";

/** One `use` or one route of an app. */
export interface Layer {
  readonly name: string;
  readonly handle: unknown;
  /** What it gives is true where the layer is for the path. */
  match?(path: string): unknown;
  /** Routes only: path and methods in lower case; `_all` for every method. */
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean | undefined>> };
}

interface Router {
  /** Requests iterate over the array as it was when they arrived: never change it in place. */
  stack: Layer[];
  readonly caseSensitive?: boolean;
  readonly strict?: boolean;
  /** Express 4. */
  process_params?(
    layer: { keys: { name: string }[] },
    called: object,
    ...handled: [request: Request, response: Response, done: (error?: unknown) => void]
  ): void;
}

/** Express 4 makes `_router` with the first layer, and its `router` throws; Express 5 has `router`. */
interface AppInternals {
  readonly _router?: Partial<Router>;
  readonly lazyrouter?: unknown;
  readonly router?: Partial<Router>;
}

/** Node 24.9 or later. */
export type UpgradingServer = Server & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean };

/** Whether the function by which Node-RED's listeners for upgrades read their targets does not throw. */
export function canParseUrl(target: string): boolean {
  try {
    legacyUrl.parse(target);
    return true;
  } catch {
    return false;
  }
}

/** What is not done for want of an internal: a key under `internals` in the message catalog. */
export type MissingInternal = "holds" | "order" | "parameters" | "parsers" | "upgrades";

/** Nothing before the app's first layer, and with other versions of Express. */
export function getRouter(app: Express): Router | undefined {
  const { _router, lazyrouter } = app as unknown as AppInternals;
  const router = _router ?? (lazyrouter === undefined ? (app as unknown as AppInternals).router : undefined);
  return Array.isArray(router?.stack) ? (router as Router) : undefined;
}

export function getLayers(app: Express | undefined): readonly Layer[] {
  return (app && getRouter(app)?.stack) ?? [];
}

/** Whether the layers of an app can be found and put in their places. */
export function hasKnownLayers(app: Express): boolean {
  const layers = getLayers(app);
  return (
    layers.length > 0 && layers.every((layer) => typeof layer.name === "string" && typeof layer.match === "function")
  );
}

/** Whether `runParameterHandlers` can do it. */
export function canRunParameterHandlers(app: Express): boolean {
  return typeof getRouter(app)?.process_params === "function";
}

/** The place of Node-RED's body parsers in the admin app; -1 where there are none. */
export function findParsers(admin: Express): number {
  const layers = getLayers(admin);
  // The operator's own may precede them.
  return layers.findLastIndex(({ name }, at) => name === layerNames.json && layers[at + 1]?.name === layerNames.form);
}

/**
 * Without a slash at its end.
 *
 * @returns nothing for a pattern, or for several paths
 */
export function findOwnMountPath({ mountpath }: Express): string | undefined {
  return typeof mountpath === "string" && /^[\w\-.~/]*$/.test(mountpath) ? mountpath.replace(/\/+$/, "") : undefined;
}

/** In doubt, a layer is for a path. @param method missing: any method */
export function matches(layer: Layer, path: string, method?: string): boolean {
  const { route } = layer;
  // Express answers HEAD by the routes for GET.
  const names = ["_all", method?.toLowerCase(), ...(method === "HEAD" ? ["get"] : [])];
  if (route && method !== undefined && !names.some((name) => name !== undefined && route.methods[name])) return false;
  try {
    return layer.match === undefined || Boolean(layer.match(path));
  } catch {
    // A broken escape.
    return true;
  }
}

/** @returns nothing where it could not be put there; then it is not added */
export function insertLayer(app: Express, handler: RequestHandler, index: number): Layer | undefined {
  // An app of Express 4 has none before its first layer.
  if (!getRouter(app) && (app as unknown as AppInternals).lazyrouter === undefined) return undefined;
  app.use(handler);
  const router = getRouter(app);
  const layer = router?.stack.at(-1);
  if (router && layer) router.stack = router.stack.slice(0, -1).toSpliced(index, 0, layer);
  return layer;
}

export function removeLayer(app: Express, layer: Layer): void {
  const router = getRouter(app);
  if (router) router.stack = router.stack.filter((each) => each !== layer);
}

/**
 * Runs what others have added by `app.param(name, …)`, as for a route with the parameters that `request` has. Guards may
 * be among them: where they cannot be run, that is an error.
 */
export function runParameterHandlers(
  app: Express,
  ...[request, response, done]: [request: Request, response: Response, done: (error?: unknown) => void]
): void {
  const keys = Object.keys(request.params).map((name) => ({ name }));
  if (keys.length === 0) return done();
  const router = getRouter(app);
  if (!router?.process_params) return done(new Error("Handlers of parameters cannot be run with this Express"));
  router.process_params({ keys }, {}, request, response, done);
}

/**
 * The address of the sender, by the setting `trust proxy` of the app for HTTP nodes. Also works before Express has
 * run.
 */
export function clientAddress(app: Express, { headers, socket }: IncomingMessage): string {
  // Without this field it is the other end of the connection.
  if (headers["x-forwarded-for"] === undefined) return socket.remoteAddress ?? "";
  const request = Object.create(app.request, {
    headers: { value: headers },
    socket: { value: socket },
    connection: { value: socket },
  }) as Express["request"];
  return request.ip ?? "";
}

type TrustInProxy = (address: string, hop: number) => boolean;

/** The hosts, with their ports, that a request is for: its own, and the one that a proxy names which `trust proxy` trusts. */
export function findHosts({ app, headers, socket }: Request): string[] {
  const trusts = app.get("trust proxy fn") as TrustInProxy | undefined;
  const forwarded = trusts?.(socket.remoteAddress ?? "", 0) ? String(headers["x-forwarded-host"] ?? "") : "";
  return [headers.host ?? "", forwarded.replace(/,.*$/s, "").trim()];
}

/** Whether `trust proxy` trusts every proxy, so that a sender can claim any address. */
export function trustsEveryProxy(app: Express): boolean {
  const trusts = app.get("trust proxy fn") as TrustInProxy | undefined;
  // Documentation addresses (RFC 5737, RFC 9637), behind more hops than a number of proxies would allow.
  return ["192.0.2.1", "3fff::1"].every((address) => trusts?.(address, 99));
}

/** The app that an app is mounted in; nothing where it is mounted in a router. */
export function getParent(app: Express): Express | undefined {
  return (app as Express & { parent?: Express }).parent;
}
