// The queue of one machine: deliveries in a file of SQLite, and their flows started from this process.

import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, StoredDelivery } from "../delivery";
import {
  type Candidate,
  type Duplicates,
  type FirstAnswer,
  type Found,
  MemoryDuplicates,
  type MemoryReservation,
  type Reservation,
} from "../duplicates";
import {
  type AttemptResult,
  breakerIntervalMs,
  type Change,
  type Consumer,
  type DeliveryQueue,
  type Position,
  type Query,
  StoreError,
  type StoreEvents,
} from "../queue";
import type { Pause, State } from "../summary";
import { interrupted } from "../summary";
import { FileThread } from "./file-thread";
import { type NodeFile, NodeQueue } from "./node-queue";
import { type AttemptOutcome, toDelivery, toRow, type WholeRow } from "./tables";

/** The name of the file in its folder. */
export const fileName = "webhook-trigger.sqlite";
/** How long finished deliveries are kept, in ms. */
export const maxAge = 7 * 24 * 3_600_000;
/** How much of the file is filled at most, in bytes. */
export const maxBytes = 1024 * 1024 * 1024;
/** The error of a delivery whose row was damaged. */
const unreadable = "unreadable";
/** Until a store in trouble is asked again to write down how an attempt has ended, in ms. */
const retryAfterMs = 1000;
/** The compiled one beside the compiled queue; where TypeScript is run as it is, the worker runs it the same way. */
const workerFile = join(__dirname, `worker${extname(__filename)}`);

export interface SqliteOptions {
  /** How long finished deliveries are kept, in ms. */
  readonly maxAge?: number;
  /** How much of the file is filled at most, in bytes. */
  readonly maxBytes?: number;
  readonly breakerInterval?: number;
  /** The file that the worker runs. */
  readonly worker?: string;
}

/** Only a Node.js for which `sqliteIsHere` can open it. */
export class SqliteQueue implements DeliveryQueue {
  readonly isShared = false;
  readonly #folder: string;
  readonly #options: SqliteOptions;
  readonly #nodes = new Map<string, NodeQueue>();
  /** Deliveries whose flows the caller has started. */
  readonly #started = new Map<string, Delivery>();
  /** Those of before; unknown until the file is open. */
  #pauses: ReadonlyMap<string, Pause> | undefined;
  #thread: FileThread | undefined;
  #opening: Promise<unknown> | undefined;
  #duplicates: SqliteDuplicates | undefined;
  #events: Pick<StoreEvents, "changed" | "up"> = { changed: () => undefined, up: () => undefined };
  #isUpDue = false;
  #areFlowsRunning = false;
  #isClosed = false;

  /** @param folder where the file is, or is to be */
  constructor(folder: string, options: SqliteOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Whether there is a file already. */
  get exists(): boolean {
    return existsSync(join(this.#folder, fileName));
  }

  async open(events: StoreEvents): Promise<void> {
    const { worker = workerFile, maxAge: age = maxAge, maxBytes: bytes = maxBytes } = this.#options;
    this.#events = events;
    const setup = { path: join(this.#folder, fileName), maxAge: age, maxBytes: bytes };
    const thread = (this.#thread = new FileThread(worker, setup, {
      down: (trouble, cause) => events.down(trouble, cause),
      up: () => {
        // Until what the file has is known, nothing can be stored.
        if (this.#pauses) this.#isUp();
        else this.#isUpDue = true;
      },
      movedAside: (path, cause) => events.movedAside(path, cause),
    }));
    this.#duplicates = new SqliteDuplicates(thread);
    const opening = this.#openFile(thread);
    this.#opening = opening.catch(() => undefined);
    await opening.catch((error: unknown) => {
      void this.#insist(() => this.#openFile(thread));
      throw error;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const node of this.#nodes.values()) node.close();
    await this.#thread?.close();
  }

  /** @throws {StoreError} where the queue was not opened before */
  get duplicates(): Duplicates {
    if (!this.#duplicates) throw new StoreError("unreachable");
    return this.#duplicates;
  }

  async add(delivery: Delivery, body: Buffer): Promise<void> {
    if (delivery.state !== "queued") {
      await this.#store(delivery, body);
      return;
    }
    const queue = this.#queueOf(delivery.node);
    const admitted = queue.admit(delivery);
    const isRunning = admitted.state === "running";
    let isNew = false;
    try {
      isNew = await this.#store(admitted, body);
    } finally {
      if (isRunning && !isNew) queue.withdraw(delivery.id);
    }
    if (!isNew) return;
    if (!isRunning) return queue.queued();
    void queue.start({ delivery: admitted, body, attempts: [{ at: Date.now() }] });
  }

  async addStarted(delivery: Delivery, body: Buffer): Promise<void> {
    const queue = this.#queueOf(delivery.node);
    queue.know(delivery.id);
    try {
      await this.#store(delivery, body);
    } catch (error) {
      queue.forget(delivery.id);
      throw error;
    }
    this.#started.set(delivery.id, delivery);
  }

  async end(id: string, result: AttemptResult): Promise<void> {
    const delivery = this.#started.get(id);
    this.#started.delete(id);
    if (delivery) await this.#queueOf(delivery.node).end(delivery, result);
  }

  process(node: string, consumer: Consumer): () => void {
    return this.#queueOf(node).process(consumer);
  }

  hold(): void {
    this.#areFlowsRunning = false;
    for (const node of this.#nodes.values()) node.hold();
  }

  release(): void {
    this.#areFlowsRunning = true;
    for (const node of this.#nodes.values()) node.release();
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
  async list({ node, state, text = "", before, limit }: Query): Promise<Delivery[]> {
    const deliveries: Delivery[] = [];
    for (let from: Position | undefined = before; ;) {
      const step = { node, state, text: text.toLowerCase(), before: from, limit: limit - deliveries.length };
      const { found, next } = await this.#ask.ask("list", step);
      deliveries.push(...found.map(toDelivery).filter((delivery) => delivery !== undefined));
      if (next === undefined || deliveries.length >= limit) return deliveries;
      from = next;
    }
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    const found = await this.#ask.ask("find", id);
    return found && toStored(found);
  }

  async look(id: string): Promise<Delivery | undefined> {
    const found = await this.#ask.ask("look", id);
    return found && toDelivery(found);
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    return this.#ask.ask("counts", node);
  }

  async update(id: string, change: Change): Promise<void> {
    await this.#ask.ask("update", id, change);
    this.#events.changed(id);
  }

  async #openFile(thread: FileThread): Promise<void> {
    const { pauses, keysUntil } = await thread.ask("open", interrupted);
    const known = (this.#pauses = new Map(pauses));
    for (const [node, queue] of this.#nodes) queue.opened(known.get(node));
    this.#duplicates?.opened(keysUntil);
    if (this.#isUpDue) this.#isUp();
  }

  #isUp(): void {
    this.#isUpDue = false;
    this.#events.up();
    for (const node of this.#nodes.values()) node.recover();
  }

  /** @returns whether it is new */
  async #store(delivery: Delivery, body: Buffer): Promise<boolean> {
    // What a process before has left is to be known first: what is stored now must not be taken for that.
    if (!this.#pauses) await this.#opening;
    if (!this.#pauses) throw new StoreError("unreachable");
    const { row, searched } = toRow(delivery, body);
    const isNew = await this.#ask.ask("add", row, searched, body);
    this.#changed(delivery.id, delivery.node);
    return isNew;
  }

  #changed(id: string, node: string): void {
    this.#events.changed(id, node);
  }

  #queueOf(node: string): NodeQueue {
    const known = this.#nodes.get(node);
    if (known) return known;
    const { breakerInterval: interval = breakerIntervalMs } = this.#options;
    const made = new NodeQueue(this.#fileOf(node), this.#areFlowsRunning, interval);
    this.#nodes.set(node, made);
    if (this.#pauses) made.opened(this.#pauses.get(node));
    return made;
  }

  /** What a node's queue has of the file. */
  #fileOf(node: string): NodeFile {
    const ask = () => this.#ask;
    return {
      take: (limit, maxAttempts) => this.#take(node, limit, maxAttempts),
      end: (id, attempt, outcome) => this.#end(node, id, attempt, outcome),
      putBack: (known) => this.#insist(() => ask().ask("putBack", node, known)),
      counts: () => this.#insist(() => ask().ask("counts", node)),
      pause: (pause) => ask().ask("pause", node, pause),
      resume: () => ask().ask("resume", node),
    };
  }

  async #take(node: string, limit: number, maxAttempts: number): ReturnType<NodeFile["take"]> {
    const { taken, failed, nextAt } = await this.#insist(() => this.#ask.ask("take", node, limit, maxAttempts));
    const readable: StoredDelivery[] = [];
    for (const each of taken) {
      const { id, attempt } = each.row;
      const stored = toStored(each);
      this.#changed(id, node);
      if (stored) readable.push(stored);
      // What nobody can read, no flow can be started with.
      else await this.#end(node, id, attempt, { ...each.row, state: "failed", error: unreadable });
    }
    return { taken: readable, failed: failed.map(toDelivery).filter((delivery) => delivery !== undefined), nextAt };
  }

  async #end(node: string, id: string, attempt: number, outcome: AttemptOutcome): Promise<void> {
    await this.#insist(() => this.#ask.ask("end", id, attempt, outcome));
    this.#changed(id, node);
  }

  /** Does something, however long the store is in trouble: it tells of that by itself. */
  async #insist<Done>(act: () => Promise<Done>): Promise<Done> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof StoreError) || this.#isClosed) return new Promise(() => undefined);
        await delay(retryAfterMs, undefined, { ref: false });
      }
    }
  }

  get #ask(): FileThread {
    if (!this.#thread) throw new StoreError("unreachable");
    return this.#thread;
  }
}

function toStored({ row, body, attempts }: WholeRow): StoredDelivery | undefined {
  const delivery = toDelivery(row);
  return delivery && { delivery, body: Buffer.from(body.buffer, body.byteOffset, body.length), attempts };
}

// The keys of deliveries, in a file as well: those that have been answered outlive the process.

/**
 * All that this process has been asked for is in its memory, where reservations are and who waits for them: they end
 * with it. The file is asked for the keys of processes before it, as long as it has any.
 */
class SqliteDuplicates implements Duplicates {
  readonly #memory = new MemoryDuplicates();
  readonly #thread: FileThread;
  /** Until when the file may have keys of processes before this one, in ms since the epoch. */
  #knownUntil = Infinity;

  constructor(thread: FileThread) {
    this.#thread = thread;
  }

  /** @param until until when the file has keys, before any of this process is in it */
  opened(until: number): void {
    this.#knownUntil = until;
  }

  reserve(candidate: Candidate): Found | Promise<Found> {
    const found = this.#memory.reserve(candidate);
    if (!found.isFirst) return found;
    const reservation = this.#reservationOf(candidate, found);
    return Date.now() < this.#knownUntil ? this.#look(candidate, reservation) : reservation;
  }

  async #look({ endpoint, key }: Candidate, reservation: Reservation): Promise<Found> {
    try {
      const known = await this.#thread.ask("findKey", endpoint, key);
      if (!known) return reservation;
      void reservation.release();
      const { id, answer } = known;
      const body = answer?.body && Buffer.from(answer.body);
      return { isFirst: false, id, outcome: { answer: answer && { ...answer, body } } };
    } catch (error) {
      void reservation.release();
      throw error;
    }
  }

  #reservationOf({ endpoint, key, id, keptFor }: Candidate, inMemory: MemoryReservation): Reservation {
    let isOver = false;
    return {
      isFirst: true,
      /** Never rejected: a key that the file does not take is known until the process ends. */
      settle: async (answer?: FirstAnswer) => {
        if (isOver) return;
        isOver = true;
        inMemory.settle(answer);
        if (answer && answer.status >= 500) return;
        const stored = { endpoint, key, id, until: Date.now() + keptFor, answer: answer && { status: answer.status, fields: answer.fields } }; // prettier-ignore
        await this.#thread.ask("addKey", stored, answer?.body).catch(() => undefined);
      },
      release: () => {
        isOver = true;
        inMemory.release();
      },
    };
  }
}
