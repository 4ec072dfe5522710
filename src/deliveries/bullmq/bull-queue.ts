// The queue that several instances share: BullMQ starts the attempts, the index holds the deliveries.

import type { IRedisTransaction, Job, Queue, Worker } from "bullmq";
import type { ChainableCommander } from "ioredis";
import type { Pace } from "../../config/parse";
import type { ConnectionSettings } from "../../config/stores";
import { type Attempt, type Delivery, type Pause, type State, type StoredDelivery, unfinished } from "../delivery";
import {
  afterAttempt,
  type AttemptResult,
  breakerIntervalMs,
  type Candidate,
  type Change,
  type Consumer,
  type DeliveryQueue,
  maxAge,
  maxBytes,
  maxRunning,
  type Position,
  type Query,
  type Removal,
  type RemovalQuery,
  type StoreEvents,
} from "../queue";
import { interrupted } from "../summary";
import { SharedBreaker } from "./breaker";
import { DeliveryIndex } from "./delivery-index";
import { maxRetryDelayMs, Server } from "./server";
import { renewInterval, SharedDuplicates, SharedRates } from "./shared-keys";

/** Times in ms; tests shorten them. */
const defaults = {
  /** How long the server may take for a command. */
  timeLimit: 5000,
  /** How long an instance without a sign of life keeps its attempts. */
  lockDuration: 20_000,
  /** How often stalled attempts are looked for: another instance takes over within `lockDuration` and two of these. */
  stalledInterval: 4000,
  breakerInterval: breakerIntervalMs,
  /** How often pauses are read, which other instances change. */
  pollInterval: 2000,
  /** How often old deliveries are dropped. */
  tidyInterval: 60_000,
  maxAge,
  maxBytes,
};

export interface BullOptions extends ConnectionSettings, Partial<typeof defaults> {
  /** Separates the deliveries of several Node-REDs on one server. */
  readonly namespace?: string;
}

/** How long closing waits for running attempts, in ms. */
const closePatience = 1000;
/** How many deliveries are read at once to be removed. */
const removalStep = 500;
/** BullMQ's own counts never end a delivery; its `attempt` does. */
const unlimited = 1_000_000;

interface Line {
  readonly node: string;
  queue?: Queue;
  worker?: Worker;
  consumer?: Consumer;
  pace?: Pace;
  /** Settled when the server knows the pace. */
  paced?: Promise<unknown>;
}

/** An attempt of this process. */
interface Running {
  readonly line: Line;
  readonly consumer: Consumer | undefined;
  /** Settled when its result is stored. */
  readonly written: Promise<Delivery>;
  readonly settle: (delivery: Delivery) => void;
  /** The lock of its job; missing where its request started it. */
  token: string | undefined;
}

/**
 * A job is only an id, and exists while its delivery is unfinished. It may be processed twice, as after a lost
 * connection; the delivery in the index decides.
 */
export class BullQueue implements DeliveryQueue {
  readonly isShared = true;
  /** The rate limits of all instances. */
  readonly rates: SharedRates;
  readonly duplicates: SharedDuplicates;
  readonly #options: BullOptions & typeof defaults;
  readonly #root: string;
  readonly #server: Server;
  readonly #index: DeliveryIndex;
  readonly #breaker: SharedBreaker;
  readonly #lines = new Map<string, Line>();
  /** Deliveries on their way to the server. */
  readonly #adding = new Map<string, Promise<unknown>>();
  readonly #running = new Map<string, Running>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Missing until they were read. */
  #pauses: Map<string, Pause> | undefined;
  #events: StoreEvents | undefined;
  #isHeld = true;

  constructor(options: BullOptions) {
    this.#options = { ...defaults, ...options };
    const { namespace, timeLimit } = this.#options;
    this.#root = `{webhook-trigger${namespace === undefined ? "" : `:${namespace}`}}`;
    this.#server = new Server(
      this.#options,
      timeLimit,
      () => this.#events,
      async () => this.#resume(),
    );
    this.#index = new DeliveryIndex(this.#server, this.#root, this.#options, (node) => this.#events?.changed(node));
    this.#breaker = new SharedBreaker(this.#server, this.#root, this.#options.breakerInterval);
    this.duplicates = new SharedDuplicates(this.#server, this.#root);
    this.rates = new SharedRates(this.#server, this.#root);
  }

  async open(events: StoreEvents): Promise<void> {
    this.#events = events;
    const { stalledInterval, pollInterval, tidyInterval } = this.#options;
    this.#every(stalledInterval, async () => this.#takeOver());
    this.#every(pollInterval, async () => this.#poll());
    this.#every(renewInterval, async () => this.duplicates.renew());
    this.#every(tidyInterval, async () => this.#index.tidy());
    await this.#server.start();
    await this.#index.tidy();
  }

  async close(): Promise<void> {
    this.hold();
    for (const timer of this.#timers) clearInterval(timer);
    const running = [...this.#running.values()].map(async ({ written }) => written);
    if (running.length > 0) await Promise.race([Promise.all(running), new Promise((resolve) => setTimeout(resolve, closePatience))]); // prettier-ignore
    const lines = [...this.#lines.values()];
    await Promise.all(lines.map(async ({ worker }) => worker?.close(true)));
    await this.#server.close();
    await Promise.all(lines.map(async ({ queue }) => queue?.close()));
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    const adding = this.#add(delivery, body, [], delivery.state === "queued" ? 0 : undefined, key);
    this.#adding.set(delivery.id, adding);
    await adding.finally(() => this.#adding.delete(delivery.id));
  }

  async addStarted(given: Delivery, body: Buffer, timeoutMs: number): Promise<void> {
    const delivery: Delivery = { ...given, state: "running", attempt: Math.max(given.attempt, 1) };
    // The time of the reply, and of storing its end.
    await this.#add(delivery, body, [{ at: Date.now() }], timeoutMs + this.#options.lockDuration);
    this.#begin(delivery.id, this.#line(delivery.node));
  }

  /** Goes on trying while the server is away. */
  async end(id: string, result: AttemptResult): Promise<void> {
    const running = this.#running.get(id);
    const stored = await this.#server.persist(async () => this.#index.find(id));
    if (!running || !stored) return;
    const after = await this.#finish(running, stored, result);
    await this.#server.persist(async () => this.#reschedule(running.line, after));
  }

  process(node: string, consumer: Consumer): () => void {
    const line = this.#line(node);
    line.consumer = consumer;
    line.pace = consumer.pace;
    if (this.#server.isUp) this.#open(line);
    return () => {
      if (line.consumer !== consumer) return;
      delete line.consumer;
      void line.worker?.pause(true);
    };
  }

  hold(): void {
    this.#isHeld = true;
    for (const { worker } of this.#lines.values()) void worker?.pause(true);
  }

  release(): void {
    this.#isHeld = false;
    for (const line of this.#lines.values()) {
      if (line.consumer) this.#run(line);
      // Its node is closed.
      else void line.worker?.close();
      if (!line.consumer) delete line.worker;
    }
  }

  async pause(node: string): Promise<void> {
    await this.#breaker.pause(node);
    await this.#command(this.#queue(this.#line(node)).pause());
    this.#setPause(node, "manual");
  }

  async resume(node: string): Promise<void> {
    await this.#breaker.resume(node);
    await this.#goOn(this.#line(node));
    await this.#command(this.#queue(this.#line(node)).resume());
  }

  paused(node: string): Pause | undefined {
    return this.#pauses?.get(node);
  }

  async list(query: Query): Promise<Delivery[]> {
    return this.#index.list(query);
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    return this.#index.find(id);
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    return this.#index.counts(node);
  }

  async update(id: string, change: Change): Promise<void> {
    // A reply may come before its delivery is stored.
    await this.#adding.get(id)?.catch(() => undefined);
    await this.#index.update(id, change);
  }

  async remove(id: string): Promise<Removal> {
    const stored = await this.#index.find(id);
    return stored ? this.#remove(stored.delivery) : "unknown";
  }

  async removeAll({ node, state }: RemovalQuery): Promise<number> {
    let removed = 0;
    for (let before: Position | undefined; ;) {
      const found = await this.#index.list({ node, state, before, limit: removalStep });
      for (const delivery of found) if ((await this.#remove(delivery)) === "removed") removed++;
      if (found.length < removalStep) return removed;
      before = found.at(-1);
    }
  }

  /** Its job goes first; one that an instance has just taken runs. */
  async #remove(delivery: Delivery): Promise<Removal> {
    const { id, node, state } = delivery;
    if (state === "running") return "running";
    const isWaiting = unfinished.includes(state);
    if (isWaiting && (await this.#command(this.#queue(this.#line(node)).remove(id))) === 0) return "running";
    await this.#index.drop([delivery], Infinity);
    this.#events?.changed(node);
    return "removed";
  }

  #key(name: string): string {
    return `${this.#root}:${name}`;
  }

  #every(milliseconds: number, work: () => Promise<unknown>): void {
    const run = () => {
      // Errors are reported where they occur.
      if (this.#server.isUp) work().catch(() => undefined);
    };
    this.#timers.push(setInterval(run, milliseconds).unref());
  }

  /** BullMQ rejects with errors of the server. */
  async #command<Result>(work: Promise<Result>): Promise<Result> {
    return this.#server.ask(async () => work);
  }

  /** @param delay in ms until its flow is started; missing: never */
  async #add(
    delivery: Delivery,
    body: Buffer,
    attempts: readonly Attempt[],
    delay: number | undefined,
    key?: Candidate,
  ): Promise<void> {
    await this.#server.known();
    const keep = (multi: ChainableCommander) => {
      if (key) this.duplicates.keep(multi, key);
    };
    if (delay === undefined) {
      await this.#index.add(delivery, body, attempts, keep);
      return;
    }
    const queue = this.#queue(this.#line(delivery.node));
    const options = { removeOnComplete: true, removeOnFail: true, attempts: unlimited, backoff: 1000, delay };
    const job = new this.#server.bull.Job(queue, "delivery", {}, options, delivery.id);
    const backend = queue.getBackend();
    await this.#command(queue.waitUntilReady());
    const also = (multi: ChainableCommander) => {
      keep(multi);
      // BullMQ's scripts are commands of the client.
      const scripts = multi as unknown as Record<string, (args: unknown[]) => unknown>;
      const transaction = { runCommand: (name: string, args: unknown[]) => scripts[name]?.(args) };
      void backend.addJobToTransaction(transaction as unknown as IRedisTransaction, job.asJSON(), delivery.id);
    };
    const isUnknownScript = (error: Error) => error.message.startsWith("NOSCRIPT");
    const results = await this.#index.add(delivery, body, attempts, also, isUnknownScript);
    // An earlier transaction was refused, and the script with it.
    if (results?.some((result) => result instanceof Error)) await this.#command(backend.addJob(job.asJSON(), delivery.id)); // prettier-ignore
  }

  #line(node: string): Line {
    const known = this.#lines.get(node);
    if (known) return known;
    const line: Line = { node };
    this.#lines.set(node, line);
    return line;
  }

  #queue(line: Line): Queue {
    if (line.queue) return line.queue;
    const { bull, redis } = this.#server;
    const queue = new bull.Queue(encodeURIComponent(line.node), {
      connection: redis,
      prefix: this.#key("bull"),
      skipVersionCheck: true,
      streams: { events: { maxLen: 10 } },
    });
    queue.on("error", () => undefined);
    return (line.queue = queue);
  }

  /** Begins to process a node, or continues after a pause. */
  #open(line: Line): void {
    line.paced = this.#server.persist(async () => this.#setPace(line)).catch(() => undefined);
    line.worker ??= this.#createWorker(line);
    const { concurrency = 0 } = line.pace ?? {};
    line.worker.concurrency = concurrency === 0 ? maxRunning : concurrency;
    this.#run(line);
  }

  #createWorker(line: Line): Worker {
    const { lockDuration, stalledInterval } = this.#options;
    const worker = new this.#server.bull.Worker(this.#queue(line).name, async (job, token = "") => this.#work(line, job, token), {
      connection: this.#server.patient,
      prefix: this.#key("bull"),
      autorun: false,
      lockDuration,
      // No instance looks again within this time.
      stalledInterval: stalledInterval / 2,
      // We look for stalled jobs ourselves: not while instances reconnect.
      skipStalledCheck: true,
      maxStalledCount: unlimited,
      maximumRateLimitDelay: 1000,
      runRetryDelay: maxRetryDelayMs,
    }); // prettier-ignore
    worker.on("error", () => undefined);
    return worker;
  }

  /** No attempt starts before the server knows the pace. */
  #run(line: Line): void {
    void line.paced?.then(() => {
      if (!this.#isHeld && line.consumer) void line.worker?.resume();
    });
  }

  /** A job that BullMQ hands over: its flow is started, or it is put where it belongs. */
  async #work(line: Line, job: Job, token: string): Promise<void> {
    const { id = "" } = job;
    const own = this.#running.get(id);
    // Its lock was lost: the server was away, or this process was busy.
    if (own) own.token = token;
    const after = await (own ? own.written : this.#attempt(line, id, token));
    if (after !== "due" && after?.state === "retrying") {
      await job.moveToDelayed(after.nextAt ?? Date.now(), token);
      throw new this.#server.bull.DelayedError();
    }
    if (after !== "due" && after?.state !== "queued" && after?.state !== "running") return;
    await job.moveToWait(token);
    throw new this.#server.bull.WaitingError();
  }

  /** Starts the flow, if it is time and may start. @returns the delivery afterwards; `due` where another time is better */
  async #attempt(line: Line, id: string, token: string): Promise<Delivery | "due" | undefined> {
    const { consumer } = line;
    if (!consumer || this.#isHeld) return "due";
    const stored = await this.#server.persist(async () => this.#index.find(id));
    if (!stored) return undefined;
    const { delivery: before, body } = stored;
    const { nextAt = 0, maxAttempts: _, ...rest } = before;
    const isDue = before.state === "retrying" ? nextAt <= Date.now() : unfinished.includes(before.state);
    if (!isDue) return before;
    if (before.attempt >= consumer.pace.attempts) {
      // The process ended during the last attempt, or the node has fewer attempts by now.
      const { error = interrupted } = before.state === "running" ? {} : before;
      const after: Delivery = { ...rest, state: "failed", error };
      await this.#server.persist(async () => this.#index.write(before, after));
      consumer.ended(after, { as: "failed", error });
      return after;
    }
    if (consumer.pace.breaker > 0 && (await this.#server.persist(async () => this.#breaker.begin(line.node))) > 0) {
      // It was handed over when the breaker was just about to open.
      await this.#limit(line);
      return "due";
    }
    const running = this.#begin(id, line, token);
    const delivery: Delivery = { ...rest, state: "running", attempt: before.attempt + 1 };
    const attempts = [...stored.attempts, { at: Date.now() }];
    await this.#server.persist(async () => this.#index.write(before, delivery, attempts));
    // Flows may have been stopped meanwhile.
    const canStart = !(this.#isHeld as boolean);
    const result = canStart ? await consumer.start({ delivery, body, attempts }) : ({ as: "interrupted" } as const);
    return this.#finish(running, { delivery, attempts }, result);
  }

  #begin(id: string, line: Line, token?: string): Running {
    let settle: (delivery: Delivery) => void = () => undefined;
    const written = new Promise<Delivery>((resolve) => (settle = resolve));
    const running: Running = { line, consumer: line.consumer, written, settle, token };
    this.#running.set(id, running);
    return running;
  }

  /** Stores the end of an attempt as soon as the server is there. @returns the delivery afterwards */
  async #finish(
    { line, consumer, settle }: Running,
    stored: Pick<StoredDelivery, "delivery" | "attempts">,
    result: AttemptResult,
  ): Promise<Delivery> {
    const { id, node } = stored.delivery;
    const { breaker = 0 } = line.pace ?? {};
    const { delivery: after, attempts } = afterAttempt(stored, result, line.pace, Date.now());
    const results = await this.#server.persist(async () =>
      this.#index.write(stored.delivery, after, attempts, (multi) => this.#breaker.count(multi, node, result, breaker)),
    );
    if (results.at(-1) === "opened") await this.#limit(line);
    if (results.at(-1) === "closed") await this.#server.persist(async () => this.#goOn(line));
    this.#running.delete(id);
    settle(after);
    consumer?.ended(after, result);
    return after;
  }

  /** Its breaker is open: has BullMQ hand over one delivery at a time. */
  async #limit(line: Line): Promise<void> {
    await this.#server.persist(async () => this.#setPace(line));
    this.#setPause(line.node, "breaker");
  }

  /** It is paused no longer. */
  async #goOn(line: Line): Promise<void> {
    await this.#setPace(line);
    const interval = startInterval(line.pace);
    const queue = this.#queue(line);
    if (interval) await this.#command(queue.rateLimit(interval));
    else await this.#command(queue.removeRateLimitKey());
    this.#setPause(line.node, undefined);
  }

  /** Other instances may set it at the same time: the last one has read what holds. */
  async #setPace(line: Line): Promise<void> {
    const { node, pace } = line;
    if (!pace) return;
    const queue = this.#queue(line);
    for (let set: Pause | "none" | undefined; ;) {
      const { pause = "none", trialInMs } = await this.#breaker.find(node);
      if (pause === set) return;
      if (pause === "breaker" && pace.breaker === 0) return this.resume(node);
      const isOpen = pause === "breaker";
      const concurrency = isOpen ? 1 : pace.concurrency;
      const interval = isOpen ? this.#options.breakerInterval : startInterval(pace);
      await this.#command(concurrency ? queue.setGlobalConcurrency(concurrency) : queue.removeGlobalConcurrency());
      await this.#command(interval ? queue.setGlobalRateLimit(1, interval) : queue.removeGlobalRateLimit());
      if (isOpen && trialInMs > 0) await this.#command(queue.rateLimit(trialInMs));
      set = pause;
    }
  }

  /** Its job still waits for the request that started the delivery. */
  async #reschedule(line: Line, { id, state, nextAt }: Delivery): Promise<void> {
    const queue = this.#queue(line);
    if (state !== "retrying" && state !== "queued") {
      await this.#command(queue.remove(id));
      return;
    }
    const job = await this.#command(queue.getJob(id));
    if (!(await this.#command(job?.isDelayed() ?? Promise.resolve(false)))) return;
    const change = job?.changeDelay(Math.max((nextAt ?? 0) - Date.now(), 0)).catch((error: unknown) => {
      // BullMQ's codes are numbers: the job was just handed over, and is put where it belongs then.
      if (!(error instanceof Error && "code" in error && typeof error.code === "number")) throw error;
    });
    await this.#command(change ?? Promise.resolve());
  }

  /** The server is there, for the first time or again. */
  async #resume(): Promise<void> {
    await this.#keepLocks();
    await this.#loadPauses();
    for (const line of this.#lines.values()) if (line.consumer) this.#open(line);
  }

  /** Their locks expired while the server was away, but they still run here. */
  async #keepLocks(): Promise<void> {
    const held = [...this.#running].filter(([, { token }]) => token !== undefined);
    await this.#server.transact((multi) => {
      for (const [id, { line, token = "" }] of held) {
        const queue = this.#queue(line);
        multi.set(`${queue.toKey(id)}:lock`, token, "PX", this.#options.lockDuration, "NX");
        multi.srem(queue.toKey("stalled"), id);
      }
    });
  }

  async #takeOver(): Promise<void> {
    if (this.#server.upFor < 2 * maxRetryDelayMs) return;
    await Promise.all(
      [...this.#lines.values()].map(async ({ worker }) => worker?.getBackend().moveStalledJobsToWait()),
    );
  }

  async #poll(): Promise<void> {
    if (this.#server.refusal) await this.#index.probe().then(() => this.#server.accept());
    await this.#loadPauses();
  }

  async #loadPauses(): Promise<void> {
    const pauses = await this.#breaker.list();
    // Some were changed by other instances.
    for (const node of this.#pauses ? [...this.#pauses.keys(), ...pauses.keys()] : [])
      this.#showPause(node, pauses.get(node));
    this.#pauses = pauses;
  }

  #setPause(node: string, pause: Pause | undefined): void {
    this.#showPause(node, pause);
    this.#events?.changed(node);
  }

  #showPause(node: string, pause: Pause | undefined): void {
    this.#pauses ??= new Map();
    if (this.#pauses.get(node) === pause) return;
    if (pause) this.#pauses.set(node, pause);
    else this.#pauses.delete(node);
    this.#events?.paused(node, pause);
  }
}

/** Between two starts of the flow, in ms; 0: no limit. */
function startInterval(pace: Pace | undefined): number {
  return pace?.ratePerMinute ? Math.ceil(60_000 / pace.ratePerMinute) : 0;
}
