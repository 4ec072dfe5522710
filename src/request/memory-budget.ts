// The memory that bodies may take before they are a message: of strangers, of what waits, of what is unpacked.

import { getHeapStatistics } from "node:v8";

const defaultBytes = 64 * 1024 * 1024;

/** Counts bytes against a bound. */
export class MemoryBudget {
  /** In bytes. */
  max = Math.min(defaultBytes, Math.floor(getHeapStatistics().heap_size_limit / 8));
  #used = 0;

  get used(): number {
    return this.#used;
  }

  /** @returns whether there was room for so many bytes */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** It is one process whose memory they share. */
export const memoryBudget = new MemoryBudget();
