// When the tab asks anew: soon after something has come, seldom in vain, and not at all while nobody looks.

/** How long is between two at least, in ms; and where it takes a search of all that is kept. */
const [pause, searchPause] = [1000, 5000];
/** After what time there is one though nothing has come, in ms: the picture of the traffic moves on. */
const rest = 60_000;

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

  /** Something has come. */
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
