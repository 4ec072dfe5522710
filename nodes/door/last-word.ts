// Who has the last word: behind all that may answer, also behind what comes later.

import type { Express, RequestHandler } from "express";
import { addLayer, last, type Layer, layersOf, removeLayer } from "./stack";
import type { Surroundings } from "./surroundings";

export class LastWord {
  readonly #surroundings: Surroundings;
  readonly #ours: Set<Layer>;
  readonly #handlerFor: (isLast: () => boolean) => RequestHandler;
  #layer: Layer | undefined;

  /**
   * @param ours gets the layer that has it
   * @param handlerFor what stands there, as it asks whether nobody comes behind
   */
  constructor(surroundings: Surroundings, ours: Set<Layer>, handlerFor: (isLast: () => boolean) => RequestHandler) {
    this.#surroundings = surroundings;
    this.#ours = ours;
    this.#handlerFor = handlerFor;
  }

  /** Whether nobody comes behind; otherwise it is so from the next request on. */
  isLast(layer = this.#layer): boolean {
    const { root } = this.#surroundings;
    if (!root) return false;
    if (this.#layer && layersOf(root).at(-1) === this.#layer) return layer === this.#layer;
    this.#take(root);
    return false;
  }

  /** By a new layer: requests that are on their way still pass the former one, and that is not the last any more. */
  #take(root: Express): void {
    const former = this.#layer;
    const layer = addLayer(root, this.#handlerFor(() => this.isLast(layer)), last); // prettier-ignore
    this.#layer = layer;
    if (layer) this.#ours.add(layer);
    if (!former) return;
    removeLayer(root, former);
    this.#ours.delete(former);
  }
}
