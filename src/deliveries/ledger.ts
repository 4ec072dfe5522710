// Writes down what becomes of deliveries, however long the store is in trouble.

import type { Kept, State } from "./delivery";
import type { Change, Claim, Store } from "./store";

/** A store, and when to ask it again that could not do something. */
export interface Lasting {
  readonly store: Store;
  /** Waits for a while, after which a store in trouble is asked again. */
  later(): Promise<void>;
}

export class Ledger {
  readonly #ground: Lasting;

  constructor(ground: Lasting) {
    this.#ground = ground;
  }

  /** Counts a start, before the flow has the message: one that ends the process each time must come to an end. */
  async begin({ delivery, body, attempts }: Kept): Promise<Kept> {
    const [attempt, run, state] = [delivery.attempt + 1, { at: Date.now() }, "running" satisfies State] as const;
    await this.change(delivery.id, { state, attempt, run });
    return { delivery: { ...delivery, attempt, state }, body, attempts: [...attempts, run] };
  }

  async change(id: string, change: Change): Promise<void> {
    await this.#insist(({ store }) => store.change(id, change));
  }

  async find(id: string): Promise<Kept | undefined> {
    return this.#insist(({ store }) => store.find(id));
  }

  async claim(...which: Parameters<Store["claim"]>): Promise<Claim> {
    return this.#insist(({ store }) => store.claim(...which));
  }

  /** How many deliveries of a node have failed for good. */
  async countFailed(node: string): Promise<number> {
    const { failed = 0 } = await this.#insist(({ store }) => store.counts(node));
    return failed;
  }

  async #insist<Done>(act: (ground: Lasting) => Promise<Done>): Promise<Done> {
    for (;;) {
      try {
        return await act(this.#ground);
      } catch {
        // A store in trouble tells of that by itself.
        await this.#ground.later();
      }
    }
  }
}
