// What the tab shows: the filters, what is amiss, the traffic, and the list or one delivery of it.

import type { Summary } from "../../../src/deliveries/summary";
import type { Editor } from "../host";
import { Announcer } from "./announcer";
import { askForQueues, askForSilent, askForTraffic, type Filter, type Trouble, troubleOf } from "./api";
import { Opened } from "./detail";
import { Feed, Renewals } from "./feed";
import { Filters } from "./filters";
import { Fold } from "./fold";
import { Queues } from "./queues";
import { Rows } from "./rows";
import { Selection } from "./selection";
import { Silences } from "./silence";
import { numberText, text } from "./texts";
import { Tools } from "./tools";
import { Traffic } from "./traffic";

declare const RED: Editor;

export class Deliveries {
  readonly element = $('<div class="webhook-deliveries">');
  readonly #pane = $('<div class="webhook-deliveries-pane">');
  readonly #notice = $('<div class="webhook-deliveries-notice" role="status">');
  readonly #new = $('<button type="button" class="red-ui-button red-ui-button-small webhook-deliveries-new">');
  readonly #silences = new Silences();
  readonly #queues = new Queues(() => this.#renewals.now());
  readonly #traffic = new Traffic();
  readonly #announcer = new Announcer();
  readonly #selection = new Selection();
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.#feed.filter.text !== "" && !this.#opened.isOpen,
  );
  readonly #opened = new Opened(() => this.#closed());
  readonly #filters = new Filters((filter) => this.#choose(filter));
  readonly #feed = new Feed({
    changed: () => this.#show(),
    came: (deliveries) => this.#announcer.came(deliveries),
    isReading: () => this.#rows.isRead && !this.#isBack,
  });
  readonly #rows = new Rows(this.#selection, {
    opened: (delivery) => this.#open(delivery),
    selected: () => this.#tools.show(),
    nearEnd: () => void this.#more(),
    atTop: () => this.#feed.release(),
  });
  readonly #tools = new Tools(
    this.#selection,
    () => this.#feed.filter,
    () => this.#rows.render(),
  );
  #trouble: Trouble | undefined;
  #isLookedAt = false;
  /** Whether somebody has just come back to the top of the list, and is to see what has come meanwhile. */
  #isBack = false;

  constructor() {
    const list = $('<div class="webhook-deliveries-body">').append(this.#rows.element, this.#new);
    const fold = new Fold(this.#traffic.element, "fa fa-bar-chart", text("tab.traffic.title"));
    this.#filters.element.append(fold.button, this.#tools.failed);
    const above = [this.#filters, this.#tools, this.#silences, this.#queues, this.#traffic].map(
      ({ element }) => element,
    );
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

  /** Whether somebody looks. */
  look(isLookedAt: boolean): void {
    if (isLookedAt === this.#isLookedAt) return;
    this.#isLookedAt = isLookedAt;
    if (!isLookedAt) return this.#renewals.stop();
    this.#filters.showNodes();
    this.#renewals.start();
  }

  /** A delivery has come or has changed. */
  changed(): void {
    this.#renewals.soon();
  }

  /** Asks at once, as when there may be an answer again. */
  renew(): void {
    this.#renewals.now();
  }

  /** Chooses what is looked at, in the place of whoever looks. */
  filter(filter: Filter): void {
    this.#opened.close();
    this.#filters.set(filter);
    this.#filters.focus();
  }

  #choose(filter: Filter): void {
    this.#selection.clear();
    this.#tools.show();
    this.#rows.toTop();
    this.#feed.filter = filter;
    this.#renewals.now();
  }

  /** @returns whether there was an answer */
  async #ask(): Promise<boolean> {
    // The list is out of sight.
    if (this.#opened.isOpen) return this.#opened.renew();
    const { filter } = this.#feed;
    const asked = [this.#feed.renew(), askForTraffic(filter), askForSilent(), askForQueues()] as const;
    // Without the picture, or without a word on who is silent or paused, the list is still worth a look.
    const [page, minutes, silences, queues] = await Promise.allSettled(asked);
    this.#isBack = false;
    this.#trouble = page.status === "rejected" ? troubleOf(page.reason) : undefined;
    if (minutes.status === "fulfilled" && filter === this.#feed.filter) this.#traffic.show(minutes.value);
    if (silences.status === "fulfilled") this.#silences.show(silences.value);
    if (queues.status === "fulfilled") this.#queues.show(queues.value, filter.node);
    this.#show();
    return this.#trouble === undefined;
  }

  async #more(): Promise<void> {
    try {
      await this.#feed.more();
    } catch (error) {
      this.#trouble = troubleOf(error);
      this.#show();
    }
  }

  #open(delivery: Summary): void {
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

  /** What there is to say instead of the list, or above it. */
  #noticed(): string {
    if (this.#trouble) return text(`tab.trouble.${this.#trouble}`);
    if (!this.#feed.isLoaded || this.#feed.deliveries.length > 0) return "";
    const isAll = Object.values(this.#feed.filter).every((value) => value === "");
    if (!isAll) return text("tab.noMatch");
    return text(RED.settings.webhookTriggerDeliveries?.keep === 0 ? "tab.trouble.notKept" : "tab.empty");
  }
}
