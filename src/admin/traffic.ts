// The requests of each minute of the last hour.

import type { Delivery } from "../deliveries/delivery";
import type { Outcomes } from "../flow/outcomes";

/** Accepted: also duplicates and handshakes. Refused: also requests that reached no endpoint. Replays do not count. */
export interface Minute {
  accepted: number;
  refused: number;
}

const minute = 60_000;
export const minutesKnown = 60;
export const millisecondsKnown = minutesKnown * minute;

class Hour {
  readonly #counts = { accepted: new Uint32Array(minutesKnown), refused: new Uint32Array(minutesKnown) };
  /** The present minute since the epoch. */
  #now = toMinutes(Date.now());

  add(outcome: keyof Minute, at: number): void {
    this.#roll(at);
    const counts = this.#counts[outcome];
    const index = this.#now % minutesKnown;
    counts[index] = (counts[index] ?? 0) + 1;
  }

  addTo(minutes: readonly Minute[]): void {
    this.#roll(Date.now());
    for (const [index, sums] of minutes.entries()) {
      const at = (this.#now + 1 + index) % minutesKnown;
      sums.accepted += this.#counts.accepted[at] ?? 0;
      sums.refused += this.#counts.refused[at] ?? 0;
    }
  }

  #roll(time: number): void {
    const now = toMinutes(time);
    if (now === this.#now) return;
    // The clock may have been set back.
    const passed = now < this.#now ? minutesKnown : Math.min(now - this.#now, minutesKnown);
    for (let index = 0; index < passed; index++) {
      const at = (now - index) % minutesKnown;
      this.#counts.accepted[at] = this.#counts.refused[at] = 0;
    }
    this.#now = now;
  }
}

/** The requests of each node over its deploys; under an empty id those that reached no node. */
export class Traffic {
  readonly #hours = new Map<string, Hour>();

  constructor(outcomes: Outcomes) {
    outcomes.on("accepted", ({ node, at }) => this.#add(node, "accepted", at));
    outcomes.on("duplicate", ({ node, at }) => this.#add(node, "accepted", at));
    outcomes.on("handshake", ({ node }) => this.#add(node, "accepted", Date.now()));
    outcomes.on("missed", ({ node }) => this.#add(node, "refused", Date.now()));
    // A reply that went wrong belongs to an accepted request.
    outcomes.on("refused", ({ node, request }) => request && this.#add(node, "refused", Date.now()));
    outcomes.on("removed", ({ node }) => this.#hours.delete(node));
  }

  #add(node: string, outcome: keyof Minute, at: number): void {
    let hour = this.#hours.get(node);
    if (!hour) this.#hours.set(node, (hour = new Hour()));
    hour.add(outcome, at);
  }

  /**
   * The oldest minute first, the present one last.
   *
   * @param node missing: all nodes together, and requests that reached none
   */
  last(node: string | undefined): Minute[] {
    const minutes = makeMinutes();
    if (node === undefined) for (const hour of this.#hours.values()) hour.addTo(minutes);
    else this.#hours.get(node)?.addTo(minutes);
    return minutes;
  }
}

/** The same, of stored deliveries. */
export function countByMinute(deliveries: Iterable<Pick<Delivery, "at" | "state" | "replayOf">>): Minute[] {
  const minutes = makeMinutes();
  const now = toMinutes(Date.now());
  for (const { at, state, replayOf } of deliveries) {
    const counts = minutes[minutesKnown - 1 - (now - toMinutes(at))];
    if (counts && replayOf === undefined) counts[state === "refused" ? state : "accepted"]++;
  }
  return minutes;
}

function makeMinutes(): Minute[] {
  return Array.from({ length: minutesKnown }, () => ({ accepted: 0, refused: 0 }));
}

/** @param time in ms since the epoch */
function toMinutes(time: number): number {
  return Math.floor(time / minute);
}
