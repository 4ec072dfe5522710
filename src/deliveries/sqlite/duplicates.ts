// The keys of deliveries, in a file as well: those that have been answered outlive the process.

import { MemoryDuplicates, type MemoryReservation } from "../memory-duplicates";
import type { Candidate, Earlier, FirstAnswer, Found, Duplicates, Reservation } from "../duplicates";
import type { FoundKey, KeptKey } from "./operations";
import type { Thread } from "./thread";
import { bufferOf } from "../written";

/**
 * All that this process has been asked for is in its memory, where reservations are and who waits for them: they end
 * with it. The file is asked for the keys of processes before it, as long as it has any.
 */
export class FileDuplicates implements Duplicates {
  readonly #memory = new MemoryDuplicates();
  readonly #thread: Thread;
  /** Until when the file may have keys of processes before this one, in ms since the epoch. */
  #knownUntil = Infinity;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** @param until until when the file has keys, before any of this process is in it */
  opened(until: number): void {
    this.#knownUntil = until;
  }

  reserve(candidate: Candidate): Found | Promise<Found> {
    const found = this.#memory.reserve(candidate);
    if (!found.isFirst) return found;
    const reservation = new FileReservation(candidate, found, this.#thread);
    return Date.now() < this.#knownUntil ? this.#look(candidate, reservation) : reservation;
  }

  async #look(candidate: Candidate, reservation: FileReservation): Promise<Found> {
    const { endpoint, key } = candidate;
    try {
      const known = await this.#thread.ask("findKey", { endpoint, key, now: Date.now() });
      if (!known) return reservation;
      reservation.release();
      return earlierOf(known);
    } catch (error) {
      reservation.release();
      throw error;
    }
  }
}

class FileReservation implements Reservation {
  readonly isFirst = true;
  readonly #candidate: Candidate;
  readonly #inMemory: MemoryReservation;
  readonly #thread: Thread;
  #isOver = false;

  constructor(candidate: Candidate, inMemory: MemoryReservation, thread: Thread) {
    this.#candidate = candidate;
    this.#inMemory = inMemory;
    this.#thread = thread;
  }

  /** Never rejected: a key that the file does not take is known until the process ends. */
  async settle(answer?: FirstAnswer): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inMemory.settle(answer);
    if (answer && answer.status >= 500) return;
    const { endpoint, key, id, keptFor } = this.#candidate;
    const now = Date.now();
    const kept: KeptKey = {
      endpoint,
      key,
      id,
      until: now + keptFor,
      answer: answer && { status: answer.status, fields: answer.fields },
    };
    await this.#thread.ask("keepKey", { kept, now }, answer?.body).catch(() => undefined);
  }

  release(): void {
    this.#isOver = true;
    this.#inMemory.release();
  }
}

function earlierOf({ id, answer }: FoundKey): Earlier {
  return {
    isFirst: false,
    id,
    outcome: { answer: answer && { ...answer, body: answer.body && bufferOf(answer.body) } },
  };
}
