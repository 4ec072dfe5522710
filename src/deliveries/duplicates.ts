// Duplicate keys: which delivery starts the flow, and what the others are told.

import { ownMemory } from "./delivery";

/** A delivery with a key. */
export interface Candidate {
  /** The id of its node: keys outlive a deploy. */
  endpoint: string;
  key: string;
  /** Of its message. */
  id: string;
  /** How long the key is kept after the reply, in ms. */
  keptFor: number;
}

/** The flow's reply to the first delivery. */
export interface FirstAnswer {
  status: number;
  /** The header fields that the body needs to be understood. */
  fields: Readonly<Record<string, string>>;
  /** Missing where it was too long, or dropped. */
  body: Buffer | undefined;
}

/** A longer reply is not kept. */
export const maxAnswerBytes = 64 * 1024;

/**
 * Reserves keys: of all deliveries with one key, one at a time starts the flow, and none after it was answered. In
 * memory, in a file, or shared by several instances.
 */
export interface Duplicates {
  /** Called before the flow is started. */
  reserve(candidate: Candidate): Found | Promise<Found>;
}

export type Found = Reservation | Earlier;

/** The delivery has the key and starts the flow. Only the first call of `settle` or `release` counts. */
export interface Reservation {
  readonly isFirst: true;
  /**
   * It was answered, and the key is kept. After a failure (RFC 9110 §15.6) senders try again: then the key is free,
   * and only waiting duplicates get the reply.
   *
   * @param answer by the flow; missing where the node replied
   */
  settle(answer?: FirstAnswer): void | Promise<void>;
  /** It has not started the flow: another delivery may. */
  release(): void | Promise<void>;
}

/** Another delivery has the key. */
export interface Earlier {
  readonly isFirst: false;
  /** Of its message. */
  readonly id: string;
  /** A promise while it is not known. */
  readonly outcome: ReservationEnd | Promise<ReservationEnd>;
}

/** The flow's reply, missing where the node replied; `released` where the key is free again. */
export type ReservationEnd = "released" | { readonly answer: FirstAnswer | undefined };

export interface KnownDuplicate {
  readonly isFirst: false;
  /** Of the first delivery's message. */
  readonly id: string;
  readonly answer: FirstAnswer | undefined;
}

/**
 * Reserves the key of a delivery or, while another has it, waits for its outcome. If that is refused, one of the
 * waiting takes its place. Whoever gets the key and cannot use it, since its sender has gone, releases it.
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

// Duplicate keys in the memory of this process.

/** Over all endpoints; a key takes some 400 bytes. */
export const maxKeys = 100_000;
/** The bytes of the replies' bodies, all together. */
export const maxAnswersBytes = 32 * 1024 * 1024;
/** How often expired keys are removed, in ms. */
const sweepInterval = 60_000;

export interface MemoryReservation extends Reservation {
  settle(answer?: FirstAnswer): void;
  release(): void;
}

/** From when it is reserved until it is forgotten. */
interface DuplicateEntry extends Candidate {
  readonly place: string;
  /** When it expires, by the clock of the class. */
  end: number;
  /** Missing while it is reserved. */
  outcome?: { readonly answer: FirstAnswer | undefined };
  /** Duplicates that wait for the first delivery. */
  readonly waiting: ((outcome: ReservationEnd) => void)[];
}

/**
 * Bounded in keys and bytes: the oldest go first, reserved ones last. When full, it drops some more than needed,
 * because finding the first key of a `Map` takes as long as the number of deleted keys before it.
 */
export class MemoryDuplicates implements Duplicates {
  readonly #reserved = new Map<string, DuplicateEntry>();
  /** In the order in which they were settled. */
  readonly #settled = new Map<string, DuplicateEntry>();
  /** Keys whose reply's body is kept, in the same order. */
  readonly #answered = new Set<DuplicateEntry>();
  #bytes = 0;
  #lastSweep: number;
  readonly #now: () => number;
  readonly #most: number;
  readonly #mostBytes: number;

  /** @param now a monotonic clock in ms: a computer that learns the time late keeps its keys */
  constructor(now: () => number = () => performance.now(), most = maxKeys, mostBytes = maxAnswersBytes) {
    this.#now = now;
    this.#lastSweep = now();
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  get size(): number {
    return this.#reserved.size + this.#settled.size;
  }

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
    // Waiting duplicates get the reply even where it is too long to be kept.
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

  /** @returns whether it still had its key */
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
