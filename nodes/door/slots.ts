// Where in the app for HTTP nodes endpoints are served.

import type { Express, RequestHandler } from "express";
import { type Layer, layersOf, routerOf } from "./stack";

/** Matches every path: endpoints are found by a map, never by route patterns. */
const anyPath = /^/;

/** An endpoint that is open. */
export interface Opened<Endpoint> {
  /** As it was configured, below the root of HTTP nodes. */
  readonly path: string;
  readonly slot: Slot<Endpoint>;
}

/** A place among the layers of the app, and the endpoints that are served there. */
export interface Slot<Endpoint> {
  readonly endpoints: Set<Endpoint>;
  /** Missing where the layers of the app cannot be seen. */
  layer: Layer | undefined;
}

/**
 * Gives each endpoint the place that an `http in` node would have: behind all that was there when it was opened, and in
 * front of what comes later. Endpoints that are opened one after the other share a place.
 */
export class Slots<Endpoint extends object> {
  readonly #app: Express;
  readonly #ours: Set<Layer>;
  readonly #isPostPlain: () => boolean;
  readonly #handlersFor: (slot: Slot<Endpoint>) => RequestHandler[];
  readonly #opened = new Map<Endpoint, Opened<Endpoint>>();
  readonly #known = new WeakMap<Endpoint, Opened<Endpoint>>();
  #last: Slot<Endpoint> | undefined;

  /**
   * @param ours gets the layers that are added
   * @param isPostPlain whether routes for POST are added to the app by what Express has for that
   */
  constructor(
    app: Express,
    ours: Set<Layer>,
    isPostPlain: () => boolean,
    handlersFor: (slot: Slot<Endpoint>) => RequestHandler[],
  ) {
    this.#app = app;
    this.#ours = ours;
    this.#isPostPlain = isPostPlain;
    this.#handlersFor = handlersFor;
  }

  /** The endpoints that are open. */
  get opened(): ReadonlyMap<Endpoint, Opened<Endpoint>> {
    return this.#opened;
  }

  /** Where an endpoint is or, while it is being deployed, was. */
  of(endpoint: Endpoint): Opened<Endpoint> | undefined {
    return this.#known.get(endpoint);
  }

  take(endpoint: Endpoint, path: string): void {
    const slot = this.#last && this.#last.layer === layersOf(this.#app).at(-1) ? this.#last : this.#add();
    slot.endpoints.add(endpoint);
    const opened = { path, slot };
    this.#opened.set(endpoint, opened);
    this.#known.set(endpoint, opened);
  }

  leave(endpoint: Endpoint): void {
    const slot = this.#opened.get(endpoint)?.slot;
    this.#opened.delete(endpoint);
    slot?.endpoints.delete(endpoint);
    // The last one is kept: the next endpoint to come will want it.
    if (slot && slot !== this.#last) this.#removeIfEmpty(slot);
  }

  #add(): Slot<Endpoint> {
    const former = this.#last;
    const slot: Slot<Endpoint> = { endpoints: new Set(), layer: undefined };
    // A route for all methods: one for POST would make Express tell every OPTIONS request that POST is allowed.
    // Unless somebody has put something of their own into the way that `http in` nodes go.
    const isPlain = this.#isPostPlain();
    this.#app[isPlain ? "all" : "post"](anyPath, ...this.#handlersFor(slot));
    slot.layer = layersOf(this.#app).at(-1);
    if (slot.layer) this.#ours.add(slot.layer);
    this.#last = slot;
    if (former) this.#removeIfEmpty(former);
    return slot;
  }

  #removeIfEmpty({ endpoints, layer }: Slot<Endpoint>): void {
    const router = routerOf(this.#app);
    if (endpoints.size > 0 || !layer || !router) return;
    // Requests in flight are walking the old array, so it stays as it is.
    router.stack = router.stack.filter((other) => other !== layer);
    this.#ours.delete(layer);
  }
}
