// The queue of one machine: deliveries in a file of SQLite, and their flows started from this process.

import { extname, join } from "node:path";
import { backoffAfter, type Pace } from "../../config/parse";
import { fileName } from "../../config/stores";
import type { Delivery, Pause, State, StoredDelivery } from "../delivery";
import { MemoryDuplicates } from "../duplicates";
import {
  afterAttempt,
  type AttemptResult,
  breakerIntervalMs,
  type Candidate,
  type Change,
  closePatienceMs,
  type Consumer,
  type DeliveryQueue,
  type Duplicates,
  findKeyEnd,
  maxAge,
  maxBytes,
  maxRunning,
  maxRunningBytes,
  maxSleepMs,
  PendingWork,
  type Query,
  readQueueClock,
  type Removal,
  type RemovalQuery,
  type Retention,
  type StoreEvents,
} from "../queue";
import { FileThread } from "./file-thread";

/** The compiled one beside the compiled queue; where TypeScript is run as it is, the worker runs it the same way. */
const workerFile = join(__dirname, `worker${extname(__filename)}`);
/** How many are taken from the file in one step. */
const maxTaken = 100;

export interface SqliteOptions extends Partial<Retention> {
  readonly breakerInterval?: number;
  /** The file that the worker runs. */
  readonly worker?: string;
  readonly now?: () => number;
}

/** Only a Node.js for which `sqliteIsHere` can open it. */
export class SqliteQueue implements DeliveryQueue {
  readonly isShared = false;
  readonly duplicates: Duplicates;
  readonly #file: FileThread;
  readonly #nodes = new Map<string, NodeQueue>();
  /** Deliveries whose flows the caller has started. */
  readonly #started = new Map<string, EndedAttempt>();
  readonly #shared: SharedByNodes;
  #pauses: ReadonlyMap<string, Pause> = new Map();

  /** @param folder where the file is, or is to be */
  constructor(
    folder: string,
    {
      worker = workerFile,
      breakerInterval = breakerIntervalMs,
      now = readQueueClock,
      ...retention
    }: SqliteOptions = {},
  ) {
    const running = new Set<string>();
    const memory = new MemoryDuplicates();
    const path = join(folder, fileName);
    const file = (this.#file = new FileThread(
      worker,
      { maxAge, maxBytes, ...retention, path },
      {
        running,
        now,
        opened: ({ pauses, keys }) => {
          for (const { answer, ...key } of keys) {
            memory.remember({ ...key, answer: answer && { ...answer, body: answer.body && toBuffer(answer.body) } });
          }
          this.#pauses = new Map(pauses);
          this.#shared.isOpen = true;
          for (const [node, queue] of this.#nodes) queue.opened(this.#pauses.get(node));
        },
      },
    ));
    this.#shared = {
      file,
      running,
      now,
      work: new PendingWork(),
      breakerInterval,
      isOpen: false,
      areFlowsRunning: false,
      runningBytes: 0,
      startAll: () => {
        for (const queue of this.#nodes.values()) queue.startDue();
      },
      changed: () => undefined,
      paused: () => undefined,
    };
    // All keys are in memory; those of stored deliveries are in the file as well, for the next process.
    this.duplicates = {
      reserve: async (candidate) => {
        await file.wasOpened();
        return memory.reserve(candidate);
      },
    };
  }

  async open(events: StoreEvents): Promise<void> {
    this.#shared.changed = (node) => events.changed(node);
    this.#shared.paused = (node, pause) => events.paused(node, pause);
    await this.#file.open(events);
  }

  async close(): Promise<void> {
    this.hold();
    await this.#shared.work.isDone(closePatienceMs);
    await this.#file.close();
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    await this.#file.ask("add", delivery, body, { attempts: [], now: this.#shared.now(), key });
    this.#shared.changed(delivery.node);
    if (delivery.state === "queued") this.#queueOf(delivery.node).startDue();
  }

  async addStarted(delivery: Delivery, body: Buffer, _timeoutMs?: number, key?: Candidate): Promise<void> {
    const { id } = delivery;
    const attempts = [{ at: Date.now() }];
    const wait = this.#queueOf(delivery.node).backoffAfter(delivery.attempt);
    this.#shared.running.add(id);
    try {
      await this.#file.ask("add", delivery, body, { attempts, now: this.#shared.now(), wait, key });
    } catch (error) {
      this.#shared.running.delete(id);
      throw error;
    }
    this.#started.set(id, { delivery, attempts, key });
    this.#shared.changed(delivery.node);
  }

  async end(id: string, result: AttemptResult): Promise<void> {
    const stored = this.#started.get(id);
    this.#started.delete(id);
    if (!stored) return;
    const queue = this.#queueOf(stored.delivery.node);
    await this.#shared.work.do(queue.end(stored, result));
    queue.startDue();
  }

  process(node: string, consumer: Consumer): () => void {
    return this.#queueOf(node).process(consumer);
  }

  hold(): void {
    this.#shared.areFlowsRunning = false;
  }

  release(): void {
    this.#shared.areFlowsRunning = true;
    this.#shared.startAll();
  }

  async pause(node: string): Promise<void> {
    await this.#queueOf(node).setPause();
  }

  async resume(node: string): Promise<void> {
    await this.#queueOf(node).endPause();
  }

  paused(node: string): Pause | undefined {
    return this.#queueOf(node).pause;
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
    this.#shared.changed();
  }

  async remove(id: string): Promise<Removal> {
    const { removal, node } = await this.#file.ask("remove", id);
    if (removal === "removed") this.#shared.changed(node);
    return removal;
  }

  /** Step by step, between which others have their turn. */
  async removeAll(query: RemovalQuery): Promise<number> {
    let removed = 0;
    for (let hasMore = true; hasMore;) {
      const step = await this.#file.ask("removeSome", query);
      for (const node of new Set(step.nodes)) this.#shared.changed(node);
      removed += step.nodes.length;
      ({ hasMore } = step);
    }
    return removed;
  }

  #queueOf(node: string): NodeQueue {
    const known = this.#nodes.get(node);
    if (known) return known;
    const created = new NodeQueue(node, this.#shared);
    this.#nodes.set(node, created);
    created.opened(this.#pauses.get(node));
    return created;
  }
}

/** An attempt, and the duplicate key that changes with its end. */
interface EndedAttempt extends Pick<StoredDelivery, "delivery" | "attempts"> {
  readonly key?: Candidate | undefined;
}

/** Bytes of the worker, without a copy. */
function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

interface SharedByNodes {
  readonly file: FileThread;
  /** The ids of all deliveries whose attempts run, or begin when they are stored. */
  readonly running: Set<string>;
  /** The clock of all times but those that people see. */
  readonly now: () => number;
  readonly work: PendingWork;
  readonly breakerInterval: number;
  /** Whether the file has been read, and with it which nodes are paused. */
  isOpen: boolean;
  areFlowsRunning: boolean;
  /** The bodies of the attempts that the queues have started. */
  runningBytes: number;
  /** Starts what is due of all nodes. */
  startAll(): void;
  changed: StoreEvents["changed"];
  paused: StoreEvents["paused"];
}

/** The queue of one node: starts its flow at the node's pace. While the store is in trouble, it waits. */
class NodeQueue {
  readonly #node: string;
  readonly #shared: SharedByNodes;
  #consumer: Consumer | undefined;
  #pause: Pause | undefined;
  /** Whether the pause was read from the file. */
  #isPauseKnown = false;
  /** Failed attempts in a row. */
  #failures = 0;
  /** Attempts that this queue has started. */
  #running = 0;
  /** When rate or circuit breaker allow the next start, by the queue's clock. */
  #nextStartAt = 0;
  #isTaking = false;
  /** Whether more may have become due while the file was being asked. */
  #hasMore = false;
  /** When due deliveries are looked for again, by the queue's clock. */
  #wakeAt = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(node: string, shared: SharedByNodes) {
    this.#node = node;
    this.#shared = shared;
  }

  /** The file is open, for the first time or again. */
  opened(pause: Pause | undefined): void {
    if (this.#isPauseKnown) this.#showPause(pause);
    else this.#pause = pause;
    this.#isPauseKnown = this.#shared.isOpen;
    this.#endOldBreaker();
    this.startDue();
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** In ms; 0 while the node is closed. */
  backoffAfter(attempt: number): number {
    return this.#consumer ? backoffAfter(this.#consumer.pace, attempt) : 0;
  }

  process(consumer: Consumer): () => void {
    this.#consumer = consumer;
    this.#endOldBreaker();
    this.startDue();
    return () => {
      if (this.#consumer === consumer) this.#consumer = undefined;
    };
  }

  async setPause(): Promise<void> {
    await this.#shared.file.ask("pause", this.#node, "manual");
    this.#showPause("manual");
  }

  async endPause(): Promise<void> {
    await this.#shared.file.ask("resume", this.#node);
    if (this.#pause === "breaker") this.#nextStartAt = 0;
    this.#failures = 0;
    this.#showPause(undefined);
    this.startDue();
  }

  #showPause(pause: Pause | undefined): void {
    const isNew = pause !== this.#pause;
    this.#pause = pause;
    if (isNew) this.#shared.paused(this.#node, pause);
    this.#shared.changed(this.#node);
  }

  /** An attempt has ended. */
  async end(ending: EndedAttempt, result: AttemptResult, consumer = this.#consumer): Promise<void> {
    const { id, attempt: ended } = ending.delivery;
    const { delivery, attempts, waitMs: wait } = afterAttempt(ending, result, consumer?.pace, Date.now());
    const { state, attempt, maxAttempts, nextAt, error } = delivery;
    const keyEnd = findKeyEnd(result);
    const key = ending.key && keyEnd && { ...ending.key, end: keyEnd };
    const change = { state, attempt, maxAttempts, nextAt, error };
    await this.#shared.file.insist("end", id, ended, change, { attempts, now: this.#shared.now(), wait, key });
    this.#shared.running.delete(id);
    this.#shared.changed(this.#node);
    await this.#countFailures(result, consumer?.pace).catch(() => undefined);
    consumer?.ended(delivery, result);
  }

  /** Starts what is due, as far as there is room. */
  startDue(): void {
    this.#hasMore = true;
    if (!this.#isTaking) void this.#shared.work.do(this.#takeAndStart());
  }

  async #takeAndStart(): Promise<void> {
    this.#isTaking = true;
    for (let consumer = this.#consumer; consumer && this.#hasMore; consumer = this.#consumer) {
      const { pace } = consumer;
      const { now, file } = this.#shared;
      const places = this.#places(pace);
      const bytes = maxRunningBytes - this.#shared.runningBytes;
      if (places <= 0 || bytes <= 0) break;
      this.#hasMore = false;
      const { taken, failed, nextDue } = await file.insist("take", this.#node, pace, { places, bytes }, now());
      const interval = this.#intervalOf(pace);
      if (taken.length > 0 && interval > 0) this.#nextStartAt = Math.max(now(), this.#nextStartAt) + interval;
      for (const stored of taken)
        void this.#shared.work.do(this.#start({ ...stored, body: toBuffer(stored.body) }, consumer));
      for (const delivery of failed) {
        this.#shared.changed(this.#node);
        consumer.ended(delivery, { as: "failed", error: delivery.error ?? "" });
      }
      if (taken.length + failed.length > 0) this.#hasMore = true;
      else if (nextDue !== undefined) this.#lookAgainAt(nextDue);
    }
    this.#isTaking = false;
  }

  async #start(stored: StoredDelivery, consumer: Consumer): Promise<void> {
    const shared = this.#shared;
    const { length } = stored.body;
    this.#running++;
    shared.runningBytes += length;
    shared.running.add(stored.delivery.id);
    shared.changed(this.#node);
    const canStart = shared.areFlowsRunning && consumer === this.#consumer;
    await this.end(stored, canStart ? await consumer.start(stored) : { as: "interrupted" }, consumer);
    this.#running--;
    const wasFull = shared.runningBytes >= maxRunningBytes;
    shared.runningBytes -= length;
    if (wasFull) shared.startAll();
    else this.startDue();
  }

  /** How many may start now. */
  #places(pace: Pace): number {
    const { isOpen, areFlowsRunning } = this.#shared;
    if (!isOpen || !areFlowsRunning || this.#pause === "manual") return 0;
    const isSpread = this.#intervalOf(pace) > 0;
    if (isSpread && this.#shared.now() < this.#nextStartAt) {
      this.#lookAgainAt(this.#nextStartAt);
      return 0;
    }
    // With an open breaker one at a time, with a rate one per interval.
    const allowed = this.#pause === "breaker" ? 1 : pace.concurrency || maxRunning;
    return Math.min(allowed - this.#running, isSpread ? 1 : maxTaken);
  }

  /** Between two starts, in ms. */
  #intervalOf({ ratePerMinute }: Pace): number {
    if (this.#pause === "breaker") return this.#shared.breakerInterval;
    return ratePerMinute > 0 ? 60_000 / ratePerMinute : 0;
  }

  /** @param time by the queue's clock */
  #lookAgainAt(time: number): void {
    if (time >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = time;
    const delay = Math.min(maxSleepMs, Math.max(0, time - this.#shared.now()));
    this.#timer = setTimeout(() => {
      this.#wakeAt = Infinity;
      this.startDue();
    }, delay).unref();
  }

  async #countFailures({ as }: AttemptResult, pace: Pace | undefined): Promise<void> {
    if (as === "interrupted") return;
    this.#failures = as === "failed" ? this.#failures + 1 : 0;
    // A success ends the breaker's pause.
    if (as === "succeeded" && this.#pause === "breaker") return this.endPause();
    if (!pace?.breaker || this.#failures < pace.breaker || this.#pause) return;
    this.#nextStartAt = this.#shared.now() + this.#shared.breakerInterval;
    this.#showPause("breaker");
    await this.#shared.file.ask("pause", this.#node, "breaker");
  }

  /** The node has no circuit breaker any more. */
  #endOldBreaker(): void {
    if (this.#pause === "breaker" && this.#consumer?.pace.breaker === 0) void this.endPause().catch(() => undefined);
  }
}
