// Sends all again that has failed since a time: asks since when, finds them, and hands them on.

import type { Summary } from "../../../src/deliveries/summary";
import { askForPage, type Filter, troubleOf } from "./api";
import { replaySeveral } from "./replay";
import { numberText, text } from "./texts";

const day = 24 * 60 * 60_000;

export class FailedSince {
  readonly element = $('<form class="webhook-deliveries-since">');
  readonly #since = $('<input type="datetime-local" id="webhook-deliveries-since">');
  readonly #said = $('<span role="status">');
  readonly #filter: () => Filter;
  #isBusy = false;

  /** @param filter whose node is looked at; all where it has none */
  constructor(filter: () => Filter) {
    this.#filter = filter;
    const label = $('<label for="webhook-deliveries-since">').text(text("tab.failed.since"));
    const send = $('<button class="red-ui-button red-ui-button-small">').text(text("tab.failed.replay"));
    this.element.append(label, this.#since, send, this.#said).hide();
    this.element.on("submit", (event) => {
      event.preventDefault();
      void this.#submit();
    });
  }

  toggle(isOpen: boolean): void {
    this.element.toggle(isOpen);
    this.#said.text("");
    if (!isOpen) return;
    this.#since.val(localTime(Date.now() - day)).trigger("focus");
  }

  async #submit(): Promise<void> {
    const since = new Date(String(this.#since.val())).getTime();
    if (this.#isBusy || Number.isNaN(since)) return;
    this.#isBusy = true;
    try {
      const failed = await failedSince(since, this.#filter().node);
      this.#said.text(text("tab.failed.found", { count: numberText(failed.length) }));
      if (failed.length > 0) await replaySeveral(failed);
    } catch (error) {
      this.#said.text(text(`tab.trouble.${troubleOf(error)}`));
    } finally {
      this.#isBusy = false;
    }
  }
}

async function failedSince(since: number, node: string): Promise<Summary[]> {
  const found: Summary[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const { deliveries, next } = await askForPage({ node, state: "failed", text: "" }, before);
    const recent = deliveries.filter(({ at }) => at >= since);
    found.push(...recent);
    before = recent.length < deliveries.length ? null : next;
  }
  return found;
}

/** A time as such a field has it: that of this place, to the minute. */
function localTime(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
