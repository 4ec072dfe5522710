// The main thread's side of the worker that owns the file.

import { Worker } from "node:worker_threads";
import { frameBytes, StoreError, type StoreAnnouncer, type StoreTrouble } from "../queue";
import {
  listTransfers,
  type Method,
  type WorkerCall,
  type WorkerMessage,
  type WorkerResult,
  type WorkerSetup,
} from "./calls";
import type { Tables } from "./tables";

/** The bytes of the bodies that wait to be stored, unless one delivery alone is larger. */
export const maxWaitingBytes = 64 * 1024 * 1024;
/** In ms, between two tries while the store is in trouble. */
const retryAfterMs = 1000;

interface WaitingCall {
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface FileOwner {
  /** The ids of the deliveries whose attempts run in this process. */
  readonly running: () => ReadonlySet<string>;
  /** The queue's clock. */
  readonly now: () => number;
  /** Called each time the file was opened. */
  opened(found: ReturnType<Tables["open"]>): void;
}

/** Restarts the worker and opens the file again when either has failed. */
export class FileThread {
  readonly #script: string;
  readonly #setup: WorkerSetup;
  readonly #owner: FileOwner;
  #events: StoreAnnouncer | undefined;
  readonly #waiting = new Map<number, WaitingCall>();
  /** All calls of a turn go in one message. */
  #calls: WorkerCall[] = [];
  #last = 0;
  #bytes = 0;
  #worker: Worker | undefined;
  #firstOpening: Promise<unknown> | undefined;
  #wasOpen = false;
  #isOpen = false;
  #trouble: StoreTrouble | undefined;
  #retrying: NodeJS.Timeout | undefined;
  #closed: Promise<unknown> | undefined;

  /** @param script of the worker */
  constructor(script: string, setup: WorkerSetup, owner: FileOwner) {
    this.#script = script;
    this.#setup = setup;
    this.#owner = owner;
  }

  /** Rejects in trouble, and goes on trying. */
  async open(events: StoreAnnouncer): Promise<void> {
    this.#events = events;
    const opening = this.#open();
    this.#firstOpening = opening.catch(() => undefined);
    try {
      await opening;
    } catch (error) {
      this.#reportDown(error);
      throw error;
    }
  }

  /** @throws {StoreError} until the file was open */
  async wasOpened(): Promise<void> {
    if (!this.#wasOpen) await this.#firstOpening;
    if (!this.#wasOpen) throw new StoreError(this.#trouble ?? "unreachable");
  }

  /** Calls a method of the tables in the worker. @throws {StoreError}, or an error of what cannot be cloned */
  async ask<M extends Method>(method: M, ...args: Parameters<Tables[M]>): Promise<ReturnType<Tables[M]>> {
    // Requests right after the start wait for the file.
    if (!this.#isOpen) await this.#firstOpening;
    if (!this.#isOpen || this.#closed) throw new StoreError(this.#trouble ?? "unreachable");
    const bytes = frameBytes + args.reduce((sum: number, arg) => sum + (arg instanceof Uint8Array ? arg.length : 0), 0);
    try {
      if (method === "add" && this.#bytes > 0 && this.#bytes + bytes > maxWaitingBytes) throw new StoreError("busy");
      return await this.#call(bytes, method, args);
    } catch (error) {
      if (error instanceof StoreError && ["full", "busy"].includes(error.trouble)) this.#reportDown(error);
      throw error;
    }
  }

  /** Asks until the store works; never settled once this is closed. @throws an error of what cannot be cloned */
  async insist<M extends Method>(method: M, ...args: Parameters<Tables[M]>): Promise<ReturnType<Tables[M]>> {
    for (;;) {
      try {
        return await this.ask(method, ...args);
      } catch (error) {
        if (this.#closed) return new Promise(() => undefined);
        if (!(error instanceof StoreError)) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryAfterMs).unref());
      }
    }
  }

  /** Ends running work, and the worker. */
  async close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      clearTimeout(this.#retrying);
      this.#post();
      if (!this.#worker) return resolve();
      this.#worker.once("exit", resolve);
      this.#worker.postMessage("close");
    });
    await this.#closed;
  }

  async #open(): Promise<void> {
    this.#worker ??= this.#start();
    const { running, now } = this.#owner;
    const found = await this.#call(0, "open", this.#wasOpen ? [now(), running()] : [now()]);
    this.#wasOpen = true;
    this.#isOpen = true;
    this.#owner.opened(found);
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { name: "webhook-trigger", workerData: this.#setup });
    let cause: unknown;
    worker.on("message", (message: WorkerMessage) => this.#hear(message));
    worker.on("error", (error) => (cause = error));
    worker.on("exit", (code) => this.#died(cause ?? new Error(`the worker ended with ${code}`)));
    return worker;
  }

  async #call<M extends Method>(bytes: number, method: M, args: Parameters<Tables[M]>): Promise<ReturnType<Tables[M]>> {
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      const number = ++this.#last;
      this.#waiting.set(number, { bytes, resolve: (value) => resolve(value as ReturnType<Tables[M]>), reject });
      if (this.#calls.length === 0) setImmediate(() => this.#post());
      // The thread gets this one copy: others go on using the body, whose memory may be that of others as well.
      const copies = args.map((arg: unknown) => (Buffer.isBuffer(arg) ? new Uint8Array(arg) : arg));
      this.#calls.push({ number, method, args: copies as Parameters<Tables[M]> });
    });
  }

  #post(): void {
    const calls = this.#calls.splice(0);
    if (calls.length > 0) this.#send(calls);
  }

  /** A call that cannot be cloned fails alone. */
  #send(calls: readonly WorkerCall[]): void {
    try {
      const bodies = calls.flatMap(({ args }) => args.filter((arg: unknown) => arg instanceof Uint8Array));
      this.#worker?.postMessage(calls, listTransfers(bodies));
    } catch (error) {
      const [call, ...others] = calls;
      if (call && others.length === 0) this.#end(call.number)?.reject(error);
      else for (const each of calls) this.#send([each]);
    }
  }

  #hear(message: WorkerMessage): void {
    if (message.says === "movedAside") this.#events?.emit("store:moved-aside", message);
    else if (message.says === "answers") message.answers.forEach((answer) => this.#settle(answer));
    else {
      this.#isOpen = false;
      this.#reportDown(new StoreError(message.trouble, message.cause));
    }
  }

  #settle(answer: WorkerResult): void {
    const call = this.#end(answer.number);
    if ("trouble" in answer) call?.reject(new StoreError(answer.trouble, answer.cause));
    else call?.resolve(answer.value);
  }

  #end(number: number): WaitingCall | undefined {
    const call = this.#waiting.get(number);
    this.#waiting.delete(number);
    this.#bytes -= call?.bytes ?? 0;
    return call;
  }

  /** Unknown whether its calls were done: senders send their deliveries again. */
  #died(cause: unknown): void {
    this.#worker = undefined;
    this.#isOpen = false;
    this.#calls = [];
    for (const number of this.#waiting.keys()) this.#settle({ number, trouble: "broken", cause });
    if (!this.#closed) this.#reportDown(new StoreError("broken", cause));
  }

  /** Reports each trouble once, and tries at once and then each second until there is none. */
  #reportDown(error: unknown): void {
    const { trouble, cause } = error instanceof StoreError ? error : new StoreError("broken", error);
    if (this.#closed) return;
    this.#retrying ??= setTimeout(() => void this.#retry(), this.#trouble ? retryAfterMs : 0).unref();
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#events?.emit("store:down", { trouble, cause });
  }

  async #retry(): Promise<void> {
    try {
      if (!this.#isOpen) await this.#open();
      await this.#call(0, "probe", []);
    } catch (error) {
      this.#retrying = undefined;
      return this.#reportDown(error);
    }
    this.#retrying = undefined;
    this.#trouble = undefined;
    this.#events?.emit("store:up");
  }
}
