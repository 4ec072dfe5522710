// Several lists of deliveries as one: memory and store.

import type { Delivery, StoredDelivery } from "./delivery";
import { compareByAge, type DeliveryList, type Position, type Query } from "./queue";

/** @returns as `next` the `before`, or the `after`, of the next page; nothing on the last one @throws {StoreError} */
export async function listPage(
  lists: readonly DeliveryList[],
  query: Query,
): Promise<{ deliveries: Delivery[]; next: Position | undefined }> {
  const oneMore = { ...query, limit: query.limit + 1 };
  const found = (await Promise.all(lists.map((list) => list.list(oneMore)))).flat();
  found.sort(query.after ? compareByAge : (one, other) => compareByAge(other, one));
  const deliveries = found.slice(0, query.limit);
  return { deliveries, next: found.length > query.limit ? deliveries.at(-1) : undefined };
}

/** @throws {StoreError} */
export async function findDelivery(
  lists: readonly DeliveryList[],
  id: string,
): Promise<{ stored: StoredDelivery; list: DeliveryList } | undefined> {
  for (const list of lists) {
    const stored = await list.find(id);
    if (stored) return { stored, list };
  }
  return undefined;
}

/** A position as text for the admin API. */
export function formatPosition({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString("base64url");
}

export function parsePosition(text: string): Position | undefined {
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(text, "base64url").toString()) ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
