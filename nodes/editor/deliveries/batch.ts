// Deliveries that are replayed one after the other, a few at once.

import { type Failure, failureText, isHopeless, replay } from "./replay-one";

/** More at once would keep the editor's own requests waiting: browsers have six connections to a server. */
const mostAtOnce = 4;

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

  /** Resolves when all are replayed, or those that were on their way when it was stopped. */
  async run(progress: (ended: number) => void): Promise<void> {
    this.#isRunning = true;
    await Promise.all(Array.from({ length: mostAtOnce }, () => this.#work(progress)));
    this.#isRunning = false;
  }

  /** What is on its way comes to its end. */
  stop(): void {
    this.#isStopped = true;
  }

  async #work(progress: (ended: number) => void): Promise<void> {
    while (!this.#isStopped) {
      const id = this.#ids.shift();
      if (id === undefined) return;
      const replayed = await replay(id);
      if ("id" in replayed) this.#replayed += 1;
      else this.#fail(replayed);
      this.#ended += 1;
      progress(this.#ended);
    }
  }

  #fail(failure: Failure): void {
    const why = failureText(failure);
    this.#failures.set(why, (this.#failures.get(why) ?? 0) + 1);
    if (isHopeless(failure)) this.stop();
  }
}
