// The queue that several instances share: BullMQ starts the attempts, the index holds the deliveries.

import type { Job, Queue, Worker } from "bullmq";
import type { ChainableCommander } from "ioredis";
import { backoffAfter, type Pace } from "../../config/parse";
import type { ConnectionSettings } from "../../config/stores";
import { type Attempt, type Delivery, type Pause, type State, type StoredDelivery, unfinished } from "../delivery";
import {
  afterAttempt,
  type AttemptResult,
  breakerIntervalMs,
  type Candidate,
  type Change,
  closePatienceMs,
  type Consumer,
  type DeliveryQueue,
  maxAge,
  maxBytes,
  maxRunning,
  maxRunningBytes,
  PendingWork,
  type Position,
  type Query,
  type Removal,
  type RemovalQuery,
  type StoreEvents,
} from "../queue";
import { interrupted } from "../summary";
import { SharedBreaker } from "./breaker";
import { DeliveryIndex } from "./delivery-index";
import {
  addJob,
  addJobAlone,
  createJob,
  findMissing,
  isJobElsewhere,
  isLockKnown,
  isUnknownScript,
  type JobData,
  keepLock,
  takeOver,
  unlimited,
} from "./internals";
import { maxRetryDelayMs, Server } from "./server";
import { renewInterval, SharedDuplicates, SharedRates } from "./shared-keys";
import { SharedWaits } from "./waits";

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
  maxRunningBytes,
};

export interface BullOptions extends ConnectionSettings, Partial<typeof defaults> {
  /** Separates the deliveries of several Node-REDs on one server. */
  readonly namespace?: string;
}

/** How many deliveries are read at once to be removed. */
const removalStep = 500;
/** How often the server's clock is read, in ms. */
const clockInterval = 60_000;

interface Line {
  readonly node: string;
  queue?: Queue;
  worker?: Worker;
  consumer?: Consumer;
  pace?: Pace;
  /** Settled when the server knows the pace. */
  paced?: Promise<unknown>;
}

/** Where a job belongs: it is handed over again at once, or later, or its delivery is finished. */
type Place = "queue" | { readonly afterMs: number } | "nowhere";

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
  readonly #waits: SharedWaits;
  readonly #index: DeliveryIndex;
  readonly #breaker: SharedBreaker;
  readonly #lines = new Map<string, Line>();
  /** Deliveries on their way to the server. */
  readonly #adding = new Map<string, Promise<unknown>>();
  readonly #running = new Map<string, Running>();
  /** The bytes of the bodies that attempts of this process have in memory, and what waits for others to end. */
  #runningBytes = 0;
  readonly #roomAwaited: (() => void)[] = [];
  readonly #work = new PendingWork();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Missing until they were read. */
  #pauses: Map<string, Pause> | undefined;
  #events: StoreEvents | undefined;
  #isHeld = true;
  /** Of BullMQ's internals. */
  #isChecked = false;
  #isLockChecked = false;
  #canTakeOver = true;

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
    this.#waits = new SharedWaits(this.#server, this.#root, async (waiting) => this.#handOver(waiting));
    this.#index = new DeliveryIndex(this.#server, this.#root, this.#options, this.#waits, (node) =>
      this.#events?.changed(node),
    );
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
    this.#every(tidyInterval, async () => this.#finishRemovals());
    this.#every(clockInterval, async () => this.#server.readClock());
    await this.#server.start();
    await this.#index.tidy();
  }

  async close(): Promise<void> {
    this.hold();
    for (const timer of this.#timers) clearInterval(timer);
    this.#waits.stop();
    const lines = [...this.#lines.values()];
    // They wait for their jobs, which go back to where other instances find them.
    const closing = Promise.all(lines.map(async ({ worker }) => worker?.close()));
    this.#work.do(closing).catch(() => undefined);
    await this.#work.isDone(closePatienceMs);
    await this.#server.close();
    this.#work.abandon();
    await Promise.all(lines.map(async ({ queue }) => queue?.close()));
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    const adding = this.#add(delivery, body, [], delivery.state === "queued" ? 0 : undefined, key);
    this.#adding.set(delivery.id, adding);
    await adding.finally(() => this.#adding.delete(delivery.id));
  }

  async addStarted(given: Delivery, body: Buffer, timeoutMs: number, key?: Candidate): Promise<void> {
    const delivery: Delivery = { ...given, state: "running", attempt: Math.max(given.attempt, 1) };
    // The time of the reply, and of storing its end.
    await this.#add(delivery, body, [{ at: this.#server.now }], timeoutMs + this.#options.lockDuration, key);
    this.#begin(delivery.id, this.#line(delivery.node));
  }

  /** Goes on trying while the server is away. */
  async end(id: string, result: AttemptResult): Promise<void> {
    await this.#work.do(this.#end(id, result));
  }

  async #end(id: string, result: AttemptResult): Promise<void> {
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
      const removals = await Promise.all(found.map(async (delivery) => this.#remove(delivery)));
      removed += removals.filter((removal) => removal === "removed").length;
      if (found.length < removalStep) return removed;
      before = found.at(-1);
    }
  }

  /** Its job goes first: one that an instance has just taken runs. What a crash leaves of it is removed later. */
  async #remove(delivery: Delivery): Promise<Removal> {
    const { id, node, state } = delivery;
    if (state === "running") return "running";
    if (unfinished.includes(state)) {
      await this.#server.ask((redis) => redis.hset(this.#key("removing"), id, node));
      if ((await this.#command(this.#queue(this.#line(node)).remove(id))) === 0) {
        await this.#server.ask((redis) => redis.hdel(this.#key("removing"), id));
        return "running";
      }
    }
    const dropped = await this.#index.drop([delivery], Infinity);
    await this.#server.ask((redis) => redis.hdel(this.#key("removing"), id));
    this.#events?.changed(node);
    return dropped > 0 ? "removed" : "unknown";
  }

  /** What an instance was removing when it ended. */
  async #finishRemovals(): Promise<void> {
    const ids = await this.#server.ask((redis) => redis.hkeys(this.#key("removing")));
    for (const id of ids) {
      if ((await this.remove(id)) === "unknown") await this.#server.ask((redis) => redis.hdel(this.#key("removing"), id)); // prettier-ignore
    }
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
      if (key) this.duplicates.keep(multi, key, delay === 0 ? undefined : delay);
    };
    if (delay === undefined) {
      await this.#index.add(delivery, body, attempts, keep);
      return;
    }
    const queue = this.#queue(this.#line(delivery.node));
    const job = createJob(this.#server.bull, queue, delivery.id, { bytes: body.length }, delay);
    await this.#command(queue.waitUntilReady());
    const also = (multi: ChainableCommander) => {
      keep(multi);
      if (delay > 0) this.#waits.add(multi, delivery, this.#server.now + delay);
      addJob(multi, queue, job);
    };
    const results = await this.#index.add(delivery, body, attempts, also, isUnknownScript);
    // An earlier transaction was refused, and the script with it.
    if (results?.some((result) => result instanceof Error)) await this.#command(addJobAlone(queue, job));
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
    const worker = new this.#server.bull.Worker<JobData>(this.#queue(line).name, async (job, token = "") => this.#work.do(this.#process(line, job, token)), {
      connection: this.#server.patient,
      prefix: this.#key("bull"),
      autorun: false,
      lockDuration,
      // No instance looks again within this time.
      stalledInterval: stalledInterval / 2,
      // We look for stalled jobs ourselves: not while instances reconnect.
      skipStalledCheck: this.#canTakeOver,
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

  /** What waits is due: its job is handed over, unless it runs already. */
  async #handOver({ id, node }: Pick<Delivery, "id" | "node">): Promise<void> {
    const job = await this.#command(this.#queue(this.#line(node)).getJob(id));
    await this.#command(ignoreElsewhere(job?.promote()));
  }

  /** A job that BullMQ hands over: its flow is started, or it is put where it belongs. */
  async #process(line: Line, job: Job<JobData>, token: string): Promise<void> {
    const { id = "" } = job;
    if (!this.#isLockChecked) await this.#checkLock(line, id);
    const own = this.#running.get(id);
    // Its lock was lost: the server was away, or this process was busy.
    if (own) own.token = token;
    const place = await (own
      ? own.written.then((after) => this.#findPlace(after))
      : this.#attemptInRoom(line, job, token));
    if (place === "nowhere") return;
    if (place === "queue") {
      await job.moveToWait(token);
      throw new this.#server.bull.WaitingError();
    }
    // BullMQ compares it with the clock of this machine.
    await job.moveToDelayed(Date.now() + place.afterMs, token);
    // It may have been handed over while BullMQ did not have it among what waits.
    const leftMs = await this.#server.persist(async () => this.#waits.findLeftMs({ id, node: line.node }));
    if (leftMs === 0) await this.#command(ignoreElsewhere(job.promote()));
    throw new this.#server.bull.DelayedError();
  }

  #findPlace({ state, nextAt = 0 }: Delivery): Place {
    if (state === "retrying") return { afterMs: Math.max(nextAt - this.#server.now, 0) };
    return state === "queued" ? "queue" : "nowhere";
  }

  /** An attempt whose body is too much beside those of others waits; one always runs. */
  async #attemptInRoom(line: Line, { id = "", data: { bytes = 0 } }: Job<JobData>, token: string): Promise<Place> {
    while (this.#runningBytes > 0 && this.#runningBytes + bytes > this.#options.maxRunningBytes) {
      await new Promise<void>((resolve) => this.#roomAwaited.push(resolve));
    }
    this.#runningBytes += bytes;
    try {
      return await this.#attempt(line, id, token);
    } finally {
      this.#runningBytes -= bytes;
      for (const goOn of this.#roomAwaited.splice(0)) goOn();
    }
  }

  /** Starts the flow, if it is time and may start. @returns where its job belongs afterwards */
  async #attempt(line: Line, id: string, token: string): Promise<Place> {
    const { consumer } = line;
    if (!consumer || this.#isHeld) return "queue";
    const stored = await this.#server.persist(async () => this.#index.find(id));
    if (!stored || !unfinished.includes(stored.delivery.state)) return "nowhere";
    const { delivery: before, body } = stored;
    const { nextAt: _, maxAttempts: __, ...rest } = before;
    if (before.state !== "queued") {
      const afterMs = await this.#server.persist(async () => this.#waits.findLeftMs(before));
      if (afterMs > 0) return { afterMs };
    }
    if (before.attempt >= consumer.pace.attempts) {
      // The process ended during the last attempt, or the node has fewer attempts by now.
      const { error = interrupted } = before.state === "running" ? {} : before;
      const after: Delivery = { ...rest, state: "failed", error };
      await this.#server.persist(async () => this.#index.write(before, after));
      consumer.ended(after, { as: "failed", error });
      return "nowhere";
    }
    if (before.state === "running") {
      // Its process has ended.
      const nextAt = this.#server.now + backoffAfter(consumer.pace, before.attempt);
      const after: Delivery = { ...before, state: "retrying", error: interrupted, nextAt, maxAttempts: consumer.pace.attempts }; // prettier-ignore
      await this.#server.persist(async () => this.#index.write(before, after));
      return this.#findPlace(after);
    }
    if (consumer.pace.breaker > 0 && (await this.#server.persist(async () => this.#breaker.begin(line.node))) > 0) {
      // It was handed over when the breaker was just about to open.
      await this.#limit(line);
      return "queue";
    }
    const running = this.#begin(id, line, token);
    const delivery: Delivery = { ...rest, state: "running", attempt: before.attempt + 1 };
    const attempts = [...stored.attempts, { at: this.#server.now }];
    await this.#server.persist(async () => this.#index.write(before, delivery, attempts));
    // Flows may have been stopped meanwhile.
    const canStart = !(this.#isHeld as boolean);
    const result = canStart ? await consumer.start({ delivery, body, attempts }) : ({ as: "interrupted" } as const);
    return this.#findPlace(await this.#finish(running, { delivery, attempts }, result));
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
    { line, consumer, settle, token }: Running,
    stored: Pick<StoredDelivery, "delivery" | "attempts">,
    result: AttemptResult,
  ): Promise<Delivery> {
    const { id, node } = stored.delivery;
    const { breaker = 0 } = line.pace ?? {};
    const { delivery: after, attempts } = afterAttempt(stored, result, line.pace, this.#server.now);
    const also = (multi: ChainableCommander) => {
      // Its request has started it, and another process would have taken over later.
      if (token === undefined && after.state !== "retrying") this.#waits.remove(multi, after);
      this.#breaker.count(multi, node, result, breaker);
    };
    const results = await this.#server.persist(async () => this.#index.write(stored.delivery, after, attempts, also));
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
    const delay = Math.max((nextAt ?? 0) - this.#server.now, 0);
    // It may just have been handed over, and is put where it belongs then.
    await this.#command(ignoreElsewhere(delay > 0 ? job?.changeDelay(delay) : job?.promote()));
  }

  /** The server is there, for the first time or again. */
  async #resume(): Promise<void> {
    await this.#checkBull();
    await this.#keepLocks();
    await this.#loadPauses();
    await this.#waits.look();
    for (const line of this.#lines.values()) if (line.consumer) this.#open(line);
  }

  async #checkBull(): Promise<void> {
    if (this.#isChecked) return;
    const { bull, redis } = this.#server;
    const queue = new bull.Queue("check", {
      connection: redis,
      prefix: this.#key("bull"),
      skipMetasUpdate: true,
      skipVersionCheck: true,
    });
    queue.on("error", () => undefined);
    await this.#command(queue.waitUntilReady());
    const missing = findMissing(bull, queue, redis);
    if (missing.transactions) throw this.#server.refuse("broken", new Error("This version of BullMQ stores no jobs in transactions")); // prettier-ignore
    if (missing.takeOver) this.#server.warn("unknownClient");
    this.#canTakeOver = !missing.takeOver;
    this.#isChecked = true;
    await queue.close();
  }

  /** Of the first job. */
  async #checkLock(line: Line, id: string): Promise<void> {
    this.#isLockChecked = true;
    if (!(await isLockKnown(this.#server.redis, this.#queue(line), id).catch(() => true))) this.#server.warn("unknownClient"); // prettier-ignore
  }

  /** Their locks expired while the server was away, but they still run here. */
  async #keepLocks(): Promise<void> {
    const held = [...this.#running].filter(([, { token }]) => token !== undefined);
    await this.#server.transact((multi) => {
      for (const [id, { line, token = "" }] of held) {
        keepLock(multi, this.#queue(line), id, token, this.#options.lockDuration);
      }
    });
  }

  async #takeOver(): Promise<void> {
    if (this.#server.upFor < 2 * maxRetryDelayMs || !this.#canTakeOver) return;
    await Promise.all([...this.#lines.values()].map(async ({ worker }) => worker && takeOver(worker)));
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

/** Of an action on a job that is not where it was, or not there. */
async function ignoreElsewhere(action: Promise<void> | undefined): Promise<void> {
  await action?.catch((error: unknown) => {
    if (!isJobElsewhere(error)) throw error;
  });
}

/** Between two starts of the flow, in ms; 0: no limit. */
function startInterval(pace: Pace | undefined): number {
  return pace?.ratePerMinute ? Math.ceil(60_000 / pace.ratePerMinute) : 0;
}
