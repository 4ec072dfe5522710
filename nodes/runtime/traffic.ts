// How many requests came in each minute of the last hour.

import type { NodeAPI } from "node-red";
import type { Delivery } from "../../src/deliveries/delivery";
import { Remembered } from "./remembered";

/** What became of the requests of a minute. */
export interface Minute {
  accepted: number;
  refused: number;
}

/**
 * What became of a request: one that is answered was accepted, so duplicates and handshakes are; one that reaches no endpoint
 * was refused. A replay is none.
 */
export type Outcome = keyof Minute;

const minute = 60_000;
/** So many minutes are known. */
export const minutesKnown = 60;
export const millisecondsKnown = minutesKnown * minute;

/** The requests of one node. */
class Hour {
  readonly #counts = { accepted: new Uint32Array(minutesKnown), refused: new Uint32Array(minutesKnown) };
  /** The number of the present minute since the epoch. */
  #now = numberOf(Date.now());

  add(outcome: Outcome): void {
    this.#roll();
    const counts = this.#counts[outcome];
    const index = this.#now % minutesKnown;
    counts[index] = (counts[index] ?? 0) + 1;
  }

  addTo(minutes: readonly Minute[]): void {
    this.#roll();
    for (const [index, sums] of minutes.entries()) {
      const at = (this.#now + 1 + index) % minutesKnown;
      sums.accepted += this.#counts.accepted[at] ?? 0;
      sums.refused += this.#counts.refused[at] ?? 0;
    }
  }

  #roll(): void {
    const now = numberOf(Date.now());
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

/** The requests of all nodes, and of none, over their deploys. */
export class Traffic {
  readonly #hours: Remembered<Hour>;
  readonly #ofNone = new Hour();

  constructor(RED: NodeAPI) {
    this.#hours = new Remembered(RED, () => new Hour());
  }

  /** Stands in the way of every request. @param node empty where it came to none, and none is known to be meant */
  add(node: string, outcome: Outcome): void {
    const hour = node === "" ? this.#ofNone : this.#hours.of(node);
    hour.add(outcome);
  }

  /**
   * The oldest minute first; the last one is the present one.
   *
   * @param node nothing for all of them together, and what came to none
   */
  last(node: string | undefined): Minute[] {
    const minutes = none();
    if (node === undefined) for (const hour of [...this.#hours.all.values(), this.#ofNone]) hour.addTo(minutes);
    else this.#hours.all.get(node)?.addTo(minutes);
    return minutes;
  }
}

/** The same of deliveries that are kept. */
export function minutesOf(deliveries: Iterable<Pick<Delivery, "at" | "state" | "replayOf">>): Minute[] {
  const minutes = none();
  const now = numberOf(Date.now());
  for (const { at, state, replayOf } of deliveries) {
    const counts = minutes[minutesKnown - 1 - (now - numberOf(at))];
    if (counts && replayOf === undefined) counts[state === "refused" ? state : "accepted"]++;
  }
  return minutes;
}

function none(): Minute[] {
  return Array.from({ length: minutesKnown }, () => ({ accepted: 0, refused: 0 }));
}

/** @param time in ms since the epoch */
function numberOf(time: number): number {
  return Math.floor(time / minute);
}
