// The queue of one machine: deliveries in a file of SQLite, and their flows started from this process at the paces of
// their nodes.

import { extname, join } from "node:path";
import { backoffAfter } from "../../config/parse";
import { fileName } from "../../config/stores";
import {
  type AttemptChange,
  type AttemptedDelivery,
  breakerIntervalMs,
  findKeyEnd,
  findLimits,
  type StartLimits,
} from "../attempt";
import type { Delivery, Pause, State, StoredDelivery } from "../delivery";
import { MemoryDuplicates } from "../duplicates";
import {
  EngineQueue,
  maxRunning,
  NodeQueue,
  roomDefaults,
  type RoomOptions,
  type RunningAttempt,
} from "../engine-queue";
import {
  type AttemptResult,
  type Candidate,
  type Change,
  type DeliveryQueue,
  type Duplicates,
  maxAge,
  maxBytes,
  type Query,
  type Removal,
  type RemovalQuery,
  type Retention,
  type RetryTime,
  type StoreAnnouncer,
} from "../queue";
import { FileThread } from "./file-thread";

/** The build puts it beside the file that it makes of this one; where TypeScript is run as it is, so is the worker. */
const workerFile = join(__dirname, `worker${extname(__filename)}`);
/** How many are taken in one step. */
const maxTaken = 100;
/** How long a queue sleeps at most before it looks for what is due, in ms. */
const maxSleepMs = 60_000;

/**
 * The clock of pace and waits, in whole ms: the time of day when the process began, and what has passed since. Nobody
 * can set it. What is shown to people has the time of day instead.
 */
export function readQueueClock(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

class PacedQueue extends NodeQueue {
  /** Failed attempts in a row. */
  failures = 0;
  /** Attempts that were taken and run. */
  running = 0;
  /** When rate or circuit breaker allow the next start, by the queue's clock. */
  nextStartAt = 0;
  isTaking = false;
  /** Whether more may have become due while the store was being asked. */
  hasMore = false;
  /** When due deliveries are looked for again, by the queue's clock. */
  wakeAt = Infinity;
  timer: NodeJS.Timeout | undefined;
}

export interface SqliteOptions extends Partial<Retention & RoomOptions> {
  /** The file that the worker runs. */
  readonly worker?: string;
  readonly breakerInterval?: number;
  /** The clock of all times but those that people see. */
  readonly now?: () => number;
}

/** Only a Node.js for which `sqliteIsHere` can open it. While the file is in trouble, it waits. */
export class SqliteQueue extends EngineQueue<PacedQueue> implements DeliveryQueue {
  readonly isShared = false;
  readonly duplicates: Duplicates;
  readonly #file: FileThread;
  readonly #now: () => number;
  readonly #breakerInterval: number;

  /** @param folder where the file is, or is to be */
  constructor(folder: string, options: SqliteOptions = {}) {
    super({ ...roomDefaults, ...options });
    const { worker = workerFile, breakerInterval = breakerIntervalMs, now = readQueueClock } = options;
    this.#breakerInterval = breakerInterval;
    this.#now = now;
    const memory = new MemoryDuplicates();
    const file = (this.#file = new FileThread(
      worker,
      { path: join(folder, fileName), maxAge: options.maxAge ?? maxAge, maxBytes: options.maxBytes ?? maxBytes },
      {
        running: () => new Set(this.running.keys()),
        now,
        opened: ({ pauses, keys }) => {
          for (const { reply, ...key } of keys) {
            memory.remember({ ...key, reply: reply && { ...reply, body: reply.body && toBuffer(reply.body) } });
          }
          this.loadPauses(new Map(pauses));
          this.takeAll();
        },
      },
    ));
    // All keys are in memory; those of stored deliveries are in the file as well, for the next process.
    this.duplicates = {
      reserve: async (candidate) => {
        await file.wasOpened();
        return memory.reserve(candidate);
      },
    };
  }

  async open(events: StoreAnnouncer): Promise<void> {
    this.events = events;
    await this.#file.open(events);
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    await this.#file.ask("add", delivery, body, { attempts: [], now: this.#now(), key });
    this.events?.emit("changed", { node: delivery.node });
    if (delivery.state === "queued") this.take(this.queueOf(delivery.node));
  }

  override async end(id: string, result: AttemptResult): Promise<void> {
    const queue = this.running.get(id)?.queue;
    await super.end(id, result);
    if (queue) this.take(queue);
  }

  /** Step by step, between which others have their turn. */
  async list({ text = "", ...query }: Query): Promise<Delivery[]> {
    const deliveries: Delivery[] = [];
    for (let position: Partial<Query> = {}; ;) {
      const limit = query.limit - deliveries.length;
      const { found, next } = await this.#file.ask("list", { ...query, text: text.toLowerCase(), ...position, limit });
      deliveries.push(...found);
      if (next === undefined || deliveries.length >= query.limit) return deliveries;
      position = query.after ? { after: next } : { before: next };
    }
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    const found = await this.#file.ask("find", id);
    return found && { ...found, body: toBuffer(found.body) };
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    return this.#file.ask("counts", node);
  }

  async update(id: string, change: Change): Promise<void> {
    await this.#file.ask("update", id, change);
    this.events?.emit("changed", {});
  }

  async remove(id: string): Promise<Removal> {
    const { removal, node } = await this.#file.ask("remove", id);
    if (removal === "removed") this.events?.emit("changed", { node });
    return removal;
  }

  /** Step by step, between which others have their turn. */
  async removeAll(query: RemovalQuery): Promise<number> {
    let removed = 0;
    for (let hasMore = true; hasMore;) {
      const step = await this.#file.ask("removeSome", query);
      for (const node of new Set(step.nodes)) this.events?.emit("changed", { node });
      removed += step.nodes.length;
      ({ hasMore } = step);
    }
    return removed;
  }

  async retry(id: string, when: RetryTime): Promise<boolean> {
    const node = await this.#file.ask("retry", id, when, this.#now());
    if (node === undefined) return false;
    this.events?.emit("changed", { node });
    this.take(this.queueOf(node));
    return true;
  }

  protected createQueue(node: string): PacedQueue {
    return new PacedQueue(node);
  }

  protected async storeRunning({ delivery, attempts }: AttemptedDelivery, body: Buffer, _: number, key?: Candidate) {
    const { node } = delivery;
    const { pace } = this.queueOf(node);
    const waitMs = pace ? backoffAfter(pace, delivery.attempt) : 0;
    await this.#file.ask("add", delivery, body, { attempts, now: this.#now(), waitMs, key });
    this.events?.emit("changed", { node });
  }

  protected async storeEnd(
    { key, queue }: RunningAttempt<PacedQueue>,
    before: Delivery,
    { delivery, attempts, waitMs }: AttemptChange,
    result: AttemptResult,
  ): Promise<void> {
    const { id, state, attempt, maxAttempts, nextAt, error } = delivery;
    const change = { state, attempt, maxAttempts, nextAt, error };
    const parts = { attempts, now: this.#now(), waitMs, key, keyEnd: key && findKeyEnd(result) };
    await this.#file.insist("end", id, before.attempt, change, parts);
    await this.#countFailures(queue, result).catch(() => undefined);
  }

  protected async storePause(queue: PacedQueue, pause: Pause | undefined): Promise<void> {
    await this.#file.ask("pause", queue.node, pause);
    if (this.paused(queue.node) === "breaker") queue.nextStartAt = 0;
    queue.failures = 0;
  }

  protected async disconnect(): Promise<void> {
    await this.#file.close();
  }

  protected take(queue: PacedQueue): void {
    queue.hasMore = true;
    if (!queue.isTaking) void this.work.do(this.#takeAndStart(queue));
  }

  protected leave(): void {
    // It looks itself whether flows run.
  }

  async #takeAndStart(queue: PacedQueue): Promise<void> {
    const { node } = queue;
    /** Bytes that are kept free for the next answer of the file: it is asked for other nodes at the same time. */
    let room = 0;
    queue.isTaking = true;
    try {
      for (let { consumer } = queue; consumer && queue.hasMore; { consumer } = queue) {
        const { pace } = consumer;
        const limits = findLimits(pace, this.paused(node), this.#breakerInterval);
        const places = this.#countPlaces(queue, limits);
        queue.hasMore = false;
        if (places <= 0) break;
        room ||= this.room.takePart();
        const { taken, failed, nextDue, tooLarge } = await this.#file.insist(
          "take",
          node,
          pace,
          places,
          room,
          this.#now(),
        );
        const { intervalMs } = limits;
        if (taken.length > 0 && intervalMs > 0)
          queue.nextStartAt = Math.max(this.#now(), queue.nextStartAt) + intervalMs;
        for (const stored of taken) void this.work.do(this.#start(queue, { ...stored, body: toBuffer(stored.body) }));
        for (const delivery of failed) {
          this.events?.emit("changed", { node });
          consumer.ended(delivery, { as: "failed", error: delivery.error ?? "" });
        }
        this.room.leave(room);
        room = 0;
        if (taken.length + failed.length > 0) queue.hasMore = true;
        else if (tooLarge !== undefined) {
          await this.room.wait((room = tooLarge));
          queue.hasMore = true;
        } else if (nextDue !== undefined) this.#takeAt(queue, nextDue);
      }
    } finally {
      this.room.leave(room);
      queue.isTaking = false;
    }
  }

  async #start(queue: PacedQueue, stored: StoredDelivery): Promise<void> {
    const { length } = stored.body;
    queue.running++;
    this.room.take(length);
    this.events?.emit("changed", { node: queue.node });
    await this.run(this.addAttempt(stored.delivery.id, queue), stored);
    queue.running--;
    this.room.leave(length);
    this.take(queue);
  }

  /** How many may start now. */
  #countPlaces(queue: PacedQueue, { concurrency, intervalMs }: StartLimits): number {
    if (!this.arePausesKnown || !this.areFlowsRunning || this.paused(queue.node) === "manual") return 0;
    if (intervalMs > 0 && this.#now() < queue.nextStartAt) {
      this.#takeAt(queue, queue.nextStartAt);
      return 0;
    }
    return Math.min((concurrency || maxRunning) - queue.running, intervalMs > 0 ? 1 : maxTaken);
  }

  /** @param time by the queue's clock */
  #takeAt(queue: PacedQueue, time: number): void {
    if (time >= queue.wakeAt) return;
    clearTimeout(queue.timer);
    queue.wakeAt = time;
    const delay = Math.min(maxSleepMs, Math.max(0, time - this.#now()));
    queue.timer = setTimeout(() => {
      queue.wakeAt = Infinity;
      this.take(queue);
    }, delay).unref();
  }

  async #countFailures(queue: PacedQueue, { as }: AttemptResult): Promise<void> {
    if (as === "interrupted") return;
    const { node, pace } = queue;
    const pause = this.paused(node);
    queue.failures = as === "failed" ? queue.failures + 1 : 0;
    // A success ends the breaker's pause.
    if (as === "succeeded" && pause === "breaker") return this.resume(node);
    if (!pace?.breaker || queue.failures < pace.breaker || pause) return;
    queue.nextStartAt = this.#now() + this.#breakerInterval;
    this.showPause(node, "breaker");
    await this.#file.ask("pause", node, "breaker");
  }
}

/** Bytes of the worker, without a copy. */
function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
