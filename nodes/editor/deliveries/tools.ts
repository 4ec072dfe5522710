// What can be done with several deliveries at once: those that are selected, or all that have failed since a time.

import { isReplayable } from "../../../src/deliveries/state";
import type { Filter } from "./api";
import { FailedSince } from "./failed-since";
import { replaySeveral } from "./replay";
import type { Selection } from "./selection";
import { numberText, text } from "./texts";

export class Tools {
  readonly element = $("<div>");
  readonly #selection: Selection;
  readonly #replay = $(button);
  readonly #unselect = $(button);
  /** Opens and closes what asks since when. */
  readonly failed = $(button).attr({ "aria-expanded": "false", "aria-controls": "webhook-deliveries-failed" });
  readonly #since: FailedSince;

  /** @param unselected is called when nothing is selected any more */
  constructor(selection: Selection, filter: () => Filter, unselected: () => void) {
    this.#selection = selection;
    this.#since = new FailedSince(filter);
    this.#since.element.attr("id", "webhook-deliveries-failed");
    const unselect = () => {
      selection.clear();
      this.show();
      unselected();
    };
    this.#replay.on("click", () => {
      // A second time by accident would start the flows twice.
      void replaySeveral(selection.all).then((hasReplayed) => hasReplayed && unselect());
    });
    this.#unselect.text(text("tab.unselect")).on("click", unselect);
    const failed = text("tab.failed.open");
    this.failed
      .text(failed)
      .attr("title", failed)
      .on("click", () => {
        const isOpen = this.failed.attr("aria-expanded") !== "true";
        this.failed.attr("aria-expanded", String(isOpen));
        this.#since.toggle(isOpen);
      });
    const buttons = $('<div class="webhook-deliveries-tools">').append(this.#replay, this.#unselect);
    this.element.append(this.#since.element, buttons);
    this.show();
  }

  /** Takes over what is selected. */
  show(): void {
    const count = this.#selection.all.filter(({ state }) => isReplayable(state)).length;
    this.#replay.text(text("tab.replay", { count: numberText(count) })).toggle(count > 0);
    this.#unselect.toggle(this.#selection.size > 0);
  }
}

const button = '<button type="button" class="red-ui-button red-ui-button-small">';
