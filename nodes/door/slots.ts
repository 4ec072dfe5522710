// Where in the app for HTTP nodes endpoints are served.

import type { Express, RequestHandler } from "express";
import type { Endpoint } from "../../src/endpoint";
import { type Layer, layersOf, removeLayer } from "./stack";
import type { View } from "./surroundings";

/** Matches every path: endpoints are found by a map, never by route patterns. */
const anyPath = /^/;

/** Where an endpoint is or, while it is being deployed, was. */
export interface Opened {
  /** As it was configured, below the root of HTTP nodes. */
  readonly path: string;
  readonly slot: Slot;
  isOpen: boolean;
  /** What was last seen in front of it, and for the how many-th time all was looked at then. */
  seen?: { readonly view: View; readonly look: number };
}

/** Where this stands: with the endpoint itself, as each request asks for it. */
const opened = Symbol("opened");
type Known = Endpoint & { [opened]?: Opened };

/** A place among the layers of the app, and the endpoints that are served there. */
export interface Slot {
  readonly endpoints: Set<Endpoint>;
  /** What requests go through there, as `http in` nodes take it when they are made. */
  readonly middleware: readonly RequestHandler[];
  /** Whether every path leads there. */
  isShared: boolean;
  /** Missing where the layers of the app cannot be seen. */
  layer: Layer | undefined;
}

/**
 * Gives each endpoint the place that an `http in` node would have: behind all that was there when it was opened, and in
 * front of what comes later. Endpoints that are opened one after the other share a place.
 */
export class Slots {
  readonly #app: Express;
  readonly #ours: Set<Layer>;
  readonly #isPlain: (layer: Layer | undefined) => boolean;
  readonly #middleware: () => RequestHandler[];
  readonly #handlersFor: (slot: Slot) => RequestHandler[];
  #last: Slot | undefined;

  /**
   * @param ours gets the layers that are added
   * @param isPlain whether a route was added to the app by what Express has for that, and by nothing else
   * @param middleware what the operator lets requests for HTTP nodes go through, as it is now
   */
  constructor(
    app: Express,
    ours: Set<Layer>,
    isPlain: (layer: Layer | undefined) => boolean,
    middleware: () => RequestHandler[],
    handlersFor: (slot: Slot) => RequestHandler[],
  ) {
    this.#app = app;
    this.#ours = ours;
    this.#isPlain = isPlain;
    this.#middleware = middleware;
    this.#handlersFor = handlersFor;
  }

  /** Some endpoint that is open. */
  get any(): Endpoint | undefined {
    const [any] = this.#last?.endpoints ?? [];
    return any;
  }

  of(endpoint: Known): Opened | undefined {
    return endpoint[opened];
  }

  take(endpoint: Known, path: string): void {
    const middleware = this.#middleware();
    const slot = this.#last && this.#fits(this.#last, middleware) ? this.#last : this.#add(path, middleware);
    slot.endpoints.add(endpoint);
    endpoint[opened] = { path, slot, isOpen: true };
  }

  /** Whether an `http in` node that is made now would stand in the same place, and in the same way. */
  #fits({ layer, isShared, middleware }: Slot, wanted: readonly RequestHandler[]): boolean {
    const isLast = layer === layersOf(this.#app).at(-1);
    const isSame = middleware.length === wanted.length && middleware.every((each, index) => each === wanted[index]);
    return isLast && isShared && isSame && this.#isPlain(layer);
  }

  leave(endpoint: Known): void {
    const place = endpoint[opened];
    if (!place) return;
    place.isOpen = false;
    place.slot.endpoints.delete(endpoint);
    // The last one is kept: the next endpoint to come will want it.
    if (place.slot !== this.#last) this.#removeIfEmpty(place.slot);
  }

  #add(path: string, middleware: readonly RequestHandler[]): Slot {
    const former = this.#last;
    const slot: Slot = { endpoints: new Set(), middleware, isShared: true, layer: undefined };
    const handlers = this.#handlersFor(slot);
    // A route for all methods: one for POST would make Express tell every OPTIONS request that POST is allowed.
    this.#app.all(anyPath, ...handlers);
    slot.layer = layersOf(this.#app).at(-1);
    if (!this.#isPlain(slot.layer)) {
      // Somebody has put something of their own into the way that `http in` nodes go: so this one has to go it, too.
      if (slot.layer) removeLayer(this.#app, slot.layer);
      this.#app.post(path, ...handlers);
      Object.assign(slot, { isShared: false, layer: layersOf(this.#app).at(-1) });
    }
    if (slot.layer) this.#ours.add(slot.layer);
    this.#last = slot;
    if (former) this.#removeIfEmpty(former);
    return slot;
  }

  #removeIfEmpty({ endpoints, layer }: Slot): void {
    if (endpoints.size > 0 || !layer) return;
    removeLayer(this.#app, layer);
    this.#ours.delete(layer);
  }
}
