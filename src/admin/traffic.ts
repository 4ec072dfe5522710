// What became of requests in each minute of the last hour: numbers for a picture.

import type { NodeAPI } from "node-red";
import type { Outcomes } from "../flow/outcomes";
import type { NodeHealths } from "./node-health";
import { addRoute, readText } from "./routes";

/** How many minutes are counted, the present one included. */
const shownMinutes = 60;
const minuteMs = 60_000;

/** Deliveries that have `failed` for good; and that were `waiting` for an attempt when the minute ended. */
type ShownCount = "accepted" | "refused" | "failed" | "waiting";

/** The numbers of each minute, the oldest first; requests of this process, but waiting deliveries of all instances. */
export interface TrafficReport extends Readonly<Record<ShownCount, number[]>> {
  /** When the first minute began, in ms since the epoch. */
  readonly since: number;
}

type Minute = Record<ShownCount, number> & { readonly minute: number };

/** Of a node: the minutes in which something came. What waited at the end of one did so until the next one. */
class NodeTraffic {
  /** The oldest first; the first one may be older than what is shown. */
  readonly #minutes: Minute[] = [];

  get present(): Minute {
    const minute = findMinute();
    const last = this.#minutes.at(-1);
    if (last?.minute === minute) return last;
    const present = { minute, accepted: 0, refused: 0, failed: 0, waiting: last?.waiting ?? 0 };
    this.#minutes.push(present);
    if (this.#minutes.length > shownMinutes) this.#minutes.shift();
    return present;
  }

  addTo(sums: Readonly<Record<ShownCount, number[]>>): void {
    const first = findMinute() - shownMinutes + 1;
    for (const [index, counts] of this.#minutes.entries()) {
      const at = counts.minute - first;
      for (const name of ["accepted", "refused", "failed"] as const) if (at >= 0) add(sums[name], at, counts[name]);
      const next = Math.min((this.#minutes[index + 1]?.minute ?? Infinity) - first, shownMinutes);
      for (let later = Math.max(at, 0); later < next; later++) add(sums.waiting, later, counts.waiting);
    }
  }
}

function add(sums: number[], at: number, number: number): void {
  sums[at] = (sums[at] ?? 0) + number;
}

function zeros(): number[] {
  return Array<number>(shownMinutes).fill(0);
}

/** By the monotonic clock: a clock that is set moves nothing. */
function findMinute(): number {
  return Math.floor(performance.now() / minuteMs);
}

export function serveTraffic(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths): void {
  /** A node has an entry from its first number until it is deleted: most of ten thousand have none. */
  const all = new Map<string, NodeTraffic>();
  const find = (node: string): NodeTraffic | undefined => {
    const known = all.get(node);
    if (known || !nodes.get(node)) return known;
    const traffic = new NodeTraffic();
    all.set(node, traffic);
    return traffic;
  };
  const count = (node: string, name: ShownCount) => {
    const traffic = find(node);
    if (traffic) traffic.present[name]++;
  };
  outcomes.on("accepted", ({ node }) => count(node, "accepted"));
  outcomes.on("refused", ({ node }) => count(node, "refused"));
  outcomes.on("attempt:failed", ({ node, isLast }) => isLast && count(node, "failed"));
  outcomes.on("load", ({ node, load: { queued, retrying } }) => {
    const waiting = queued + retrying;
    const traffic = waiting > 0 ? find(node) : all.get(node);
    if (traffic) traffic.present.waiting = waiting;
  });
  outcomes.on("removed", ({ node }) => all.delete(node));
  addRoute(RED, "get", "traffic", ({ query }) => {
    const asked = readText(query, "node");
    const minutesAgo = (performance.now() % minuteMs) + (shownMinutes - 1) * minuteMs;
    const since = Math.round(Date.now() - minutesAgo);
    const body: TrafficReport = { since, accepted: zeros(), refused: zeros(), failed: zeros(), waiting: zeros() };
    for (const [node, traffic] of all) if (asked === undefined || node === asked) traffic.addTo(body);
    return { body };
  });
}
