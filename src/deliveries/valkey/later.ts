// What has to be done when the server is back.

import type { Connection } from "./connection";
import type { Argument } from "./module";
import type { Script } from "./script";
import { isAnswer } from "./troubles";

/** How much there is to be done at most, in bytes: what comes to more is left, as when the process ends before. */
const mostBytes = 32 * 1024 * 1024;
/** What each takes besides its texts. */
const frame = 256;

export interface Entry {
  readonly script: Script<unknown>;
  readonly args: (Argument | number)[];
  readonly bytes: number;
}

/** Each comes to the same when it is done twice, or after others. */
export class Later {
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  join(script: Script<unknown>, args: (Argument | number)[]): Entry {
    const bytes = args.reduce((sum: number, arg) => sum + (typeof arg === "number" ? 0 : arg.length), frame);
    const entry = { script, args, bytes };
    if (this.#bytes + bytes > mostBytes) return entry;
    this.#entries.add(entry);
    this.#bytes += bytes;
    return entry;
  }

  /** Never rejected: what does not come to the server now stays. */
  async send(entry: Entry, connection: Connection): Promise<void> {
    try {
      await connection.run(entry.script, entry.args);
      this.#leave(entry);
    } catch (error) {
      // What the server refuses would be refused again.
      if (isAnswer(error)) this.#leave(entry);
    }
  }

  sendAll(connection: Connection): void {
    for (const entry of this.#entries) void this.send(entry, connection);
  }

  #leave(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.bytes;
  }
}
