// How much work the escapes in a request may make.

/**
 * For one request, or one line of the log: a head of Node's 16 kB takes 40,000 where it is percent-encoded throughout,
 * and 80,000 where it is so twice. All of it is some milliseconds.
 */
const mostSteps = 100_000;

/** Counts the steps of reading escapes. They are counted, not timed: a request gets the same on any machine. */
export class Budget {
  readonly #most: number;
  #spent = 0;

  constructor(most = mostSteps) {
    this.#most = most;
  }

  /** How many steps have been taken. */
  get spent(): number {
    return this.#spent;
  }

  /** Whether no further step may be taken: what has not been read by then stays unread, and is not trusted. */
  get isSpent(): boolean {
    return this.#spent >= this.#most;
  }

  spend(steps: number): void {
    this.#spent += steps;
  }
}
