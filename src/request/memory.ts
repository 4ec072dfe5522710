// The memory that bodies take before they are a message: in all, and for each sender.

import { getHeapStatistics } from "node:v8";

/** Bodies up to this size have room that larger ones leave to them. */
export const maxSmallBytes = 64 * 1024;
/** The part of a budget that one network may take. */
const networkPart = 1 / 4;
/** The part of it, and of that of a network, that bodies over `maxSmallBytes` may take. */
const largePart = 3 / 4;
/** A budget has room for the largest body of one network, also while its buffer grows. */
const defaultBodies = 12;
const minDefaultBytes = 64 * 1024 * 1024;

/** In bytes. */
interface MemoryUse {
  all: number;
  /** By bodies over `maxSmallBytes`. */
  large: number;
}

/** The memory of one body. */
export interface MemoryLease {
  /**
   * Takes or gives back memory, so that the body has so many bytes in all.
   *
   * @returns whether there was room; if not, nothing has changed
   */
  resize(bytes: number): boolean;
  /** Gives all of it back. Has no effect the second time. */
  release(): void;
}

/** Counts what is allocated, not what has come. */
export class MemoryBudget {
  /** In bytes. */
  max: number;
  readonly #use: MemoryUse = { all: 0, large: 0 };
  /** Networks that have a part of it. */
  readonly #uses = new Map<string, MemoryUse>();

  constructor(max: number) {
    this.max = max;
  }

  /** @param network of the sender, if only its part is wanted */
  getUsed(network?: string): number {
    return network === undefined ? this.#use.all : (this.#uses.get(network)?.all ?? 0);
  }

  /** @param network of the sender: see `findNetwork` */
  lease(network: string): MemoryLease {
    let held = 0;
    const resize = (bytes: number) => {
      const isDone = this.#change(network, held, bytes);
      if (isDone) held = bytes;
      return isDone;
    };
    return { resize, release: () => void resize(0) };
  }

  /**
   * Counts the bytes of a body while something is done with it.
   *
   * @returns nothing where there is no room
   */
  async hold<Done>(network: string, bytes: number, act: () => Promise<Done>): Promise<Done | undefined> {
    const lease = this.lease(network);
    if (!lease.resize(bytes)) return undefined;
    try {
      return await act();
    } finally {
      lease.release();
    }
  }

  #change(network: string, from: number, to: number): boolean {
    const own = this.#uses.get(network) ?? { all: 0, large: 0 };
    const large = countLarge(to) - countLarge(from);
    const fits = (use: MemoryUse, max: number) =>
      use.all - from + to <= max && (to <= maxSmallBytes || use.large + large <= max * largePart);
    if (to > from && !(fits(this.#use, this.max) && fits(own, this.max * networkPart))) return false;
    for (const use of [this.#use, own]) {
      use.all += to - from;
      use.large += large;
    }
    if (own.all === 0) this.#uses.delete(network);
    else this.#uses.set(network, own);
    return true;
  }
}

function countLarge(bytes: number): number {
  return bytes > maxSmallBytes ? bytes : 0;
}

/** Of the process. */
export const bodyMemory = {
  /** Bodies of senders that are not verified yet. */
  unverified: new MemoryBudget(minDefaultBytes),
  /** Verified bodies that are unpacked, or that wait for a deploy or the first of duplicates. */
  verified: new MemoryBudget(minDefaultBytes),
};

/**
 * @param given in bytes, for each of the two budgets
 * @param limit of one body, in bytes
 */
export function setBodyMemory(given: number | undefined, limit: number): void {
  const most = Math.floor(getHeapStatistics().heap_size_limit / 8);
  const max = given ?? Math.min(Math.max(minDefaultBytes, defaultBodies * limit), most);
  bodyMemory.unverified.max = bodyMemory.verified.max = max;
}
