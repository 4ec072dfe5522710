// What tab and page show, and the functions that change it.

import { formatPlace, type ListFilter, type Place } from "../../../src/admin/place";
import type { Detail, Summary, SummaryPage } from "../../../src/admin/summary";
import type { FailureGroups } from "../../../src/deliveries/failures";
import type { TrafficReport } from "../../../src/admin/traffic";
import type { SilentEvent } from "../../../src/flow/outcomes";
import {
  askForDelivery,
  askForFailures,
  askForPage,
  askForQueues,
  askForSilent,
  askForTraffic,
  classifyError,
  control,
  everything,
  failureText,
  isForbidden,
  type QueueSummary,
} from "./api";
import { host } from "./host";
import type { Plan } from "./plans";
import { Renewals } from "./renewals";
import { numberText, text } from "./texts";

/** A key under `delivery.section` in the message catalog. */
export type DetailSection = "body" | "facts" | "answer" | "attempts" | "headers" | "query";

export interface OpenedDelivery {
  readonly id: string;
  /** As the list has it; missing where it was opened by its address. */
  readonly summary: Summary | undefined;
  /** Missing until it has come. */
  readonly detail?: Detail;
  /** Why it cannot be shown as it is now. */
  readonly trouble: string;
}

interface DeliveriesState {
  readonly filter: ListFilter;
  /** What stands in the search field, also before it is searched for. */
  readonly typed: string;
  /** The newest page and, while the user reads on, older ones. */
  readonly deliveries: readonly Summary[];
  /** Where the next page begins; `null` on the last page. */
  readonly next: string | null;
  /** Whether there was an answer for this filter. */
  readonly isLoaded: boolean;
  /** The newest page, while the user reads. */
  readonly waiting: SummaryPage | undefined;
  /** The delivery that the keyboard is at, and the one where a range of selected ones begins: ids. */
  readonly active: string | undefined;
  readonly anchor: string | undefined;
  readonly selected: ReadonlyMap<string, Summary>;
  readonly failures: FailureGroups;
  readonly silences: readonly SilentEvent[];
  /** Missing until it has come. */
  readonly traffic: TrafficReport | undefined;
  readonly queues: readonly QueueSummary[];
  /** Why the last fetch failed: a key under `tab.trouble` in the message catalog. */
  readonly trouble: string | undefined;
  readonly opened: OpenedDelivery | undefined;
  /** Open sections stay open with the next delivery. */
  readonly unfolded: ReadonlySet<DetailSection>;
  /** Asked, and shown as it goes on, in a dialog. */
  readonly plan: { readonly plan: Plan; readonly end: (done: number) => void } | undefined;
  /** For screen readers, which are told that it is another one by its number. */
  readonly announcement: { readonly said: string; readonly number: number };
  /** Nothing is fetched while it is false. */
  readonly isVisible: boolean;
}

const noFailures: FailureGroups = { groups: [], causes: 0, failures: 0, hasMore: false };
const noDeliveries = { deliveries: [], next: null, waiting: undefined, isLoaded: false };

/** The shortest time between two announcements, in ms. */
const announcementPause = 5000;
/** A search begins so long after the last key, in ms. */
const searchDelay = 300;
/** How often times such as "2 min. ago" are shown anew, in ms. */
const clockMs = 20_000;

export class DeliveriesStore {
  state: DeliveriesState = {
    ...noDeliveries,
    filter: everything,
    typed: "",
    active: undefined,
    anchor: undefined,
    selected: new Map(),
    failures: noFailures,
    silences: [],
    traffic: undefined,
    queues: [],
    trouble: undefined,
    opened: undefined,
    unfolded: new Set<DetailSection>(["body"]),
    plan: undefined,
    announcement: { said: "", number: 0 },
    isVisible: false,
  };
  /** The list as it is on the screen. Browsers may forget the scroll position of a hidden element. */
  readonly listView = { isPressed: false, isFocused: false, scrolled: 0 };
  readonly #element: HTMLElement;
  readonly #render: () => void;
  readonly #remove: () => void;
  readonly #observer = new ResizeObserver(() => this.look());
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.state.filter.text + this.state.filter.error !== "" && !this.state.opened,
  );
  /** The runtime has to search. */
  readonly #failureRenewals = new Renewals(
    () => this.#askForFailures(),
    () => true,
  );
  /** Its numbers are those of minutes. */
  readonly #trafficRenewals = new Renewals(
    () => this.#askForTraffic(),
    () => true,
  );
  #isLoadingMore = false;
  #search: ReturnType<typeof setTimeout> | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  #unannounced: Summary[] = [];
  /** Whether the filter is the form's, and ends when the tab is left. */
  #isVisit = false;
  #isStopped = false;

  /**
   * @param element what it is shown in
   * @param render shows its state
   * @param remove ends that
   */
  constructor(element: HTMLElement, render: () => void, remove: () => void) {
    this.#element = element;
    this.#render = render;
    this.#remove = remove;
  }

  start(): void {
    this.#render();
    this.#observer.observe(this.#element);
    document.addEventListener("visibilitychange", this.look);
  }

  stop(): void {
    document.removeEventListener("visibilitychange", this.look);
    this.#observer.disconnect();
    this.#rest();
    clearTimeout(this.#search);
    clearTimeout(this.#announceTimer);
    this.#isStopped = true;
    this.#remove();
  }

  #change(change: Partial<DeliveriesState>): void {
    const before = formatPlace(this.place);
    this.state = { ...this.state, ...change };
    // An answer may come later.
    if (this.#isStopped) return;
    this.#render();
    if (formatPlace(this.place) !== before) host().moved?.(this.place);
  }

  // When something is fetched.

  readonly look = (): void => {
    const isVisible = !document.hidden && this.#element.clientWidth > 0;
    if (isVisible === this.state.isVisible) return;
    this.#change({ isVisible });
    if (isVisible) {
      for (const each of this.#allRenewals) each.start();
      this.#clock = setInterval(() => this.#render(), clockMs);
      return;
    }
    this.#rest();
    // The page may be hidden for a moment; another tab ends the visit.
    if (this.#isVisit && !document.hidden) this.setFilter(everything);
  };

  readonly changed = (): void => {
    for (const each of this.#allRenewals) each.soon();
  };

  readonly renew = (): void => {
    for (const each of this.#allRenewals) each.now();
  };

  get #allRenewals(): Renewals[] {
    return [this.#renewals, this.#failureRenewals, this.#trafficRenewals];
  }

  #rest(): void {
    for (const each of this.#allRenewals) each.stop();
    clearInterval(this.#clock);
  }

  /** The page has noticed that Node-RED does not answer. */
  miss(error: unknown): void {
    this.#failToOpen(error);
    this.#change({ trouble: classifyError(error) });
  }

  /** @returns whether there was an answer */
  async #ask(): Promise<boolean> {
    // The list is hidden.
    if (this.state.opened) return this.#renewOpened();
    // The list is useful without queues and alerts, too.
    const [page, silences, queues] = await Promise.allSettled([this.#renewList(), askForSilent(), askForQueues()]);
    const trouble = page.status === "rejected" ? classifyError(page.reason) : undefined;
    this.#change({
      trouble,
      ...(silences.status === "fulfilled" && { silences: silences.value }),
      ...(queues.status === "fulfilled" && { queues: queues.value }),
    });
    return trouble === undefined;
  }

  async #askForFailures(): Promise<boolean> {
    return this.#add(async (node) => ({ failures: await askForFailures(node) }));
  }

  async #askForTraffic(): Promise<boolean> {
    return this.#add(async (node) => ({ traffic: await askForTraffic(node) }));
  }

  /** @param ask for what stands beside the list, of a node or of all */
  async #add(ask: (node: string) => Promise<Partial<DeliveriesState>>): Promise<boolean> {
    const { node } = this.state.filter;
    try {
      const change = await ask(node);
      if (node === this.state.filter.node) this.#change(change);
      return true;
    } catch {
      // The list says why.
      return false;
    }
  }

  // The list.

  /** Whether new rows would move what the user reads, or presses. */
  get #isReading(): boolean {
    const { isPressed, isFocused, scrolled } = this.listView;
    return isPressed || scrolled > 0 || (isFocused && this.activeIndex > 0);
  }

  get activeIndex(): number {
    return this.state.deliveries.findIndex(({ id }) => id === this.state.active);
  }

  /** How many new deliveries are above. */
  get waiting(): number {
    const { waiting, deliveries } = this.state;
    return waiting ? findUnknown(waiting.deliveries, deliveries).length : 0;
  }

  async #renewList(): Promise<void> {
    const { filter } = this.state;
    const page = await askForPage(filter);
    const { deliveries, waiting, isLoaded } = this.state;
    if (filter !== this.state.filter) return;
    if (isLoaded) this.#announce(findUnknown(page.deliveries, [...deliveries, ...(waiting?.deliveries ?? [])]));
    if (!isLoaded || !this.#isReading) return this.#begin(page);
    const newest = new Map(page.deliveries.map((each) => [each.id, each]));
    this.#change({ waiting: page, deliveries: deliveries.map((each) => newest.get(each.id) ?? each) });
  }

  /** Begins anew with the newest page. */
  #begin({ deliveries, next }: SummaryPage): void {
    this.#change({ deliveries, next, waiting: undefined, isLoaded: true });
  }

  /** Shows the deliveries that came while the user was reading. */
  release(): void {
    if (this.state.waiting) this.#begin(this.state.waiting);
  }

  /** Shows them from the top. */
  readonly showNew = (): void => {
    this.#change({ active: undefined });
    this.release();
    this.#focus(".webhook-deliveries-list")?.scrollTo(0, 0);
  };

  /** Loads the next page. */
  async more(): Promise<void> {
    const { next: before, filter } = this.state;
    if (before === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    let page: SummaryPage;
    try {
      page = await askForPage(filter, { before });
    } catch (error) {
      if (filter === this.state.filter) this.#change({ trouble: classifyError(error) });
      return;
    } finally {
      if (filter === this.state.filter) this.#isLoadingMore = false;
    }
    if (filter !== this.state.filter) return;
    // The list may have begun anew: then this page does not follow.
    if (before !== this.state.next) return this.more();
    const { deliveries } = this.state;
    this.#change({ deliveries: [...deliveries, ...findUnknown(page.deliveries, deliveries)], next: page.next });
  }

  /** In one sentence now and then. */
  #announce(arrived: readonly Summary[]): void {
    this.#unannounced.push(...arrived);
    if (this.#unannounced.length === 0) return;
    this.#announceTimer ??= setTimeout(() => {
      const refused = this.#unannounced.filter(({ state }) => state === "refused");
      const counts = { count: numberText(this.#unannounced.length), refused: numberText(refused.length) };
      this.#unannounced = [];
      this.#announceTimer = undefined;
      this.#say(text("tab.announced", counts));
    }, announcementPause);
  }

  #say(said: string): void {
    this.#change({ announcement: { said, number: this.state.announcement.number + 1 } });
  }

  // The filter.

  /** @param typed what the search field shows */
  readonly setFilter = (filter: ListFilter, typed = filter.text): void => {
    clearTimeout(this.#search);
    this.#isVisit = false;
    this.#isLoadingMore = false;
    this.listView.scrolled = 0;
    const isOtherNode = filter.node !== this.state.filter.node;
    this.#change({ ...noDeliveries, filter, typed, active: undefined, selected: new Map() });
    this.#renewals.now();
    if (!isOtherNode) return;
    this.#failureRenewals.now();
    this.#trafficRenewals.now();
  };

  /** A part of it is changed by the user. The error is that of a node's failures. */
  readonly choose = (change: Partial<ListFilter>): void => {
    this.setFilter({ ...this.state.filter, text: this.state.typed.trim(), error: "", ...change });
  };

  readonly type = (typed: string): void => {
    this.#change({ typed });
    clearTimeout(this.#search);
    this.#search = setTimeout(() => {
      // Another word may follow the blank.
      this.setFilter({ ...this.state.filter, text: typed.trim() }, typed);
    }, searchDelay);
  };

  /** Shows what a button names: the focus goes to the filter, as the button may be gone. */
  readonly filterBy = (filter: Partial<ListFilter>): void => {
    if (this.state.opened) this.close();
    this.setFilter({ ...everything, ...filter });
    this.#focus(".webhook-deliveries-filters > select");
  };

  /** Filters by a node until the tab is left, or the user changes the filter. */
  visit(node: string): void {
    this.filterBy({ node });
    this.#isVisit = true;
  }

  // The selection.

  readonly unselect = (): void => this.#change({ selected: new Map() });

  /** The keyboard goes to another delivery. */
  goTo(index: number, isSelecting: boolean): void {
    const { deliveries } = this.state;
    const from = deliveries[this.activeIndex];
    const delivery = deliveries[Math.max(0, Math.min(index, deliveries.length - 1))];
    if (!delivery) return;
    this.#change({ active: delivery.id });
    if (!isSelecting || !from) return;
    if (!this.state.selected.has(from.id)) this.toggle(from);
    this.extendTo(delivery);
  }

  toggle(delivery: Summary): void {
    const { id } = delivery;
    const selected = new Map(this.state.selected);
    if (!selected.delete(id)) selected.set(id, delivery);
    this.#change({ selected, active: id, anchor: id });
  }

  /** Selects the range from the anchor. */
  extendTo(delivery: Summary): void {
    const { deliveries, anchor, selected } = this.state;
    const end = deliveries.indexOf(delivery);
    const found = deliveries.findIndex(({ id }) => id === anchor);
    const begin = found === -1 ? end : found;
    const range = deliveries.slice(Math.min(begin, end), Math.max(begin, end) + 1);
    this.#change({ active: delivery.id, selected: new Map([...selected, ...range.map((each) => [each.id, each] as const)]) }); // prettier-ignore
  }

  // One delivery, in place of the list.

  /** @param summary as the list has it */
  readonly open = (id: string, summary?: Summary): void => {
    const isListed = summary && this.state.deliveries.includes(summary);
    const opened = { id, summary, trouble: "" };
    this.#change(isListed ? { opened, active: id, anchor: id } : { opened });
    void this.#renewOpened();
  };

  readonly close = (): void => {
    this.#change({ opened: undefined });
    this.#focus(".webhook-deliveries-list");
    this.#renewals.now();
  };

  get place(): Place {
    const { opened, filter } = this.state;
    return opened ? { delivery: opened.id } : filter;
  }

  /** The user has gone to an address. */
  follow(place: Place): void {
    if (formatPlace(place) === formatPlace(this.place)) return;
    if ("delivery" in place) return this.open(place.delivery);
    if (formatPlace(place) !== formatPlace(this.state.filter)) this.setFilter({ ...everything, ...place });
    if (this.state.opened) this.close();
  }

  readonly toggleSection = (section: DetailSection, isOpen: boolean): void => {
    const unfolded = new Set(this.state.unfolded);
    if (isOpen) unfolded.add(section);
    else unfolded.delete(section);
    this.#change({ unfolded });
  };

  async #renewOpened(): Promise<boolean> {
    const id = this.state.opened?.id;
    if (id === undefined) return true;
    try {
      const detail = await askForDelivery(id);
      if (id === this.state.opened?.id) this.#change({ opened: { id, summary: detail, detail, trouble: "" } });
      return true;
    } catch (error) {
      if (id === this.state.opened?.id) this.#failToOpen(error);
      return false;
    }
  }

  #failToOpen(error: unknown): void {
    const { opened } = this.state;
    if (!opened) return;
    const trouble = isForbidden(error) ? text("delivery.unreadable") : failureText(error);
    this.#change({ opened: { ...opened, trouble } });
  }

  // What is done with deliveries and nodes.

  #carriedOut = Promise.resolve(0);

  /** Asks before something is done, one question after the other. @returns with how many it was done */
  readonly carryOut = (plan: Plan): Promise<number> => {
    const ask = (resolve: (done: number) => void) => {
      const end = (done: number) => {
        this.#change({ plan: undefined });
        resolve(done);
      };
      this.#change({ plan: { plan, end } });
    };
    return (this.#carriedOut = this.#carriedOut.then(() => new Promise(ask)));
  };

  #isCounting = false;

  /** Counts, asks and deletes; a second click counts nothing. */
  readonly remove = async (makePlan: () => Plan | Promise<Plan>): Promise<number> => {
    if (this.#isCounting) return 0;
    this.#isCounting = true;
    let deleted = 0;
    try {
      deleted = await this.carryOut(await makePlan());
    } catch (error) {
      host().reportError(text(`tab.trouble.${classifyError(error)}`));
    } finally {
      this.#isCounting = false;
    }
    if (deleted > 0) {
      this.#say(text("delivery.removal.sum", { count: numberText(deleted) }));
      this.unselect();
      this.renew();
    }
    return deleted;
  };

  readonly controlQueue = async (...action: Parameters<typeof control>): Promise<void> => {
    try {
      await control(...action);
    } catch (error) {
      const trouble = classifyError(error);
      const key = { forbidden: "tab.queue.forbidden", inFront: "tab.trouble.inFront" } as Record<string, string>;
      host().reportError(text(key[trouble] ?? "tab.queue.failed"));
    }
    this.#renewals.now();
  };

  #focus(selector: string): HTMLElement | null {
    const found = this.#element.querySelector<HTMLElement>(selector);
    found?.focus();
    return found;
  }
}

function findUnknown(some: readonly Summary[], known: readonly Summary[]): Summary[] {
  const ids = new Set(known.map(({ id }) => id));
  return some.filter(({ id }) => !ids.has(id));
}
