// The queue that several instances share: BullMQ hands over what is due, the index holds the deliveries.

import type { Job } from "bullmq";
import type { ChainableCommander } from "ioredis";
import { type AttemptChange, type AttemptedDelivery, beginAttempt, breakerIntervalMs, changeRetry } from "../attempt";
import { type Attempt, type Delivery, type Pause, type State, type StoredDelivery, unfinished } from "../delivery";
import { EngineQueue, roomDefaults, type RunningAttempt } from "../engine-queue";
import {
  type AttemptResult,
  type Candidate,
  type Change,
  type DeliveryQueue,
  maxAge,
  maxBytes,
  type Query,
  type Removal,
  type RemovalQuery,
  type RetryTime,
  type StoreAnnouncer,
} from "../queue";
import { SharedBreaker } from "./breaker";
import { DeliveryIndex } from "./delivery-index";
import { addJob, findMissing, isLockKnown, isUnknownScript, type JobData, lockKey } from "./internals";
import { createQueue, NodeJobs } from "./node-jobs";
import { maxRetryDelayMs, RedisClient, type RedisSettings } from "./redis-client";
import { renewInterval, RedisUses, SharedDuplicates, SharedRates } from "./shared-keys";
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
  /** How often missing jobs are added: another instance takes over within 30 s. */
  missingJobsInterval: 20_000,
  /** How often old deliveries are dropped, and the server's clock is read. */
  tidyInterval: 60_000,
  maxAge,
  maxBytes,
  ...roomDefaults,
};

export type BullOptions = RedisSettings & Partial<typeof defaults>;

/** How many deliveries are read at once to be removed. */
const maxRemoved = 500;

/**
 * A job is only an id, and exists from when an attempt is due until it ends. It may be processed twice, as after a lost
 * connection; the delivery in the index decides.
 */
export class BullQueue extends EngineQueue<NodeJobs> implements DeliveryQueue {
  readonly isShared = true;
  /** The rate limits of all instances. */
  readonly rates: SharedRates;
  readonly duplicates: SharedDuplicates;
  readonly uses: RedisUses;
  readonly #options: BullOptions & typeof defaults;
  readonly #client: RedisClient;
  readonly #waits: SharedWaits;
  readonly #index: DeliveryIndex;
  readonly #breaker: SharedBreaker;
  /** Deliveries on their way to the server. */
  readonly #adding = new Map<string, Promise<unknown>>();
  /** The locks of jobs whose attempts run here, by their ids. */
  readonly #tokens = new Map<string, string>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Of BullMQ's internals. */
  #isChecked = false;
  #isLockChecked = false;
  #canTakeOver = true;

  constructor(given: BullOptions) {
    const options = { ...defaults, ...given };
    super(options);
    const { timeLimit, breakerInterval } = (this.#options = options);
    const client = (this.#client = new RedisClient(options, timeLimit, async () => this.#arrive()));
    this.#waits = new SharedWaits(client, {
      nameJob: ({ id, node }) => this.queueOf(node).queue.toKey(id),
      // It waits no more: until it has its job, it is lost.
      addJob: async ({ id, node }) => client.persist(async () => this.#addJob(this.queueOf(node), id)),
    });
    this.#index = new DeliveryIndex(client, options, this.#waits, (node) => this.events?.emit("changed", { node }));
    this.#breaker = new SharedBreaker(client, breakerInterval);
    this.duplicates = new SharedDuplicates(client);
    this.rates = new SharedRates(client);
    this.uses = new RedisUses(client);
  }

  async open(events: StoreAnnouncer): Promise<void> {
    this.events = events;
    const { stalledInterval, pollInterval, missingJobsInterval, tidyInterval } = this.#options;
    this.#every(stalledInterval, async () => this.#takeOver());
    this.#every(pollInterval, async () => this.#poll());
    this.#every(renewInterval, async () => this.duplicates.renew());
    this.#every(tidyInterval, async () => this.#index.tidy());
    this.#every(tidyInterval, async () => this.#client.readClock());
    this.#every(missingJobsInterval, async () => this.#addMissingJobs());
    await this.#client.start(events);
    await this.#index.tidy();
  }

  override async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#waits.stop();
    this.hold();
    const closing = Promise.all([...this.queues.values()].map(async (jobs) => jobs.closeWorker()));
    this.work.do(closing).catch(() => undefined);
    await super.close();
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    const adding =
      delivery.state === "queued" ? this.#addQueued(delivery, body, key) : this.#store(delivery, body, [], key);
    this.#adding.set(delivery.id, adding);
    await adding.finally(() => this.#adding.delete(delivery.id));
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
    for (let before: Delivery | undefined; ;) {
      const found = await this.#index.list({ node, state, before, limit: maxRemoved });
      const removals = await Promise.all(found.map(async (delivery) => this.#remove(delivery, state)));
      removed += removals.filter((removal) => removal === "removed").length;
      if (found.length < maxRemoved) return removed;
      before = found.at(-1);
    }
  }

  async retry(id: string, when: RetryTime): Promise<boolean> {
    const { delivery: before } = (await this.#index.find(id)) ?? {};
    if (before?.state !== "retrying") return false;
    const jobs = this.queueOf(before.node);
    const after = changeRetry(before, when, this.#client.now);
    if (!(await this.#index.writeRetry(before, after, lockKey(jobs.queue, id)))) return false;
    if (when === "now") this.#waits.look().catch(() => undefined);
    // Without a delivery to be started, a job that is left starts nothing.
    else await jobs.remove(id).catch(() => undefined);
    return true;
  }

  protected override get time(): number {
    return this.#client.now;
  }

  protected createQueue(node: string): NodeJobs {
    return new NodeJobs(node, {
      client: this.#client,
      breaker: this.#breaker,
      options: this.#options,
      takesOver: () => this.#canTakeOver,
      work: this.work,
      process: async (jobs, job, token) => this.#process(jobs, job, token),
    });
  }

  protected take(jobs: NodeJobs): void {
    if (!jobs.consumer) void jobs.closeWorker();
    else if (this.#client.isUp) jobs.start(() => this.areFlowsRunning && jobs.consumer !== undefined);
  }

  protected leave(jobs: NodeJobs): void {
    jobs.leave();
  }

  protected async storeRunning(
    { delivery, attempts }: AttemptedDelivery,
    body: Buffer,
    timeoutMs: number,
    key?: Candidate,
  ) {
    // The time of the reply, and of storing its end.
    await this.#store(delivery, body, attempts, key, timeoutMs + this.#options.lockDuration);
  }

  protected async storeEnd(
    { queue: jobs, started }: RunningAttempt<NodeJobs>,
    before: Delivery,
    { delivery, attempts }: AttemptChange,
    result: AttemptResult,
  ): Promise<void> {
    const { id, node, state } = delivery;
    const also = (multi: ChainableCommander) => {
      // No other process has to take over any more.
      if (started && state !== "retrying") this.#waits.remove(multi, delivery);
      this.#breaker.count(multi, node, result, jobs.pace?.breaker ?? 0);
    };
    const [news] = (await this.#client.persist(async () => this.#index.write(before, delivery, attempts, also))).slice(
      -1,
    );
    if (news === "opened") await this.#limit(jobs);
    if (news === "closed") {
      await this.#client.persist(async () => jobs.goOn());
      this.showPause(node, undefined);
    }
    this.#tokens.delete(id);
    if (started && state === "queued") await this.#client.persist(async () => this.#addJob(jobs, id));
  }

  protected async storePause(jobs: NodeJobs, pause: Pause | undefined): Promise<void> {
    if (pause) {
      await this.#breaker.pause(jobs.node);
      return jobs.pause();
    }
    await this.#breaker.resume(jobs.node);
    await jobs.resume();
  }

  protected async disconnect(): Promise<void> {
    await this.uses.tell();
    await this.#client.close();
    this.work.abandon();
    await Promise.all([...this.queues.values()].map(async (jobs) => jobs.close()));
  }

  /** @param asked only while it has this state */
  async #remove(delivery: Delivery, asked?: State): Promise<Removal> {
    const { id, node, state } = delivery;
    // A finished one has no job. It may be of no node, for which BullMQ has no queue.
    const jobs = unfinished.includes(state) ? this.queueOf(node) : undefined;
    const removal = await this.#index.remove(delivery, jobs && lockKey(jobs.queue, id), asked);
    // Without its delivery, a job that is left starts nothing.
    if (removal === "removed") await jobs?.remove(id).catch(() => undefined);
    return removal;
  }

  #every(milliseconds: number, work: () => Promise<unknown>): void {
    const run = () => {
      // Errors are reported where they occur.
      if (this.#client.isUp) work().catch(() => undefined);
    };
    this.#timers.push(setInterval(run, milliseconds).unref());
  }

  /** @param waitMs after which another process may start its flow; missing: none starts it */
  async #store(
    delivery: Delivery,
    body: Buffer,
    attempts: readonly Attempt[],
    key: Candidate | undefined,
    waitMs?: number,
  ): Promise<void> {
    await this.#client.known();
    await this.#index.add(delivery, body, attempts, (multi) => {
      if (key) this.duplicates.keep(multi, key, waitMs);
      if (waitMs !== undefined) this.#waits.add(multi, delivery, this.#client.now + waitMs);
    });
  }

  async #addQueued(delivery: Delivery, body: Buffer, key: Candidate | undefined): Promise<void> {
    await this.#client.known();
    const jobs = this.queueOf(delivery.node);
    const job = await jobs.createJob(delivery.id, body.length);
    const also = (multi: ChainableCommander) => {
      if (key) this.duplicates.keep(multi, key);
      addJob(multi, jobs.queue, job);
    };
    const results = await this.#index.add(delivery, body, [], also, isUnknownScript);
    // An earlier transaction was refused, and the script with it. The delivery is stored already: if this fails as well,
    // its job is missed later.
    if (results?.some((result) => result instanceof Error))
      await jobs.add(delivery.id, body.length).catch(() => undefined);
  }

  async #addJob(jobs: NodeJobs, id: string): Promise<void> {
    await jobs.add(id, await this.#index.findSize(id));
  }

  /** @returns whether its job is to be handed over again */
  async #process(jobs: NodeJobs, job: Job<JobData>, token: string): Promise<boolean> {
    const { id = "", data } = job;
    if (!this.#isLockChecked) await this.#checkLock(jobs, id);
    const own = this.running.get(id);
    if (own) {
      // Its lock was lost: the server was away, or this process was busy.
      this.#tokens.set(id, token);
      return (await own.ended).state === "queued";
    }
    const { bytes = 0 } = data;
    const pause = this.paused(jobs.node);
    await this.room.wait(bytes);
    try {
      // Paused while it waited for room: BullMQ hands over no more of them, and this one goes back.
      if (this.paused(jobs.node) === "manual" && pause !== "manual") return true;
      return await this.#attempt(jobs, id, token);
    } finally {
      this.room.leave(bytes);
    }
  }

  /** Starts the flow, if it is time and may start. @returns whether its job is to be handed over again */
  async #attempt(jobs: NodeJobs, id: string, token: string): Promise<boolean> {
    const { consumer, node } = jobs;
    if (!consumer || !this.areFlowsRunning) return true;
    const stored = await this.#client.persist(async () => this.#index.find(id));
    if (!stored || !unfinished.includes(stored.delivery.state)) {
      await this.#client.persist(async () => this.#index.settle(id, node));
      return false;
    }
    const { delivery: before, body } = stored;
    if (before.state !== "queued") {
      const leftMs = await this.#client.persist(async () => this.#waits.findLeftMs(before));
      if (leftMs > 0) return false;
    }
    const { delivery, attempts } = beginAttempt(stored, consumer.pace, this.#client.now);
    if (delivery.state !== "running") {
      await this.#client.persist(async () => this.#index.write(before, delivery));
      if (delivery.state === "failed") consumer.ended(delivery, { as: "failed", error: delivery.error ?? "" });
      return false;
    }
    if (consumer.pace.breaker > 0 && (await this.#client.persist(async () => this.#breaker.beginTrial(node))) > 0) {
      // It was handed over when the breaker was just about to open.
      await this.#limit(jobs);
      return true;
    }
    const attempt = this.addAttempt(id, jobs);
    this.#tokens.set(id, token);
    await this.#client.persist(async () => this.#index.write(before, delivery, attempts));
    const { state } = await this.run(attempt, { delivery, body, attempts });
    return state === "queued";
  }

  /** Its breaker is open: has BullMQ hand over one delivery at a time. */
  async #limit(jobs: NodeJobs): Promise<void> {
    await this.#client.persist(async () => jobs.setPace());
    this.showPause(jobs.node, "breaker");
  }

  /** The server is there, for the first time or again. */
  async #arrive(): Promise<void> {
    await this.#checkBull();
    await this.#keepLocks();
    this.loadPauses(await this.#breaker.list());
    this.takeAll();
    // It may take long, as much may be due by now.
    this.#waits.look().catch(() => undefined);
  }

  async #checkBull(): Promise<void> {
    if (this.#isChecked) return;
    const queue = createQueue(this.#client, "check", { skipMetasUpdate: true });
    await this.#client.ask(async () => queue.waitUntilReady());
    const missing = findMissing(this.#client.bull, queue, this.#client.redis);
    if (missing.transactions) throw this.#client.refuse("broken", new Error("This version of BullMQ stores no jobs in transactions")); // prettier-ignore
    if (missing.takeOver) this.#client.warn("unknownClient");
    this.#canTakeOver = !missing.takeOver;
    this.#isChecked = true;
    await queue.close();
  }

  /** Of the first job. */
  async #checkLock({ queue }: NodeJobs, id: string): Promise<void> {
    this.#isLockChecked = true;
    if (!(await isLockKnown(this.#client.redis, queue, id).catch(() => true))) this.#client.warn("unknownClient");
  }

  /** Their locks expired while the server was away, but they still run here. */
  async #keepLocks(): Promise<void> {
    await this.#client.transact((multi) => {
      for (const [id, token] of this.#tokens) this.running.get(id)?.queue.keepLock(multi, id, token);
    });
  }

  /**
   * Gives a job to what has none and does not wait: its instance may have ended before it had stored that, or the server
   * may have dropped it. A job too many starts nothing.
   */
  async #addMissingJobs(): Promise<void> {
    for (const jobs of this.queues.values()) {
      if (!jobs.consumer) continue;
      for await (const id of this.#index.listWithoutJob(jobs.node, jobs.queue.toKey(""))) {
        if (!this.running.has(id)) await this.#addJob(jobs, id);
      }
    }
  }

  async #takeOver(): Promise<void> {
    if (this.#client.upFor < 2 * maxRetryDelayMs || !this.#canTakeOver) return;
    await Promise.all([...this.queues.values()].map(async (jobs) => jobs.takeOver()));
  }

  async #poll(): Promise<void> {
    if (this.#client.refusal) await this.#index.probe().then(() => this.#client.accept());
    this.loadPauses(await this.#breaker.list());
  }
}
