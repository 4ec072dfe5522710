// The tab *Webhooks* of the sidebar.

import type { Summary } from "../../../src/deliveries/summary";
import type { Editor } from "../host";
import { filterEvent } from "./actions";
import { askForQueues, askForSilent, everything, type Filter, type FetchTrouble, toFetchTrouble } from "./api";
import { OpenDelivery, openEvent } from "./detail";
import { Feed, Renewals } from "./feed";
import { Filters } from "./filters";
import { Rows, Selection } from "./list";
import { QueueList, Silences } from "./overview";
import { Tools } from "./replay";
import { numberText, text } from "./texts";

declare const RED: Editor;

const id = "webhook-deliveries";
const action = "webhook-trigger:show-deliveries";
/** The topic of the runtime's push. */
const topic = "webhook-trigger/deliveries";

/** Exists while the node type is available. */
let deliveries: Deliveries | undefined;

/** Nothing is fetched while the tab is hidden. */
const observer = new ResizeObserver(([entry]) => {
  if (entry) deliveries?.look(entry.contentRect.width > 0 && !document.hidden);
});

export function addTab(): void {
  const shown = new Deliveries();
  deliveries = shown;
  const [label, content] = [text("tab.label"), shown.element];
  RED.sidebar.addTab({
    id,
    label,
    name: label,
    iconClass: "fa fa-exchange",
    content,
    enableOnEdit: true,
    pinned: true,
    action,
  });
  RED.actions.add(action, () => RED.sidebar.show(id), { label: text("tab.show") });
  RED.comms.subscribe(topic, listen);
  RED.comms.on("connect", reconnect);
  $(document).on(filterEvent, setFilter).on(openEvent, openDelivery);
  document.addEventListener("visibilitychange", look);
  for (const element of shown.element) observer.observe(element);
}

export function removeTab(): void {
  document.removeEventListener("visibilitychange", look);
  observer.disconnect();
  RED.comms.off("connect", reconnect);
  $(document).off(filterEvent, setFilter).off(openEvent, openDelivery);
  RED.comms.unsubscribe(topic, listen);
  RED.actions.remove(action);
  RED.sidebar.removeTab(id);
  deliveries?.look(false);
  deliveries = undefined;
}

/** Shows the deliveries of a node until the tab is left. */
export function showDeliveriesOf(node: string): void {
  RED.sidebar.show(id);
  deliveries?.filter({ ...everything, node }, true);
}

function setFilter(_event: unknown, node: string): void {
  deliveries?.filter({ ...everything, node });
}

function openDelivery(_event: unknown, delivery: Summary): void {
  deliveries?.open(delivery);
}

function look(): void {
  deliveries?.look(!document.hidden && deliveries.element.width() !== 0 && deliveries.element.is(":visible"));
}

function listen(): void {
  deliveries?.changed();
}

function reconnect(): void {
  deliveries?.renew();
}

// The content of the tab: filters, alerts, chart, and the list or one delivery.

class Deliveries {
  readonly element = $('<div class="webhook-deliveries">');
  readonly #pane = $('<div class="webhook-deliveries-pane">');
  readonly #notice = $('<div class="webhook-deliveries-notice" role="status">');
  readonly #new = $('<button type="button" class="red-ui-button red-ui-button-small webhook-deliveries-new">');
  readonly #silences = new Silences();
  readonly #queues = new QueueList(() => this.#renewals.now());
  readonly #announcer = new Announcer();
  readonly #selection = new Selection();
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.#feed.filter.text !== "" && !this.#opened.isOpen,
  );
  readonly #opened = new OpenDelivery(() => this.#closed());
  readonly #filters = new Filters((filter) => this.#choose(filter));
  readonly #feed = new Feed({
    changed: () => this.#show(),
    came: (deliveries) => this.#announcer.came(deliveries),
    isReading: () => this.#rows.isRead && !this.#isBack,
  });
  readonly #rows = new Rows(this.#selection, {
    opened: (delivery) => this.open(delivery),
    selected: () => this.#tools.show(),
    nearEnd: () => void this.#more(),
    atTop: () => this.#feed.release(),
  });
  readonly #tools = new Tools(
    this.#selection,
    () => this.#feed.filter,
    () => this.#rows.render(),
  );
  #trouble: FetchTrouble | undefined;
  #isLookedAt = false;
  /** Whether the form has set the filter. */
  #isVisit = false;
  /** Whether the user has just returned to the top of the list. */
  #isBack = false;

  constructor() {
    const list = $('<div class="webhook-deliveries-body">').append(this.#rows.element, this.#new);
    this.#filters.element.append(this.#tools.failed);
    const above = [this.#filters, this.#tools, this.#silences, this.#queues].map(({ element }) => element);
    this.#pane.append(...above, this.#notice, list);
    this.element.append(this.#pane, this.#opened.element, this.#announcer.element);
    this.#new.on("click", () => {
      this.#rows.toTop();
      this.#feed.release();
      this.#rows.focus();
    });
    new ResizeObserver(() => this.#rows.resize()).observe(list[0] ?? document.body);
    this.#show();
  }

  look(isLookedAt: boolean): void {
    if (isLookedAt === this.#isLookedAt) return;
    this.#isLookedAt = isLookedAt;
    if (!isLookedAt) {
      this.#renewals.stop();
      // The page may be hidden for a moment; another tab ends the visit.
      if (this.#isVisit && !document.hidden) this.#filters.set(everything);
      return;
    }
    this.#filters.showNodes();
    this.#renewals.start();
  }

  changed(): void {
    this.#renewals.soon();
  }

  renew(): void {
    this.#renewals.now();
  }

  /** @param isVisit whether the filter goes when the tab is left, unless the user changes it */
  filter(filter: Filter, isVisit = false): void {
    this.#opened.close();
    this.#filters.set(filter);
    this.#isVisit = isVisit;
    this.#filters.focus();
  }

  #choose(filter: Filter): void {
    this.#isVisit = false;
    this.#selection.clear();
    this.#tools.show();
    this.#rows.toTop();
    this.#feed.filter = filter;
    this.#renewals.now();
  }

  /** @returns whether there was an answer */
  async #ask(): Promise<boolean> {
    // The list is hidden.
    if (this.#opened.isOpen) return this.#opened.renew();
    const { filter } = this.#feed;
    const asked = [this.#feed.renew(), askForSilent(), askForQueues()] as const;
    // The list is useful without queues and alerts, too.
    const [page, silences, queues] = await Promise.allSettled(asked);
    this.#isBack = false;
    this.#trouble = page.status === "rejected" ? toFetchTrouble(page.reason) : undefined;
    if (silences.status === "fulfilled") this.#silences.show(silences.value);
    if (queues.status === "fulfilled") this.#queues.show(queues.value, filter.node);
    this.#show();
    return this.#trouble === undefined;
  }

  async #more(): Promise<void> {
    try {
      await this.#feed.more();
    } catch (error) {
      this.#trouble = toFetchTrouble(error);
      this.#show();
    }
  }

  open(delivery: Summary): void {
    this.#pane.hide();
    this.#opened.open(delivery);
  }

  #closed(): void {
    this.#pane.show();
    this.#rows.resize();
    this.#isBack = !this.#rows.isScrolled;
    this.#rows.focus();
    this.#renewals.now();
  }

  #show(): void {
    const { deliveries, hasMore, waiting } = this.#feed;
    const notice = this.#noticed();
    if (this.#notice.text() !== notice) this.#notice.text(notice);
    this.#notice.toggle(notice !== "");
    this.#new.toggle(waiting > 0).text(text("tab.new", { count: numberText(waiting) }));
    this.#rows.element.toggle(deliveries.length > 0);
    this.#rows.show(deliveries, hasMore);
    this.#filters.showNodes(new Set(deliveries.flatMap(({ node }) => node ?? [])));
  }

  /** The notice above the list. */
  #noticed(): string {
    if (this.#trouble) return text(`tab.trouble.${this.#trouble}`);
    if (!this.#feed.isLoaded || this.#feed.deliveries.length > 0) return "";
    const isAll = Object.values(this.#feed.filter).every((value) => value === "");
    if (!isAll) return text("tab.noMatch");
    return text(RED.settings.webhookTriggerDeliveries?.keep === 0 ? "tab.trouble.notKept" : "tab.empty");
  }
}

// Announces new deliveries to screen readers, in one sentence now and then.

/** The shortest time between two announcements, in ms. */
const pause = 5000;

class Announcer {
  readonly element = $('<div class="webhook-deliveries-said" role="status">');
  #came = 0;
  #refused = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  came(deliveries: readonly Summary[]): void {
    this.#came += deliveries.length;
    this.#refused += deliveries.filter(({ state }) => state === "refused").length;
    if (this.#came > 0) this.#timer ??= setTimeout(() => this.#say(), pause);
  }

  #say(): void {
    const counts = { count: numberText(this.#came), refused: numberText(this.#refused) };
    this.element.text(text("tab.announced", counts));
    this.#came = 0;
    this.#refused = 0;
    this.#timer = undefined;
  }
}
