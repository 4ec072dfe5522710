// Failed deliveries, grouped by node and error.

import { setImmediate as nextTurn } from "node:timers/promises";
import { listPage } from "./lists";
import type { DeliveryList, Position } from "./queue";
import { findFailure } from "./states";

/** Failed deliveries of a node with the same error, which is compared as a whole. */
export interface FailureGroup {
  readonly node: string;
  readonly error: string;
  readonly count: number;
  /** When the newest of them came, in ms since the epoch. */
  readonly last: number;
}

export interface FailureGroups {
  /** The largest first, at most 100. */
  readonly groups: readonly FailureGroup[];
  /** How many groups there are. */
  readonly causes: number;
  /** How many deliveries they have: the newest ones. */
  readonly failures: number;
  /** Whether there are older ones, which are in no group. */
  readonly hasMore: boolean;
}

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
    // A list in memory answers at once.
    await nextTurn();
  } while (before && failures < max);
  const sorted = [...groups.values()].sort((one, other) => other.count - one.count || other.last - one.last);
  return { groups: sorted.slice(0, maxGroups), causes: sorted.length, failures, hasMore: before !== undefined };
}
