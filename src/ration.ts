// So many of something in a second, and no more.

export class Ration {
  readonly #most: number;
  /** When the second began in which they are counted, as `performance.now()` tells time. */
  #second = -Infinity;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one more may be taken; if so, it is. */
  takes(): boolean {
    const now = performance.now();
    if (now - this.#second >= 1000) [this.#second, this.#taken] = [now, 0];
    return this.#taken++ < this.#most;
  }
}
