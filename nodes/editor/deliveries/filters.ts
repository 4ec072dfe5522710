// The filters above the list: a node, a state, a text.

import type { Summary } from "../../../src/deliveries/summary";
import { everything, type Filter } from "./api";
import { namedNodes, states, text } from "./texts";

/** A search begins so long after the last key, in ms. */
const patience = 300;

export class Filters {
  readonly element = $('<div class="webhook-deliveries-filters">');
  readonly #node = $("<select>");
  readonly #state = $("<select>");
  readonly #text = $('<input type="search">');
  readonly #clear = $('<button type="button" class="red-ui-button red-ui-button-small">');
  readonly #changed: (filter: Filter) => void;
  #typed: ReturnType<typeof setTimeout> | undefined;

  constructor(changed: (filter: Filter) => void) {
    this.#changed = changed;
    this.#node.attr("aria-label", text("tab.filter.node"));
    this.#state.attr("aria-label", text("tab.filter.state")).append(new Option(text("tab.filter.allStates"), ""));
    for (const state of states) this.#state.append(new Option(text(`tab.state.${state}`), state));
    this.#text.attr({ "aria-label": text("tab.filter.text"), placeholder: text("tab.filter.text") });
    this.#clear.append('<i class="fa fa-times" aria-hidden="true">').attr("aria-label", text("tab.filter.clear"));
    this.#clear.on("click", () => this.set(everything));
    this.#clear.attr("title", text("tab.filter.clear"));
    this.element.append(this.#node, this.#state, this.#text, this.#clear);
    this.#node.add(this.#state).on("change", () => this.#tell());
    this.#text.on("input", () => {
      clearTimeout(this.#typed);
      this.#typed = setTimeout(() => this.#tell(), patience);
    });
    // Nodes may have changed.
    this.#node.on("focus", () => this.showNodes());
    this.showNodes();
    this.#clear.hide();
  }

  set({ node, state, text }: Filter): void {
    this.#offer(node);
    this.#node.val(node);
    this.#state.val(state);
    this.#text.val(text);
    this.#tell();
  }

  focus(): void {
    this.#node.trigger("focus");
  }

  /** @param used ids of nodes with deliveries, which may have been deleted */
  showNodes(used: Iterable<string> = []): void {
    const named = namedNodes();
    const chosen = String(this.#node.val() ?? "");
    const options = [
      new Option(text("tab.filter.allNodes"), ""),
      ...Array.from(named, ([id, name]) => new Option(name, id)),
    ];
    const listed = createOptions(this.#node);
    const deleted = [...new Set([...used, ...listed, chosen])].filter((id) => id !== "" && !named.has(id));
    for (const id of deleted) options.push(new Option(text("tab.filter.deleted", { id }), id));
    const isSame = options.map(({ value, text }) => value + text).join() === listTexts(this.#node);
    if (!isSame) this.#node.empty().append(options).val(chosen);
  }

  /** Adds a node to the list, even a deleted one. */
  #offer(id: string): void {
    if (id !== "") this.showNodes([id]);
  }

  #tell(): void {
    clearTimeout(this.#typed);
    const filter: Filter = {
      node: String(this.#node.val() ?? ""),
      state: toState(this.#state.val()),
      text: String(this.#text.val() ?? "").trim(),
    };
    const isSet = Object.values(filter).some((value) => value !== "");
    // A hidden button cannot keep the focus.
    if (!isSet && this.#clear.is(":focus")) this.focus();
    this.#clear.toggle(isSet);
    this.#changed(filter);
  }
}

function toState(value: unknown): Summary["state"] | "" {
  return states.find((state) => state === value) ?? "";
}

function createOptions(select: JQuery): string[] {
  return select.find("option").map((_, option) => String($(option).val())).toArray(); // prettier-ignore
}

function listTexts(select: JQuery): string {
  return select.find("option").map((_, option) => String($(option).val()) + $(option).text()).toArray().join(); // prettier-ignore
}
