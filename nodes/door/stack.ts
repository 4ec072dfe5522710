// What Express 4 keeps of an app, and what it would do with a request.

import type { Express, RequestHandler } from "express";

/** What Express keeps of each `use` and each route of an app, in their order. */
export interface Layer {
  readonly name: string;
  readonly handle: unknown;
  /** Present on routes, with the methods that they answer. */
  readonly route?: {
    readonly methods: Readonly<Record<string, boolean | undefined>>;
    readonly stack: readonly unknown[];
    readonly dispatch: unknown;
    readonly post: unknown;
    readonly all: unknown;
  };
  readonly regexp?: { readonly fast_slash?: boolean };
  readonly match: (this: Layer, path: string) => boolean;
  /** How Express has the handler called. */
  readonly handle_request: unknown;
}

/** The router of an app. */
export interface Router {
  /** Requests in flight walk the array that was here when they came: to change the order, put a new one here. */
  stack: Layer[];
  /** How requests are led through the stack. */
  readonly handle: unknown;
  readonly process_params: unknown;
  readonly route: unknown;
  /** The handlers of parameters, by their names. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly caseSensitive?: boolean;
  readonly strict?: boolean;
}

/** An app's router; nothing where it cannot be seen, as with other versions of Express. */
export function routerOf(app: Express): Router | undefined {
  return (app as unknown as { _router?: Router })._router;
}

/** An app's layers; none where they cannot be seen. */
export function layersOf(app: Express): readonly Layer[] {
  return routerOf(app)?.stack ?? [];
}

/** What an app handles requests by. */
export function handleOf(app: Express): unknown {
  return (app as Express & { handle?: unknown }).handle;
}

/** Whether a layer would see a request for a path, as Express itself tells. */
export function concerns(layer: Layer, path: string, method = "POST"): boolean {
  if (layer.route && !layer.route.methods._all && !layer.route.methods[method.toLowerCase()]) return false;
  try {
    return layer.match(path);
  } catch {
    // A parameter that cannot be decoded: Express answers such a request by an error.
    return true;
  }
}

/** Where a layer is to be among the others of its app: in front of that of an index. */
type Place = (others: readonly Layer[]) => number;

export const foremost: Place = () => 0;
/** Behind what Express itself puts at the beginning of an app, to prepare each request. */
export const behindExpress: Place = (others) => 1 + others.findIndex(({ name }) => name === "expressInit");
export const last: Place = (others) => others.length;

/** Adds a handler to an app, and answers with its layer. */
export function addLayer(app: Express, handler: RequestHandler, place: Place): Layer | undefined {
  app.use(handler);
  const layer = layersOf(app).at(-1);
  moveLayer(app, layer, place);
  return layer;
}

/** Takes a layer away. */
export function removeLayer(app: Express, layer: Layer): void {
  const router = routerOf(app);
  if (router) router.stack = router.stack.filter((other) => other !== layer);
}

/** Moves a layer to another place. */
function moveLayer(app: Express, layer: Layer | undefined, place: Place): void {
  const router = routerOf(app);
  if (!router || !layer) return;
  const others = router.stack.filter((other) => other !== layer);
  router.stack = others.toSpliced(place(others), 0, layer);
}
