// Deliveries that are replayed one after the other, so that their flows start in this order.

import { type Failure, failureText, isHopeless, replay } from "./replay-one";

export class Batch {
  readonly #ids: string[];
  readonly #failures = new Map<string, number>();
  #replayed = 0;
  #ended = 0;
  #isRunning = false;
  #isStopped = false;

  constructor(ids: readonly string[]) {
    this.#ids = [...ids];
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get replayed(): number {
    return this.#replayed;
  }

  /** How many have failed, by why. */
  get failures(): ReadonlyMap<string, number> {
    return this.#failures;
  }

  /** How many were not sent, since it was stopped before. */
  get left(): number {
    return this.#ids.length;
  }

  /** Resolves when all are replayed, or the one that was on its way when it was stopped. */
  async run(progress: (ended: number) => void): Promise<void> {
    this.#isRunning = true;
    for (let id = this.#next(); id !== undefined; id = this.#next()) {
      const replayed = await replay(id);
      if ("id" in replayed) this.#replayed += 1;
      else this.#fail(replayed);
      this.#ended += 1;
      progress(this.#ended);
    }
    this.#isRunning = false;
  }

  /** What is on its way comes to its end. */
  stop(): void {
    this.#isStopped = true;
  }

  #next(): string | undefined {
    return this.#isStopped ? undefined : this.#ids.shift();
  }

  #fail(failure: Failure): void {
    const why = failureText(failure);
    this.#failures.set(why, (this.#failures.get(why) ?? 0) + 1);
    if (isHopeless(failure)) this.stop();
  }
}
