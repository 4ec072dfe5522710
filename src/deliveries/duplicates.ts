// Deliveries that come more than once: which one starts the flow, and what the others are told.

import { ownMemory } from "./delivery";

/** A delivery that has a key. */
export interface Candidate {
  /** The id of the node whose endpoint it came to: what is known of it outlives a deploy. */
  endpoint: string;
  key: string;
  /** The id of its message. */
  id: string;
  /** How long its key is kept once it has been answered, in ms. */
  keptFor: number;
}

/** How the first delivery of a key was answered by the flow. */
export interface FirstAnswer {
  status: number;
  /** The header fields that its body is not understood without. */
  fields: Readonly<Record<string, string>>;
  /** Nothing where it is not kept: it was too long, or many others came after it. */
  body: Buffer | undefined;
}

/** From so many bytes on, the body of an answer is not kept. */
export const maxAnswerBytes = 64 * 1024;

/**
 * Reserves keys, so that of any deliveries with one key exactly one starts the flow at a time, and none does once that
 * one has been answered. In the memory of this process, or in a store that outlives it or that several instances share.
 */
export interface Duplicates {
  /** Asked before the flow is started, for each delivery that has a key. */
  reserve(candidate: Candidate): Found | Promise<Found>;
}

export type Found = Reservation | Earlier;

/** The delivery has the key, and is to start the flow. It says once what came of it; what it says after that is nothing. */
export interface Reservation {
  readonly isFirst: true;
  /**
   * It has been answered. The key is kept, but where the answer is a failure (RFC 9110 §15.6), after which senders try
   * again: then the key is free, and only those who wait already are told the answer.
   *
   * @param answer that of the flow; nothing where this node has answered
   */
  settle(answer?: FirstAnswer): void | Promise<void>;
  /** It has not started the flow after all: another delivery may. */
  release(): void | Promise<void>;
}

/** Another delivery has the key. */
export interface Earlier {
  readonly isFirst: false;
  /** The id of its message. */
  readonly id: string;
  /** What came of it; where that is not known yet, when it is. */
  readonly outcome: ReservationEnd | Promise<ReservationEnd>;
}

/** An answer, which is nothing where the node itself has given it; or `released`, where the key is free again. */
export type ReservationEnd = "released" | { readonly answer: FirstAnswer | undefined };

/** What a delivery is to be told that does not start the flow. */
export interface KnownDuplicate {
  readonly isFirst: false;
  /** The id of the message of the first one. */
  readonly id: string;
  readonly answer: FirstAnswer | undefined;
}

/**
 * Reserves the key of a delivery or, while another has it, waits for what comes of that one: should it be refused after
 * all, one of those who wait takes its place, and no delivery is lost. Who has been given the key and has no use for it
 * any more, since its caller has gone, releases it.
 *
 * @param wait waits in the place of the delivery; what is no outcome ends that
 */
export async function reserveOrWait<Other extends object = never>(
  duplicates: Duplicates,
  candidate: Candidate,
  wait: (outcome: Promise<ReservationEnd>) => Promise<ReservationEnd | Other> = async (outcome) => outcome,
): Promise<Reservation | KnownDuplicate | Other> {
  for (;;) {
    const found = await duplicates.reserve(candidate);
    if (found.isFirst) return found;
    const outcome = found.outcome instanceof Promise ? await wait(found.outcome) : found.outcome;
    if (outcome === "released") continue;
    return "answer" in outcome ? { isFirst: false, id: found.id, answer: outcome.answer } : outcome;
  }
}

// The keys of deliveries, in the memory of this process.

/** How many keys there are at most, over all endpoints: one takes some 400 bytes. */
export const maxKeys = 100_000;
/** How much memory the bodies of answers take at most, all together, in bytes. */
export const maxAnswersBytes = 32 * 1024 * 1024;
/** How often keys are looked for whose time is over, in ms. */
const sweepInterval = 60_000;

/** Memory takes what is said of a delivery at once. */
export interface MemoryReservation extends Reservation {
  settle(answer?: FirstAnswer): void;
  release(): void;
}

/** A key, from when it is reserved until it is forgotten. */
interface DuplicateEntry extends Candidate {
  readonly place: string;
  /** Until when it is kept, as the clock tells time. */
  end: number;
  /** Once it is settled. */
  outcome?: { readonly answer: FirstAnswer | undefined };
  /** Those who wait for the outcome of the first delivery. */
  readonly waiting: ((outcome: ReservationEnd) => void)[];
}

/**
 * Bounded in keys and in bytes: the oldest go first, reserved ones last. Where there is no room, some more go than have to:
 * finding the first key of a `Map` takes as long as the number of those deleted before it.
 */
export class MemoryDuplicates implements Duplicates {
  readonly #reserved = new Map<string, DuplicateEntry>();
  /** In the order in which they were settled. */
  readonly #settled = new Map<string, DuplicateEntry>();
  /** Those of which the body of the answer is kept, in the same order. */
  readonly #answered = new Set<DuplicateEntry>();
  #bytes = 0;
  #lastSweep: number;
  readonly #now: () => number;
  readonly #most: number;
  readonly #mostBytes: number;

  /** @param now a clock in ms that is never set back, nor forward: a computer that learns the time late keeps its keys */
  constructor(now: () => number = () => performance.now(), most = maxKeys, mostBytes = maxAnswersBytes) {
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
    const entry: DuplicateEntry = { ...candidate, place, end: Infinity, waiting: [] };
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

  #settle(entry: DuplicateEntry, answer: FirstAnswer | undefined): void {
    // Those who wait get the answer as it is, also where it is too long to be kept.
    const hasKey = this.#end(entry, { answer });
    if (!hasKey || (answer && answer.status >= 500)) return;
    entry.end = this.#now() + entry.keptFor;
    const body = answer?.body && answer.body.length <= maxAnswerBytes ? ownMemory(answer.body) : undefined;
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
  #end(entry: DuplicateEntry, outcome: ReservationEnd): boolean {
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

  #forget(entry: DuplicateEntry): void {
    (entry.outcome ? this.#settled : this.#reserved).delete(entry.place);
    this.#dropBody(entry);
  }

  #dropBody(entry: DuplicateEntry): void {
    if (!this.#answered.delete(entry) || !entry.outcome?.answer) return;
    const { answer } = entry.outcome;
    this.#bytes -= answer.body?.length ?? 0;
    entry.outcome = { answer: { ...answer, body: undefined } };
  }
}
