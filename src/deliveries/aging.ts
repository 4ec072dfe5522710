// A line in the order of age, from whose middle anything may leave.

/** What stands in a line; it stands in one at most. */
export interface Aged<Item> {
  older: Item | undefined;
  newer: Item | undefined;
}

/**
 * Joining, leaving and finding the oldest cost the same however many there are. The order of a `Map` would do as well,
 * but to find its first key takes time with the number of those that have been deleted before it.
 */
export class Aging<Item extends Aged<Item>> {
  #oldest: Item | undefined;
  #newest: Item | undefined;
  #size = 0;

  get oldest(): Item | undefined {
    return this.#oldest;
  }

  get size(): number {
    return this.#size;
  }

  join(item: Item): void {
    this.#size++;
    item.older = this.#newest;
    if (this.#newest) this.#newest.newer = item;
    else this.#oldest = item;
    this.#newest = item;
  }

  leave(item: Item): void {
    this.#size--;
    if (item.older) item.older.newer = item.newer;
    else if (this.#oldest === item) this.#oldest = item.newer;
    if (item.newer) item.newer.older = item.older;
    else if (this.#newest === item) this.#newest = item.older;
    item.older = item.newer = undefined;
  }
}
