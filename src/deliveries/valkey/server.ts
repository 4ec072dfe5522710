// The server that deliveries are kept in: connected to anew whenever that has ended, and told that this instance lives.

import type { Condition } from "../condition";
import { StoreError, type StoreEvents, type Trouble, type Warning } from "../store";
import { Connection, type Identity } from "./connection";
import { warningsOf } from "./durability";
import { Later } from "./later";
import { type Argument, clientMaker, type ClientMaker } from "./module";
import type { Script } from "./script";
import { beat, leave, probe } from "./upkeep-scripts";
import { isAnswer, troubleOf } from "./troubles";

/** How long it waits until it tries again, in ms. */
const retryAfter = 500;
/** As much as may be needed for a delivery. */
const probed = "x".repeat(64 * 1024);

/** What may be in trouble by itself. */
export type Part = "connection" | "server" | "queue";

export interface ServerSetup extends Identity {
  readonly url: string;
  /** How much deliveries take at most, in bytes. */
  readonly maxBytes: number;
  /** How often it tells that it lives, in ms. */
  readonly beatEvery: number;
  /** For how long it is held to live without another word, in ms. */
  readonly beatLasts: number;
  /** What the server is to know before it is asked. */
  readonly scripts: readonly Script<unknown>[];
}

export class Server {
  readonly #setup: ServerSetup;
  readonly #events: StoreEvents;
  readonly #condition: Condition<Part>;
  readonly #later = new Later();
  readonly #warned = new Set<Warning>();
  #make: ClientMaker | undefined;
  /** What comes before the first connection waits for what becomes of that. */
  #starting: Promise<void> | undefined;
  #connection: Connection | undefined;
  #connecting: Connection | undefined;
  #epoch = 0;
  #beating: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #probing: NodeJS.Timeout | undefined;
  #away = new StoreError("unreachable");
  #isStopped = false;

  constructor(setup: ServerSetup, events: StoreEvents, condition: Condition<Part>) {
    this.#setup = setup;
    this.#events = events;
    this.#condition = condition;
  }

  /** @throws {StoreError} where it does not work yet */
  async start(): Promise<void> {
    const started = this.#start();
    this.#starting = started.catch(() => undefined);
    await started.finally(() => (this.#starting = undefined));
  }

  async #start(): Promise<void> {
    try {
      this.#make = await clientMaker(this.#setup.url, this.#setup.timeLimit);
    } catch (error) {
      this.#away = error instanceof StoreError ? error : new StoreError("broken", error);
      this.#condition.begin("connection", this.#away.trouble, this.#away.cause);
      throw this.#away;
    }
    await this.#connect(this.#make);
    if (!this.#connection) throw this.#away;
  }

  /**
   * @param isTrial whether it is asked in another way where the server refuses it: that is no trouble yet
   * @throws {StoreError} and then it has not been done, unless the trouble is `unreachable`: where the connection has
   *   ended before the answer, nobody knows
   */
  async ask<Reply>(script: Script<Reply>, args: (Argument | number)[], isTrial = false): Promise<Reply> {
    if (this.#starting) await this.#starting;
    const connection = this.#connection;
    if (!connection) throw this.#away;
    try {
      return await connection.run(script, args);
    } catch (error) {
      throw this.#failed(connection, error, isTrial);
    }
  }

  /** What could be kept, could be kept. */
  works(): void {
    clearTimeout(this.#probing);
    this.#condition.end("server");
  }

  /** Has something done, at the latest when the server is back: before all that is asked from then on. */
  async surely(script: Script<unknown>, args: (Argument | number)[]): Promise<void> {
    const connection = this.#connection;
    const entry = this.#later.join(script, args);
    if (connection) await this.#later.send(entry, connection);
  }

  /** Ends what is under way, and tells that this instance is no more. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#away = new StoreError("unreachable");
    clearInterval(this.#beating);
    clearTimeout(this.#retry);
    clearTimeout(this.#probing);
    const connection = this.#connection;
    this.#connection = undefined;
    this.#connecting?.end(undefined);
    this.#connecting = undefined;
    // What has come before is answered before.
    await connection?.run(leave, []).catch(() => undefined);
    connection?.end(undefined);
  }

  async #connect(make: ClientMaker): Promise<void> {
    if (this.#isStopped) return;
    const connection = new Connection(make, this.#setup, ++this.#epoch, (cause) => this.#ended(connection, cause));
    this.#connecting = connection;
    try {
      await connection.connect();
      // A user that may not keep scripts may run them all the same.
      await Promise.all(this.#setup.scripts.map((script) => connection.load(script).catch(() => undefined)));
      await connection.run(beat, [this.#setup.beatLasts]);
    } catch (error) {
      return connection.end(error);
    }
    // It may have ended in this very moment.
    if (this.#connecting !== connection) return;
    this.#later.sendAll(connection);
    this.#connecting = undefined;
    this.#connection = connection;
    this.#beating = setInterval(() => this.#beat(connection), this.#setup.beatEvery);
    this.#condition.end("connection");
    await this.#warn(connection);
  }

  #beat(connection: Connection): void {
    connection.run(beat, [this.#setup.beatLasts]).catch((error: unknown) => this.#failed(connection, error));
  }

  async #warn(connection: Connection): Promise<void> {
    for (const warning of await warningsOf(connection)) {
      if (!this.#warned.has(warning)) this.#events.warned(warning);
      this.#warned.add(warning);
    }
  }

  #ended(connection: Connection, cause: unknown): void {
    if (this.#isStopped || (connection !== this.#connection && connection !== this.#connecting)) return;
    this.#connection = undefined;
    this.#connecting = undefined;
    clearInterval(this.#beating);
    this.#away = new StoreError(troubleOf(cause), cause);
    this.#condition.begin("connection", this.#away.trouble, cause);
    const make = this.#make;
    if (make) this.#retry = setTimeout(() => void this.#connect(make), retryAfter);
  }

  #failed(connection: Connection, error: unknown, isTrial = false): StoreError {
    const trouble = troubleOf(error);
    // What is about the server, and not about what was asked, is about the next connection as well, or mended by it.
    const isOfServer = isAnswer(error) && (trouble === "full" || trouble === "broken");
    if (!isOfServer) connection.end(error);
    else if (!isTrial) this.#begin(trouble, error);
    return new StoreError(trouble, error);
  }

  #begin(trouble: Trouble, cause: unknown): void {
    if (this.#isStopped) return;
    this.#condition.begin("server", trouble, cause);
    clearTimeout(this.#probing);
    this.#probing = setTimeout(() => void this.#probe(trouble, cause), retryAfter);
  }

  async #probe(trouble: Trouble, cause: unknown): Promise<void> {
    const answer = await this.ask(probe, [this.#setup.maxBytes, probed]).catch((error: unknown) => error);
    if (!(answer instanceof StoreError)) this.works();
    // What the server has said by itself is told by now.
    else if (!isAnswer(answer.cause)) this.#begin(trouble, cause);
  }
}
