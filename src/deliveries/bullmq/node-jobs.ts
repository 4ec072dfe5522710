// The jobs of one node: BullMQ hands them over at the node's pace, which holds over all instances.

import type { Job, Queue, QueueOptions, Worker } from "bullmq";
import type { ChainableCommander } from "ioredis";
import { findLimits } from "../attempt";
import type { Pause } from "../delivery";
import { maxRunning, NodeQueue, type PendingWork } from "../engine-queue";
import type { SharedBreaker } from "./breaker";
import { createJob, isJobElsewhere, type JobData, keepLock, takeOver, unlimited } from "./internals";
import { maxRetryDelayMs, type RedisClient } from "./redis-client";
import type { SharedWaits } from "./waits";

/** Where a job belongs: it is handed over again at once, or later, or its delivery is finished. */
export type Place = "queue" | { readonly afterMs: number } | "nowhere";

export interface JobOptions {
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly breakerInterval: number;
}

/** What the jobs of all nodes share. */
interface JobServices {
  readonly client: RedisClient;
  /** Of the names of keys. */
  readonly prefix: string;
  readonly breaker: SharedBreaker;
  readonly options: JobOptions;
  /** Whether BullMQ leaves it to us when attempts of instances that have ended are looked for. */
  readonly takesOver: () => boolean;
  readonly work: PendingWork;
  /** Does what a job is for. @returns where it belongs then */
  readonly process: (jobs: NodeJobs, job: Job<JobData>, token: string) => Promise<Place>;
  readonly waits: SharedWaits;
}

/** @throws {StoreError} while the server is away */
export function createQueue(
  { bull, redis }: RedisClient,
  name: string,
  prefix: string,
  more: Partial<QueueOptions> = {},
): Queue {
  const queue = new bull.Queue(name, { connection: redis, prefix, skipVersionCheck: true, ...more });
  queue.on("error", () => undefined);
  return queue;
}

export class NodeJobs extends NodeQueue {
  readonly #services: JobServices;
  #queue: Queue | undefined;
  #worker: Worker | undefined;

  constructor(node: string, services: JobServices) {
    super(node);
    this.#services = services;
  }

  get queue(): Queue {
    const { client, prefix } = this.#services;
    const more = { streams: { events: { maxLen: 10 } } };
    return (this.#queue ??= createQueue(client, encodeURIComponent(this.node), prefix, more));
  }

  /** Begins or goes on to have jobs handed over; no attempt starts before the server knows the pace. */
  start(mayStart: () => boolean): void {
    const paced = this.#services.client.persist(async () => this.setPace()).catch(() => undefined);
    const worker = (this.#worker ??= this.#createWorker());
    const { concurrency = 0 } = this.pace ?? {};
    worker.concurrency = concurrency > 0 ? concurrency : maxRunning;
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
  async createJob(id: string, bytes: number, delayMs: number): Promise<Job> {
    await this.#ask(this.queue.waitUntilReady());
    return createJob(this.#services.client.bull, this.queue, id, { bytes }, delayMs);
  }

  /** @returns the ids without a job */
  async findMissing(ids: readonly string[]): Promise<string[]> {
    const found = await this.#services.client.transact((multi) => {
      for (const id of ids) multi.exists(this.queue.toKey(id));
    });
    return ids.filter((_, index) => found[index] === 0);
  }

  /** One that is handed over just now stays. */
  async remove(id: string): Promise<void> {
    await this.#ask(this.queue.remove(id));
  }

  /** Hands a job over at once, or after a time, unless it is handed over already. */
  async moveTo(id: string, afterMs: number): Promise<void> {
    const job = await this.#ask(this.queue.getJob(id));
    await this.#ask(ignoreElsewhere(afterMs > 0 ? job?.changeDelay(afterMs) : job?.promote()));
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
    const { client, prefix, options, work, takesOver } = this.#services;
    const { lockDuration, stalledInterval } = options;
    const process = async (job: Job<JobData>, token = "") => work.do(this.#process(job, token));
    const worker = new client.bull.Worker<JobData>(this.queue.name, process, {
      connection: client.patient,
      prefix,
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

  /** A job that BullMQ hands over is done with, or put where it belongs. */
  async #process(job: Job<JobData>, token: string): Promise<void> {
    const { client, process, waits } = this.#services;
    const { id = "" } = job;
    const place = await process(this, job, token);
    if (place === "nowhere") return;
    if (place === "queue") {
      await job.moveToWait(token);
      throw new client.bull.WaitingError();
    }
    // BullMQ compares it with the clock of this machine.
    await job.moveToDelayed(Date.now() + place.afterMs, token);
    // It may have been handed over while BullMQ did not have it among what waits.
    const leftMs = await client.persist(async () => waits.findLeftMs({ id, node: this.node }));
    if (leftMs === 0) await this.#ask(ignoreElsewhere(job.promote()));
    throw new client.bull.DelayedError();
  }

  /** BullMQ rejects with errors of the server. */
  async #ask<Result>(work: Promise<Result>): Promise<Result> {
    return this.#services.client.ask(async () => work);
  }
}

/** Of an action on a job that is not where it was, or not there. */
async function ignoreElsewhere(action: Promise<void> | undefined): Promise<void> {
  await action?.catch((error: unknown) => {
    if (!isJobElsewhere(error)) throw error;
  });
}
