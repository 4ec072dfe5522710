// What became of requests in each minute of the last hour: numbers for a picture.

import type { NodeAPI } from "node-red";
import type { Outcomes } from "../flow/outcomes";
import type { NodeHealths } from "./node-health";
import { addRoute, readText } from "./routes";

/** How many minutes are counted, the present one included. */
const shownMinutes = 60;
const minuteMs = 60_000;

/** Deliveries that have `failed` for good; and that were `waiting` for an attempt when the minute ended. */
const shownCounts = ["accepted", "refused", "failed", "waiting"] as const;
type ShownCount = (typeof shownCounts)[number];

/** The numbers of each minute, the oldest first; requests of this process, but waiting deliveries of all instances. */
export interface TrafficReport extends Readonly<Record<ShownCount, number[]>> {
  /** When the first minute began, in ms since the epoch. */
  readonly since: number;
}

/** Of a node, in rings: the place of a minute is its remainder. */
class NodeTraffic {
  readonly #rings = { accepted: zeros(), refused: zeros(), failed: zeros(), waiting: zeros() };
  /** The latest minute with a place. */
  #latest = findMinute();

  count(name: Exclude<ShownCount, "waiting">): void {
    const place = this.#goOn();
    this.#rings[name][place] = (this.#rings[name][place] ?? 0) + 1;
  }

  setWaiting(number: number): void {
    const place = this.#goOn();
    this.#rings.waiting[place] = number;
  }

  addTo(sums: Readonly<Record<ShownCount, number[]>>): void {
    const oldest = this.#goOn() + 1;
    for (const name of shownCounts) {
      const [ring, sum] = [this.#rings[name], sums[name]];
      for (let minute = 0; minute < shownMinutes; minute++) {
        sum[minute] = (sum[minute] ?? 0) + (ring[(oldest + minute) % shownMinutes] ?? 0);
      }
    }
  }

  /** In a minute that has passed without an event nothing came, and what waited still did. @returns the present place */
  #goOn(): number {
    const present = findMinute();
    const waiting = this.#rings.waiting[this.#latest % shownMinutes] ?? 0;
    for (let minute = Math.max(this.#latest, present - shownMinutes) + 1; minute <= present; minute++) {
      const place = minute % shownMinutes;
      for (const name of shownCounts) this.#rings[name][place] = name === "waiting" ? waiting : 0;
    }
    this.#latest = present;
    return present % shownMinutes;
  }
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
  outcomes.on("accepted", ({ node }) => find(node)?.count("accepted"));
  outcomes.on("refused", ({ node }) => find(node)?.count("refused"));
  outcomes.on("attempt:failed", ({ node, isLast }) => isLast && find(node)?.count("failed"));
  outcomes.on("load", ({ node, load: { queued, retrying } }) => {
    const waiting = queued + retrying;
    (waiting > 0 ? find(node) : all.get(node))?.setWaiting(waiting);
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
