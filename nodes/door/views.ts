// What stands in front of each endpoint, as it was last seen.

import type { NodeAPI } from "node-red";
import type { Opened } from "./slots";
import type { Surroundings, View } from "./surroundings";

/** Keeps what was seen for as long as nothing changes, and tells the operator which way requests go. */
export class Views {
  readonly #RED: NodeAPI;
  readonly #surroundings: Surroundings;
  /** How many times something has changed. */
  #look = 0;
  readonly #told = new Set<string>();

  constructor(RED: NodeAPI, surroundings: Surroundings) {
    this.#RED = RED;
    this.#surroundings = surroundings;
  }

  /** @param opened where the endpoint is; when it is closed, all that could be in front of it counts */
  of(opened: Opened): View {
    if (this.#surroundings.haveChanged()) this.#look++;
    if (opened.seen?.look === this.#look) return opened.seen.view;
    const view = this.#surroundings.look(opened.path, opened.slot.layer);
    opened.seen = { view, look: this.#look };
    this.#tell(view);
    return view;
  }

  #tell({ obstacle }: View): void {
    const [reason, name = ""] = obstacle ?? (["nothing"] as const);
    const why = this.#RED._(`way.why.${reason}`, { name });
    const line = this.#RED._(obstacle ? "way.ordinary" : "way.fast", { why });
    if (!this.#told.has(line)) this.#RED.log.debug(line);
    this.#told.add(line);
  }
}
