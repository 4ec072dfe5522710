// Replays of several deliveries: the selected ones, or those that failed since a time.

import type { Summary } from "../../../src/admin/summary";
import type { FailureGroup } from "../../../src/deliveries/failures";
import { isReplayable } from "../../../src/deliveries/states";
import { create, setAttributes, toggle } from "../dom";
import {
  listAll,
  classifyError,
  everything,
  failureText,
  type ListFilter,
  replayReasonText,
  replay,
  replayGroup,
} from "./api";
import { createList, createNote, smallButton } from "./content";
import { createCount, type Plan, runPlan, type Step } from "./dialog";
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
      void runPlan(new SelectionPlan(list.selected)).then((replayed) => replayed > 0 && unselect());
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
    const { node, error } = getFilter();
    void listAll({ ...everything, node, error, state: "failed" }, { since: begin })
      .then((failed) => {
        result.textContent = text("tab.failed.found", { count: numberText(failed.length) });
        return failed.length > 0 ? runPlan(new SelectionPlan(failed)) : 0;
      })
      .catch((error: unknown) => (result.textContent = text(`tab.trouble.${classifyError(error)}`)))
      .finally(() => (isBusy = false));
  });
  return form;
}

/** The value of a `datetime-local` input. */
function formatLocal(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// What is replayed, step by step.

/** One after the other, the oldest first, so that the flows start in this order. */
class SelectionPlan implements Plan {
  readonly texts = "several";
  readonly total: number;
  readonly about: readonly HTMLElement[];
  readonly #ids: string[];

  constructor(deliveries: readonly Summary[]) {
    const chosen = deliveries.filter(({ state }) => isReplayable(state)).sort((one, other) => one.at - other.at);
    this.total = chosen.length;
    const nodes = new Map<string, number>();
    for (const { node } of chosen) if (node !== null) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    this.about = [...listNodes(nodes), ...createCount("several.leftOut", deliveries.length - chosen.length)];
    this.#ids = chosen.map(({ id }) => id);
  }

  async step(): Promise<Step> {
    const isLast = this.#ids.length < 2;
    try {
      await replay(this.#ids.shift() ?? "");
      return { done: 1, failures: [], isLast };
    } catch (error) {
      // The others would fail, too.
      const isOver = ["forbidden", "unreachable", "inFront"].includes(classifyError(error));
      return { done: 0, failures: [[failureText(error), 1]], isLast: isLast || isOver };
    }
  }
}

/** Replays the failed deliveries of a group, of which the page may have loaded none. */
export class GroupPlan implements Plan {
  readonly texts = "several";
  readonly about: readonly HTMLElement[];
  readonly #group: FailureGroup;
  #after: string | undefined;

  constructor(group: FailureGroup, cause: string) {
    this.#group = group;
    this.about = [
      createNote(text("failures.only", { error: cause })),
      ...listNodes(new Map([[group.node, group.count]])),
    ];
  }

  get total(): number {
    return this.#group.count;
  }

  async step(): Promise<Step> {
    try {
      const { replayed, left, next } = await replayGroup(this.#group, this.#after);
      this.#after = next ?? undefined;
      const failures = left.map(({ code, count }) => [replayReasonText(code), count] as const);
      return { done: replayed, failures, isLast: next === null };
    } catch (error) {
      return { done: 0, failures: [[failureText(error), 0]], isLast: true };
    }
  }
}

/** The nodes, with counts where there are several. */
function listNodes(counts: ReadonlyMap<string, number>): HTMLElement[] {
  const rows = Array.from(counts, ([node, count]) => [getNodeName(node), numberText(count)] as const);
  const [only, ...others] = rows;
  if (!only) return [];
  if (others.length === 0) return [createNote(text("delivery.several.toNode", { name: only[0] }))];
  return [createNote(text("delivery.several.toNodes", { count: numberText(rows.length) })), createList(rows)];
}
