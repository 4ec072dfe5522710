// What Express 4 has no public method for: the layers of an app, its mount path, and the address of a sender.

import type { Express, Request, RequestHandler, Response } from "express";
import type { IncomingMessage } from "node:http";

/** One `use` or one route of an app (express/lib/router/layer.js). */
export interface Layer {
  readonly name: string;
  readonly handle: unknown;
  /** `fast_slash` and `fast_star` mean: every path. */
  readonly regexp: RegExp & { readonly fast_slash?: boolean; readonly fast_star?: boolean };
  /** Routes only: path and methods in lower case; `_all` for every method. */
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean | undefined>> };
}

interface Router {
  /** Requests iterate over the array as it was when they arrived: never change it in place. */
  stack: Layer[];
  readonly caseSensitive?: boolean;
  readonly strict?: boolean;
  process_params(
    layer: { keys: { name: string }[] },
    called: object,
    ...handled: [request: Request, response: Response, done: (error?: unknown) => void]
  ): void;
}

/** Nothing before the app's first layer, and with other versions of Express. */
export function getRouter(app: Express): Router | undefined {
  return (app as unknown as { _router?: Router })._router;
}

export function getLayers(app: Express | undefined): readonly Layer[] {
  return (app && getRouter(app)?.stack) ?? [];
}

/**
 * Without a slash at its end.
 *
 * @returns nothing for a pattern, or for several paths
 */
export function getMountPath({ mountpath }: Express): string | undefined {
  return typeof mountpath === "string" && /^[\w\-.~/]*$/.test(mountpath) ? mountpath.replace(/\/+$/, "") : undefined;
}

/** @param method missing: any method */
export function matches({ regexp, route }: Layer, path: string, method?: string): boolean {
  // Express answers HEAD by the routes for GET.
  const names = ["_all", method?.toLowerCase(), ...(method === "HEAD" ? ["get"] : [])];
  if (route && method !== undefined && !names.some((name) => name !== undefined && route.methods[name])) return false;
  return Boolean(regexp.fast_slash) || Boolean(regexp.fast_star) || regexp.test(path);
}

export function insertLayer(app: Express, handler: RequestHandler, index: number): Layer | undefined {
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

/** Runs what others have added by `app.param(name, …)`, as for a route with the parameters that `request` has. */
export function runParameterHandlers(
  app: Express,
  ...[request, response, done]: [request: Request, response: Response, done: (error?: unknown) => void]
): void {
  const keys = Object.keys(request.params).map((name) => ({ name }));
  const router = getRouter(app);
  if (router && keys.length > 0) router.process_params({ keys }, {}, request, response, done);
  else done();
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

/** Whether `trust proxy` trusts every proxy, so that a sender can claim any address. */
export function trustsEveryProxy(app: Express): boolean {
  const trusts = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  // Documentation addresses (RFC 5737, RFC 9637), behind more hops than a number of proxies would allow.
  return ["192.0.2.1", "3fff::1"].every((address) => trusts(address, 99));
}
