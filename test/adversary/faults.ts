/** What `faulty-sqlite.ts` does, by numbers that its thread reads and the test's writes. */
import { setEnvironmentData } from "node:worker_threads";

export const faultsKey = "webhook-trigger faults";

export enum Fault {
  /** How long each commit takes besides, in ms. */
  slow,
  /** The error of SQLite that each commit has: https://www.sqlite.org/rescode.html. */
  error,
  /** How many commits have it, where not all. */
  errors,
  /** In how many commits the worker dies, before they are done. */
  dieBefore,
  /** The same, once they are done and before anybody is told. */
  dieAfter,
  /** How many pages the file may have. */
  mostPages,
  /** How many commits there were: counted by the worker. */
  commits,
}

/** The faults of the workers that are started from now on. */
export class Faults {
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * 7));

  constructor() {
    setEnvironmentData(faultsKey, this.#shared.buffer);
  }

  set(fault: Fault, value: number): void {
    Atomics.store(this.#shared, fault, value);
  }

  get(fault: Fault): number {
    return Atomics.load(this.#shared, fault);
  }

  clear(): void {
    this.#shared.fill(0);
  }
}
