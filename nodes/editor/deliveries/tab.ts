// The tab *Webhooks* of the sidebar.

import type { Summary } from "../../../src/deliveries/summary";
import { permissions } from "../../../src/config/host";
import type { SilentEvent } from "../../../src/flow/outcomes";
import { type Editor, renewContent, updateText } from "../host";
import {
  askForQueues,
  askForSilent,
  classifyTrouble,
  control,
  everything,
  type Filter,
  isForbidden,
  type QueueSummary,
} from "./api";
import { createButton, createIcon } from "./content";
import { OpenDelivery } from "./detail";
import { Feed, Renewals } from "./feed";
import { DeliveryList } from "./list";
import { ReplayTools } from "./replay";
import { getNodeLabel, listNodeNames, minuteText, numberText, states, text } from "./texts";

declare const RED: Editor;

const id = "webhook-deliveries";
const action = "webhook-trigger:show-deliveries";
/** The topic of the runtime's push. */
const topic = "webhook-trigger/deliveries";

/** The shortest time between two announcements, in ms. */
const announcementPause = 5000;

/** Exists while the node type is available. */
let deliveries: Deliveries | undefined;

export function addTab(): void {
  const shown = new Deliveries();
  deliveries = shown;
  RED.sidebar.addTab({
    id,
    label: text("tab.label"),
    name: text("tab.label"),
    iconClass: "fa fa-exchange",
    content: shown.element,
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: text("tab.show") });
  RED.comms.subscribe(topic, shown.changed);
  RED.comms.on("connect", shown.renew);
  document.addEventListener("visibilitychange", shown.look);
}

export function removeTab(): void {
  if (!deliveries) return;
  document.removeEventListener("visibilitychange", deliveries.look);
  RED.comms.off("connect", deliveries.renew);
  RED.comms.unsubscribe(topic, deliveries.changed);
  RED.actions.remove(action);
  RED.sidebar.removeTab(id);
  deliveries.stop();
  deliveries = undefined;
}

export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  deliveries?.visit(node);
}

/** The content of the tab: filters, alerts, and the list or one delivery. */
class Deliveries {
  readonly element = $('<div class="webhook-deliveries">');
  readonly #pane = $('<div class="webhook-deliveries-pane">');
  readonly #notice = $('<div class="webhook-deliveries-notice" role="status">');
  readonly #new = $('<button type="button" class="red-ui-button red-ui-button-small webhook-deliveries-new">');
  readonly #overview = new Overview(() => this.#renewals.now());
  /** Announces new deliveries to screen readers. */
  readonly #announcement = $('<div class="webhook-deliveries-said" role="status">');
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.#feed.filter.text !== "" && !this.#opened.isOpen,
  );
  readonly #opened = new OpenDelivery({
    opened: () => this.#pane.hide(),
    closed: () => this.#closed(),
    filtered: (node) => this.filterBy(node),
  });
  readonly #filters = new Filters((filter) => this.#choose(filter));
  readonly #feed = new Feed({
    changed: () => this.#show(),
    arrived: (arrived) => this.#announce(arrived),
    isReading: () => this.#list.isRead,
  });
  readonly #list = new DeliveryList({
    opened: (delivery) => this.#opened.open(delivery),
    selected: () => this.#tools.show(),
    nearEnd: () => void this.#more(),
    atTop: () => this.#feed.release(),
  });
  readonly #tools = new ReplayTools(this.#list, () => this.#feed.filter.node);
  readonly #observer = new ResizeObserver(() => this.look());
  #unannounced: Summary[] = [];
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  /** Why the last fetch failed: a key under `tab.trouble` in the message catalog. */
  #trouble: string | undefined;
  #isVisible = false;
  /** Whether the filter is the form's, and ends when the tab is left. */
  #isVisit = false;

  constructor() {
    const body = $('<div class="webhook-deliveries-body">').append(this.#list.element, this.#new);
    this.#filters.element.append(this.#tools.failed);
    this.#pane.append(this.#filters.element, this.#tools.element, this.#overview.element, this.#notice, body);
    this.#pane.append(describeSettings());
    this.element.append(this.#pane, this.#opened.element, this.#announcement);
    this.#new.on("click", () => {
      this.#list.reset();
      this.#feed.release();
      this.#list.focus();
    });
    this.#show();
    for (const element of this.element) this.#observer.observe(element);
  }

  /** Nothing is fetched while the tab is hidden. */
  readonly look = (): void => {
    const isVisible = !document.hidden && this.element.width() !== 0 && this.element.is(":visible");
    if (isVisible === this.#isVisible) return;
    this.#isVisible = isVisible;
    if (!isVisible) {
      // The page may be hidden for a moment; another tab ends the visit.
      if (this.#isVisit && !document.hidden) this.#filters.set(everything);
      return this.#renewals.stop();
    }
    this.#list.restoreScroll();
    this.#renewals.start();
  };

  readonly changed = (): void => this.#renewals.soon();

  readonly renew = (): void => this.#renewals.now();

  stop(): void {
    this.#observer.disconnect();
    this.#renewals.stop();
  }

  /** Filters by a node until the tab is left, or the user changes the filter. */
  visit(node: string): void {
    this.filterBy(node);
    this.#isVisit = true;
  }

  filterBy(node: string): void {
    this.#opened.close();
    this.#filters.set({ ...everything, node });
    this.#filters.focus();
  }

  #choose(filter: Filter): void {
    this.#isVisit = false;
    this.#list.unselect();
    this.#tools.show();
    this.#list.reset();
    this.#feed.filter = filter;
    this.#renewals.now();
  }

  /** @returns whether there was an answer */
  async #ask(): Promise<boolean> {
    // The list is hidden.
    if (this.#opened.isOpen) return this.#opened.renew();
    // The list is useful without queues and alerts, too.
    const [page, silences, queues] = await Promise.allSettled([this.#feed.renew(), askForSilent(), askForQueues()]);
    this.#trouble = page.status === "rejected" ? classifyTrouble(page.reason) : undefined;
    if (silences.status === "fulfilled") this.#overview.showSilences(silences.value);
    if (queues.status === "fulfilled") this.#overview.showQueues(queues.value, this.#feed.filter.node);
    this.#show();
    return this.#trouble === undefined;
  }

  async #more(): Promise<void> {
    try {
      await this.#feed.more();
    } catch (error) {
      this.#trouble = classifyTrouble(error);
      this.#show();
    }
  }

  #closed(): void {
    this.#pane.show();
    this.#list.restoreScroll();
    this.#list.focus();
    this.#renewals.now();
  }

  #show(): void {
    const { deliveries, waiting } = this.#feed;
    const notice = this.#composeNotice();
    updateText(this.#notice.toggle(notice !== ""), notice);
    this.#new.toggle(waiting > 0).text(text("tab.new", { count: numberText(waiting) }));
    this.#list.element.toggle(deliveries.length > 0);
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
      this.#announcement.text(text("tab.announced", counts));
      this.#unannounced = [];
      this.#announceTimer = undefined;
    }, announcementPause);
  }

  /** Why there is no list. */
  #composeNotice(): string {
    if (this.#trouble) return text(`tab.trouble.${this.#trouble}`);
    if (!this.#feed.isLoaded || this.#feed.deliveries.length > 0) return "";
    if (Object.values(this.#feed.filter).some((value) => value !== "")) return text("tab.noMatch");
    return text(RED.settings.webhookTriggerDeliveries?.keep === 0 ? "tab.trouble.notKept" : "tab.empty");
  }
}

/** The settings that are given, from the settings file or the environment; nothing where none is. */
function describeSettings(): JQuery {
  const lines = RED.settings.webhookTriggerGiven;
  if (lines.length === 0) return $();
  const list = lines.map((line) => $("<code>", { text: line }));
  const details = $("<details>", { class: "webhook-deliveries-settings" });
  return details.append($("<summary>", { text: text("tab.settings") }), list);
}

// The filters above the list: a node, a state, a text.

/** A search begins so long after the last key, in ms. */
const searchDelay = 300;

class Filters {
  readonly element = $('<div class="webhook-deliveries-filters">');
  readonly #node = $("<select>");
  readonly #state = $("<select>");
  readonly #text = $('<input type="search">');
  readonly #clear = $('<button type="button" class="red-ui-button red-ui-button-small">');
  readonly #changed: (filter: Filter) => void;
  #search: ReturnType<typeof setTimeout> | undefined;
  /** The options of the list of nodes. */
  #listed = "";

  constructor(changed: (filter: Filter) => void) {
    this.#changed = changed;
    this.#node.attr("aria-label", text("tab.filter.node"));
    this.#state.attr("aria-label", text("tab.filter.state")).append(new Option(text("tab.filter.allStates"), ""));
    for (const state of states) this.#state.append(new Option(text(`tab.state.${state}`), state));
    this.#text.attr({ "aria-label": text("tab.filter.text"), placeholder: text("tab.filter.text") });
    this.#clear.append('<i class="fa fa-times" aria-hidden="true">').hide();
    this.#clear.attr({ "aria-label": text("tab.filter.clear"), title: text("tab.filter.clear") });
    this.element.append(this.#node, this.#state, this.#text, this.#clear);
    this.#clear.on("click", () => this.set(everything));
    this.#node.add(this.#state).on("change", () => this.#change());
    this.#text.on("input", () => {
      clearTimeout(this.#search);
      this.#search = setTimeout(() => this.#change(), searchDelay);
    });
  }

  set({ node, state, text }: Filter): void {
    this.showNodes([node]);
    this.#node.val(node);
    this.#state.val(state);
    this.#text.val(text);
    this.#change();
  }

  focus(): void {
    this.#node.trigger("focus");
  }

  /** @param used ids of nodes with deliveries, which may have been deleted */
  showNodes(used: readonly string[]): void {
    const chosen = String(this.#node.val() ?? "");
    const nodes = new Map([["", text("tab.filter.allNodes")], ...listNodeNames()]);
    for (const id of [...used, chosen]) if (!nodes.has(id)) nodes.set(id, text("tab.filter.deleted", { id }));
    const listed = JSON.stringify([...nodes]);
    // The list may be open.
    if (listed === this.#listed) return;
    this.#listed = listed;
    this.#node.empty().append(Array.from(nodes, ([id, name]) => new Option(name, id)));
    this.#node.val(chosen);
  }

  #change(): void {
    clearTimeout(this.#search);
    const filter: Filter = {
      node: String(this.#node.val() ?? ""),
      state: states.find((state) => state === this.#state.val()) ?? "",
      text: String(this.#text.val() ?? "").trim(),
    };
    const isSet = Object.values(filter).some((value) => value !== "");
    // A hidden button cannot keep the focus.
    if (!isSet && this.#clear.is(":focus")) this.focus();
    this.#clear.toggle(isSet);
    this.#changed(filter);
  }
}

// The lines above the list: senders that are silent, and queues.

class Overview {
  readonly element = $("<div>");
  readonly #silences = $('<div role="status">');
  readonly #queues = $('<div role="status">');
  readonly #controlled: () => void;

  /** @param controlled called when a node was paused or resumed */
  constructor(controlled: () => void) {
    this.#controlled = controlled;
    this.element.append(this.#silences, this.#queues);
  }

  showSilences(silences: readonly SilentEvent[]): void {
    const lines = silences.map(({ node, hours, since }) => {
      const silent = text("tab.silent", { time: minuteText(since), hours: numberText(hours) });
      return createLine("webhook-deliveries-silent", "fa-exclamation-triangle", node, ` ${silent}`);
    });
    showLines(this.#silences, lines);
  }

  /** Shows paused queues, and the one of the filtered node. */
  showQueues(queues: readonly QueueSummary[], filtered: string): void {
    const shown = queues.filter(({ node, pause }) => pause !== null || node === filtered);
    const lines = shown.map((queue) => this.#createQueue(queue));
    showLines(this.#queues, lines);
  }

  #createQueue({ node, pause, queued, retrying }: QueueSummary): JQuery {
    const count = numberText(queued + retrying);
    const state = text(`tab.queue.${pause ?? "running"}`, { count });
    const line = createLine("webhook-deliveries-queue", "fa-inbox", node, `: ${state}`);
    if (!RED.user.hasPermission(permissions.write)) return line;
    const action = pause === null ? "pause" : "resume";
    const label = text(`tab.queue.${action}`);
    const button = createButton(action === "pause" ? "fa-pause" : "fa-play", label);
    button.attr("aria-label", `${label}: ${getNodeLabel(node)}`);
    return line.append(button.on("click", () => void this.#control(node, action)));
  }

  async #control(...action: Parameters<typeof control>): Promise<void> {
    try {
      await control(...action);
    } catch (error) {
      RED.notify(text(`tab.queue.${isForbidden(error) ? "forbidden" : "failed"}`), "error");
    }
    this.#controlled();
  }
}

/** An icon, the name of a node, which reveals it, and a text. */
function createLine(style: string, icon: string, node: string, said: string): JQuery {
  const name = getNodeLabel(node);
  const reveal = $("<button>", { type: "button", class: "webhook-deliveries-reveal", text: name });
  reveal.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(node));
  const words = $("<span>", { title: name + said }).append(reveal, document.createTextNode(said));
  return $("<div>", { class: style }).append(createIcon(icon), words);
}

/** Screen readers announce changed lines: unchanged ones stay as they are. */
function showLines(place: JQuery, lines: readonly JQuery[]): void {
  const next = $("<div>").append(...lines);
  if (place.html() !== next.html()) renewContent(place, lines);
}
