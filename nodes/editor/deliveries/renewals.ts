// When the tab fetches again.

/** The shortest time between two fetches, in ms; and where the runtime has to search, or does not answer. */
const [pause, longPause] = [1000, 5000];
/** It fetches after this time anyway, in ms: a sender may have fallen silent, and "1 min. ago" may be two by now. */
const longestPause = 60_000;

/** Fetches soon after a change, and never while the tab is hidden. */
export class Renewals {
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
  constructor(
    readonly renew: () => Promise<boolean>,
    readonly isSearch: () => boolean,
  ) {}

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
    this.#earliest = begin + (this.isSearch() ? longPause : pause);
    this.#isRunning = true;
    let isAnswered = false;
    try {
      isAnswered = await this.renew();
    } finally {
      this.#isRunning = false;
      // What the user has asked for meanwhile is due at once.
      if (!isAnswered && this.#due > 0) this.#due = this.#earliest = begin + longPause;
      this.#plan(begin + longestPause);
    }
  }
}
