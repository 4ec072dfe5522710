// Tells who cannot see the list what has come: seldom, and in one sentence.

import type { Summary } from "../../../src/deliveries/summary";
import { numberText, text } from "./texts";

/** How long is between two sentences at least, in ms. */
const pause = 5000;

export class Announcer {
  readonly element = $('<div class="webhook-deliveries-said" role="status">');
  #came = 0;
  #refused = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  came(deliveries: readonly Summary[]): void {
    this.#came += deliveries.length;
    this.#refused += deliveries.filter(({ state }) => state === "refused").length;
    if (this.#came > 0) this.#timer ??= setTimeout(() => this.#say(), pause);
  }

  #say(): void {
    const counts = { count: numberText(this.#came), refused: numberText(this.#refused) };
    this.element.text(text("tab.announced", counts));
    this.#came = 0;
    this.#refused = 0;
    this.#timer = undefined;
  }
}
