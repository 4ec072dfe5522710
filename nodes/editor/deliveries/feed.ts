// The loaded deliveries, and when the tab fetches again.

import type { Summary, SummaryPage } from "../../../src/admin/summary";
import { askForPage, everything, type ListFilter } from "./api";

interface Reader {
  changed(): void;
  /** New deliveries. */
  arrived(deliveries: readonly Summary[]): void;
  /** Whether new rows would move what the user reads. */
  isReading(): boolean;
}

/** The newest page and, while the user reads on, older ones. */
export class Feed {
  readonly #reader: Reader;
  #filter = everything;
  #deliveries: readonly Summary[] = [];
  /** Where the next page begins; `null` on the last page. */
  #next: string | null = null;
  /** Whether there was an answer for this filter. */
  #isLoaded = false;
  #isLoadingMore = false;
  /** The newest page, while the user reads. */
  #waiting: SummaryPage | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  get filter(): ListFilter {
    return this.#filter;
  }

  set filter(filter: ListFilter) {
    this.#filter = filter;
    this.#isLoadingMore = false;
    this.#show({ deliveries: [], next: null }, false);
  }

  get deliveries(): readonly Summary[] {
    return this.#deliveries;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** How many new deliveries are above. */
  get waiting(): number {
    return this.#waiting ? findUnknown(this.#waiting.deliveries, this.#deliveries).length : 0;
  }

  async renew(): Promise<void> {
    const filter = this.#filter;
    const page = await askForPage(filter);
    if (filter !== this.#filter) return;
    if (!this.#isLoaded) return this.#show(page);
    this.#reader.arrived(findUnknown(page.deliveries, [...this.#deliveries, ...(this.#waiting?.deliveries ?? [])]));
    if (!this.#reader.isReading()) return this.#show(page);
    this.#waiting = page;
    const newest = new Map(page.deliveries.map((each) => [each.id, each]));
    this.#deliveries = this.#deliveries.map((each) => newest.get(each.id) ?? each);
    this.#reader.changed();
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    const before = this.#next;
    if (before === null || this.#isLoadingMore) return;
    const filter = this.#filter;
    this.#isLoadingMore = true;
    const page = await askForPage(filter, { before }).finally(() => {
      if (filter === this.#filter) this.#isLoadingMore = false;
    });
    if (filter !== this.#filter) return;
    // The list may have begun anew: then this page does not follow, but the user may be at the end again.
    if (before !== this.#next) return this.#reader.changed();
    this.#deliveries = [...this.#deliveries, ...findUnknown(page.deliveries, this.#deliveries)];
    this.#next = page.next;
    this.#reader.changed();
  }

  /** Shows the deliveries that came while the user was reading. */
  release(): void {
    if (this.#waiting) this.#show(this.#waiting);
  }

  /** Begins anew with the newest page. */
  #show({ deliveries, next }: SummaryPage, isLoaded = true): void {
    this.#deliveries = deliveries;
    this.#next = next;
    this.#waiting = undefined;
    this.#isLoaded = isLoaded;
    this.#reader.changed();
  }
}

function findUnknown(some: readonly Summary[], known: readonly Summary[]): Summary[] {
  const ids = new Set(known.map(({ id }) => id));
  return some.filter(({ id }) => !ids.has(id));
}

/** The shortest time between two fetches, in ms; and where the runtime has to search, or does not answer. */
const [pause, longPause] = [1000, 5000];
/** It fetches after this time anyway, in ms: a sender may have fallen silent. */
const longestPause = 60_000;

/** Fetches soon after a change, and never while the tab is hidden. */
export class Renewals {
  readonly #renew: () => Promise<boolean>;
  readonly #isSearch: () => boolean;
  #isActive = false;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the next fetch is due, and may be at the earliest: in ms, by the page's clock. */
  #due = Infinity;
  #earliest = 0;

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
    this.#plan(0);
  }

  soon(): void {
    this.#plan(this.#earliest);
  }

  #plan(at: number): void {
    if (!this.#isActive) return;
    this.#due = Math.min(this.#due, at);
    clearTimeout(this.#timer);
    if (!this.#isRunning) this.#timer = setTimeout(() => void this.#run(), this.#due - performance.now());
  }

  async #run(): Promise<void> {
    const begin = performance.now();
    this.#due = Infinity;
    this.#earliest = begin + (this.#isSearch() ? longPause : pause);
    this.#isRunning = true;
    let isAnswered = false;
    try {
      isAnswered = await this.#renew();
    } finally {
      this.#isRunning = false;
      // What the user has asked for meanwhile is due at once.
      if (!isAnswered && this.#due > 0) this.#due = this.#earliest = begin + longPause;
      this.#plan(begin + longestPause);
    }
  }
}
