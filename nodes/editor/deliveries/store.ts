// What changes the state of tab and page: what the user does, and what the runtime answers.

import { formatPlace, type ListFilter, type Place } from "../../../src/admin/place";
import type { Summary, SummaryPage } from "../../../src/admin/summary";
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
  troubleText,
} from "./api";
import { host } from "./host";
import type { Plan } from "./plans";
import { Renewals } from "./renewals";
import { type DeliveriesState, type DetailSection, initialState, noDeliveries } from "./state";
import { numberText, text } from "./texts";

/** The shortest time between two announcements, in ms. */
const announcementPause = 5000;
/** A search begins so long after the last key, in ms. */
const searchDelay = 300;

export class DeliveriesStore {
  state = initialState;
  readonly #element: HTMLElement;
  readonly #render: () => void;
  readonly #remove: () => void;
  readonly #observer = new ResizeObserver(() => this.look());
  readonly #renewals = new Renewals(
    () => this.#ask(),
    () => this.state.filter.text + this.state.filter.error !== "" && !this.state.opened,
  );
  /** Of what the runtime has to search for, or counts by the minute. */
  readonly #sums = new Renewals(
    () => this.#askForSums(),
    () => true,
  );
  // What is under way.
  #isLoadingMore = false;
  #isCounting = false;
  #carriedOut = Promise.resolve(0);
  #search: ReturnType<typeof setTimeout> | undefined;
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  #unannounced: Summary[] = [];
  #isPressed = false;
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
      this.#renewals.start();
      this.#sums.start();
      return;
    }
    this.#rest();
    // The page may be hidden for a moment; another tab ends the visit.
    if (this.state.isVisit && !document.hidden) this.setFilter(everything);
  };

  readonly changed = (): void => {
    this.#renewals.soon();
    this.#sums.soon();
  };

  readonly renew = (): void => {
    this.#renewals.now();
    this.#sums.now();
  };

  #rest(): void {
    this.#renewals.stop();
    this.#sums.stop();
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

  /** What stands above the list, of a node or of all. Where it does not come, the list says why. */
  async #askForSums(): Promise<boolean> {
    const { node } = this.state.filter;
    const [failures, traffic] = await Promise.allSettled([askForFailures(node), askForTraffic(node)]);
    if (node === this.state.filter.node) {
      this.#change({
        ...(failures.status === "fulfilled" && { failures: failures.value }),
        ...(traffic.status === "fulfilled" && { traffic: traffic.value }),
      });
    }
    return failures.status === "fulfilled" && traffic.status === "fulfilled";
  }

  // The list.

  /** New rows would move what the user reads, or is about to press. */
  get #isReading(): boolean {
    const isFocused = this.#element.querySelector(".webhook-deliveries-list:focus") !== null;
    return this.#isPressed || this.state.isScrolled || (isFocused && this.activeIndex > 0);
  }

  /** The list is pressed, by whatever pointer: not all browsers have it `:active` under a finger. */
  readonly holdRows = (): void => {
    this.#isPressed = true;
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, this.#lift, { once: true });
  };

  readonly #lift = (): void => void (this.#isPressed = false);

  /** Back at the top, there is nothing more to be held. */
  scroll(isScrolled: boolean): void {
    if (isScrolled === this.state.isScrolled) return;
    this.#change({ isScrolled });
    if (!isScrolled) this.#release();
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
  #release(): void {
    if (this.state.waiting) this.#begin(this.state.waiting);
  }

  /** Shows them from the top. */
  readonly showNew = (): void => {
    this.#change({ active: undefined });
    this.#release();
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
    this.#isLoadingMore = false;
    const isOtherNode = filter.node !== this.state.filter.node;
    this.#change({ ...noDeliveries, filter, typed, active: undefined, selected: new Map(), isVisit: false });
    this.#renewals.now();
    if (isOtherNode) this.#sums.now();
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
    this.#change({ isVisit: true });
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

  /** Counts, asks and deletes; a second click counts nothing. */
  readonly remove = async (makePlan: () => Plan | Promise<Plan>): Promise<number> => {
    if (this.#isCounting) return 0;
    this.#isCounting = true;
    let deleted = 0;
    try {
      deleted = await this.carryOut(await makePlan());
    } catch (error) {
      host().reportError(troubleText(error));
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
      const failed = "tab.queue.failed";
      const keys = { forbidden: "tab.queue.forbidden", unreachable: failed, notKept: failed, failed };
      host().reportError(troubleText(error, keys));
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
