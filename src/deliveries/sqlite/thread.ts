// The main thread's side of the worker: asks, waits, and starts it anew should it die.

import { Worker } from "node:worker_threads";
import { type StoreEvents, StoreError } from "../store";
import { Condition } from "../condition";
import { Batch } from "../batch";
import type { Answer, Asked, FromWorker, Kind, Operations, Request, Setup, ToWorker } from "./operations";

/** How much waits at most to be kept, in bytes, unless one alone has more. */
export const mostWaiting = 64 * 1024 * 1024;
/** How many are told at a time what became of what they asked: what they do then is not to hold up everything else. */
const toldAtOnce = 50;
/** How long it waits at least between two starts, in ms. */
const restartAfter = 1000;
/** What an operation takes besides its bytes. */
const frame = 512;

/** What has been asked and not been answered. */
interface Waiting {
  readonly request: Request;
  readonly size: number;
  /** Whether a worker has died of it, or with it. */
  isRepeated: boolean;
  resolve(value: unknown): void;
  reject(error: StoreError): void;
}

export class Thread {
  readonly #script: string;
  readonly #setup: Setup;
  readonly #events: StoreEvents;
  readonly #condition: Condition<"file" | "thread" | "queue">;
  readonly #waiting = new Map<number, Waiting>();
  /** A message costs both threads the same, however much it asks. */
  readonly #batch = new Batch<Asked>((asked) => this.#post(asked));
  #worker: Worker | undefined;
  #answers: Answer[] = [];
  #bytes = 0;
  #last = 0;
  #started = -Infinity;
  #restart: NodeJS.Timeout | undefined;
  #ended: Promise<void> | undefined;
  #end: () => void = () => undefined;

  /** @param script the file that the worker runs */
  constructor(script: string, setup: Setup, events: StoreEvents) {
    this.#script = script;
    this.#setup = setup;
    this.#events = events;
    this.#condition = new Condition(events);
    this.#start();
  }

  /**
   * Has the worker do something, together with all that waits for the file already.
   *
   * @param bytes what travels beside it: its memory is not shared
   * @param size how much memory its texts take
   * @param canWait whether nobody waits for it
   * @throws {StoreError} `busy` where that is too much: only what brings bytes can wait elsewhere
   */
  ask<K extends Kind>(
    kind: K,
    asks: Operations[K]["asks"],
    bytes?: Uint8Array,
    { size = 0, canWait = false } = {},
  ): Promise<Operations[K]["gives"]> {
    if (this.#ended) return Promise.reject(new StoreError("unreachable"));
    const all = frame + size + (bytes?.length ?? 0);
    if (kind === "add" && this.#bytes > 0 && this.#bytes + all > mostWaiting) {
      const error = new StoreError("busy");
      this.#condition.begin("queue", "busy", error);
      return Promise.reject(error);
    }
    this.#bytes += all;
    return new Promise((resolve, reject) => {
      const request: Request = { kind, asks, bytes };
      // What it gives is what the kind of its question says: the numbers match.
      const waiting: Waiting = { request, size: all, isRepeated: false, resolve, reject };
      const number = ++this.#last;
      this.#waiting.set(number, waiting);
      this.#batch.put({ number, request }, canWait);
    });
  }

  /** Ends what is under way, and the worker. */
  stop(): Promise<void> {
    this.#ended ??= new Promise((resolve) => (this.#end = resolve));
    clearTimeout(this.#restart);
    this.#batch.flush();
    if (this.#worker) this.#worker.postMessage("close" satisfies ToWorker);
    else this.#finish();
    return this.#ended;
  }

  #start(): void {
    this.#started = performance.now();
    this.#worker = new Worker(this.#script, { name: "webhook-trigger", workerData: this.#setup });
    let cause: unknown;
    this.#worker.on("message", (what: FromWorker) => this.#hear(what));
    this.#worker.on("error", (error) => (cause = error));
    this.#worker.on("exit", (code) => this.#die(cause ?? new Error(`the worker ended with ${code}`)));
    this.#batch.clear();
    for (const [number, { request }] of this.#waiting) this.#batch.put({ number, request });
  }

  /** Memory is copied and handed over: a `Buffer` may be a part of others, and is needed again should the worker die. */
  #post(asked: Asked[]): void {
    const travelling: ArrayBuffer[] = [];
    const message: ToWorker = asked.map(({ number, request }) => {
      if (!request.bytes) return { number, request };
      const bytes = Uint8Array.from(request.bytes);
      travelling.push(bytes.buffer);
      return { number, request: { ...request, bytes } };
    });
    this.#worker?.postMessage(message, travelling);
  }

  #hear(what: FromWorker): void {
    if (what.says === "troubled") this.#condition.begin("file", what.trouble, what.cause);
    else if (what.says === "mended") this.#condition.end("file");
    else if (what.says === "movedAside") this.#events.movedAside(what.path, what.cause);
    else this.#answer(what.answers);
  }

  #answer(answers: Answer[]): void {
    this.#condition.end("thread");
    const isTelling = this.#answers.length > 0;
    this.#answers = this.#answers.concat(answers);
    if (!isTelling) this.#tellSome();
  }

  #tellSome(): void {
    for (const answer of this.#answers.splice(0, toldAtOnce)) this.#tell(answer);
    if (this.#bytes < mostWaiting / 2) this.#condition.end("queue");
    if (this.#answers.length > 0) setImmediate(() => this.#tellSome());
  }

  #tell(answer: Answer): void {
    const waiting = this.#waiting.get(answer.number);
    if (!waiting) return;
    this.#forget(answer.number, waiting);
    if ("trouble" in answer) waiting.reject(new StoreError(answer.trouble, answer.cause));
    else waiting.resolve(answer.value);
  }

  #forget(number: number, waiting: Waiting): void {
    this.#waiting.delete(number);
    this.#bytes -= waiting.size;
  }

  /** What was asked is asked again, once: each operation comes to the same when it has been done already. */
  #die(cause: unknown): void {
    this.#worker = undefined;
    for (const answer of this.#answers.splice(0)) this.#tell(answer);
    if (this.#ended) return this.#finish();
    this.#condition.forget("file");
    this.#condition.begin("thread", "broken", cause);
    for (const { request } of this.#rejectAll(cause, ({ isRepeated }) => isRepeated)) this.#undo(request);
    for (const waiting of this.#waiting.values()) waiting.isRepeated = true;
    const delay = this.#started + restartAfter - performance.now();
    this.#restart = setTimeout(() => this.#start(), Math.max(0, delay));
  }

  #finish(): void {
    this.#rejectAll(undefined, () => true);
    this.#end();
  }

  /** It may have been kept before the worker died: who was told otherwise sends it again. */
  #undo({ kind, asks }: Request): void {
    if (kind !== "add") return;
    const { id } = asks as Operations["add"]["asks"];
    // What cannot be done now, either, is left: then the delivery comes twice.
    this.ask("forget", id).catch(() => undefined);
  }

  #rejectAll(cause: unknown, which: (waiting: Waiting) => boolean): Waiting[] {
    const rejected = [...this.#waiting].filter(([, waiting]) => which(waiting));
    for (const [number, waiting] of rejected) {
      this.#forget(number, waiting);
      waiting.reject(new StoreError("broken", cause));
    }
    return rejected.map(([, waiting]) => waiting);
  }
}
