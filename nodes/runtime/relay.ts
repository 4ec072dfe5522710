// Events of what is behind a stand-in, for those who listen to the stand-in.

import { EventEmitter } from "node:events";

/** The object that stands for another one among its listeners. */
export class Relay extends EventEmitter {
  /** What listeners are called on, and get in the place of what nobody is to have. */
  standIn: EventEmitter = this;
  /** What listens to the source, for as long as somebody listens here: a connection outlives a message. */
  readonly #relayed = new Map<string | symbol, (...values: unknown[]) => void>();

  /**
   * @param source whose events they are
   * @param events those that are told
   */
  constructor(source: EventEmitter, events: readonly string[]) {
    super();
    this.on("newListener", (event: string | symbol) => {
      if (typeof event !== "string" || !events.includes(event) || this.#relayed.has(event)) return;
      const relay = (...values: unknown[]) => {
        // Without a listener, an error would end the process.
        if (this.listenerCount(event) > 0) EventEmitter.prototype.emit.call(this.standIn, event, ...values);
      };
      this.#relayed.set(event, relay);
      source.on(event, relay);
    });
    this.on("removeListener", (event: string | symbol) => {
      const relay = this.#relayed.get(event);
      if (!relay || this.listenerCount(event) > 0) return;
      this.#relayed.delete(event);
      source.off(event, relay);
    });
  }
}
