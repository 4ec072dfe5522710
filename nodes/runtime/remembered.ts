// What is remembered of each node over deploys, for as long as the process runs and the node is there.

import type { Node, NodeAPI } from "node-red";

export class Remembered<Of extends object> {
  readonly #make: () => Of;
  readonly #known = new Map<string, Of>();

  /** @param make what is known of a node at first */
  constructor({ events, nodes }: NodeAPI, make: () => Of) {
    this.#make = make;
    events.on("flows:started", () => {
      for (const id of this.#known.keys()) if (!(nodes.getNode(id) as Node | null)) this.#known.delete(id);
    });
  }

  of(node: string): Of {
    const known = this.#known.get(node);
    if (known) return known;
    const made = this.#make();
    this.#known.set(node, made);
    return made;
  }

  /** What is remembered, by the ids of the nodes. */
  get all(): ReadonlyMap<string, Of> {
    return this.#known;
  }
}
