// Several lists of deliveries as one: those in memory, and those in the store.

import type { Delivery, StoredDelivery } from "./delivery";
import { type DeliveryList, isBehind, type Position, type Query } from "./queue";

/** So many deliveries are asked for in one go where those since a time are wanted. */
const step = 500;

/** A page of deliveries, the newest first. */
export interface DeliveryPage {
  readonly deliveries: Delivery[];
  /** The `before` of the next page; nothing where there is none. */
  readonly next: Position | undefined;
}

export class DeliveryLists {
  readonly #lists: () => readonly DeliveryList[];

  /** @param lists those that there are at the moment */
  constructor(lists: () => readonly DeliveryList[]) {
    this.#lists = lists;
  }

  /** @throws {StoreError} */
  async page(query: Query): Promise<DeliveryPage> {
    const oneMore = { ...query, limit: query.limit + 1 };
    const found = (await Promise.all(this.#lists().map((list) => list.list(oneMore)))).flat();
    found.sort((one, other) => (isBehind(one, other) ? 1 : -1));
    const deliveries = found.slice(0, query.limit);
    return { deliveries, next: found.length > query.limit ? deliveries.at(-1) : undefined };
  }

  /**
   * What has come since a time.
   *
   * @param max so many of each list at most, the newest
   * @throws {StoreError}
   */
  async since(since: number, query: Pick<Query, "node" | "state" | "text">, max: number): Promise<Delivery[]> {
    const newestOf = async (list: DeliveryList) => {
      const found: Delivery[] = [];
      for (;;) {
        const limit = Math.min(step, max - found.length);
        const page = await list.list({ ...query, since, before: found.at(-1), limit });
        found.push(...page);
        if (page.length < limit || found.length === max) return found;
      }
    };
    return (await Promise.all(this.#lists().map(newestOf))).flat();
  }

  /** @throws {StoreError} */
  async find(id: string): Promise<{ stored: StoredDelivery; list: DeliveryList } | undefined> {
    for (const list of this.#lists()) {
      const stored = await list.find(id);
      if (stored) return { stored, list };
    }
    return undefined;
  }
}

/** A position as the text that the admin API has for it. */
export function formatPosition({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString("base64url");
}

export function parsePosition(text: string): Position | undefined {
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(text, "base64url").toString()) ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
