// Failed deliveries, grouped by node and error.

import { setImmediate as nextTurn } from "node:timers/promises";
import { listPage } from "./lists";
import type { DeliveryList, Position } from "./queue";
import { type FailureGroup, type FailureGroups, findFailure } from "./summary";

/** Of so many failed deliveries, the newest, groups are made. */
const maxGrouped = 10_000;
const maxGroups = 100;
/** How many deliveries are read at once. */
const pageSize = 500;

/** @param node only its deliveries; missing: those of all nodes @throws {StoreError} */
export async function groupFailures(
  lists: readonly DeliveryList[],
  node: string | undefined,
  max = maxGrouped,
): Promise<FailureGroups> {
  const groups = new Map<string, FailureGroup>();
  let failures = 0;
  let before: Position | undefined;
  do {
    const limit = Math.min(pageSize, max - failures);
    const page = await listPage(lists, { node, state: "failed", before, limit });
    for (const delivery of page.deliveries) {
      const error = findFailure(delivery) ?? "";
      const key = JSON.stringify([delivery.node, error]);
      const { count, last } = groups.get(key) ?? { count: 0, last: delivery.at };
      groups.set(key, { node: delivery.node, error, count: count + 1, last });
    }
    failures += page.deliveries.length;
    before = page.next;
    // A log in memory answers at once.
    await nextTurn();
  } while (before && failures < max);
  const sorted = [...groups.values()].sort((one, other) => other.count - one.count || other.last - one.last);
  return { groups: sorted.slice(0, maxGroups), causes: sorted.length, failures, hasMore: before !== undefined };
}
