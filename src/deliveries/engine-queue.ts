// The base of both engines: which attempts run, and what becomes of their deliveries. An engine stores and takes these.

import { setTimeout as delay } from "node:timers/promises";
import type { Pace } from "../config/parse";
import { type AttemptChange, type AttemptedDelivery, endAttempt } from "./attempt";
import { type Delivery, type Pause, type StoredDelivery, withWords } from "./delivery";
import { type AttemptResult, type Candidate, type Consumer, StoreError, type StoreAnnouncer } from "./queue";

/** How long closing waits for running attempts to end, in ms: Docker kills a process 10 s after it was told to end. */
const closePatienceMs = 5000;
/** Tests make less of it. */
export interface RoomOptions {
  /** Of the bodies of running attempts, over all nodes of a process; one attempt always runs. */
  readonly maxRunningBytes: number;
  /** How long others may leave no room for the body of one, in ms: then it starts beside them. */
  readonly roomPatience: number;
}
export const roomDefaults: RoomOptions = { maxRunningBytes: 64 * 1024 * 1024, roomPatience: 10_000 };
/** How many attempts of a node run at once in a process without a limit of concurrency. */
export const maxRunning = 1000;

/** The deliveries of a node, as far as this process starts its flow with them. */
export class NodeQueue {
  /** Missing while the node is closed. */
  consumer: Consumer | undefined;
  /** The node's last one. */
  pace: Pace | undefined;

  constructor(readonly node: string) {}
}

/** An attempt of this process, from before it is stored until its end is. */
export interface RunningAttempt<Queue extends NodeQueue = NodeQueue> {
  readonly queue: Queue;
  readonly consumer: Consumer | undefined;
  /** Its delivery, where its request has started it. */
  readonly started?: AttemptedDelivery;
  /** Changes with its end. */
  readonly key?: Candidate | undefined;
  /** Resolved when its end is stored. */
  readonly ended: Promise<Delivery>;
  readonly resolve: (delivery: Delivery) => void;
}

/**
 * An engine adds what is abstract here, and the lists: it stores, has a node's deliveries taken when they are due, and
 * calls `run`.
 */
export abstract class EngineQueue<Queue extends NodeQueue> {
  protected readonly work = new PendingWork();
  protected readonly room: ByteRoom;
  protected readonly running = new Map<string, RunningAttempt<Queue>>();
  protected readonly queues = new Map<string, Queue>();
  protected events: StoreAnnouncer | undefined;
  protected areFlowsRunning = false;
  /** Missing until they were read. */
  #pauses: Map<string, Pause> | undefined;

  constructor({ maxRunningBytes, roomPatience }: RoomOptions) {
    this.room = new ByteRoom(maxRunningBytes, roomPatience);
  }

  /** The time that people see, in ms since the epoch. */
  protected get time(): number {
    return Date.now();
  }

  protected abstract createQueue(node: string): Queue;
  /** Takes what is due of a node at its present pace, as long as it is open and flows run. */
  protected abstract take(queue: Queue): void;
  /** Takes nothing more of a node. */
  protected abstract leave(queue: Queue): void;
  protected abstract storeRunning(
    started: AttemptedDelivery,
    body: Buffer,
    timeoutMs: number,
    key?: Candidate,
  ): Promise<void>;
  /** Goes on trying. Counts the failures in a row, in which the circuit breaker opens. */
  protected abstract storeEnd(
    attempt: RunningAttempt<Queue>,
    before: Delivery,
    change: AttemptChange,
    result: AttemptResult,
  ): Promise<void>;
  /** Counts failures anew. */
  protected abstract storePause(queue: Queue, pause: Pause | undefined): Promise<void>;
  protected abstract disconnect(): Promise<void>;

  async close(): Promise<void> {
    this.hold();
    await this.work.finish(closePatienceMs);
    await this.disconnect();
  }

  async addRunning(delivery: Delivery, body: Buffer, timeoutMs: number, key?: Candidate): Promise<void> {
    const { id, node } = delivery;
    // Its end is written to what is stored.
    const started = { delivery: withWords(delivery, body), attempts: [{ at: this.time }] };
    this.addAttempt(id, this.queueOf(node), { started, key });
    try {
      await this.storeRunning(started, body, timeoutMs, key);
    } catch (error) {
      this.running.delete(id);
      throw error;
    }
  }

  async end(id: string, result: AttemptResult): Promise<void> {
    const attempt = this.running.get(id);
    if (attempt?.started) await this.work.do(this.#end(attempt, attempt.started, result));
  }

  process(node: string, consumer: Consumer): () => void {
    const queue = this.queueOf(node);
    queue.consumer = consumer;
    queue.pace = consumer.pace;
    this.#endOldBreaker(queue);
    this.take(queue);
    return () => {
      if (queue.consumer !== consumer) return;
      queue.consumer = undefined;
      this.leave(queue);
    };
  }

  hold(): void {
    this.areFlowsRunning = false;
    for (const queue of this.queues.values()) this.leave(queue);
  }

  release(): void {
    this.areFlowsRunning = true;
    this.takeAll();
  }

  async pause(node: string): Promise<void> {
    await this.storePause(this.queueOf(node), "manual");
    this.showPause(node, "manual");
  }

  async resume(node: string): Promise<void> {
    const queue = this.queueOf(node);
    await this.storePause(queue, undefined);
    this.showPause(node, undefined);
    this.take(queue);
  }

  paused(node: string): Pause | undefined {
    return this.#pauses?.get(node);
  }

  protected get arePausesKnown(): boolean {
    return this.#pauses !== undefined;
  }

  protected takeAll(): void {
    for (const queue of this.queues.values()) this.take(queue);
  }

  protected queueOf(node: string): Queue {
    const known = this.queues.get(node);
    if (known) return known;
    const created = this.createQueue(node);
    this.queues.set(node, created);
    return created;
  }

  /** What is paused in the store. Later it is news. */
  protected loadPauses(found: ReadonlyMap<string, Pause>): void {
    const before = this.#pauses ?? found;
    this.#pauses ??= new Map(found);
    for (const node of new Set([...before.keys(), ...found.keys()])) this.showPause(node, found.get(node));
    for (const queue of this.queues.values()) this.#endOldBreaker(queue);
  }

  protected showPause(node: string, pause: Pause | undefined): void {
    this.#pauses ??= new Map();
    if (this.#pauses.get(node) === pause) return;
    if (pause) this.#pauses.set(node, pause);
    else this.#pauses.delete(node);
    if (pause) this.events?.emit("paused", { node, pause });
    else this.events?.emit("resumed", { node });
    this.events?.emit("changed", { node });
  }

  /** The node has no circuit breaker any more. */
  #endOldBreaker({ node, pace }: Queue): void {
    if (pace?.breaker === 0 && this.paused(node) === "breaker") this.resume(node).catch(() => undefined);
  }

  protected addAttempt(
    id: string,
    queue: Queue,
    more: Pick<RunningAttempt, "started" | "key"> = {},
  ): RunningAttempt<Queue> {
    let resolve: (delivery: Delivery) => void = () => undefined;
    const ended = new Promise<Delivery>((settle) => (resolve = settle));
    const attempt = { queue, consumer: queue.consumer, ended, resolve, ...more };
    this.running.set(id, attempt);
    return attempt;
  }

  /** Starts the flow, unless flows have stopped meanwhile, and stores its end. @returns the delivery afterwards */
  protected async run(attempt: RunningAttempt<Queue>, stored: StoredDelivery): Promise<Delivery> {
    const { queue, consumer } = attempt;
    const canStart = this.areFlowsRunning && consumer === queue.consumer;
    return this.#end(attempt, stored, canStart && consumer ? await consumer.start(stored) : { as: "interrupted" });
  }

  async #end(attempt: RunningAttempt<Queue>, before: AttemptedDelivery, result: AttemptResult): Promise<Delivery> {
    const change = endAttempt(before, result, attempt.queue.pace, this.time);
    const { delivery } = change;
    await this.storeEnd(attempt, before.delivery, change, result);
    // The store may have been so fast that the next one has begun.
    if (this.running.get(delivery.id) === attempt) this.running.delete(delivery.id);
    attempt.resolve(delivery);
    this.events?.emit("changed", { node: delivery.node });
    attempt.consumer?.ended(delivery, result);
    return delivery;
  }
}

/**
 * Room for the bodies of running attempts: one that is too much beside those of others waits, and one always runs. One
 * that has waited long runs as well: others may come again and again, or run for hours.
 */
export class ByteRoom {
  readonly #max: number;
  readonly #patienceMs: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number, patienceMs: number) {
    this.#max = max;
    this.#patienceMs = patienceMs;
  }

  get free(): number {
    return this.#taken === 0 ? Infinity : this.#max - this.#taken;
  }

  take(bytes: number): void {
    this.#taken += bytes;
  }

  /** Takes a part of what is free until it is known how much is needed. */
  takePart(): number {
    const part = Math.max(0, Math.min(this.free, Math.floor(this.#max / 8)));
    this.take(part);
    return part;
  }

  /** Takes it when there is room. */
  async wait(bytes: number): Promise<void> {
    let isLate = false;
    const beLate = () => {
      isLate = true;
      this.#wake();
    };
    const timer = setTimeout(beLate, this.#patienceMs).unref();
    while (!this.#hasRoom(bytes, isLate)) await new Promise<void>((goOn) => this.#waiting.add(goOn));
    clearTimeout(timer);
    this.take(bytes);
  }

  leave(bytes: number): void {
    this.#taken -= bytes;
    this.#wake();
  }

  #hasRoom(bytes: number, isLate: boolean): boolean {
    return bytes <= this.free || (isLate && this.#taken <= this.#max);
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const goOn of waiting) goOn();
  }
}

/** Work of a queue that closing waits for. */
export class PendingWork {
  /** Each with what ends it. */
  readonly #pending = new Map<Promise<unknown>, (error: StoreError) => void>();

  async do<Result>(work: Promise<Result>): Promise<Result> {
    let abandon: (error: StoreError) => void = () => undefined;
    const pending = new Promise<Result>((resolve, reject) => {
      abandon = reject;
      work.then(resolve, reject);
    });
    this.#pending.set(pending, abandon);
    return pending.finally(() => this.#pending.delete(pending));
  }

  /** Waits for all work, also for what begins meanwhile, at most for so many ms. */
  async finish(patienceMs: number): Promise<void> {
    const late = delay(patienceMs, "late", { ref: false });
    while (this.#pending.size > 0) {
      if ((await Promise.race([late, Promise.allSettled(this.#pending.keys())])) === "late") return;
    }
  }

  /** Nobody waits any more for what is left. */
  abandon(): void {
    for (const abandon of this.#pending.values()) abandon(new StoreError("unreachable"));
  }
}
