// The keys of deliveries, in the memory of this process.

import { type Aged, Aging } from "./aging";
import {
  type Candidate,
  type Earlier,
  type FirstAnswer,
  longestAnswer,
  type Outcome,
  type Duplicates,
  type Reservation,
} from "./duplicates";

/** How many keys there are at most, over all endpoints: one takes some 400 bytes. */
export const mostKeys = 100_000;
/** How much memory the bodies of answers take at most, all together, in bytes. */
export const mostBytesOfAnswers = 32 * 1024 * 1024;

/** Memory takes what is said of a delivery at once. */
export interface MemoryReservation extends Reservation {
  settle(answer?: FirstAnswer): void;
  release(): void;
}

/** The body of an answer that is kept. */
class Body implements Aged<Body> {
  older: Body | undefined;
  newer: Body | undefined;
  constructor(
    readonly bytes: Buffer,
    readonly entry: Entry,
  ) {}
}

/** A key, from when it is reserved until it is forgotten. */
class Entry implements Aged<Entry> {
  older: Entry | undefined;
  newer: Entry | undefined;
  readonly place: string;
  readonly id: string;
  readonly keptFor: number;
  /** Who wait for what comes of it; nobody does any more when that is known. */
  waiting: ((outcome: Outcome) => void)[] | undefined = [];
  /** When it is forgotten, as the clock tells time. */
  end = Infinity;
  answer: Omit<FirstAnswer, "body"> | undefined;
  body: Body | undefined;

  constructor(place: string, { id, keptFor }: Candidate) {
    this.place = place;
    this.id = id;
    this.keptFor = keptFor;
  }

  get outcome(): Outcome | Promise<Outcome> {
    const { waiting } = this;
    if (waiting) return new Promise((tell) => waiting.push(tell));
    return { answer: this.answer && { ...this.answer, body: this.body?.bytes } };
  }

  /** Tells what came of it to those who wait. */
  tell(outcome: Outcome): void {
    const { waiting = [] } = this;
    this.waiting = undefined;
    for (const tell of waiting) tell(outcome);
  }
}

/** Bounded in keys and in bytes: the oldest go first, but those of which nobody knows yet what comes of them go last. */
export class MemoryDuplicates implements Duplicates {
  readonly #entries = new Map<string, Entry>();
  readonly #reserved = new Aging<Entry>();
  readonly #settled = new Aging<Entry>();
  readonly #bodies = new Aging<Body>();
  #bytes = 0;
  readonly #now: () => number;
  readonly #most: number;
  readonly #mostBytes: number;

  /** @param now a clock in ms that is never set back, nor forward: a computer that learns the time late keeps its keys */
  constructor(now: () => number = () => performance.now(), most = mostKeys, mostBytes = mostBytesOfAnswers) {
    this.#now = now;
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** How many bytes the bodies of answers have, all together. */
  get bytes(): number {
    return this.#bytes;
  }

  reserve(candidate: Candidate): MemoryReservation | Earlier {
    const now = this.#now();
    const place = `${candidate.endpoint} ${candidate.key}`;
    const known = this.#entries.get(place);
    if (known && known.end > now) return { isFirst: false, id: known.id, outcome: known.outcome };
    if (known) this.#forget(known);
    this.#makeRoom(now);
    const entry = new Entry(place, candidate);
    this.#entries.set(place, entry);
    this.#reserved.join(entry);
    return this.#reservationOf(entry);
  }

  #reservationOf(entry: Entry): MemoryReservation {
    return {
      isFirst: true,
      settle: (answer) => {
        if (entry.waiting) this.#settle(entry, answer);
      },
      release: () => {
        if (entry.waiting) this.#end(entry, "released");
      },
    };
  }

  #settle(entry: Entry, answer: FirstAnswer | undefined): void {
    // Those who wait get the answer as it is, also where it is too long to be kept.
    if (answer && answer.status >= 500) return this.#end(entry, { answer });
    if (this.#entries.get(entry.place) === entry) {
      this.#reserved.leave(entry);
      this.#settled.join(entry);
      entry.end = this.#now() + entry.keptFor;
      if (answer) this.#keepAnswer(entry, answer);
    }
    entry.tell({ answer });
  }

  /** It may have been forgotten before, and its key be another's. */
  #end(entry: Entry, outcome: Outcome): void {
    if (this.#entries.get(entry.place) === entry) this.#forget(entry);
    entry.tell(outcome);
  }

  #keepAnswer(entry: Entry, { status, fields, body }: FirstAnswer): void {
    entry.answer = { status, fields };
    if (!body || body.length > longestAnswer) return;
    entry.body = new Body(body, entry);
    this.#bodies.join(entry.body);
    this.#bytes += body.length;
    while (this.#bytes > this.#mostBytes && this.#bodies.oldest) this.#dropBody(this.#bodies.oldest);
  }

  #dropBody(body: Body): void {
    this.#bodies.leave(body);
    this.#bytes -= body.bytes.length;
    body.entry.body = undefined;
  }

  #makeRoom(now: number): void {
    for (let oldest = this.#settled.oldest; oldest && oldest.end <= now; oldest = this.#settled.oldest) {
      this.#forget(oldest);
    }
    if (this.#entries.size < this.#most) return;
    const oldest = this.#settled.oldest ?? this.#reserved.oldest;
    if (oldest) this.#forget(oldest);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.place);
    (entry.waiting ? this.#reserved : this.#settled).leave(entry);
    if (entry.body) this.#dropBody(entry.body);
  }
}
