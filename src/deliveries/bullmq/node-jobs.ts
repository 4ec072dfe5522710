// The jobs of one node: BullMQ hands them over at the node's pace, which holds over all instances.

import type { Job, Queue, QueueOptions, Worker } from "bullmq";
import type { ChainableCommander } from "ioredis";
import { findLimits } from "../attempt";
import type { Pause } from "../delivery";
import { maxRunning, NodeQueue, type PendingWork } from "../engine-queue";
import type { SharedBreaker } from "./breaker";
import { addJobAlone, createJob, type JobData, keepLock, takeOver, unlimited } from "./internals";
import { maxRetryDelayMs, type RedisClient } from "./redis-client";

/**
 * How many jobs BullMQ may take beyond those that are processed. It takes as many as it may before it processes the first,
 * and renews no lock until then: with a slow server, all locks of a backlog would expire, again and again.
 */
const takenAhead = 10;

/** What the jobs of all nodes share. */
interface JobServices {
  readonly client: RedisClient;
  readonly breaker: SharedBreaker;
  readonly options: Readonly<Record<"lockDuration" | "stalledInterval" | "breakerInterval", number>>;
  /** Whether BullMQ leaves it to us when attempts of instances that have ended are looked for. */
  readonly takesOver: () => boolean;
  readonly work: PendingWork;
  /** Does what a job is for. @returns whether it is to be handed over again */
  readonly process: (jobs: NodeJobs, job: Job<JobData>, token: string) => Promise<boolean>;
}

/** @throws {StoreError} while the server is away */
export function createQueue(client: RedisClient, name: string, more: Partial<QueueOptions>): Queue {
  const { bull, redis: connection } = client;
  const queue = new bull.Queue(name, { connection, prefix: client.key("bull"), skipVersionCheck: true, ...more });
  queue.on("error", () => undefined);
  return queue;
}

export class NodeJobs extends NodeQueue {
  readonly #services: JobServices;
  #queue: Queue | undefined;
  #worker: Worker | undefined;
  /** How many jobs the worker processes. */
  #processed = 0;

  constructor(node: string, services: JobServices) {
    super(node);
    this.#services = services;
  }

  get queue(): Queue {
    const more = { streams: { events: { maxLen: 10 } } };
    return (this.#queue ??= createQueue(this.#services.client, encodeURIComponent(this.node), more));
  }

  /** Begins or goes on to have jobs handed over; no attempt starts before the server knows the pace. */
  start(mayStart: () => boolean): void {
    const paced = this.#services.client.persist(async () => this.setPace()).catch(() => undefined);
    const worker = (this.#worker ??= this.#createWorker());
    this.#count(worker, 0);
    void paced.then(() => {
      if (mayStart()) void worker.resume();
    });
  }

  leave(): void {
    void this.#worker?.pause(true);
  }

  /** Its node is closed. Jobs that are handed over go back to where other instances find them. */
  async closeWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  /** A job to be stored by `addJob`. */
  async createJob(id: string, bytes: number): Promise<Job> {
    await this.#ask(this.queue.waitUntilReady());
    return createJob(this.#services.client.bull, this.queue, id, { bytes });
  }

  /** Has a delivery handed over, unless it has a job. */
  async add(id: string, bytes: number): Promise<void> {
    const job = await this.createJob(id, bytes);
    await this.#ask(addJobAlone(this.queue, job));
  }

  /** One that is handed over just now stays. */
  async remove(id: string): Promise<void> {
    await this.#ask(this.queue.remove(id));
  }

  async pause(): Promise<void> {
    await this.#ask(this.queue.pause());
  }

  async resume(): Promise<void> {
    await this.goOn();
    await this.#ask(this.queue.resume());
  }

  /** Its circuit breaker is closed again. */
  async goOn(): Promise<void> {
    await this.setPace();
    const intervalMs = this.#findInterval(undefined);
    if (intervalMs > 0) await this.#ask(this.queue.rateLimit(intervalMs));
    else await this.#ask(this.queue.removeRateLimitKey());
  }

  /** Other instances may set it at the same time: the last one has read what holds. */
  async setPace(): Promise<void> {
    const { pace, queue } = this;
    const { breaker, options } = this.#services;
    if (!pace) return;
    for (let set: Pause | "none" | undefined; ;) {
      const { pause, trialInMs } = await breaker.find(this.node);
      if ((pause ?? "none") === set) return;
      const { concurrency } = findLimits(pace, pause, options.breakerInterval);
      const intervalMs = this.#findInterval(pause);
      await this.#ask(concurrency ? queue.setGlobalConcurrency(concurrency) : queue.removeGlobalConcurrency());
      await this.#ask(intervalMs > 0 ? queue.setGlobalRateLimit(1, intervalMs) : queue.removeGlobalRateLimit());
      if (pause === "breaker" && trialInMs > 0) await this.#ask(queue.rateLimit(trialInMs));
      set = pause ?? "none";
    }
  }

  keepLock(multi: ChainableCommander, id: string, token: string): void {
    keepLock(multi, this.queue, id, token, this.#services.options.lockDuration);
  }

  async takeOver(): Promise<void> {
    if (this.#worker) await takeOver(this.#worker);
  }

  /** In whole ms, as BullMQ wants it. */
  #findInterval(pause: Pause | undefined): number {
    return this.pace ? Math.ceil(findLimits(this.pace, pause, this.#services.options.breakerInterval).intervalMs) : 0;
  }

  #createWorker(): Worker {
    const { client, options, work, takesOver } = this.#services;
    const { lockDuration, stalledInterval } = options;
    const process = async (job: Job<JobData>, token = "") => {
      this.#count(worker, 1);
      // BullMQ takes another one as it stores the end of this one, unless there may be fewer by then.
      const leave = () => setImmediate(() => this.#count(worker, -1));
      await work.do(this.#process(job, token)).finally(leave);
    };
    this.#processed = 0;
    const worker: Worker = new client.bull.Worker<JobData>(this.queue.name, process, {
      connection: client.patient,
      prefix: client.key("bull"),
      autorun: false,
      lockDuration,
      // No instance looks again within this time.
      stalledInterval: stalledInterval / 2,
      // We look for stalled jobs ourselves: not while instances reconnect.
      skipStalledCheck: takesOver(),
      maxStalledCount: unlimited,
      maximumRateLimitDelay: 1000,
      runRetryDelay: maxRetryDelayMs,
    });
    worker.on("error", () => undefined);
    return worker;
  }

  /** Counts what a worker processes, unless it is closed. */
  #count(worker: Worker, change: number): void {
    if (worker !== this.#worker) return;
    this.#processed += change;
    const { concurrency = 0 } = this.pace ?? {};
    worker.concurrency = Math.min(concurrency > 0 ? concurrency : maxRunning, this.#processed + takenAhead);
  }

  /** A job that BullMQ hands over is done with, or put back. */
  async #process(job: Job<JobData>, token: string): Promise<void> {
    const { client, process } = this.#services;
    if (!(await process(this, job, token))) return;
    await job.moveToWait(token);
    throw new client.bull.WaitingError();
  }

  /** BullMQ rejects with errors of the server. */
  async #ask<Result>(work: Promise<Result>): Promise<Result> {
    return this.#services.client.ask(async () => work);
  }
}
