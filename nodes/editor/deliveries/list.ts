// The list: only visible rows are in the page.

import { formatReason, type Summary } from "../../../src/deliveries/summary";
import { attemptText, durationText, getStateIcon, getNodeLabel, text, timeText } from "./texts";

interface Listener {
  opened(delivery: Summary): void;
  selected(): void;
  /** The user has scrolled near the end. */
  nearEnd(): void;
  /** The user has scrolled to the top. */
  atTop(): void;
}

/** Heights of a row, and the width from which on one line is enough, in px. */
const oneLine = 26;
const twoLines = 38;
const wide = 560;
/** Rows above and below the visible ones. */
const spare = 6;

export class Rows {
  readonly element = $('<div class="webhook-deliveries-list" role="listbox" aria-multiselectable="true" tabindex="0">');
  readonly #space = $('<div role="presentation">').appendTo(this.element);
  readonly #selection: Selection;
  readonly #listener: Listener;
  #rows: ListRow[] = [];
  #deliveries: readonly Summary[] = [];
  #hasMore = false;
  #active: string | undefined;
  #height = twoLines;
  /** Browsers may forget the scroll position of a hidden element. */
  #scrolled = 0;

  constructor(selection: Selection, listener: Listener) {
    this.#selection = selection;
    this.#listener = listener;
    this.element.attr("aria-label", text("tab.list"));
    this.element.on("scroll", () => this.#scroll());
    this.element.on("keydown", (event) => this.#press(event));
    this.#space.on("click", ".webhook-deliveries-row", (event) => this.#click(event));
  }

  get isScrolled(): boolean {
    return this.#scrolled > 0;
  }

  /** Whether new rows would move what the user reads. */
  get isRead(): boolean {
    return this.isScrolled || (this.#activeIndex > 0 && this.element.is(":focus"));
  }

  show(deliveries: readonly Summary[], hasMore: boolean): void {
    this.#deliveries = deliveries;
    this.#hasMore = hasMore;
    this.render();
  }

  /** Adapts to the available room. */
  resize(): void {
    // The list itself is hidden while it is empty.
    const width = this.element.parent()[0]?.clientWidth ?? 0;
    if (width === 0) return;
    this.#height = width < wide ? twoLines : oneLine;
    this.element.toggleClass("webhook-deliveries-wide", this.#height === oneLine);
    this.render();
    this.element.scrollTop(this.#scrolled);
    this.render();
  }

  focus(): void {
    this.element.trigger("focus");
  }

  toTop(): void {
    this.#scrolled = 0;
    this.#active = undefined;
    this.element.scrollTop(0);
  }

  render(): void {
    const count = this.#deliveries.length;
    this.#space.height(count * this.#height);
    const top = this.element.scrollTop() ?? 0;
    const inSight = Math.ceil(this.#room / this.#height) + 1;
    const shown = Math.min(count, inSight + 2 * spare);
    const first = Math.max(0, Math.min(Math.floor(top / this.#height) - spare, count - shown));
    const last = first + shown;
    this.#provide(shown);
    const size = this.#hasMore ? -1 : count;
    for (let index = first; index < last; index += 1) {
      const delivery = this.#deliveries[index];
      const row = this.#rows[index % this.#rows.length];
      if (!delivery || !row) continue;
      const isActive = delivery.id === this.#active;
      row.show({ delivery, index, size, isActive, isSelected: this.#selection.has(delivery), height: this.#height });
    }
    const active = this.#rows.find(({ element }) => element.classList.contains("active"));
    if (active) this.element.attr("aria-activedescendant", active.element.id);
    else this.element.removeAttr("aria-activedescendant");
    if (this.#hasMore && last > count - inSight * 4) this.#listener.nearEnd();
  }

  /** Rows are reused: each shows the deliveries with the same remainder. */
  #provide(count: number): void {
    for (const { element } of this.#rows.splice(count)) element.remove();
    while (this.#rows.length < count) {
      const row = new ListRow(`webhook-deliveries-row-${this.#rows.length}`);
      this.#rows.push(row);
      this.#space.append(row.element);
    }
  }

  #scroll(): void {
    // A hidden list has no height.
    if (this.#room === 0) return;
    const before = this.#scrolled;
    this.#scrolled = this.element.scrollTop() ?? 0;
    if (before > 0 && this.#scrolled === 0) this.#listener.atTop();
    this.render();
  }

  /** The visible height in px; 0 while hidden. */
  get #room(): number {
    return this.element[0]?.clientHeight ?? 0;
  }

  get #activeIndex(): number {
    return this.#deliveries.findIndex(({ id }) => id === this.#active);
  }

  #press(event: JQuery.KeyDownEvent): void {
    const at = this.#activeIndex;
    const active = this.#deliveries[at];
    const page = Math.max(1, Math.floor(this.#room / this.#height) - 1);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#deliveries.length - 1,
    };
    const target = steps[event.key];
    if (target !== undefined) this.#goTo(target, event.shiftKey);
    else if (event.key === "Enter" && active) this.#listener.opened(active);
    else if (event.key === " " && active) this.#select(() => this.#selection.toggle(active));
    else return;
    event.preventDefault();
    // The editor has shortcuts of its own.
    event.stopPropagation();
  }

  #goTo(place: number, isSelecting: boolean): void {
    const from = this.#deliveries[this.#activeIndex];
    const index = Math.max(0, Math.min(place, this.#deliveries.length - 1));
    const delivery = this.#deliveries[index];
    if (!delivery) return;
    this.#active = delivery.id;
    const top = index * this.#height;
    const scrolled = this.element.scrollTop() ?? 0;
    const room = this.#room;
    if (top < scrolled) this.element.scrollTop(top);
    else if (top + this.#height > scrolled + room) this.element.scrollTop(top + this.#height - room);
    if (isSelecting && from) {
      this.#select(() => {
        if (!this.#selection.has(from)) this.#selection.toggle(from);
        this.#selection.extendTo(delivery, this.#deliveries);
      });
    } else this.render();
  }

  #click(event: JQuery.ClickEvent): void {
    const row = this.#rows.find(({ element }) => element === event.currentTarget);
    const delivery = row?.index === undefined ? undefined : this.#deliveries[row.index];
    if (!delivery) return;
    this.#active = delivery.id;
    const isCheck = $(event.target as Element).closest(".webhook-deliveries-check").length > 0;
    if (event.shiftKey) this.#select(() => this.#selection.extendTo(delivery, this.#deliveries));
    else if (isCheck || event.ctrlKey || event.metaKey) this.#select(() => this.#selection.toggle(delivery));
    else {
      this.#selection.leaveAt(delivery);
      this.render();
      this.#listener.opened(delivery);
    }
  }

  #select(change: () => void): void {
    change();
    this.render();
    this.#listener.selected();
  }
}

// A row: one delivery, in one line or two.

interface ShownRow {
  readonly delivery: Summary;
  /** From 0 on. */
  readonly index: number;
  /** -1 while unknown. */
  readonly size: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly height: number;
}

const parts = ["check", "time", "state", "node", "status", "took", "what"] as const;

class ListRow {
  readonly element = document.createElement("div");
  readonly #parts = Object.fromEntries(parts.map((part) => [part, document.createElement("span")])) as Record<
    (typeof parts)[number],
    HTMLElement
  >;
  #shown: ShownRow | undefined;

  /** @param id of the element, for `aria-activedescendant` */
  constructor(id: string) {
    this.element.id = id;
    this.element.className = "webhook-deliveries-row";
    this.element.setAttribute("role", "option");
    for (const part of parts) this.#parts[part].className = `webhook-deliveries-${part}`;
    this.#parts.check.innerHTML = '<i class="fa fa-fw" aria-hidden="true"></i>';
    this.#parts.state.innerHTML = '<i aria-hidden="true"></i> <span></span>';
    this.element.append(...parts.map((part) => this.#parts[part]));
  }

  get index(): number | undefined {
    return this.#shown?.index;
  }

  show(shown: ShownRow): void {
    const { delivery, index, size, isActive, isSelected, height } = shown;
    if (this.#shown?.delivery !== delivery) this.#fill(delivery);
    if (this.#shown?.index !== index || this.#shown.height !== height) this.element.style.top = `${index * height}px`;
    this.#shown = shown;
    this.element.setAttribute("aria-posinset", String(index + 1));
    this.element.setAttribute("aria-setsize", String(size));
    this.element.setAttribute("aria-selected", String(isSelected));
    this.element.classList.toggle("active", isActive);
    this.#parts.check.firstElementChild?.classList.toggle("fa-check-square-o", isSelected);
    this.#parts.check.firstElementChild?.classList.toggle("fa-square-o", !isSelected);
  }

  #fill(delivery: Summary): void {
    const { time, state, node, status, took, what } = this.#parts;
    time.textContent = timeText(delivery.at);
    state.children[0]?.setAttribute("class", getStateIcon(delivery.state));
    const word = state.children[1];
    if (word) word.textContent = text(`tab.state.${delivery.state}`);
    node.textContent = delivery.node === null ? "" : getNodeLabel(delivery.node);
    node.title = node.textContent;
    status.textContent = delivery.status === null ? "" : String(delivery.status);
    took.textContent = delivery.milliseconds === null ? "" : durationText(delivery.milliseconds);
    what.textContent = describeWhat(delivery);
    what.title = what.textContent;
  }
}

/** Reason of a failure, event, first words, or method and path. */
function describeWhat(delivery: Summary): string {
  const { cause, state, event, words, method, path, replayOf, isTest } = delivery;
  const request = `${method} ${path}`;
  const reason = cause && formatReason(cause, text);
  // Without an endpoint, the path says most.
  const why = cause?.problem === "noEndpoint" ? `${request}: ${reason}` : reason;
  const what = why ?? event ?? words ?? request;
  if (state === "retrying") return `${attemptText(delivery) ?? ""}: ${what}`;
  if (isTest) return text("tab.trial", { what });
  return replayOf === null ? what : text("tab.replayOf", { what });
}

// The selected deliveries.

export class Selection {
  #selected = new Map<string, Summary>();
  /** The beginning of a range. */
  #anchor: string | undefined;

  get size(): number {
    return this.#selected.size;
  }

  get all(): Summary[] {
    return [...this.#selected.values()];
  }

  has({ id }: Summary): boolean {
    return this.#selected.has(id);
  }

  toggle(delivery: Summary): void {
    if (!this.#selected.delete(delivery.id)) this.#selected.set(delivery.id, delivery);
    this.#anchor = delivery.id;
  }

  /** Selects a range from the anchor. */
  extendTo(delivery: Summary, all: readonly Summary[]): void {
    const place = all.findIndex(({ id }) => id === delivery.id);
    const anchor = all.findIndex(({ id }) => id === this.#anchor);
    const from = anchor === -1 ? place : anchor;
    for (const each of all.slice(Math.min(from, place), Math.max(from, place) + 1)) this.#selected.set(each.id, each);
  }

  /** Sets the anchor. */
  leaveAt({ id }: Summary): void {
    this.#anchor = id;
  }

  clear(): void {
    this.#selected = new Map();
  }
}
