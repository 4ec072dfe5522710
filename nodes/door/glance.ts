// Whether what was looked at is still as it was: asked for each request, so it must cost next to nothing.

import type { Express } from "express";
import type { Server } from "node:http";
import { parentOf } from "../runtime/host";
import { handleOf, type Layer, layersOf, type Router, routerOf } from "./stack";

/** An app as it was. */
interface Seen {
  readonly app: Express;
  readonly parent: Express | undefined;
  readonly handle: unknown;
  readonly router: Router | undefined;
  readonly routerHandle: unknown;
  readonly processParams: unknown;
  readonly params: number;
  readonly layers: readonly SeenLayer[];
}

/** A layer as it was. */
interface SeenLayer {
  readonly layer: Layer;
  readonly handle: unknown;
  readonly handleRequest: unknown;
  readonly match: unknown;
  readonly regexp: unknown;
  /** How many handlers its route has. */
  readonly handlers: number | undefined;
}

export class Glance {
  readonly #server: Server | undefined;
  readonly #listeners: number | undefined;
  readonly #listener: unknown;
  readonly #apps: readonly Seen[];
  /** When it was last true: within a millisecond it is not asked again. */
  #lastTrue = 0;

  constructor(server: Server | undefined, apps: readonly (Express | undefined)[]) {
    this.#server = server;
    this.#listeners = server?.listenerCount("request");
    this.#listener = listenerOf(server);
    this.#apps = apps.filter((app) => app !== undefined).map(see);
  }

  isStillTrue(): boolean {
    const now = Date.now();
    if (now === this.#lastTrue) return true;
    if (this.#server?.listenerCount("request") !== this.#listeners) return false;
    if (listenerOf(this.#server) !== this.#listener || !this.#apps.every(isAsSeen)) return false;
    this.#lastTrue = now;
    return true;
  }
}

function see(app: Express): Seen {
  const router = routerOf(app);
  const layers = layersOf(app).map((layer) => {
    const { handle, handle_request: handleRequest, match, regexp, route } = layer;
    return { layer, handle, handleRequest, match, regexp, handlers: route?.stack.length };
  });
  const { handle: routerHandle, process_params: processParams } = router ?? {};
  const params = paramsOf(router);
  return { app, parent: parentOf(app), handle: handleOf(app), router, routerHandle, processParams, params, layers };
}

function isAsSeen({ app, parent, handle, router, routerHandle, processParams, params, layers }: Seen): boolean {
  if (parentOf(app) !== parent || handleOf(app) !== handle || routerOf(app) !== router) return false;
  if (router?.process_params !== processParams || paramsOf(router) !== params) return false;
  const stack = router?.stack ?? [];
  if (stack.length !== layers.length || router?.handle !== routerHandle) return false;
  for (let index = 0; index < layers.length; index++) {
    if (!isLayerAsSeen(stack[index], layers[index])) return false;
  }
  return true;
}

/** For how many parameters the router has handlers. */
function paramsOf(router: Router | undefined): number {
  return Object.keys(router?.params ?? {}).length;
}

function isLayerAsSeen(layer: Layer | undefined, seen: SeenLayer | undefined): boolean {
  return (
    layer !== undefined &&
    layer === seen?.layer &&
    layer.handle === seen.handle &&
    layer.handle_request === seen.handleRequest &&
    layer.match === seen.match &&
    layer.regexp === seen.regexp &&
    layer.route?.stack.length === seen.handlers
  );
}

function listenerOf(server: Server | undefined): unknown {
  return server?.listeners("request")[0];
}
