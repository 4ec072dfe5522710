// Which deliveries are selected, to be sent again together.

import type { Summary } from "../../../src/deliveries/summary";

export class Selection {
  #selected = new Map<string, Summary>();
  /** From where a range goes. */
  #anchor: string | undefined;

  get size(): number {
    return this.#selected.size;
  }

  get all(): Summary[] {
    return [...this.#selected.values()];
  }

  has({ id }: Summary): boolean {
    return this.#selected.has(id);
  }

  toggle(delivery: Summary): void {
    if (!this.#selected.delete(delivery.id)) this.#selected.set(delivery.id, delivery);
    this.#anchor = delivery.id;
  }

  /** Selects all from the last one that was selected or left to this one. */
  extendTo(delivery: Summary, all: readonly Summary[]): void {
    const place = all.findIndex(({ id }) => id === delivery.id);
    const anchor = all.findIndex(({ id }) => id === this.#anchor);
    const from = anchor === -1 ? place : anchor;
    for (const each of all.slice(Math.min(from, place), Math.max(from, place) + 1)) this.#selected.set(each.id, each);
  }

  /** Where a range begins that is selected next. */
  leaveAt({ id }: Summary): void {
    this.#anchor = id;
  }

  clear(): void {
    this.#selected = new Map();
  }
}
