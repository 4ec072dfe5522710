// Whether a store is in trouble, as it is told to whoever listens.

import type { StoreEvents, Trouble } from "./store";

/** Each trouble of a part, which may be in trouble by itself, is told once; and when none is left. */
export class Condition<Part extends string> {
  readonly #events: StoreEvents;
  readonly #troubles = new Map<Part, Trouble>();

  constructor(events: StoreEvents) {
    this.#events = events;
  }

  begin(of: Part, trouble: Trouble, cause: unknown): void {
    if (this.#troubles.get(of) === trouble) return;
    this.#troubles.set(of, trouble);
    this.#events.troubled(trouble, cause);
  }

  end(of: Part): void {
    if (this.#troubles.delete(of) && this.#troubles.size === 0) this.#events.mended();
  }

  /** It cannot be known any more, and is told anew where it goes on. */
  forget(of: Part): void {
    this.#troubles.delete(of);
  }
}
