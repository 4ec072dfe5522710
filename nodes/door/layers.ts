import type { Express } from "express";

/** What Express 4 keeps of each `use` and each route of an app, in their order. */
export interface Layer {
  name: string;
  /** Present on routes, with the methods that they answer. */
  route?: { methods: Record<string, boolean> };
  /** The paths that it is for; `fast_slash` for all of them. */
  regexp?: RegExp & { fast_slash?: boolean };
}

/** An app's layers; nothing where they cannot be seen, as with other versions of Express. */
export function layersOf(app: Express): readonly Layer[] | undefined {
  return routerOf(app)?.stack;
}

/** The app that an app is mounted on, if it is. */
export function parentOf(app: Express): Express | undefined {
  return (app as Express & { parent?: Express }).parent;
}

/** The outermost app that an app is mounted in. */
export function rootOf(app: Express): Express {
  const parent = parentOf(app);
  return parent ? rootOf(parent) : app;
}

/** The layers that Express puts into a new app, to prepare each request. */
export function isExpressOwn(layer: Layer): boolean {
  return layer.name === "query" || layer.name === "expressInit";
}

/** Whether a layer is a route for all methods, as `all` makes them: it may as well check a request and pass it on. */
export function isRouteForAll({ route }: Layer): boolean {
  return route !== undefined && (route.methods._all ?? (route.methods.post && route.methods.trace)) === true;
}

/** Answers with the layers that something adds to an app. */
export function layersAddedBy(app: Express, add: () => void): Layer[] {
  const before = layersOf(app)?.length;
  add();
  return (
    layersOf(app)
      ?.slice(before)
      .filter((layer) => !isExpressOwn(layer)) ?? []
  );
}

/** Gives an app's layers a new order. Requests in flight are walking the old array, so it stays as it is. */
export function arrange(app: Express, order: (layers: readonly Layer[]) => Layer[]): void {
  const router = routerOf(app);
  if (router) router.stack = order(router.stack);
}

function routerOf(app: Express): { stack: Layer[] } | undefined {
  return (app as unknown as { _router?: { stack: Layer[] } })._router;
}
