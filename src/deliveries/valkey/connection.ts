// A connection to a server, until it ends: then what has no answer is rejected, and it is not made anew.

import type { Argument, Client, ClientMaker } from "./module";
import type { Script } from "./script";
import { isAnswer } from "./troubles";

/** Which instance of this package it is, and how it talks to its server. */
export interface Identity {
  /** What begins all keys. */
  readonly root: string;
  readonly instance: string;
  /** How long the server may take for a command, in ms. */
  readonly timeLimit: number;
}

/** What has no answer yet. */
interface Pending {
  readonly since: number;
}

export class Connection {
  readonly #identity: Identity;
  readonly #epoch: string;
  readonly #client: Client;
  readonly #ended: (cause: unknown) => void;
  /** In the order in which they were sent, which is that of the answers. */
  readonly #pending = new Set<Pending>();
  readonly #watch: NodeJS.Timeout;
  #cause: unknown;
  #hasEnded = false;

  /**
   * @param epoch its number, above that of each earlier one of this instance
   * @param ended told why it has ended, once
   */
  constructor(make: ClientMaker, identity: Identity, epoch: number, ended: (cause: unknown) => void) {
    this.#identity = identity;
    this.#epoch = epoch.toString();
    this.#ended = ended;
    this.#client = make((cause) => this.end(cause));
    this.#watch = setInterval(() => this.#look(), identity.timeLimit / 5);
  }

  /** Rejected where the server is not reached, or does not let it in. */
  async connect(): Promise<void> {
    await this.#timed(() => this.#client.connect());
  }

  /** What the server says of itself. */
  async command(...command: string[]): Promise<unknown> {
    return this.#timed(() => this.#client.send(command, false));
  }

  /** Has the server keep a script, so that it need not be sent each time. */
  async load(script: Script<unknown>): Promise<void> {
    await this.command("SCRIPT", "LOAD", script.text);
  }

  async run<Reply>(script: Script<Reply>, args: (Argument | number)[]): Promise<Reply> {
    const { root, instance } = this.#identity;
    const rest = ["1", root, instance, this.#epoch, ...args.map((arg) => (typeof arg === "number" ? `${arg}` : arg))];
    const send = (...how: string[]) => this.#timed(() => this.#client.send([...how, ...rest], script.bytes));
    try {
      // What a script answers is what it says that it gives.
      return (await send("EVALSHA", script.sha)) as Reply;
    } catch (error) {
      // The server has lost its scripts, or does not let this user have some kept.
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await send("EVAL", script.text)) as Reply;
    }
  }

  /** Ends it at once. */
  end(cause: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cause = cause;
    clearInterval(this.#watch);
    this.#client.destroy();
    this.#ended(cause);
  }

  /** Does something to which the server has so much time, or the connection ends. */
  async #timed(work: () => Promise<unknown>): Promise<unknown> {
    if (this.#hasEnded) throw this.#cause;
    const pending = { since: performance.now() };
    this.#pending.add(pending);
    try {
      return await work();
    } catch (error) {
      throw this.#causeOf(error);
    } finally {
      this.#pending.delete(pending);
    }
  }

  /** What has ended the connection says more than that it has ended; but not what the server has answered to others. */
  #causeOf(error: unknown): unknown {
    return this.#hasEnded && !isAnswer(error) && !isAnswer(this.#cause) ? this.#cause : error;
  }

  /** An answer may be here that could not be read yet, since this process itself was held up. */
  #look(): void {
    const [oldest] = this.#pending;
    if (!oldest || performance.now() - oldest.since < this.#identity.timeLimit) return;
    setImmediate(() => {
      if (this.#pending.has(oldest)) this.end(new Error(`no answer within ${this.#identity.timeLimit} ms`));
    });
  }
}
