// The main thread's side of the worker: sends calls, waits for results, restarts the worker.

import { Worker } from "node:worker_threads";
import { StoreError, type StoreEvents, type StoreTrouble } from "../queue";
import type { Tables } from "./tables";
import type { WorkerAnswer, Message, Method, Question, Setup } from "./worker";

/** The bytes that wait to be stored, unless one delivery alone is larger. */
export const maxWaitingBytes = 64 * 1024 * 1024;
/** Results are delivered in batches, so that other work has its turn. */
const maxAnswersAtOnce = 50;
/** In ms, between two starts of the worker. */
const restartAfterMs = 1000;
/** Bytes of a call besides its body. */
const frame = 512;

interface WaitingCall {
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: StoreError) => void;
}

export class FileThread {
  readonly #script: string;
  readonly #setup: Setup;
  readonly #events: Pick<StoreEvents, "down" | "up" | "movedAside">;
  readonly #waiting = new Map<number, WaitingCall>();
  /** All calls of a turn go in one message. */
  #questions: Question[] = [];
  #worker: Worker | undefined;
  #answers: WorkerAnswer[] = [];
  #bytes = 0;
  #last = 0;
  /** The trouble of each part: file, thread, waiting calls. */
  readonly #troubles = new Map<"file" | "thread" | "room", StoreTrouble>();
  #restart: NodeJS.Timeout | undefined;
  #closed: { promise: Promise<void>; resolve: () => void } | undefined;

  /** @param script of the worker */
  constructor(script: string, setup: Setup, events: Pick<StoreEvents, "down" | "up" | "movedAside">) {
    this.#script = script;
    this.#setup = setup;
    this.#events = events;
    this.#start();
  }

  /**
   * Calls a method of the tables in the worker.
   *
   * @throws {StoreError} `busy` where too much waits
   */
  ask<M extends Method>(method: M, ...args: Parameters<Tables[M]>): Promise<ReturnType<Tables[M]>> {
    if (this.#closed || !this.#worker) return Promise.reject(new StoreError(this.#closed ? "unreachable" : "broken"));
    const bytes = frame + args.reduce((sum: number, arg) => sum + measure(arg), 0);
    if (method === "add" && this.#bytes > 0 && this.#bytes + bytes > maxWaitingBytes) {
      const error = new StoreError("busy");
      this.#isDown("room", "busy", error);
      return Promise.reject(error);
    }
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      const number = ++this.#last;
      this.#waiting.set(number, { bytes, resolve: (value) => resolve(value as ReturnType<Tables[M]>), reject });
      if (this.#questions.length === 0) setImmediate(() => this.#post());
      this.#questions.push({ number, method, args });
    });
  }

  /** Ends running work, and the worker. */
  close(): Promise<void> {
    if (this.#closed) return this.#closed.promise;
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((settle) => (resolve = settle));
    this.#closed = { promise, resolve };
    clearTimeout(this.#restart);
    this.#post();
    if (this.#worker) this.#worker.postMessage("close");
    else resolve();
    return promise;
  }

  #start(): void {
    const worker = new Worker(this.#script, { name: "webhook-trigger", workerData: this.#setup });
    let cause: unknown;
    worker.on("message", (message: Message) => this.#hear(message));
    worker.on("error", (error) => (cause = error));
    worker.on("exit", (code) => this.#died(cause ?? new Error(`the worker ended with ${code}`)));
    this.#worker = worker;
  }

  /** Bytes are copied and transferred: a `Buffer` may share its memory. */
  #post(): void {
    const copies: ArrayBuffer[] = [];
    const questions = this.#questions.splice(0).map(({ number, method, args }) => ({
      ...(number !== undefined && { number }),
      method,
      args: args.map((arg) => {
        if (!(arg instanceof Uint8Array)) return arg;
        const copy = Uint8Array.from(arg);
        copies.push(copy.buffer);
        return copy;
      }),
    }));
    if (questions.length > 0) this.#worker?.postMessage(questions, copies);
  }

  #hear(message: Message): void {
    if (message.says === "down") this.#isDown("file", message.trouble, message.cause);
    else if (message.says === "up") this.#isUp("file");
    else if (message.says === "movedAside") this.#events.movedAside(message.path, message.cause);
    else {
      this.#isUp("thread");
      const isAnswering = this.#answers.length > 0;
      this.#answers.push(...message.answers);
      if (!isAnswering) this.#answerSome();
    }
  }

  #answerSome(): void {
    for (const answer of this.#answers.splice(0, maxAnswersAtOnce)) {
      const waiting = this.#waiting.get(answer.number ?? 0);
      this.#waiting.delete(answer.number ?? 0);
      this.#bytes -= waiting?.bytes ?? 0;
      if ("trouble" in answer) waiting?.reject(new StoreError(answer.trouble, answer.cause));
      else waiting?.resolve(answer.value);
    }
    if (this.#bytes < maxWaitingBytes / 2) this.#isUp("room");
    if (this.#answers.length > 0) setImmediate(() => this.#answerSome());
  }

  /** Unknown whether it was stored: senders send it again. */
  #died(cause: unknown): void {
    this.#worker = undefined;
    while (this.#answers.length > 0) this.#answerSome();
    for (const { reject } of this.#waiting.values()) reject(new StoreError("broken", cause));
    this.#waiting.clear();
    this.#questions = [];
    this.#bytes = 0;
    if (this.#closed) return this.#closed.resolve();
    this.#troubles.delete("file");
    this.#isDown("thread", "broken", cause);
    this.#restart = setTimeout(() => this.#start(), restartAfterMs);
  }

  /** Each trouble is reported once, and when the last one has ended. */
  #isDown(part: "file" | "thread" | "room", trouble: StoreTrouble, cause: unknown): void {
    if (this.#troubles.get(part) === trouble) return;
    this.#troubles.set(part, trouble);
    this.#events.down(trouble, cause);
  }

  #isUp(part: "file" | "thread" | "room"): void {
    if (this.#troubles.delete(part) && this.#troubles.size === 0) this.#events.up();
  }
}

function measure(arg: unknown): number {
  if (arg instanceof Uint8Array || typeof arg === "string") return arg.length;
  return typeof arg === "object" && arg !== null && "rest" in arg ? String(arg.rest).length : 0;
}
