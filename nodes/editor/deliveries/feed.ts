// Which deliveries the list has loaded, and when the tab asks the runtime again.

import type { Summary, SummaryPage } from "../../../src/deliveries/summary";
import { askForPage, everything, type Filter } from "./api";

/** What the feed tells and asks. */
interface Reader {
  /** What is loaded has changed. */
  changed(): void;
  /** These have come since the last time. */
  came(deliveries: readonly Summary[]): void;
  /** Whether somebody reads where new rows would move what is read. */
  isReading(): boolean;
}

/** The newest page; and, while somebody reads there, the pages of older ones. */
export class Feed {
  readonly #reader: Reader;
  #filter = everything;
  #deliveries: readonly Summary[] = [];
  /** Where the next page begins; `null` where there is none. */
  #next: string | null = null;
  #isLoaded = false;
  #isLoadingMore = false;
  /** The newest page, as long as somebody reads. */
  #held: SummaryPage | undefined;
  /** The ids of those that were told as new. */
  #told = new Set<string>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  get filter(): Filter {
    return this.#filter;
  }

  /** Begins anew with other deliveries. */
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

  /** Whether there has been an answer for this filter. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** How many are new above what is read. */
  get waiting(): number {
    return this.#held ? findUnknown(this.#held.deliveries, this.#deliveries).length : 0;
  }

  /** Loads the newest page. */
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

  /** Loads a further page of older ones. */
  async more(): Promise<void> {
    const before = this.#next;
    if (before === null || this.#isLoadingMore) return;
    const filter = this.#filter;
    this.#isLoadingMore = true;
    const page = await askForPage(filter, before).finally(() => {
      if (filter === this.#filter) this.#isLoadingMore = false;
    });
    if (filter !== this.#filter) return;
    // The list may have begun anew meanwhile: then this page is not what follows its last one.
    if (before === this.#next) {
      this.#deliveries = [...this.#deliveries, ...findUnknown(page.deliveries, this.#deliveries)];
      this.#next = page.next;
    }
    this.#reader.changed();
  }

  /** Shows what has come while somebody read. */
  release(): void {
    if (this.#held) this.#take(this.#held);
  }

  #hold(page: SummaryPage): void {
    this.#held = page;
    const newest = new Map(page.deliveries.map((each) => [each.id, each]));
    this.#deliveries = this.#deliveries.map((each) => newest.get(each.id) ?? each);
    this.#reader.changed();
  }

  /** Begins anew with the newest page: whoever does not read is at the top, and older ones are loaded by scrolling. */
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

/** The least time between two renewals, in ms; and where the runtime has to search for the answer. */
const [pause, searchPause] = [1000, 5000];
/** After what time there is one though nothing has changed, in ms: the picture of the traffic moves on. */
const rest = 60_000;

/** Soon after something has changed, seldom in vain, and not at all while nobody looks. */
export class Renewals {
  readonly #renew: () => Promise<boolean>;
  readonly #isSearch: () => boolean;
  #isActive = false;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the next one is to begin, and when the last one has, in ms of the page's clock. */
  #due = Infinity;
  #last = -Infinity;
  /** How many in a row were in vain. */
  #failures = 0;

  /**
   * @param renew answers with whether it was not in vain
   * @param isSearch whether the runtime has to search for the answer
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

  /** Something has changed. */
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
