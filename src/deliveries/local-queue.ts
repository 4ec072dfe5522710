// The pace of an engine whose deliveries are those of one process alone.

import type { Pace } from "../config/parse";
import { type AttemptChange, breakerIntervalMs, findLimits, type StartLimits } from "./attempt";
import type { Delivery, StoredDelivery } from "./delivery";
import { EngineQueue, maxRunning, NodeQueue, roomPatienceMs, type RunningAttempt } from "./engine-queue";
import type { AttemptResult } from "./queue";

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

/** How much may be taken. */
export interface TakingRoom {
  readonly places: number;
  /** Of bodies. */
  readonly bytes: number;
}

/** What was due of a node. */
export interface Taken {
  /** Their attempts are counted, and are to start. */
  readonly taken: readonly StoredDelivery[];
  /** Their attempts were used up. */
  readonly failed: readonly Delivery[];
  /** When the next one is due, by the queue's clock; nothing where none waits. */
  readonly nextDue: number | undefined;
  /** Whether the next one has more bytes than there is room for. */
  readonly isTooLarge: boolean;
}

class LocalNodeQueue extends NodeQueue {
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
  /** Since when the next one waits for room, by the queue's clock. */
  waitsSince = Infinity;
  /** Waits for room once, however often it is looked for. */
  takeMore: (() => void) | undefined;
}

export interface PaceOptions {
  readonly breakerInterval?: number;
  /** The clock of all times but those that people see. */
  readonly now?: () => number;
}

/** Starts flows at the paces of their nodes. While the store is in trouble, it waits. */
export abstract class LocalQueue extends EngineQueue<LocalNodeQueue> {
  readonly isShared = false;
  protected readonly now: () => number;
  readonly #breakerInterval: number;

  constructor({ breakerInterval = breakerIntervalMs, now = readQueueClock }: PaceOptions) {
    super();
    this.#breakerInterval = breakerInterval;
    this.now = now;
  }

  /** Takes what is due first. Goes on trying. */
  protected abstract takeDue(node: string, pace: Pace, room: TakingRoom): Promise<Taken>;
  /** Goes on trying. */
  protected abstract writeEnd(
    attempt: RunningAttempt,
    before: Delivery,
    change: AttemptChange,
    result: AttemptResult,
  ): Promise<void>;
  protected abstract writePause(node: string, pause: "manual" | "breaker" | undefined): Promise<void>;

  protected get time(): number {
    return Date.now();
  }

  override async end(id: string, result: AttemptResult): Promise<void> {
    const queue = this.running.get(id)?.queue;
    await super.end(id, result);
    if (queue) this.take(queue);
  }

  protected createQueue(node: string): LocalNodeQueue {
    return new LocalNodeQueue(node);
  }

  protected take(queue: LocalNodeQueue): void {
    queue.hasMore = true;
    if (!queue.isTaking) void this.work.do(this.#takeAndStart(queue));
  }

  protected leave(): void {
    // It looks itself whether flows run.
  }

  protected async storeEnd(
    attempt: RunningAttempt<LocalNodeQueue>,
    before: Delivery,
    change: AttemptChange,
    result: AttemptResult,
  ): Promise<void> {
    await this.writeEnd(attempt, before, change, result);
    await this.#countFailures(attempt.queue, result).catch(() => undefined);
  }

  protected async storePause(queue: LocalNodeQueue, pause: "manual" | undefined): Promise<void> {
    await this.writePause(queue.node, pause);
    if (this.paused(queue.node) === "breaker") queue.nextStartAt = 0;
    queue.failures = 0;
  }

  async #takeAndStart(queue: LocalNodeQueue): Promise<void> {
    queue.isTaking = true;
    for (let { consumer } = queue; consumer && queue.hasMore; { consumer } = queue) {
      const { pace } = consumer;
      const { node } = queue;
      const limits = findLimits(pace, this.paused(node), this.#breakerInterval);
      const isLate = this.now() - queue.waitsSince >= roomPatienceMs;
      const room = { places: this.#countPlaces(queue, limits), bytes: this.room.findFree(isLate) };
      queue.hasMore = false;
      if (room.places <= 0) break;
      const { taken, failed, nextDue, isTooLarge } = await this.takeDue(node, pace, room);
      const { intervalMs } = limits;
      if (taken.length > 0 && intervalMs > 0) queue.nextStartAt = Math.max(this.now(), queue.nextStartAt) + intervalMs;
      for (const stored of taken) void this.work.do(this.#start(queue, stored));
      for (const delivery of failed) {
        this.events?.changed(node);
        consumer.ended(delivery, { as: "failed", error: delivery.error ?? "" });
      }
      if (taken.length > 0 || !isTooLarge) queue.waitsSince = Infinity;
      if (taken.length + failed.length > 0) queue.hasMore = true;
      else if (isTooLarge) this.#takeWithMoreThan(queue, room.bytes);
      else if (nextDue !== undefined) this.#takeAt(queue, nextDue);
    }
    queue.isTaking = false;
  }

  async #start(queue: LocalNodeQueue, stored: StoredDelivery): Promise<void> {
    const { length } = stored.body;
    queue.running++;
    this.room.take(length);
    this.events?.changed(queue.node);
    await this.run(this.begin(stored.delivery.id, queue), stored);
    queue.running--;
    this.room.leave(length);
    this.take(queue);
  }

  /** How many may start now. */
  #countPlaces(queue: LocalNodeQueue, { concurrency, intervalMs }: StartLimits): number {
    if (!this.arePausesKnown || !this.areFlowsRunning || this.paused(queue.node) === "manual") return 0;
    if (intervalMs > 0 && this.now() < queue.nextStartAt) {
      this.#takeAt(queue, queue.nextStartAt);
      return 0;
    }
    return Math.min((concurrency || maxRunning) - queue.running, intervalMs > 0 ? 1 : maxTaken);
  }

  /** @param bytes there was room for when the store was asked: others may have ended meanwhile */
  #takeWithMoreThan(queue: LocalNodeQueue, bytes: number): void {
    if (this.room.findFree() > bytes) {
      queue.hasMore = true;
      return;
    }
    this.room.onMore((queue.takeMore ??= () => this.take(queue)));
    queue.waitsSince = Math.min(queue.waitsSince, this.now());
    const lateAt = queue.waitsSince + roomPatienceMs;
    if (lateAt > this.now()) this.#takeAt(queue, lateAt);
  }

  /** @param time by the queue's clock */
  #takeAt(queue: LocalNodeQueue, time: number): void {
    if (time >= queue.wakeAt) return;
    clearTimeout(queue.timer);
    queue.wakeAt = time;
    const delay = Math.min(maxSleepMs, Math.max(0, time - this.now()));
    queue.timer = setTimeout(() => {
      queue.wakeAt = Infinity;
      this.take(queue);
    }, delay).unref();
  }

  async #countFailures(queue: LocalNodeQueue, { as }: AttemptResult): Promise<void> {
    if (as === "interrupted") return;
    const { node, pace } = queue;
    const pause = this.paused(node);
    queue.failures = as === "failed" ? queue.failures + 1 : 0;
    // A success ends the breaker's pause.
    if (as === "succeeded" && pause === "breaker") return this.resume(node);
    if (!pace?.breaker || queue.failures < pace.breaker || pause) return;
    queue.nextStartAt = this.now() + this.#breakerInterval;
    this.showPause(node, "breaker");
    await this.writePause(node, "breaker");
  }
}
