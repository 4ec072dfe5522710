// A store, whose deliveries somebody watches as they come and change.

import type { Delivery, Kept, State } from "./delivery";
import type { Duplicates } from "./duplicates";
import { atOnce, type Change, type Claim, type Page, type Query, type Store, type StoreEvents } from "./store";

/** Who watches. It stands in the way of every request. */
export type Watcher = (id: string) => void;

export class WatchedStore implements Store {
  readonly #store: Store;
  readonly #watch: Watcher;

  constructor(store: Store, watch: Watcher) {
    this.#store = store;
    this.#watch = watch;
  }

  get outlives(): boolean {
    return this.#store.outlives;
  }

  get isShared(): boolean {
    return this.#store.isShared;
  }

  get duplicates(): Duplicates {
    return this.#store.duplicates;
  }

  open(events: StoreEvents): Promise<void> {
    return this.#store.open(events);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  add(delivery: Delivery, body: Buffer): Promise<void> {
    return this.#told(delivery.id, this.#store.add(delivery, body));
  }

  change(id: string, change: Change): Promise<void> {
    return this.#told(id, this.#store.change(id, change));
  }

  claim(...which: Parameters<Store["claim"]>): Promise<Claim> {
    return this.#store.claim(...which);
  }

  find(id: string): Promise<Kept | undefined> {
    return this.#store.find(id);
  }

  look(id: string): Promise<Delivery | undefined> {
    return this.#store.look(id);
  }

  page(query: Query): Promise<Page> {
    return this.#store.page(query);
  }

  counts(node: string): Promise<Partial<Record<State, number>>> {
    return this.#store.counts(node);
  }

  /** Told when it is kept; whoever waits for that need not wait longer. */
  #told(id: string, kept: Promise<void>): Promise<void> {
    if (kept === atOnce) this.#watch(id);
    else kept.then(() => this.#watch(id)).catch(() => undefined);
    return kept;
  }
}
