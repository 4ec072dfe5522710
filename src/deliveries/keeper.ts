// Never loses a delivery: what was kept is looked after until its flow is done with it.

import type { Kept } from "./delivery";
import { type Flow } from "./flow";
import { type Timing, timing } from "./ground";
import { Ledger } from "./ledger";
import { Line } from "./line";
import type { Store } from "./store";

/** How long a store in trouble is left alone, in ms. */
const retryAfter = 1000;
/** How often it is looked for what instances have left behind that are no more, in ms. */
export const claimEvery = 5000;

/** See `timing`, `retryAfter` and `claimEvery`. */
export interface KeeperOptions extends Partial<Timing> {
  retryAfter?: number;
  claimEvery?: number;
}

/** Of each endpoint that promises never to lose a delivery, its line. A line outlives the deploys of its node. */
export class Keeper<First> {
  readonly store: Store;
  readonly ledger = new Ledger(this);
  readonly timing: Timing;
  readonly #retryAfter: number;
  readonly #lines = new Map<string, Line<First>>();
  readonly #claiming: NodeJS.Timeout | undefined;
  #isOpen: boolean;
  #later: Promise<void> | undefined;

  /** @param isOpen whether flows run */
  constructor(store: Store, isOpen: boolean, options: KeeperOptions = {}) {
    this.store = store;
    this.#isOpen = isOpen;
    this.timing = { ...timing, ...options };
    this.#retryAfter = options.retryAfter ?? retryAfter;
    if (store.isShared) this.#claiming = setInterval(() => this.#claim(), options.claimEvery ?? claimEvery).unref();
  }

  /** Whether flows run. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A node is there whose flow is to be started. @returns what to do when it is closed */
  enter(node: string, flow: Flow<First>): () => void {
    const line = this.#lineOf(node);
    line.enter(flow);
    return () => line.leave(flow);
  }

  /** Flows are about to be deployed, or to be stopped: none is started from now on. */
  hold(): void {
    this.#isOpen = false;
  }

  /** The flows run. */
  resume(): void {
    this.#isOpen = true;
    for (const line of this.#lines.values()) line.run();
  }

  /**
   * Keeps a delivery safely, as one that the flow is about to be started with for the first time. Then `begin` is due, or
   * `withdraw`.
   *
   * @throws {StoreError}
   */
  async keep(kept: Kept): Promise<void> {
    await this.#lineOf(kept.delivery.node).keep(kept);
  }

  /** Starts the flow with what has just been kept: now, or when the flows run. */
  begin(kept: Kept, first: First): void {
    this.#lineOf(kept.delivery.node).begin(kept, first);
  }

  /** What has just been kept is not to start the flow after all. */
  withdraw(kept: Kept): void {
    this.#lineOf(kept.delivery.node).withdraw(kept);
  }

  /** Somebody else has dealt with what a node has failed with. */
  recount(node: string): void {
    void this.#lines.get(node)?.count();
  }

  /** Looks after nothing any more; what is not finished stays in the store. */
  async close(): Promise<void> {
    this.#isOpen = false;
    clearInterval(this.#claiming);
    await this.store.close();
  }

  /** Waits for a while, with all who wait. */
  later(): Promise<void> {
    this.#later ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#later = undefined;
        resolve();
      }, this.#retryAfter).unref();
    });
    return this.#later;
  }

  #claim(): void {
    for (const line of this.#lines.values()) void line.claim();
  }

  #lineOf(node: string): Line<First> {
    const known = this.#lines.get(node) ?? new Line<First>(node, this);
    this.#lines.set(node, known);
    return known;
  }
}
