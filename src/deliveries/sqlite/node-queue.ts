// The queue of one node in the file: starts its flow at the node's pace.

import type { Pace } from "../../config/parse";
import type { Delivery, StoredDelivery } from "../delivery";
import { afterAttempt, type AttemptResult, type Consumer, type Load } from "../queue";
import type { Pause } from "../summary";
import type { AttemptOutcome } from "./tables";

/** How many queued deliveries run at once without a limit of concurrency. */
const maxRunning = 1000;
/** How many are taken from the file in one step. */
const maxTaken = 100;
/** Loads are reported at most this often, in ms. */
const loadIntervalMs = 250;
/** The longest time that Node's timers take, in ms. */
const maxDelayMs = 2 ** 31 - 1;

/** Deliveries that were due, and those that failed because a crash ended their last attempt. */
interface Taken {
  readonly taken: StoredDelivery[];
  readonly failed: Delivery[];
  /** When the next one is due, in ms since the epoch. */
  readonly nextAt: number | undefined;
}

/** The file, for a node. Calls wait while the store is in trouble. */
export interface NodeFile {
  take(limit: number, maxAttempts: number): Promise<Taken>;
  /** @param attempt that has ended */
  end(id: string, attempt: number, outcome: AttemptOutcome): Promise<void>;
  /** Puts back what is `running` in the file and not among these. */
  putBack(known: readonly string[]): Promise<void>;
  pause(pause: Pause): Promise<void>;
  resume(): Promise<void>;
  counts(): Promise<Partial<Record<Delivery["state"], number>>>;
}

export class NodeQueue {
  readonly #file: NodeFile;
  /** In ms. */
  readonly #breakerIntervalMs: number;
  #consumer: Consumer | undefined;
  #areFlowsRunning: boolean;
  /** Whether the file is open, so that pauses are known. */
  #isOpen = false;
  #pause: Pause | undefined;
  /** Failed attempts in a row. */
  #failures = 0;
  #running = 0;
  /** Places reserved for deliveries that the file is being asked for. */
  #reserved = 0;
  /** Deliveries whose attempts run, or begin when they are stored. */
  readonly #known = new Set<string>();
  /** The file may have more as `running`, if its answer was lost. */
  #mayHaveLost = false;
  /** The file may have deliveries that are due. */
  #hasBacklog = true;
  /** How often deliveries were put into the file to wait. */
  #put = 0;
  /** When the rate allows the next start, in ms since the epoch. */
  #nextStartAt = 0;
  #isTaking = false;
  /** When due deliveries are looked for again, in ms since the epoch. */
  #wakeAt = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #loadTimer: NodeJS.Timeout | undefined;

  constructor(file: NodeFile, areFlowsRunning: boolean, breakerIntervalMs: number) {
    this.#file = file;
    this.#areFlowsRunning = areFlowsRunning;
    this.#breakerIntervalMs = breakerIntervalMs;
  }

  opened(pause: Pause | undefined): void {
    this.#isOpen = true;
    this.#pause = pause;
    this.#endOldBreaker();
    this.#startDue();
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  process(consumer: Consumer): () => void {
    this.#consumer = consumer;
    this.#endOldBreaker();
    this.#hasBacklog = true;
    this.#loadChanged();
    this.#startDue();
    return () => {
      if (this.#consumer === consumer) this.#consumer = undefined;
    };
  }

  hold(): void {
    this.#areFlowsRunning = false;
  }

  release(): void {
    this.#areFlowsRunning = true;
    this.#startDue();
  }

  async setPause(): Promise<void> {
    const before = this.#pause;
    this.#pause = "manual";
    try {
      await this.#file.pause("manual");
    } catch (error) {
      this.#pause = before;
      throw error;
    } finally {
      this.#loadChanged();
    }
  }

  async endPause(): Promise<void> {
    const resumed = this.#file.resume();
    if (this.#pause === "breaker") this.#nextStartAt = 0;
    this.#pause = undefined;
    this.#failures = 0;
    this.#loadChanged();
    this.#startDue();
    await resumed;
  }

  /**
   * Whether a new delivery may start at once; then it has a place.
   *
   * @returns it as `running`, to be started by `start`, or `queued`
   */
  admit(delivery: Delivery): Delivery {
    const { pace } = this.#consumer ?? {};
    if (pace && !this.#hasBacklog && this.#room(pace, Infinity) > 0) {
      this.#running++;
      this.#delayNextStart(pace);
      this.know(delivery.id);
      return { ...delivery, state: "running", attempt: 1, maxAttempts: pace.attempts };
    }
    return { ...delivery, state: "queued", attempt: 0 };
  }

  /** It was not stored: its place is free. */
  withdraw(id: string): void {
    this.forget(id);
    this.#vacate();
  }

  /** Its attempt runs, or begins when it is stored. */
  know(id: string): void {
    this.#known.add(id);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** The file works again: calls may have been done without an answer. */
  recover(): void {
    this.#mayHaveLost = true;
    this.#lookAgain();
  }

  /** A delivery waits in the file. */
  queued(): void {
    this.#loadChanged();
    this.#lookAgain();
  }

  /** Starts the flow of a delivery that has a place. */
  async start(stored: StoredDelivery): Promise<void> {
    const { delivery } = stored;
    const consumer = this.#areFlowsRunning ? this.#consumer : undefined;
    this.#loadChanged();
    const result: AttemptResult = consumer ? await consumer.start(stored) : { as: "interrupted" };
    await this.end(delivery, result, consumer);
    this.#vacate();
  }

  /** An attempt has ended. */
  async end(delivery: Delivery, result: AttemptResult, consumer = this.#consumer): Promise<void> {
    const pace = consumer?.pace ?? { attempts: delivery.maxAttempts ?? 1, backoffFirst: 0, backoffLongest: 0 };
    const ended = afterAttempt(delivery, result, pace, Date.now());
    const { id, state, attempt, nextAt = null, error = null } = ended;
    await this.#file.end(id, delivery.attempt, { state, attempt, next_at: nextAt, error });
    this.forget(id);
    await this.#countFailures(result, consumer?.pace);
    consumer?.ended(ended, result);
    if (state === "queued") this.#hasBacklog = true;
    if (nextAt !== null) this.#lookAgainAt(nextAt);
    this.#loadChanged();
    this.#startDue();
  }

  close(): void {
    this.#areFlowsRunning = false;
    this.#consumer = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#loadTimer);
  }

  async #countFailures({ as }: AttemptResult, pace: Pace | undefined): Promise<void> {
    if (as === "interrupted") return;
    this.#failures = as === "failed" ? this.#failures + 1 : 0;
    // A success ends the breaker's pause.
    if (as === "succeeded" && this.#pause === "breaker") return this.endPause().catch(() => undefined);
    if (!pace?.breaker || this.#failures < pace.breaker || this.#pause) return;
    this.#pause = "breaker";
    this.#nextStartAt = Date.now() + this.#breakerIntervalMs;
    await this.#file.pause("breaker").catch(() => undefined);
  }

  /** The node has no circuit breaker any more. */
  #endOldBreaker(): void {
    if (this.#pause === "breaker" && this.#consumer?.pace.breaker === 0) void this.endPause().catch(() => undefined);
  }

  #delayNextStart(pace: Pace): void {
    const interval = this.#intervalOf(pace);
    if (interval > 0) this.#nextStartAt = Math.max(Date.now(), this.#nextStartAt) + interval;
  }

  #vacate(): void {
    this.#running--;
    this.#loadChanged();
    this.#startDue();
  }

  /** How many may start now. @param most running at once without a limit of concurrency */
  #room({ concurrency, ...pace }: Pace, most: number): number {
    if (!this.#isOpen || !this.#areFlowsRunning || this.#pause === "manual") return 0;
    if (this.#intervalOf({ concurrency, ...pace }) > 0 && Date.now() < this.#nextStartAt) return 0;
    const occupied = this.#running + this.#reserved;
    const places = (concurrency === 0 ? most : concurrency) - occupied;
    // With a rate one at a time, since each waits for the one before; with an open breaker also for its end.
    if (this.#pause === "breaker") return Math.min(1, 1 - occupied);
    return pace.ratePerMinute > 0 ? Math.min(1, places) : places;
  }

  /** Between two starts, in ms. */
  #intervalOf({ ratePerMinute }: Pace): number {
    if (this.#pause === "breaker") return this.#breakerIntervalMs;
    return ratePerMinute > 0 ? 60_000 / ratePerMinute : 0;
  }

  #lookAgain(): void {
    this.#put++;
    this.#hasBacklog = true;
    this.#startDue();
  }

  /** Starts what is due, as far as there is room. */
  #startDue(): void {
    if (!this.#isTaking && this.#hasBacklog) void this.#takeAndStart();
  }

  async #takeAndStart(): Promise<void> {
    this.#isTaking = true;
    for (let consumer = this.#consumer; consumer && this.#hasBacklog; consumer = this.#consumer) {
      const { pace } = consumer;
      const room = Math.min(maxTaken, this.#room(pace, maxRunning));
      if (room <= 0) {
        if (this.#intervalOf(pace) > 0) this.#lookAgainAt(this.#nextStartAt);
        break;
      }
      const [put, nextStartAt] = [this.#put, this.#nextStartAt];
      this.#reserved += room;
      for (let place = 0; place < room; place++) this.#delayNextStart(pace);
      if (this.#mayHaveLost) {
        this.#mayHaveLost = false;
        await this.#file.putBack([...this.#known]);
      }
      const { taken, failed, nextAt } = await this.#file.take(room, pace.attempts);
      this.#reserved -= room;
      this.#running += taken.length;
      for (const { delivery } of taken) this.know(delivery.id);
      for (const stored of taken) void this.start(stored);
      for (const delivery of failed) consumer.ended(delivery, { as: "failed", error: delivery.error ?? "" });
      if (taken.length + failed.length > 0) continue;
      this.#nextStartAt = nextStartAt;
      if (nextAt !== undefined) this.#lookAgainAt(nextAt);
      if (put === this.#put) this.#hasBacklog = false;
    }
    this.#isTaking = false;
  }

  /** @param time in ms since the epoch */
  #lookAgainAt(time: number): void {
    if (time >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = time;
    const delay = Math.min(maxDelayMs, Math.max(0, time - Date.now()));
    this.#timer = setTimeout(() => {
      this.#wakeAt = Infinity;
      this.#hasBacklog = true;
      this.#startDue();
    }, delay).unref();
  }

  #loadChanged(): void {
    if (!this.#consumer) return;
    this.#loadTimer ??= setTimeout(() => void this.#tellLoad(), loadIntervalMs).unref();
  }

  async #tellLoad(): Promise<void> {
    const { queued = 0, retrying = 0, failed = 0 } = await this.#file.counts();
    this.#loadTimer = undefined;
    const load: Load = { running: this.#running, queued, retrying, failed, pause: this.#pause };
    this.#consumer?.loaded(load);
  }
}
