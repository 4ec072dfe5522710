// The keys of deliveries, in a file as well: those that have been answered outlive the process.

import { MemoryDuplicates, type MemoryReservation } from "../memory-duplicates";
import type { Candidate, Duplicates, FirstAnswer, Found, Reservation } from "../duplicates";
import type { FileThread } from "./file-thread";

/**
 * All that this process has been asked for is in its memory, where reservations are and who waits for them: they end
 * with it. The file is asked for the keys of processes before it, as long as it has any.
 */
export class SqliteDuplicates implements Duplicates {
  readonly #memory = new MemoryDuplicates();
  readonly #thread: FileThread;
  /** Until when the file may have keys of processes before this one, in ms since the epoch. */
  #knownUntil = Infinity;

  constructor(thread: FileThread) {
    this.#thread = thread;
  }

  /** @param until until when the file has keys, before any of this process is in it */
  opened(until: number): void {
    this.#knownUntil = until;
  }

  reserve(candidate: Candidate): Found | Promise<Found> {
    const found = this.#memory.reserve(candidate);
    if (!found.isFirst) return found;
    const reservation = this.#reservationOf(candidate, found);
    return Date.now() < this.#knownUntil ? this.#look(candidate, reservation) : reservation;
  }

  async #look({ endpoint, key }: Candidate, reservation: Reservation): Promise<Found> {
    try {
      const known = await this.#thread.ask("findKey", endpoint, key);
      if (!known) return reservation;
      void reservation.release();
      const { id, answer } = known;
      const body = answer?.body && Buffer.from(answer.body);
      return { isFirst: false, id, outcome: { answer: answer && { ...answer, body } } };
    } catch (error) {
      void reservation.release();
      throw error;
    }
  }

  #reservationOf({ endpoint, key, id, keptFor }: Candidate, inMemory: MemoryReservation): Reservation {
    let isOver = false;
    return {
      isFirst: true,
      /** Never rejected: a key that the file does not take is known until the process ends. */
      settle: async (answer?: FirstAnswer) => {
        if (isOver) return;
        isOver = true;
        inMemory.settle(answer);
        if (answer && answer.status >= 500) return;
        const stored = { endpoint, key, id, until: Date.now() + keptFor, answer: answer && { status: answer.status, fields: answer.fields } }; // prettier-ignore
        await this.#thread.ask("addKey", stored, answer?.body).catch(() => undefined);
      },
      release: () => {
        isOver = true;
        inMemory.release();
      },
    };
  }
}
