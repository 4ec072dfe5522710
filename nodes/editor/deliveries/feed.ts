// The loaded deliveries, and when the tab fetches again.

import type { Summary, SummaryPage } from "../../../src/deliveries/summary";
import { askForPage, everything, type Filter } from "./api";

interface Reader {
  changed(): void;
  /** New deliveries. */
  came(deliveries: readonly Summary[]): void;
  /** Whether new rows would move what the user reads. */
  isReading(): boolean;
}

/** The newest page and, while the user reads on, older ones. */
export class Feed {
  readonly #reader: Reader;
  #filter = everything;
  #deliveries: readonly Summary[] = [];
  /** `null` on the last page. */
  #next: string | null = null;
  #isLoaded = false;
  #isLoadingMore = false;
  /** The newest page, while the user reads. */
  #held: SummaryPage | undefined;
  /** Deliveries that were reported as new. */
  #told = new Set<string>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  get filter(): Filter {
    return this.#filter;
  }

  set filter(filter: Filter) {
    this.#filter = filter;
    this.#deliveries = [];
    this.#next = null;
    this.#isLoaded = false;
    this.#isLoadingMore = false;
    this.#held = undefined;
    this.#reader.changed();
  }

  get deliveries(): readonly Summary[] {
    return this.#deliveries;
  }

  /** Whether there was an answer for this filter. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** How many new deliveries are above. */
  get waiting(): number {
    return this.#held ? findUnknown(this.#held.deliveries, this.#deliveries).length : 0;
  }

  async renew(): Promise<void> {
    const filter = this.#filter;
    const page = await askForPage(filter);
    if (filter !== this.#filter) return;
    const unknown = findUnknown(page.deliveries, this.#deliveries).filter(({ id }) => !this.#told.has(id));
    if (this.#isLoaded) this.#reader.came(unknown);
    this.#told = new Set(page.deliveries.map(({ id }) => id));
    if (this.#isLoaded && this.#reader.isReading()) this.#hold(page);
    else this.#take(page);
  }

  async more(): Promise<void> {
    const before = this.#next;
    if (before === null || this.#isLoadingMore) return;
    const filter = this.#filter;
    this.#isLoadingMore = true;
    const page = await askForPage(filter, before).finally(() => {
      if (filter === this.#filter) this.#isLoadingMore = false;
    });
    if (filter !== this.#filter) return;
    // The list may have begun anew: then this page does not follow.
    if (before === this.#next) {
      this.#deliveries = [...this.#deliveries, ...findUnknown(page.deliveries, this.#deliveries)];
      this.#next = page.next;
    }
    this.#reader.changed();
  }

  /** Shows the deliveries that came while the user was reading. */
  release(): void {
    if (this.#held) this.#take(this.#held);
  }

  #hold(page: SummaryPage): void {
    this.#held = page;
    const newest = new Map(page.deliveries.map((each) => [each.id, each]));
    this.#deliveries = this.#deliveries.map((each) => newest.get(each.id) ?? each);
    this.#reader.changed();
  }

  /** Begins anew with the newest page; older ones are loaded by scrolling. */
  #take(page: SummaryPage): void {
    this.#deliveries = page.deliveries;
    this.#next = page.next;
    this.#held = undefined;
    this.#isLoaded = true;
    this.#reader.changed();
  }
}

function findUnknown(some: readonly Summary[], known: readonly Summary[]): Summary[] {
  const ids = new Set(known.map(({ id }) => id));
  return some.filter(({ id }) => !ids.has(id));
}

/** The shortest time between two fetches, in ms; and where the runtime has to search. */
const [pause, searchPause] = [1000, 5000];
/** After this time it fetches anyway, in ms: the chart moves on. */
const rest = 60_000;

/** Fetches soon after a change, and never while the tab is hidden. */
export class Renewals {
  readonly #renew: () => Promise<boolean>;
  readonly #isSearch: () => boolean;
  #isActive = false;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The next and the last fetch, by the page's clock in ms. */
  #due = Infinity;
  #last = -Infinity;
  /** Failures in a row. */
  #failures = 0;

  /**
   * @param renew resolves with whether there was an answer
   * @param isSearch whether the runtime has to search
   */
  constructor(renew: () => Promise<boolean>, isSearch: () => boolean) {
    this.#renew = renew;
    this.#isSearch = isSearch;
  }

  start(): void {
    this.#isActive = true;
    this.now();
  }

  stop(): void {
    this.#isActive = false;
    this.#due = Infinity;
    clearTimeout(this.#timer);
  }

  now(): void {
    this.#failures = 0;
    this.#plan(performance.now());
  }

  soon(): void {
    if (this.#failures === 0) this.#plan(this.#last + this.#pause);
  }

  get #pause(): number {
    return this.#isSearch() ? searchPause : pause;
  }

  #plan(at: number): void {
    if (!this.#isActive) return;
    this.#due = Math.min(this.#due, at);
    clearTimeout(this.#timer);
    if (this.#isRunning) return;
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, this.#due - performance.now()));
  }

  async #run(): Promise<void> {
    this.#due = Infinity;
    this.#isRunning = true;
    this.#last = performance.now();
    const failures = this.#failures + 1;
    this.#failures = (await this.#renew()) ? 0 : failures;
    this.#isRunning = false;
    this.#plan(this.#last + (this.#failures === 0 ? rest : Math.min(rest, this.#pause * 2 ** this.#failures)));
  }
}
