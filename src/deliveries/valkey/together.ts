// Has the server do with one script what several ask for.

import { Batch } from "../batch";
import type { Argument } from "./module";
import type { Script } from "./script";
import type { Server } from "./server";
import { mayBeDone } from "./troubles";

/** How many are done at once, and with how many bytes, unless one alone has more: others are not to wait for long. */
const mostAtOnce = 50;
const mostBytesAtOnce = 4 * 1024 * 1024;

/** What is asked for, as arguments of the script. */
interface Asked {
  readonly args: (Argument | number)[];
  /** How much room it needs. */
  readonly bytes: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class Together {
  readonly #server: Server;
  readonly #script: Script<unknown>;
  readonly #before: (bytes: number, number: number) => (Argument | number)[];
  readonly #along: Together | undefined;
  readonly #batch = new Batch<Asked>((all) => void this.#send(all));

  /**
   * @param before gives the first arguments of the script, of how much room all need and how many they are
   * @param along what goes along each time, and is synced with it where it comes behind
   */
  constructor(
    server: Server,
    script: Script<unknown>,
    before: (bytes: number, number: number) => (Argument | number)[] = () => [],
    along?: Together,
  ) {
    this.#server = server;
    this.#script = script;
    this.#before = before;
    this.#along = along;
  }

  /**
   * @param canWait whether nobody waits for it
   * @throws {StoreError} as `Server.ask` does
   */
  async ask(args: (Argument | number)[], { bytes = 0, canWait = false } = {}): Promise<void> {
    return new Promise((done, failed) => this.#batch.put({ args, bytes, done, failed }, canWait));
  }

  /** Sends what is there, now. */
  flush(): void {
    this.#batch.flush();
  }

  /** What is asked for once more is not to come after what was asked for later. */
  async #send(all: Asked[]): Promise<void> {
    const number = howMany(all);
    const asking = this.#askFor(all.slice(0, number));
    this.#along?.flush();
    await asking;
    if (all.length > number) await this.#send(all.slice(number));
  }

  /** What the server refuses together is asked for again, each alone: so it takes nothing else along. */
  async #askFor(some: Asked[]): Promise<void> {
    const bytes = some.reduce((sum, asked) => sum + asked.bytes, 0);
    try {
      const args = [...this.#before(bytes, some.length), ...some.flatMap((asked) => asked.args)];
      await this.#server.ask(this.#script, args, some.length > 1);
      for (const { done } of some) done();
    } catch (error) {
      if (!mayBeDone(error) && some.length > 1) await Promise.all(some.map((asked) => this.#askFor([asked])));
      else for (const { failed } of some) failed(error);
    }
  }
}

/** How many of the first ones are done at once. */
function howMany(all: readonly Asked[]): number {
  let bytes = 0;
  const end = all.slice(0, mostAtOnce).findIndex((asked) => (bytes += asked.bytes) > mostBytesAtOnce);
  return end === -1 ? mostAtOnce : Math.max(1, end);
}
