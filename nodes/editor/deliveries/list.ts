// The list of deliveries, and the selected ones.

import { formatReason, type Summary } from "../../../src/admin/summary";
import { create, renewContent, setAttributes } from "../dom";
import { attemptText, createState, durationText, getNodeLabel, text, timeText } from "./texts";

interface ListListener {
  opened(delivery: Summary): void;
  selected(): void;
  /** The user has scrolled near the end. */
  nearEnd(): void;
  /** The user has scrolled to the top. */
  atTop(): void;
}

interface ListRow {
  readonly element: HTMLElement;
  /** What the row shows. */
  readonly shown: string;
}

export class DeliveryRows {
  readonly element = create("div", { class: "webhook-deliveries-list", role: "listbox", tabindex: 0 });
  readonly #listener: ListListener;
  /** By the id of the delivery. */
  #rows = new Map<string, ListRow>();
  #deliveries: readonly Summary[] = [];
  readonly #selected = new Map<string, Summary>();
  /** The id of the delivery that the keyboard is at. */
  #active: string | undefined;
  /** The id of the delivery where a range of selected ones begins. */
  #anchor: string | undefined;
  /** A new row above would move the pressed one away. */
  #isPressed = false;
  /** Browsers may forget the scroll position of a hidden element. */
  #scrolled = 0;

  constructor(listener: ListListener) {
    this.#listener = listener;
    setAttributes(this.element, { "aria-multiselectable": "true", "aria-label": text("tab.list") });
    this.element.addEventListener("scroll", () => this.#scroll());
    this.element.addEventListener("keydown", (event) => this.#press(event));
    this.element.addEventListener("click", (event) => this.#click(event));
    this.element.addEventListener("pointerdown", () => {
      this.#isPressed = true;
      const release = () => (this.#isPressed = false);
      for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, { once: true });
    });
  }

  /** Whether new rows would move what the user reads. */
  get isRead(): boolean {
    return this.#isPressed || this.#scrolled > 0 || (this.#activeIndex > 0 && this.element === document.activeElement);
  }

  get selected(): readonly Summary[] {
    return [...this.#selected.values()];
  }

  unselect(): void {
    this.#selected.clear();
    this.#mark();
  }

  focus(): void {
    this.element.focus();
  }

  restoreScroll(): void {
    this.element.scrollTop = this.#scrolled;
  }

  /** Begins anew at the top. */
  reset(): void {
    this.#active = undefined;
    this.#scrolled = 0;
    this.restoreScroll();
  }

  /** Rows that have not changed stay in the page: a screen reader may be at one. */
  show(deliveries: readonly Summary[]): void {
    this.#deliveries = deliveries;
    const before = this.#rows;
    this.#rows = new Map(deliveries.map((delivery) => [delivery.id, renewRow(before.get(delivery.id), delivery)]));
    let next = this.element.firstElementChild;
    for (const { element } of this.#rows.values()) {
      if (element === next) next = next.nextElementSibling;
      else this.element.insertBefore(element, next);
    }
    while (next) {
      const gone = next;
      next = next.nextElementSibling;
      gone.remove();
    }
    this.#mark();
    this.#checkEnd();
  }

  /** Shows which rows are selected and active. */
  #mark(): void {
    for (const [id, { element }] of this.#rows) {
      const isSelected = this.#selected.has(id);
      element.classList.toggle("active", id === this.#active);
      if (element.getAttribute("aria-selected") === String(isSelected)) continue;
      element.setAttribute("aria-selected", String(isSelected));
      const icon = element.querySelector(".webhook-deliveries-check > i");
      if (icon) icon.className = `fa fa-fw ${isSelected ? "fa-check-square-o" : "fa-square-o"}`;
    }
    const active = this.#active === undefined ? undefined : this.#rows.get(this.#active);
    setAttributes(this.element, { "aria-activedescendant": active?.element.id });
  }

  #scroll(): void {
    const { scrollTop, clientHeight } = this.element;
    // A hidden list has no height.
    if (clientHeight === 0) return;
    if (this.#scrolled > 0 && scrollTop === 0) this.#listener.atTop();
    this.#scrolled = scrollTop;
    this.#checkEnd();
  }

  #checkEnd(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    if (clientHeight > 0 && scrollTop + 5 * clientHeight > scrollHeight) this.#listener.nearEnd();
  }

  get #activeIndex(): number {
    return this.#deliveries.findIndex(({ id }) => id === this.#active);
  }

  #press(event: KeyboardEvent): void {
    const at = this.#activeIndex;
    const active = this.#deliveries[at];
    const targets: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: this.#deliveries.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) this.#goTo(target, event.shiftKey);
    else if (event.key === "Enter" && active) this.#listener.opened(active);
    else if (event.key === " " && active) this.#select(() => this.#toggle(active));
    else return;
    event.preventDefault();
    // The editor has shortcuts of its own.
    event.stopPropagation();
  }

  #goTo(index: number, isSelecting: boolean): void {
    const from = this.#deliveries[this.#activeIndex];
    const delivery = this.#deliveries[Math.max(0, Math.min(index, this.#deliveries.length - 1))];
    if (!delivery) return;
    this.#active = delivery.id;
    this.#rows.get(delivery.id)?.element.scrollIntoView({ block: "nearest" });
    if (!isSelecting || !from) return this.#mark();
    this.#select(() => {
      if (!this.#selected.has(from.id)) this.#toggle(from);
      this.#extendTo(delivery);
    });
  }

  #click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const row = target?.closest(".webhook-deliveries-row");
    const delivery = this.#deliveries.find(({ id }) => this.#rows.get(id)?.element === row);
    if (!delivery) return;
    this.#active = delivery.id;
    const isCheck = target?.closest(".webhook-deliveries-check");
    if (event.shiftKey) this.#select(() => this.#extendTo(delivery));
    else if (isCheck || event.ctrlKey || event.metaKey) this.#select(() => this.#toggle(delivery));
    else {
      this.#anchor = delivery.id;
      this.#mark();
      this.#listener.opened(delivery);
    }
  }

  #select(change: () => void): void {
    change();
    this.#mark();
    this.#listener.selected();
  }

  #toggle(delivery: Summary): void {
    if (!this.#selected.delete(delivery.id)) this.#selected.set(delivery.id, delivery);
    this.#anchor = delivery.id;
  }

  /** Selects the range from the anchor. */
  #extendTo(delivery: Summary): void {
    const end = this.#deliveries.indexOf(delivery);
    const anchor = this.#deliveries.findIndex(({ id }) => id === this.#anchor);
    const begin = anchor === -1 ? end : anchor;
    const range = this.#deliveries.slice(Math.min(begin, end), Math.max(begin, end) + 1);
    for (const each of range) this.#selected.set(each.id, each);
  }
}

/** Keeps the row of an unchanged delivery. */
function renewRow(row: ListRow | undefined, delivery: Summary): ListRow {
  const { id, node, at, status, milliseconds } = delivery;
  const name = node === null ? "" : getNodeLabel(node);
  const shown = JSON.stringify([delivery, name]);
  if (row?.shown === shown) return row;
  const element = row?.element ?? create("div");
  const what = describeWhat(delivery);
  const cells = {
    check: [create("i", { class: "fa fa-fw fa-square-o", "aria-hidden": "true" })],
    time: [timeText(at)],
    state: createState(delivery),
    node: [name],
    status: status === null ? [] : [String(status)],
    took: milliseconds === null ? [] : [durationText(milliseconds)],
    what: [what],
  };
  const titles: Partial<Record<string, string>> = { node: name, what };
  setAttributes(element, {
    id: `webhook-deliveries-row-${id}`,
    class: "webhook-deliveries-row",
    role: "option",
    "aria-selected": undefined,
  });
  renewContent(
    element,
    Object.entries(cells).map(([cell, content]) => {
      const span = create("span", { class: `webhook-deliveries-${cell}`, title: titles[cell] }, ...content);
      span.style.gridArea = cell;
      return span;
    }),
  );
  return { element, shown };
}

/** Reason of a failure, event, first words, or method and path. */
function describeWhat(delivery: Summary): string {
  const { cause, state, status, event, words, method, path, replayOf, isTest } = delivery;
  const request = `${method} ${path}`;
  const reason = cause && formatReason(cause, status, text);
  // Without an endpoint, the path says most.
  const why = cause?.problem === "noEndpoint" ? `${request}: ${reason}` : reason;
  const what = why ?? event ?? words ?? request;
  if (state === "retrying") return `${attemptText(delivery) ?? ""}: ${what}`;
  if (isTest) return text("tab.testRequest", { what });
  return replayOf === null ? what : text("tab.replayOf", { what });
}
