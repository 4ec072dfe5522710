// Deliveries, told to the editors that are open as they come and change.

import type { NodeAPI } from "node-red";
import type { Notice } from "../../src/deliveries/summary";
import { serverOf } from "./host";

/** Node-RED's own channel to the editors. */
const topic = "webhook-trigger/deliveries";
/** From one to the next, in ms. */
const interval = 100;
/** So many wait to be told, the newest; the others are left to who asks for the list. */
const mostWaiting = 10;

export class Live {
  readonly #RED: NodeAPI;
  readonly #find: (id: string) => Promise<Notice | undefined>;
  readonly #waiting = new Set<string>();
  /** How many editors are open, of those that have come since. */
  #editors = 0;
  /** Whether there may be others: this package was installed while Node-RED ran. */
  readonly #mayHaveOthers: boolean;
  #timer: NodeJS.Timeout | undefined;

  /** @param find what is to be told of a delivery; nothing where it has gone meanwhile */
  constructor(RED: NodeAPI, find: (id: string) => Promise<Notice | undefined>) {
    this.#RED = RED;
    this.#find = find;
    this.#mayHaveOthers = serverOf(RED)?.listening === true;
    RED.events.on("comms:connection-added", () => this.#editors++);
    RED.events.on("comms:connection-removed", () => this.#editors--);
  }

  /** A delivery has come or has changed. Stands in the way of every request. */
  seen(id: string): void {
    if (this.#editors <= 0 && !this.#mayHaveOthers) return;
    this.#waiting.add(id);
    // In a flood, the oldest have gone by the time they would be told.
    if (this.#waiting.size > mostWaiting) this.#waiting.delete(this.#waiting.values().next().value ?? id);
    this.#timer ??= setTimeout(() => void this.#tell(), interval).unref();
  }

  async #tell(): Promise<void> {
    const [id] = this.#waiting;
    this.#timer = undefined;
    if (id === undefined) return;
    this.#waiting.delete(id);
    const summary = await this.#find(id).catch(() => undefined);
    if (summary) this.#RED.comms.publish(topic, summary, false);
    this.#timer ??= this.#waiting.size > 0 ? setTimeout(() => void this.#tell(), interval).unref() : undefined;
  }
}
