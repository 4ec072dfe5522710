// Bounds how often something is done in a second, and how long it may take.

export class RateBound {
  readonly #most: number;
  /** When the second began in which they are counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one more may be taken; if so, it is. */
  take(): boolean {
    const now = performance.now();
    if (now - this.#second >= 1000) [this.#second, this.#taken] = [now, 0];
    return this.#taken++ < this.#most;
  }
}

export class TimeBudget {
  readonly #most: number;
  /** When the second began in which it is counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #spent = 0;

  /** @param most how many ms of a second may be spent; what is begun is not cut off */
  constructor(most: number) {
    this.#most = most;
  }

  /** Does something, unless too much has been spent in this second. */
  spend<Done>(act: () => Done): Done | undefined {
    const start = performance.now();
    if (start - this.#second >= 1000) [this.#second, this.#spent] = [start, 0];
    if (this.#spent >= this.#most) return undefined;
    const done = act();
    this.#spent += performance.now() - start;
    return done;
  }
}
