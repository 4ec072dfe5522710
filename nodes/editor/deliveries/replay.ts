// Several deliveries are replayed, once somebody has seen to which nodes they go.

import { isReplayable } from "../../../src/deliveries/state";
import type { Summary } from "../../../src/deliveries/summary";
import { Batch } from "./batch";
import { nameOf } from "./names";
import { buttonOf, listOf, noteOf } from "./pieces";
import { numberText, text } from "./texts";

/** Asks whether deliveries are to be replayed, and does it. Resolves when the dialog is closed: with whether any was. */
export function replaySeveral(deliveries: readonly Summary[]): Promise<boolean> {
  return new Promise((resolve) => new ReplayDialog(deliveries).open(resolve));
}

class ReplayDialog {
  readonly #dialog = $("<dialog>", {
    class: "webhook-delivery-dialog",
    "aria-labelledby": "webhook-delivery-dialog-title",
  });
  readonly #title = $("<div>", { id: "webhook-delivery-dialog-title", role: "heading", "aria-level": 2, tabindex: -1 });
  readonly #content = $("<div>");
  readonly #buttons = $("<div>", { class: "webhook-delivery-buttons" });
  readonly #ids: string[];
  readonly #batch: Batch;

  constructor(deliveries: readonly Summary[]) {
    // In the order in which they came.
    const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
    this.#ids = chosen.map(({ id }) => id);
    this.#batch = new Batch(this.#ids);
    const count = numberText(chosen.length);
    this.#title.text(text(chosen.length > 0 ? "delivery.several.ask" : "delivery.several.none", { count }));
    this.#content.append(...nodesOf(chosen));
    const left = numberText(deliveries.length - chosen.length);
    if (left !== "0") this.#content.append(noteOf(text("delivery.several.leftOut", { count: left })));
    if (chosen.length === 0) this.#offer("fa-times", "close", () => this.#close());
    else {
      this.#offer("fa-times", "cancel", () => this.#close());
      this.#offer("fa-repeat", "replay", () => void this.#run());
    }
  }

  open(closed: (hasReplayed: boolean) => void): void {
    const [dialog] = this.#dialog
      .append($("<div>", { "aria-live": "polite" }).append(this.#title), this.#content, this.#buttons)
      .appendTo("body");
    if (!(dialog instanceof HTMLDialogElement)) return;
    this.#dialog.on("cancel", (event) => {
      // The Escape key stops what is under way, and the sum is told.
      if (!this.#batch.isRunning) return;
      event.preventDefault();
      this.#batch.stop();
    });
    this.#dialog.on("close", () => {
      this.#batch.stop();
      this.#dialog.remove();
      closed(this.#batch.replayed > 0);
    });
    // The editor has keys of its own.
    this.#dialog.on("keydown", (event) => event.stopPropagation());
    dialog.showModal();
  }

  #offer(icon: string, key: "cancel" | "close" | "replay" | "several.stop", act: () => void): void {
    buttonOf(icon, text(`delivery.${key}`))
      .on("click", act)
      .appendTo(this.#buttons);
  }

  #close(): void {
    const [dialog] = this.#dialog;
    if (dialog instanceof HTMLDialogElement) dialog.close();
  }

  async #run(): Promise<void> {
    const total = this.#ids.length;
    const bar = $("<progress>", { max: total, value: 0, "aria-label": text("delivery.several.progress") });
    const count = $("<span>");
    const progress = (done: number) => {
      bar.val(done);
      count.text(text("delivery.several.done", { done: numberText(done), total: numberText(total) }));
    };
    progress(0);
    this.#title.text(text("delivery.several.progress"));
    this.#content.empty().append($("<div>", { class: "webhook-delivery-progress" }).append(bar, " ", count));
    this.#buttons.empty();
    this.#offer("fa-stop", "several.stop", () => this.#batch.stop());
    this.#focusButton();
    await this.#batch.run(progress);
    this.#showSum();
  }

  /** What was replayed, what has failed and why, and what was not sent. */
  #showSum(): void {
    const { replayed, failures, left } = this.#batch;
    this.#title.text(text("delivery.several.sum", { count: numberText(replayed) }));
    this.#content.empty();
    const rows = [...failures].map(([why, count]): [string, string] => [why, numberText(count)]);
    if (rows.length > 0) this.#content.append(noteOf(text("delivery.several.failed")), listOf(rows));
    if (left > 0) this.#content.append(noteOf(text("delivery.several.notSent", { count: numberText(left) })));
    this.#buttons.empty();
    this.#offer("fa-times", "close", () => this.#close());
    this.#focusButton();
  }

  #focusButton(): void {
    this.#buttons.children().first().trigger("focus");
  }
}

/** To which nodes they go, with how many, where that is more than one. */
function nodesOf(chosen: readonly Summary[]): JQuery[] {
  const counts = new Map<string, number>();
  for (const { node } of chosen) if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  const rows = [...counts].map(([node, count]): [string, string] => [nameOf(node), numberText(count)]);
  const [only, ...others] = rows;
  if (!only) return [];
  if (others.length === 0) return [noteOf(text("delivery.several.toNode", { name: only[0] }))];
  return [noteOf(text("delivery.several.toNodes", { count: numberText(rows.length) })), listOf(rows)];
}
