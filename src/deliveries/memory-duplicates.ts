// The keys of deliveries, in the memory of this process.

import {
  type Candidate,
  type Duplicates,
  type Earlier,
  type FirstAnswer,
  longestAnswer,
  type Outcome,
  type Reservation,
} from "./duplicates";
import { ownMemory } from "./memory-log";

/** How many keys there are at most, over all endpoints: one takes some 400 bytes. */
export const mostKeys = 100_000;
/** How much memory the bodies of answers take at most, all together, in bytes. */
export const mostBytesOfAnswers = 32 * 1024 * 1024;
/** How often keys are looked for whose time is over, in ms. */
const sweepInterval = 60_000;

/** Memory takes what is said of a delivery at once. */
export interface MemoryReservation extends Reservation {
  settle(answer?: FirstAnswer): void;
  release(): void;
}

/** A key, from when it is reserved until it is forgotten. */
interface Entry extends Candidate {
  readonly place: string;
  /** Until when it is kept, as the clock tells time. */
  end: number;
  /** Once it is settled. */
  outcome?: { readonly answer: FirstAnswer | undefined };
  /** Those who wait for the outcome of the first delivery. */
  readonly waiting: ((outcome: Outcome) => void)[];
}

/**
 * Bounded in keys and in bytes: the oldest go first, reserved ones last. Where there is no room, some more go than have to:
 * finding the first key of a `Map` takes as long as the number of those deleted before it.
 */
export class MemoryDuplicates implements Duplicates {
  readonly #reserved = new Map<string, Entry>();
  /** In the order in which they were settled. */
  readonly #settled = new Map<string, Entry>();
  /** Those of which the body of the answer is kept, in the same order. */
  readonly #answered = new Set<Entry>();
  #bytes = 0;
  #lastSweep: number;
  readonly #now: () => number;
  readonly #most: number;
  readonly #mostBytes: number;

  /** @param now a clock in ms that is never set back, nor forward: a computer that learns the time late keeps its keys */
  constructor(now: () => number = () => performance.now(), most = mostKeys, mostBytes = mostBytesOfAnswers) {
    this.#now = now;
    this.#lastSweep = now();
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#reserved.size + this.#settled.size;
  }

  /** How many bytes the bodies of answers have, all together. */
  get bytes(): number {
    return this.#bytes;
  }

  reserve(candidate: Candidate): MemoryReservation | Earlier {
    const now = this.#now();
    const place = `${candidate.endpoint} ${candidate.key}`;
    const reserved = this.#reserved.get(place);
    if (reserved)
      return { isFirst: false, id: reserved.id, outcome: new Promise((tell) => reserved.waiting.push(tell)) };
    const settled = this.#settled.get(place);
    if (settled?.outcome && settled.end > now) return { isFirst: false, id: settled.id, outcome: settled.outcome };
    if (settled) this.#forget(settled);
    this.#makeRoom(now);
    const entry: Entry = { ...candidate, place, end: Infinity, waiting: [] };
    this.#reserved.set(place, entry);
    let isOpen = true;
    const once = (act: () => void) => {
      if (isOpen) act();
      isOpen = false;
    };
    return {
      isFirst: true,
      settle: (answer) => once(() => this.#settle(entry, answer)),
      release: () => once(() => this.#end(entry, "released")),
    };
  }

  #settle(entry: Entry, answer: FirstAnswer | undefined): void {
    // Those who wait get the answer as it is, also where it is too long to be kept.
    const hasKey = this.#end(entry, { answer });
    if (!hasKey || (answer && answer.status >= 500)) return;
    entry.end = this.#now() + entry.keptFor;
    const body = answer?.body && answer.body.length <= longestAnswer ? ownMemory(answer.body) : undefined;
    entry.outcome = { answer: answer && { ...answer, body } };
    this.#settled.set(entry.place, entry);
    if (!body) return;
    this.#answered.add(entry);
    this.#bytes += body.length;
    if (this.#bytes <= this.#mostBytes) return;
    for (const each of this.#answered) {
      this.#dropBody(each);
      if (this.#bytes <= this.#mostBytes * (15 / 16)) return;
    }
  }

  /** @returns whether its key was its own until now: it may have been forgotten, and be another's */
  #end(entry: Entry, outcome: Outcome): boolean {
    for (const tell of entry.waiting) tell(outcome);
    return this.#reserved.get(entry.place) === entry && this.#reserved.delete(entry.place);
  }

  #makeRoom(now: number): void {
    if (now - this.#lastSweep >= sweepInterval) {
      this.#lastSweep = now;
      for (const entry of this.#settled.values()) if (entry.end <= now) this.#forget(entry);
    }
    if (this.size < this.#most) return;
    const room = Math.ceil(this.#most / 16);
    for (const entries of [this.#settled, this.#reserved]) {
      for (const entry of entries.values()) {
        if (this.size <= this.#most - room) return;
        this.#forget(entry);
      }
    }
  }

  #forget(entry: Entry): void {
    (entry.outcome ? this.#settled : this.#reserved).delete(entry.place);
    this.#dropBody(entry);
  }

  #dropBody(entry: Entry): void {
    if (!this.#answered.delete(entry) || !entry.outcome?.answer) return;
    const { answer } = entry.outcome;
    this.#bytes -= answer.body?.length ?? 0;
    entry.outcome = { answer: { ...answer, body: undefined } };
  }
}
