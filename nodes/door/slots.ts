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
  readonly #isPostPlain: () => boolean;
  readonly #handlersFor: (slot: Slot) => RequestHandler[];
  #last: Slot | undefined;

  /**
   * @param ours gets the layers that are added
   * @param isPostPlain whether routes for POST are added to the app by what Express has for that
   */
  constructor(
    app: Express,
    ours: Set<Layer>,
    isPostPlain: () => boolean,
    handlersFor: (slot: Slot) => RequestHandler[],
  ) {
    this.#app = app;
    this.#ours = ours;
    this.#isPostPlain = isPostPlain;
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
    const slot = this.#last && this.#last.layer === layersOf(this.#app).at(-1) ? this.#last : this.#add();
    slot.endpoints.add(endpoint);
    endpoint[opened] = { path, slot, isOpen: true };
  }

  leave(endpoint: Known): void {
    const place = endpoint[opened];
    if (!place) return;
    place.isOpen = false;
    place.slot.endpoints.delete(endpoint);
    // The last one is kept: the next endpoint to come will want it.
    if (place.slot !== this.#last) this.#removeIfEmpty(place.slot);
  }

  #add(): Slot {
    const former = this.#last;
    const slot: Slot = { endpoints: new Set(), layer: undefined };
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

  #removeIfEmpty({ endpoints, layer }: Slot): void {
    if (endpoints.size > 0 || !layer) return;
    removeLayer(this.#app, layer);
    this.#ours.delete(layer);
  }
}
