// Replays of several deliveries: the selected ones, or those that failed since a time.

import { isReplayable, type Summary } from "../../../src/deliveries/summary";
import { askForPage, classifyTrouble, failureText, replay } from "./api";
import { createButton, createList, createNote } from "./content";
import type { DeliveryList } from "./list";
import { getNodeName, numberText, text } from "./texts";

const smallButton = '<button type="button" class="red-ui-button red-ui-button-small">';

/** The buttons of the selected deliveries, and the form of the failed ones. */
export class ReplayTools {
  readonly element = $("<div>");
  /** Opens the form. */
  readonly failed = $(smallButton);
  readonly #list: DeliveryList;
  readonly #replay = $(smallButton);
  readonly #unselect = $(smallButton);
  readonly #leftOut = $("<span>");

  /** @param getNode the node that failed deliveries are searched of; empty: all */
  constructor(list: DeliveryList, getNode: () => string) {
    this.#list = list;
    const unselect = () => {
      list.unselect();
      this.show();
    };
    this.#unselect.text(text("tab.unselect")).on("click", unselect);
    this.#replay.on("click", () => {
      void replaySeveral(list.selected).then((hasReplayed) => hasReplayed && unselect());
    });
    const form = createFailedForm(getNode);
    this.failed
      .text(text("tab.failed.open"))
      .attr({ title: text("tab.failed.open"), "aria-expanded": "false", "aria-controls": form.attr("id") })
      .on("click", () => {
        const isOpen = this.failed.attr("aria-expanded") !== "true";
        this.failed.attr("aria-expanded", String(isOpen));
        form.toggle(isOpen);
        if (isOpen) form.trigger("reset");
      });
    const buttons = $('<div class="webhook-deliveries-tools">').append(this.#replay, this.#unselect, this.#leftOut);
    this.element.append(form, buttons);
    this.show();
  }

  /** Shows what can be done with the selected deliveries. */
  show(): void {
    const { selected } = this.#list;
    const count = selected.filter(({ state }) => isReplayable(state)).length;
    const left = selected.length - count;
    this.#replay.text(text("tab.replay", { count: numberText(count) })).toggle(count > 0);
    this.#unselect.toggle(selected.length > 0);
    this.#leftOut.text(left > 0 ? text("delivery.several.leftOut", { count: numberText(left) }) : "");
  }
}

// Failed deliveries since a time.

const day = 24 * 60 * 60_000;

/** @param getNode limits the search; empty: all */
function createFailedForm(getNode: () => string): JQuery {
  const form = $('<form class="webhook-deliveries-since" id="webhook-deliveries-failed">').hide();
  const since = $('<input type="datetime-local" id="webhook-deliveries-since">');
  const result = $('<span role="status">');
  form.append(
    $('<label for="webhook-deliveries-since">').text(text("tab.failed.since")),
    since,
    $('<button class="red-ui-button red-ui-button-small">').text(text("tab.failed.replay")),
    result,
  );
  form.on("reset", (event) => {
    event.preventDefault();
    result.text("");
    since.val(formatLocal(Date.now() - day)).trigger("focus");
  });
  let isBusy = false;
  form.on("submit", (event) => {
    event.preventDefault();
    const begin = new Date(String(since.val())).getTime();
    if (isBusy || Number.isNaN(begin)) return;
    isBusy = true;
    void listFailed(begin, getNode())
      .then((failed) => {
        result.text(text("tab.failed.found", { count: numberText(failed.length) }));
        return failed.length > 0 && replaySeveral(failed);
      })
      .catch((error: unknown) => result.text(text(`tab.trouble.${classifyTrouble(error)}`)))
      .finally(() => (isBusy = false));
  });
  return form;
}

async function listFailed(since: number, node: string): Promise<Summary[]> {
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
function formatLocal(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// The dialog that confirms a replay of several deliveries.

/** Resolves when the dialog is closed: with whether any was replayed. */
function replaySeveral(deliveries: readonly Summary[]): Promise<boolean> {
  // The oldest first.
  const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
  const total = chosen.length;
  const titleId = "webhook-delivery-dialog-title";
  const dialog = document.createElement("dialog");
  const title = $("<div>", { id: titleId, role: "heading", "aria-level": 2, tabindex: -1 });
  const content = $("<div>");
  const buttons = $("<div>", { class: "webhook-delivery-buttons" });
  const failures = new Map<string, number>();
  let done = 0;
  let replayed = 0;
  let isRunning = false;
  let isStopped = false;

  const show = (heading: string, shown: readonly JQuery[], offered: readonly JQuery[]) => {
    title.text(heading);
    content.empty().append(...shown);
    buttons.empty().append(...offered);
    offered[0]?.trigger("focus");
  };
  const offer = (icon: string, key: string, act: () => void) =>
    createButton(icon, text(`delivery.${key}`)).on("click", act);
  const close = () => dialog.close();
  const stop = () => (isStopped = true);

  const ask = () => {
    const key = total > 0 ? "delivery.several.ask" : "delivery.several.none";
    const left = createCount("leftOut", deliveries.length - total);
    const offered = [offer("fa-times", "cancel", close), offer("fa-repeat", "replay", () => void run())];
    const shown = [...listNodes(chosen), ...left];
    show(text(key, { count: numberText(total) }), shown, total > 0 ? offered : [offer("fa-times", "close", close)]);
  };
  /** Replays one after the other, so that the flows start in this order. */
  const run = async () => {
    const bar = $("<progress>", { max: total, "aria-label": text("delivery.several.progress") });
    const count = $("<span>");
    const progress = () => {
      bar.val(done);
      count.text(text("delivery.several.done", { done: numberText(done), total: numberText(total) }));
    };
    const line = $("<div>", { class: "webhook-delivery-progress" }).append(bar, " ", count);
    show(text("delivery.several.progress"), [line], [offer("fa-stop", "several.stop", stop)]);
    isRunning = true;
    for (const { id } of chosen) {
      if (isStopped) break;
      progress();
      try {
        await replay(id);
        replayed += 1;
      } catch (error) {
        const why = failureText(error);
        failures.set(why, (failures.get(why) ?? 0) + 1);
        // The others would fail, too.
        if (["forbidden", "unreachable"].includes(classifyTrouble(error))) stop();
      }
      done += 1;
    }
    isRunning = false;
    showResult();
  };
  const showResult = () => {
    const rows = Array.from(failures, ([why, count]) => [why, numberText(count)] as const);
    const failed = rows.length > 0 ? [createNote(text("delivery.several.failed")), createList(rows)] : [];
    const left = createCount("notSent", total - done);
    const heading = text("delivery.several.sum", { count: numberText(replayed) });
    show(heading, [...failed, ...left], [offer("fa-times", "close", close)]);
  };

  $(dialog)
    .attr({ class: "webhook-delivery-dialog", "aria-labelledby": titleId })
    .append($("<div>", { "aria-live": "polite" }).append(title), content, buttons)
    .on("cancel", (event) => {
      // Escape stops a running replay and shows its result.
      if (isRunning) event.preventDefault();
      stop();
    })
    // The editor has shortcuts of its own.
    .on("keydown", (event) => event.stopPropagation())
    .appendTo("body");
  ask();
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      stop();
      dialog.remove();
      resolve(replayed > 0);
    });
  });
}

function createCount(key: "leftOut" | "notSent", count: number): JQuery[] {
  return count > 0 ? [createNote(text(`delivery.several.${key}`, { count: numberText(count) }))] : [];
}

/** The nodes, with counts where there are several. */
function listNodes(chosen: readonly Summary[]): JQuery[] {
  const counts = new Map<string, number>();
  for (const { node } of chosen) if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  const rows = Array.from(counts, ([node, count]) => [getNodeName(node), numberText(count)] as const);
  const [only, ...others] = rows;
  if (!only) return [];
  if (others.length === 0) return [createNote(text("delivery.several.toNode", { name: only[0] }))];
  return [createNote(text("delivery.several.toNodes", { count: numberText(rows.length) })), createList(rows)];
}
