// Failed deliveries by their cause, above the list.

import { describeError } from "../../../src/admin/summary";
import type { FailureGroup, FailureGroups } from "../../../src/deliveries/failures";
import { lateReply } from "../../../src/deliveries/states";
import { create, renewContent, setAttributes, setText, toggle } from "../dom";
import { askForFailures } from "./api";
import { createButton, createNote } from "./content";
import { host } from "./host";
import { runPlan } from "./dialog";
import { removeGroup } from "./removal";
import { GroupPlan } from "./replay";
import { getNodeLabel, numberText, text, timeText } from "./texts";

interface FailuresListener {
  /** The user wants to see the deliveries of a group. */
  filtered: (group: FailureGroup) => void;
  replayed: () => void;
  /** @param count may be 0 */
  deleted: (count: number) => void;
}

export class Failures {
  readonly #sum = create("summary");
  readonly #groups = create("div", { class: "webhook-deliveries-groups" });
  readonly element = create("details", { class: "webhook-deliveries-failures" }, this.#sum, this.#groups);
  readonly #listener: FailuresListener;

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

  #show({ groups, causes, failures, hasMore }: FailureGroups): void {
    toggle(this.element, failures > 0);
    const counts = { count: numberText(failures), causes: numberText(causes) };
    setText(this.#sum, text(hasMore ? "failures.newest" : "failures.sum", counts));
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
      button.onclick = act;
      buttons.append(button);
    };
    const show = text("failures.show");
    add("fa-filter", show, `${show}: ${error}`, () => this.#listener.filtered(group));
    if (host().mayWrite()) {
      const replay = text("tab.replay", { count: numberText(count) });
      add("fa-repeat", replay, `${replay}: ${error}`, () => {
        void runPlan(new GroupPlan(group, error)).then((replayed) => replayed > 0 && this.#listener.replayed());
      });
      const remove = text("delivery.delete");
      add("fa-trash", remove, `${remove}: ${error}`, () => {
        void removeGroup(group, error).then((deleted) => this.#listener.deleted(deleted));
      });
    }
    const said = create("span", {}, create("b", {}, error), " ", text("failures.group", values));
    const key = JSON.stringify([node, group.error]);
    return create("div", { class: "webhook-deliveries-group", "data-key": key }, said, buttons);
  }
}

/** The error of a group in words. */
export function describeCause({ error }: Pick<FailureGroup, "error">): string {
  return error === lateReply ? text("refused.flowLate") : describeError(error, text);
}
