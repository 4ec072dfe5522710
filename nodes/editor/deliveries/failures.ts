// Failed deliveries by their cause, above the list.

import { describeError, type FailureGroup, type FailureGroups, lateAnswer } from "../../../src/deliveries/summary";
import { create, renewContent, setAttributes, setText, toggle } from "../dom";
import { askForFailures } from "./api";
import { createButton, createNote } from "./content";
import { host } from "./host";
import { GroupPlan, runReplays } from "./replay";
import { getNodeLabel, numberText, text, timeText } from "./texts";

interface FailuresListener {
  /** The user wants to see the deliveries of a group. */
  filtered: (group: FailureGroup) => void;
  replayed: () => void;
}

export class Failures {
  readonly #sum = create("summary");
  readonly #groups = create("div", { class: "webhook-deliveries-groups" });
  readonly element = create("details", { class: "webhook-deliveries-failures" }, this.#sum, this.#groups);
  readonly #listener: FailuresListener;
  /** What is shown, as JSON. */
  #shown = "";

  constructor(listener: FailuresListener) {
    this.#listener = listener;
    toggle(this.element, false);
  }

  /** @param node empty: all @returns whether there was an answer */
  async renew(node: string): Promise<boolean> {
    try {
      this.#show(await askForFailures(node));
      return true;
    } catch {
      // The list says why.
      return false;
    }
  }

  #show(found: FailureGroups): void {
    const { groups, causes, failures, hasMore } = found;
    toggle(this.element, failures > 0);
    const counts = { count: numberText(failures), causes: numberText(causes) };
    setText(this.#sum, text(hasMore ? "failures.newest" : "failures.sum", counts));
    // A time of today gets its date at midnight.
    const shown = JSON.stringify([found, groups.map(({ node, last }) => [getNodeLabel(node), timeText(last)])]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const rest = causes - groups.length;
    const more = rest > 0 ? [createNote(text("failures.more", { count: numberText(rest) }))] : [];
    renewContent(this.#groups, [...groups.map((group) => this.#createGroup(group)), ...more]);
  }

  #createGroup(group: FailureGroup): HTMLElement {
    const { node, count, last } = group;
    const error = describeCause(group);
    const named = { error, name: getNodeLabel(node) };
    const values = { name: named.name, count: numberText(count), time: timeText(last) };
    const buttons = create("span", { class: "webhook-deliveries-group-buttons" });
    const add = (icon: string, name: string, label: string, act: () => void) => {
      const button = createButton(icon, name);
      setAttributes(button, { "aria-label": label });
      button.addEventListener("click", act);
      buttons.append(button);
    };
    const show = text("failures.show");
    add("fa-filter", show, `${show}: ${error}`, () => this.#listener.filtered(group));
    if (host().mayWrite()) {
      const replay = text("tab.replay", { count: numberText(count) });
      add("fa-repeat", replay, `${replay}: ${error}`, () => {
        void runReplays(new GroupPlan(group, error)).then((hasReplayed) => hasReplayed && this.#listener.replayed());
      });
    }
    const said = create("span", {}, create("b", {}, error), " ", text("failures.group", values));
    return create("div", { class: "webhook-deliveries-group" }, said, buttons);
  }
}

/** The error of a group in words. */
export function describeCause({ error }: Pick<FailureGroup, "error">): string {
  return error === lateAnswer ? text("refused.flowLate") : describeError(error, text);
}
