// Replays of several deliveries: the selected ones, or those that failed since a time.

import { type FailureGroup, isReplayable, type Summary } from "../../../src/deliveries/summary";
import { create, setAttributes, toggle } from "../dom";
import {
  askForPage,
  classifyTrouble,
  everything,
  failureText,
  type ListFilter,
  obstacleText,
  replay,
  replayGroup,
} from "./api";
import { createButton, createList, createNote, smallButton } from "./content";
import { host } from "./host";
import type { DeliveryRows } from "./list";
import { getNodeName, numberText, text } from "./texts";

/** The buttons of the selected deliveries, and the form of the failed ones. */
export class ReplayTools {
  /** Opens the form. */
  readonly failed = create("button", { type: "button", class: smallButton });
  readonly #list: DeliveryRows;
  readonly #replay = create("button", { type: "button", class: smallButton });
  readonly #unselect = create("button", { type: "button", class: smallButton }, text("tab.unselect"));
  readonly #leftOut = create("span");
  readonly element: HTMLElement;

  /** @param getFilter the filter of the list, whose node and cause failed deliveries are searched by */
  constructor(list: DeliveryRows, getFilter: () => ListFilter) {
    this.#list = list;
    const unselect = () => {
      list.unselect();
      this.show();
    };
    this.#unselect.addEventListener("click", unselect);
    this.#replay.addEventListener("click", () => {
      void runReplays(new SelectionPlan(list.selected)).then((hasReplayed) => hasReplayed && unselect());
    });
    const form = createFailedForm(getFilter);
    this.failed.append(text("tab.failed.open"));
    toggle(this.failed, host().mayWrite());
    setAttributes(this.failed, { title: text("tab.failed.open"), "aria-expanded": "false", "aria-controls": form.id });
    this.failed.addEventListener("click", () => {
      const isOpen = this.failed.getAttribute("aria-expanded") !== "true";
      setAttributes(this.failed, { "aria-expanded": String(isOpen) });
      toggle(form, isOpen);
      if (isOpen) form.reset();
    });
    const buttons = [this.#replay, this.#unselect, this.#leftOut];
    this.element = create("div", {}, form, create("div", { class: "webhook-deliveries-tools" }, ...buttons));
    this.show();
  }

  /** Shows what can be done with the selected deliveries. */
  show(): void {
    const { selected } = this.#list;
    const count = selected.filter(({ state }) => isReplayable(state)).length;
    const left = selected.length - count;
    this.#replay.textContent = text("tab.replay", { count: numberText(count) });
    toggle(this.#replay, count > 0 && host().mayWrite());
    toggle(this.#unselect, selected.length > 0);
    this.#leftOut.textContent = left > 0 ? text("delivery.several.leftOut", { count: numberText(left) }) : "";
  }
}

// Failed deliveries since a time.

const day = 24 * 60 * 60_000;

function createFailedForm(getFilter: () => ListFilter): HTMLFormElement {
  const since = create("input", { type: "datetime-local", id: "webhook-deliveries-since" });
  const result = create("span", { role: "status" });
  const form = create(
    "form",
    { class: "webhook-deliveries-since", id: "webhook-deliveries-failed" },
    create("label", { for: since.id }, text("tab.failed.since")),
    since,
    create("button", { class: smallButton }, text("tab.failed.replay")),
    result,
  );
  toggle(form, false);
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    result.textContent = "";
    since.value = formatLocal(Date.now() - day);
    since.focus();
  });
  let isBusy = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const begin = new Date(since.value).getTime();
    if (isBusy || Number.isNaN(begin)) return;
    isBusy = true;
    void listFailed(begin, getFilter())
      .then((failed) => {
        result.textContent = text("tab.failed.found", { count: numberText(failed.length) });
        return failed.length > 0 && runReplays(new SelectionPlan(failed));
      })
      .catch((error: unknown) => (result.textContent = text(`tab.trouble.${classifyTrouble(error)}`)))
      .finally(() => (isBusy = false));
  });
  return form;
}

async function listFailed(since: number, { node, error }: ListFilter): Promise<Summary[]> {
  const found: Summary[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const { deliveries, next } = await askForPage({ ...everything, node, error, state: "failed" }, before);
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

// What is replayed, step by step.

interface ReplayStep {
  readonly replayed: number;
  /** Why others were not, and how many. */
  readonly failures: readonly (readonly [why: string, count: number])[];
  /** Whether nothing is left, or the rest would fail, too. */
  readonly isLast: boolean;
}

interface ReplayPlan {
  readonly total: number;
  /** How many deliveries of each node. */
  readonly nodes: ReadonlyMap<string, number>;
  /** How many of the chosen ones cannot be replayed. */
  readonly leftOut: number;
  /** The error that all of them have, in words. */
  readonly cause?: string;
  step(): Promise<ReplayStep>;
}

/** One after the other, the oldest first, so that the flows start in this order. */
class SelectionPlan implements ReplayPlan {
  readonly total: number;
  readonly leftOut: number;
  readonly nodes = new Map<string, number>();
  readonly #ids: string[];

  constructor(deliveries: readonly Summary[]) {
    const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
    this.total = chosen.length;
    this.leftOut = deliveries.length - chosen.length;
    for (const { node } of chosen) if (node !== null) this.nodes.set(node, (this.nodes.get(node) ?? 0) + 1);
    this.#ids = chosen.map(({ id }) => id);
  }

  async step(): Promise<ReplayStep> {
    const isLast = this.#ids.length < 2;
    try {
      await replay(this.#ids.shift() ?? "");
      return { replayed: 1, failures: [], isLast };
    } catch (error) {
      // The others would fail, too.
      const isOver = ["forbidden", "unreachable"].includes(classifyTrouble(error));
      return { replayed: 0, failures: [[failureText(error), 1]], isLast: isLast || isOver };
    }
  }
}

/** Replays the failed deliveries of a group, of which the page may have loaded none. */
export class GroupPlan implements ReplayPlan {
  readonly leftOut = 0;
  readonly cause: string;
  readonly #group: FailureGroup;
  #after: string | undefined;

  constructor(group: FailureGroup, cause: string) {
    this.#group = group;
    this.cause = cause;
  }

  get total(): number {
    return this.#group.count;
  }

  get nodes(): ReadonlyMap<string, number> {
    return new Map([[this.#group.node, this.#group.count]]);
  }

  async step(): Promise<ReplayStep> {
    try {
      const { replayed, left, next } = await replayGroup(this.#group, this.#after);
      this.#after = next ?? undefined;
      const failures = left.map(({ code, count }) => [obstacleText(code), count] as const);
      return { replayed, failures, isLast: next === null };
    } catch (error) {
      return { replayed: 0, failures: [[failureText(error), 0]], isLast: true };
    }
  }
}

// The dialog that confirms a replay of several deliveries.

/** Resolves when the dialog is closed: with whether any was replayed. */
export function runReplays(plan: ReplayPlan): Promise<boolean> {
  const { total, leftOut, cause } = plan;
  const titleId = "webhook-delivery-dialog-title";
  const title = create("div", { id: titleId, role: "heading", "aria-level": 2 });
  const content = create("div");
  const buttons = create("div", { class: "webhook-delivery-buttons" });
  const dialog = create("dialog", { class: "webhook-delivery-dialog", "aria-labelledby": titleId });
  const failures = new Map<string, number>();
  let done = 0;
  let replayed = 0;
  let isRunning = false;
  let isStopped = false;

  const show = (heading: string, shown: readonly HTMLElement[], offered: readonly HTMLElement[]) => {
    title.textContent = heading;
    content.replaceChildren(...shown);
    buttons.replaceChildren(...offered);
    offered[0]?.focus();
  };
  const offer = (icon: string, key: string, act: () => void) => {
    const button = createButton(icon, text(`delivery.${key}`));
    button.addEventListener("click", act);
    return button;
  };
  const close = () => dialog.close();
  const stop = () => (isStopped = true);

  const ask = () => {
    const key = total > 0 ? "delivery.several.ask" : "delivery.several.none";
    const offered = [offer("fa-times", "cancel", close), offer("fa-repeat", "replay", () => void run())];
    const named = cause === undefined ? [] : [createNote(text("failures.only", { error: cause }))];
    const shown = [...named, ...listNodes(plan.nodes), ...createCount("leftOut", leftOut)];
    show(text(key, { count: numberText(total) }), shown, total > 0 ? offered : [offer("fa-times", "close", close)]);
  };
  const run = async () => {
    const bar = create("progress", { max: total, "aria-label": text("delivery.several.progress") });
    const count = create("span");
    const line = create("div", { class: "webhook-delivery-progress" }, bar, " ", count);
    show(text("delivery.several.progress"), [line], [offer("fa-stop", "several.stop", stop)]);
    isRunning = true;
    for (let isLast = false; !isLast && !isStopped;) {
      bar.value = done;
      count.textContent = text("delivery.several.done", { done: numberText(done), total: numberText(total) });
      const step = await plan.step();
      ({ isLast } = step);
      replayed += step.replayed;
      done += step.replayed;
      for (const [why, number] of step.failures) {
        failures.set(why, (failures.get(why) ?? 0) + number);
        done += number;
      }
    }
    isRunning = false;
    showResult();
  };
  const showResult = () => {
    const rows = Array.from(failures, ([why, count]) => [why, count > 0 ? numberText(count) : ""] as const);
    const follow = replayed > 0 ? [createNote(text("delivery.several.follow"))] : [];
    const failed = rows.length > 0 ? [createNote(text("delivery.several.failed")), createList(rows)] : [];
    const left = createCount("notSent", total - done);
    const heading = text("delivery.several.sum", { count: numberText(replayed) });
    show(heading, [...follow, ...failed, ...left], [offer("fa-times", "close", close)]);
  };

  dialog.append(create("div", { "aria-live": "polite" }, title), content, buttons);
  dialog.addEventListener("cancel", (event) => {
    // Escape stops a running replay and shows its result.
    if (isRunning) event.preventDefault();
    stop();
  });
  // The editor has shortcuts of its own.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);
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

function createCount(key: "leftOut" | "notSent", count: number): HTMLElement[] {
  return count > 0 ? [createNote(text(`delivery.several.${key}`, { count: numberText(count) }))] : [];
}

/** The nodes, with counts where there are several. */
function listNodes(counts: ReadonlyMap<string, number>): HTMLElement[] {
  const rows = Array.from(counts, ([node, count]) => [getNodeName(node), numberText(count)] as const);
  const [only, ...others] = rows;
  if (!only) return [];
  if (others.length === 0) return [createNote(text("delivery.several.toNode", { name: only[0] }))];
  return [createNote(text("delivery.several.toNodes", { count: numberText(rows.length) })), createList(rows)];
}
