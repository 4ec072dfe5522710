// The memory that bodies take before it is known whose they are.

/** How much of it there is for all endpoints together, in bytes. */
export const mostUnverified = 64 * 1024 * 1024;

/** Counts the bytes of all bodies that nobody has proven to be somebody's yet. */
export class UnverifiedBytes {
  readonly #most: number;
  #taken = 0;

  constructor(most = mostUnverified) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** @returns whether there was room for so many bytes */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** It is the memory of the whole process that they would fill. */
export const unverifiedBytes = new UnverifiedBytes();
