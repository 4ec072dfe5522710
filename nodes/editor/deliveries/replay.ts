// Replays of several deliveries: the selected ones, or those that failed since a time.

import { isReplayable, type Summary } from "../../../src/deliveries/summary";
import { askForPage, type Failure, failureText, type Filter, isHopeless, replay, toFetchTrouble } from "./api";
import { createButton, createList, createNote } from "./content";
import type { Selection } from "./list";
import { getNodeName, numberText, text } from "./texts";

export class Tools {
  readonly element = $("<div>");
  readonly #selection: Selection;
  readonly #replay = $(button);
  readonly #unselect = $(button);
  readonly #leftOut = $("<span>");
  /** Opens the form of failed deliveries. */
  readonly failed = $(button).attr({ "aria-expanded": "false", "aria-controls": "webhook-deliveries-failed" });
  readonly #since: FailedSince;

  /** @param unselected called when the selection was cleared */
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
      // A second click would start the flows twice.
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
    const buttons = $('<div class="webhook-deliveries-tools">').append(this.#replay, this.#unselect, this.#leftOut);
    this.element.append(this.#since.element, buttons);
    this.show();
  }

  /** Shows the selection. */
  show(): void {
    const count = this.#selection.all.filter(({ state }) => isReplayable(state)).length;
    this.#replay.text(text("tab.replay", { count: numberText(count) })).toggle(count > 0);
    this.#unselect.toggle(this.#selection.size > 0);
    const left = this.#selection.size - count;
    this.#leftOut.text(left > 0 ? text("delivery.several.leftOut", { count: numberText(left) }) : "");
  }
}

const button = '<button type="button" class="red-ui-button red-ui-button-small">';

// The dialog that confirms a replay of several deliveries.

/** Resolves when the dialog is closed: with whether any was replayed. */
function replaySeveral(deliveries: readonly Summary[]): Promise<boolean> {
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
  readonly #batch: ReplayBatch;

  constructor(deliveries: readonly Summary[]) {
    // The oldest first.
    const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
    this.#ids = chosen.map(({ id }) => id);
    this.#batch = new ReplayBatch(this.#ids);
    const count = numberText(chosen.length);
    this.#title.text(text(chosen.length > 0 ? "delivery.several.ask" : "delivery.several.none", { count }));
    this.#content.append(...listNodes(chosen));
    const left = numberText(deliveries.length - chosen.length);
    if (left !== "0") this.#content.append(createNote(text("delivery.several.leftOut", { count: left })));
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
      // Escape stops a running replay and shows its result.
      if (!this.#batch.isRunning) return;
      event.preventDefault();
      this.#batch.stop();
    });
    this.#dialog.on("close", () => {
      this.#batch.stop();
      this.#dialog.remove();
      closed(this.#batch.replayed > 0);
    });
    // The editor has shortcuts of its own.
    this.#dialog.on("keydown", (event) => event.stopPropagation());
    dialog.showModal();
  }

  #offer(icon: string, key: "cancel" | "close" | "replay" | "several.stop", act: () => void): void {
    createButton(icon, text(`delivery.${key}`))
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

  /** The result. */
  #showSum(): void {
    const { replayed, failures, left } = this.#batch;
    this.#title.text(text("delivery.several.sum", { count: numberText(replayed) }));
    this.#content.empty();
    const rows = [...failures].map(([why, count]): [string, string] => [why, numberText(count)]);
    if (rows.length > 0) this.#content.append(createNote(text("delivery.several.failed")), createList(rows));
    if (left > 0) this.#content.append(createNote(text("delivery.several.notSent", { count: numberText(left) })));
    this.#buttons.empty();
    this.#offer("fa-times", "close", () => this.#close());
    this.#focusButton();
  }

  #focusButton(): void {
    this.#buttons.children().first().trigger("focus");
  }
}

/** The nodes, with counts where there are several. */
function listNodes(chosen: readonly Summary[]): JQuery[] {
  const counts = new Map<string, number>();
  for (const { node } of chosen) if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  const rows = [...counts].map(([node, count]): [string, string] => [getNodeName(node), numberText(count)]);
  const [only, ...others] = rows;
  if (!only) return [];
  if (others.length === 0) return [createNote(text("delivery.several.toNode", { name: only[0] }))];
  return [createNote(text("delivery.several.toNodes", { count: numberText(rows.length) })), createList(rows)];
}

// Replays one after the other, so that the flows start in this order.

class ReplayBatch {
  readonly #ids: string[];
  readonly #failures = new Map<string, number>();
  #replayed = 0;
  #ended = 0;
  #isRunning = false;
  #isStopped = false;

  constructor(ids: readonly string[]) {
    this.#ids = [...ids];
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get replayed(): number {
    return this.#replayed;
  }

  /** Counts by reason. */
  get failures(): ReadonlyMap<string, number> {
    return this.#failures;
  }

  /** Not sent, since it was stopped. */
  get left(): number {
    return this.#ids.length;
  }

  /** Resolves when all are replayed, or it was stopped. */
  async run(progress: (ended: number) => void): Promise<void> {
    this.#isRunning = true;
    for (let id = this.#next(); id !== undefined; id = this.#next()) {
      const replayed = await replay(id);
      if ("id" in replayed) this.#replayed += 1;
      else this.#fail(replayed);
      this.#ended += 1;
      progress(this.#ended);
    }
    this.#isRunning = false;
  }

  /** A request on its way is completed. */
  stop(): void {
    this.#isStopped = true;
  }

  #next(): string | undefined {
    return this.#isStopped ? undefined : this.#ids.shift();
  }

  #fail(failure: Failure): void {
    const why = failureText(failure);
    this.#failures.set(why, (this.#failures.get(why) ?? 0) + 1);
    if (isHopeless(failure)) this.stop();
  }
}

// The form of failed deliveries.

const day = 24 * 60 * 60_000;

class FailedSince {
  readonly element = $('<form class="webhook-deliveries-since">');
  readonly #since = $('<input type="datetime-local" id="webhook-deliveries-since">');
  readonly #said = $('<span role="status">');
  readonly #filter: () => Filter;
  #isBusy = false;

  /** @param filter its node limits the search */
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
    this.element.toggle(isOpen).toggleClass("open", isOpen);
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
      this.#said.text(text(`tab.trouble.${toFetchTrouble(error)}`));
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

/** The value of a `datetime-local` input. */
function localTime(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
