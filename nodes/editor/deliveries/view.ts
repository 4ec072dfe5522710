// The list of deliveries with its filters and alerts, or one delivery in its place.

import type { Summary } from "../../../src/admin/summary";
import type { SilentEvent } from "../../../src/flow/outcomes";
import { create, renewContent, setAttributes, setText, toggle } from "../dom";
import {
  askForQueues,
  askForSilent,
  classifyError,
  control,
  everything,
  type ListFilter,
  type QueueSummary,
} from "./api";
import { createButton, createIcon, smallButton } from "./content";
import { OpenDelivery } from "./detail";
import { describeCause, Failures } from "./failures";
import { Feed, Renewals } from "./feed";
import { host } from "./host";
import { DeliveryRows } from "./list";
import { isRemovable, removeFiltered } from "./removal";
import { ReplayTools } from "./replay";
import { getNodeLabel, listNodeNames, minuteText, numberText, states, text } from "./texts";

/** The shortest time between two announcements, in ms. */
const announcementPause = 5000;

export class Deliveries {
  readonly element = create("div", { class: "webhook-deliveries" });
  readonly #pane = create("div", { class: "webhook-deliveries-pane" });
  readonly #notice = create("div", { class: "webhook-deliveries-notice", role: "status" });
  readonly #new = create("button", { type: "button", class: `${smallButton} webhook-deliveries-new` });
  readonly #overview = new Overview(() => this.#renewals.now());
  /** Announces new deliveries to screen readers. */
  readonly #announcement = create("div", { class: "webhook-deliveries-said", role: "status" });
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.#feed.filter.text + this.#feed.filter.error !== "" && !this.#opened.isOpen,
  );
  readonly #failures = new Failures({
    filtered: ({ node, error }) => this.#filter({ ...everything, node, state: "failed", error }),
    replayed: () => this.renew(),
    deleted: (count) => this.#deleted(count),
  });
  /** The runtime has to search. */
  readonly #failureRenewals = new Renewals(
    () => this.#failures.renew(this.#feed.filter.node),
    () => true,
  );
  readonly #opened = new OpenDelivery({
    opened: () => toggle(this.#pane, false),
    closed: () => this.#closed(),
    filtered: (node) => this.filterBy(node),
    deleted: () => {
      this.#opened.close();
      this.#deleted(1);
    },
  });
  /** Deletes what the filter shows. */
  readonly #delete = createButton("fa-trash", text("tab.delete"));
  readonly #filters = new Filters((filter) => this.#choose(filter));
  readonly #feed = new Feed({
    changed: () => this.#show(),
    arrived: (arrived) => this.#announce(arrived),
    isReading: () => this.#list.isRead,
  });
  readonly #list = new DeliveryRows({
    opened: (delivery) => this.#opened.open(delivery),
    selected: () => this.#tools.show(),
    nearEnd: () => void this.#more(),
    atTop: () => this.#feed.release(),
  });
  readonly #tools = new ReplayTools(this.#list, () => this.#feed.filter);
  readonly #observer = new ResizeObserver(() => this.look());
  #unannounced: Summary[] = [];
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  /** Why the last fetch failed: a key under `tab.trouble` in the message catalog. */
  #trouble: string | undefined;
  #isVisible = false;
  /** Whether the filter is the form's, and ends when the tab is left. */
  #isVisit = false;

  constructor() {
    const body = create("div", { class: "webhook-deliveries-body" }, this.#list.element, this.#new);
    this.#filters.element.append(this.#tools.failed, this.#delete);
    toggle(this.#delete, false);
    this.#delete.addEventListener("click", () => {
      void removeFiltered(this.#feed.filter).then((deleted) => this.#deleted(deleted));
    });
    const { element: filters, errorLine } = this.#filters;
    this.#pane.append(filters, errorLine, this.#tools.element, this.#overview.element, this.#failures.element);
    this.#pane.append(this.#notice, body, ...describeSettings());
    this.element.append(this.#pane, this.#opened.element, this.#announcement);
    this.#new.addEventListener("click", () => {
      this.#list.reset();
      this.#feed.release();
      this.#list.focus();
    });
    this.#show();
    this.#observer.observe(this.element);
    document.addEventListener("visibilitychange", this.look);
  }

  /** Nothing is fetched while the tab is hidden. */
  readonly look = (): void => {
    const isVisible = !document.hidden && this.element.clientWidth > 0;
    if (isVisible === this.#isVisible) return;
    this.#isVisible = isVisible;
    if (!isVisible) {
      // The page may be hidden for a moment; another tab ends the visit.
      if (this.#isVisit && !document.hidden) this.#filters.set(everything);
      for (const each of this.#allRenewals) each.stop();
      return;
    }
    this.#list.restoreScroll();
    for (const each of this.#allRenewals) each.start();
  };

  readonly changed = (): void => {
    for (const each of this.#allRenewals) each.soon();
  };

  readonly renew = (): void => {
    for (const each of this.#allRenewals) each.now();
  };

  /** The page has noticed that Node-RED does not answer. */
  miss(error: unknown): void {
    this.#opened.showTrouble(error);
    this.#trouble = classifyError(error);
    this.#show();
  }

  get #allRenewals(): Renewals[] {
    return [this.#renewals, this.#failureRenewals];
  }

  stop(): void {
    document.removeEventListener("visibilitychange", this.look);
    this.#observer.disconnect();
    for (const each of this.#allRenewals) each.stop();
  }

  /** Filters by a node until the tab is left, or the user changes the filter. */
  visit(node: string): void {
    this.filterBy(node);
    this.#isVisit = true;
  }

  filterBy(node: string): void {
    this.#opened.close();
    this.#filter({ ...everything, node });
  }

  #deleted(count: number): void {
    if (count === 0) return;
    this.#announcement.textContent = text("delivery.removal.sum", { count: numberText(count) });
    this.#list.unselect();
    this.#tools.show();
    this.renew();
  }

  #filter(filter: ListFilter): void {
    this.#filters.set(filter);
    this.#filters.focus();
  }

  #choose(filter: ListFilter): void {
    this.#isVisit = false;
    this.#list.unselect();
    this.#tools.show();
    this.#list.reset();
    const isOtherNode = filter.node !== this.#feed.filter.node;
    this.#feed.filter = filter;
    toggle(this.#delete, isRemovable(filter));
    this.#renewals.now();
    if (isOtherNode) this.#failureRenewals.now();
  }

  /** @returns whether there was an answer */
  async #ask(): Promise<boolean> {
    // The list is hidden.
    if (this.#opened.isOpen) return this.#opened.renew();
    // The list is useful without queues and alerts, too.
    const [page, silences, queues] = await Promise.allSettled([this.#feed.renew(), askForSilent(), askForQueues()]);
    this.#trouble = page.status === "rejected" ? classifyError(page.reason) : undefined;
    if (silences.status === "fulfilled") this.#overview.showSilences(silences.value);
    if (queues.status === "fulfilled") this.#overview.showQueues(queues.value, this.#feed.filter.node);
    this.#show();
    return this.#trouble === undefined;
  }

  async #more(): Promise<void> {
    try {
      await this.#feed.more();
    } catch (error) {
      this.#trouble = classifyError(error);
      this.#show();
    }
  }

  #closed(): void {
    toggle(this.#pane, true);
    this.#list.restoreScroll();
    this.#list.focus();
    this.#renewals.now();
  }

  #show(): void {
    const { deliveries, waiting } = this.#feed;
    const notice = this.#composeNotice();
    toggle(this.#notice, notice !== "");
    setText(this.#notice, notice);
    toggle(this.#new, waiting > 0);
    setText(this.#new, text("tab.new", { count: numberText(waiting) }));
    toggle(this.#list.element, deliveries.length > 0);
    this.#list.show(deliveries);
    this.#filters.showNodes(deliveries.flatMap(({ node }) => node ?? []));
  }

  /** In one sentence now and then. */
  #announce(arrived: readonly Summary[]): void {
    this.#unannounced.push(...arrived);
    if (this.#unannounced.length === 0) return;
    this.#announceTimer ??= setTimeout(() => {
      const refused = this.#unannounced.filter(({ state }) => state === "refused");
      const counts = { count: numberText(this.#unannounced.length), refused: numberText(refused.length) };
      this.#announcement.textContent = text("tab.announced", counts);
      this.#unannounced = [];
      this.#announceTimer = undefined;
    }, announcementPause);
  }

  /** Why there is no list. */
  #composeNotice(): string {
    if (this.#trouble) return text(`tab.trouble.${this.#trouble}`);
    if (!this.#feed.isLoaded || this.#feed.deliveries.length > 0) return "";
    if (Object.values(this.#feed.filter).some((value) => value !== "")) return text("tab.noMatch");
    return text(host().keepsNothing ? "tab.trouble.notKept" : "tab.empty");
  }
}

/** Opens the list as a page of its own. */
function createPageLink(): HTMLElement[] {
  const { pageUrl } = host();
  if (pageUrl === undefined) return [];
  const label = text("page.open");
  const attributes = { class: smallButton, href: pageUrl, target: "_blank", rel: "noopener" };
  return [create("a", { ...attributes, "aria-label": label, title: label }, createIcon("fa-external-link"))];
}

/** The settings that are given, from the settings file or the environment; nothing where none is. */
function describeSettings(): HTMLElement[] {
  const lines = host().given.map((line) => create("code", {}, line));
  const heading = create("summary", {}, text("tab.settings"));
  return lines.length > 0 ? [create("details", { class: "webhook-deliveries-settings" }, heading, ...lines)] : [];
}

// The filters above the list: a node, a state, a text.

/** A search begins so long after the last key, in ms. */
const searchDelay = 300;

class Filters {
  readonly element: HTMLElement;
  readonly #node = create("select", { "aria-label": text("tab.filter.node") });
  readonly #state = create("select", { "aria-label": text("tab.filter.state") });
  readonly #text = create("input", { type: "search" });
  readonly #clear = create("button", { type: "button", class: smallButton });
  /** Says which error all of the list have. */
  readonly errorLine = create("div", { class: "webhook-deliveries-error", role: "status" });
  readonly #changed: (filter: ListFilter) => void;
  #error = "";
  #search: ReturnType<typeof setTimeout> | undefined;
  /** The options of the list of nodes. */
  #listed = "";

  constructor(changed: (filter: ListFilter) => void) {
    this.#changed = changed;
    this.#state.append(new Option(text("tab.filter.allStates"), ""));
    for (const state of states) this.#state.append(new Option(text(`tab.state.${state}`), state));
    setAttributes(this.#text, { "aria-label": text("tab.filter.text"), placeholder: text("tab.filter.text") });
    this.#clear.append(createIcon("fa-times"));
    setAttributes(this.#clear, { "aria-label": text("tab.filter.clear"), title: text("tab.filter.clear") });
    toggle(this.#clear, false);
    this.element = create("div", { class: "webhook-deliveries-filters" }, this.#node, this.#state, this.#text, this.#clear); // prettier-ignore
    this.element.append(...createPageLink());
    this.#clear.addEventListener("click", () => this.set(everything));
    for (const select of [this.#node, this.#state]) {
      select.addEventListener("change", () => {
        // It is that of a node's failures.
        this.#error = "";
        this.#change();
      });
    }
    this.#text.addEventListener("input", () => {
      clearTimeout(this.#search);
      this.#search = setTimeout(() => this.#change(), searchDelay);
    });
  }

  set({ node, state, text, error }: ListFilter): void {
    this.#error = error;
    this.showNodes([node]);
    this.#node.value = node;
    this.#state.value = state;
    this.#text.value = text;
    this.#change();
  }

  focus(): void {
    this.#node.focus();
  }

  /** @param used ids of nodes with deliveries, which may have been deleted */
  showNodes(used: readonly string[]): void {
    const chosen = this.#node.value;
    const nodes = new Map([["", text("tab.filter.allNodes")], ...listNodeNames()]);
    for (const id of [...used, chosen]) if (!nodes.has(id)) nodes.set(id, text("tab.filter.deleted", { id }));
    const listed = JSON.stringify([...nodes]);
    // The list may be open.
    if (listed === this.#listed) return;
    this.#listed = listed;
    this.#node.replaceChildren(...Array.from(nodes, ([id, name]) => new Option(name, id)));
    this.#node.value = chosen;
  }

  #change(): void {
    clearTimeout(this.#search);
    const filter: ListFilter = {
      node: this.#node.value,
      state: states.find((state) => state === this.#state.value) ?? "",
      text: this.#text.value.trim(),
      error: this.#error,
    };
    const error = this.#error && describeCause({ error: this.#error });
    setText(this.errorLine, error && text("failures.only", { error }));
    const isSet = Object.values(filter).some((value) => value !== "");
    // A hidden button cannot keep the focus.
    if (!isSet && this.#clear === document.activeElement) this.focus();
    toggle(this.#clear, isSet);
    this.#changed(filter);
  }
}

// The lines above the list: senders that are silent, and queues.

class Overview {
  readonly #silences = create("div", { role: "status" });
  readonly #queues = create("div", { role: "status" });
  readonly element = create("div", {}, this.#silences, this.#queues);
  readonly #controlled: () => void;

  /** @param controlled called when a node was paused or resumed */
  constructor(controlled: () => void) {
    this.#controlled = controlled;
  }

  showSilences(silences: readonly SilentEvent[]): void {
    const lines = silences.map(({ node, hours, since }) => {
      const silent = text("tab.silent", { time: minuteText(since), hours: numberText(hours) });
      return createLine("webhook-deliveries-silent", "fa-exclamation-triangle", node, ` ${silent}`);
    });
    renewContent(this.#silences, lines);
  }

  /** Shows paused queues, and the one of the filtered node. */
  showQueues(queues: readonly QueueSummary[], filtered: string): void {
    const shown = queues.filter(({ node, pause }) => pause !== null || node === filtered);
    const lines = shown.map((queue) => this.#createQueue(queue));
    renewContent(this.#queues, lines);
  }

  #createQueue({ node, pause, queued, retrying }: QueueSummary): HTMLElement {
    const count = numberText(queued + retrying);
    const state = text(`tab.queue.${pause ?? "running"}`, { count });
    const line = createLine("webhook-deliveries-queue", "fa-inbox", node, `: ${state}`);
    if (!host().mayWrite()) return line;
    const action = pause === null ? "pause" : "resume";
    const label = text(`tab.queue.${action}`);
    const button = createButton(action === "pause" ? "fa-pause" : "fa-play", label);
    setAttributes(button, { "aria-label": `${label}: ${getNodeLabel(node)}` });
    button.onclick = () => void this.#control(node, action);
    line.append(button);
    return line;
  }

  async #control(...action: Parameters<typeof control>): Promise<void> {
    try {
      await control(...action);
    } catch (error) {
      const trouble = classifyError(error);
      const key = { forbidden: "tab.queue.forbidden", inFront: "tab.trouble.inFront" } as Record<string, string>;
      host().reportError(text(key[trouble] ?? "tab.queue.failed"));
    }
    this.#controlled();
  }
}

/** An icon, the name of a node, which reveals it, and a text. */
function createLine(style: string, icon: string, node: string, said: string): HTMLElement {
  const name = getNodeLabel(node);
  const words = create("span", { title: name + said }, createNodeName(node, name), said);
  return create("div", { class: style, "data-key": node }, createIcon(icon), words);
}

function createNodeName(node: string, name: string): HTMLElement {
  const { reveal } = host();
  if (!reveal) return create("b", {}, name);
  const label = text("url.reveal", { name });
  const button = create("button", { type: "button", class: "webhook-deliveries-reveal", "aria-label": label }, name);
  button.onclick = () => reveal(node);
  return button;
}
