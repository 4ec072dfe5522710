/** A load tool: a process of its own that sends requests without a pause until it is told to end. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface LoadReport {
  /** The ids in the replies with 200. */
  accepted: string[];
  /** How many requests came to another end, by the status or the error. */
  others: Record<string, number>;
}

export class Load {
  readonly #child: ChildProcess;

  /** Starts one that sends requests with the token, and waits until the first has been answered. */
  static async begin(url: string): Promise<Load> {
    const child = fork(join(__dirname, "load-child.ts"), [url]);
    await once(child, "message");
    return new Load(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Lets it end when all its requests have been answered. */
  async end(): Promise<LoadReport> {
    const reported = once(this.#child, "message") as Promise<[LoadReport]>;
    this.#child.send("end");
    const [report] = await reported;
    return report;
  }
}
