// The queue of one machine: deliveries in a file of SQLite, and their flows started from this process.

import { extname, join } from "node:path";
import { backoffAfter, type Pace } from "../../config/parse";
import { fileName } from "../../config/stores";
import { type AttemptChange, type AttemptedDelivery, findKeyEnd } from "../attempt";
import type { Delivery, Pause, State, StoredDelivery } from "../delivery";
import { MemoryDuplicates } from "../duplicates";
import type { RunningAttempt } from "../engine-queue";
import { LocalQueue, type PaceOptions, type Taken, type TakingRoom } from "../local-queue";
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
  type StoreEvents,
} from "../queue";
import { FileThread } from "./file-thread";

/** The compiled one beside the compiled queue; where TypeScript is run as it is, the worker runs it the same way. */
const workerFile = join(__dirname, `worker${extname(__filename)}`);

export interface SqliteOptions extends Partial<Retention>, PaceOptions {
  /** The file that the worker runs. */
  readonly worker?: string;
}

/** Only a Node.js for which `sqliteIsHere` can open it. */
export class SqliteQueue extends LocalQueue implements DeliveryQueue {
  readonly duplicates: Duplicates;
  readonly #file: FileThread;

  /** @param folder where the file is, or is to be */
  constructor(folder: string, { worker = workerFile, breakerInterval, now, ...retention }: SqliteOptions = {}) {
    super({ ...(breakerInterval !== undefined && { breakerInterval }), ...(now && { now }) });
    const memory = new MemoryDuplicates();
    const path = join(folder, fileName);
    const file = (this.#file = new FileThread(
      worker,
      { maxAge, maxBytes, ...retention, path },
      {
        running: () => new Set(this.running.keys()),
        now: this.now,
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

  async open(events: StoreEvents): Promise<void> {
    this.events = events;
    await this.#file.open(events);
  }

  async add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void> {
    await this.#file.ask("add", delivery, body, { attempts: [], now: this.now(), key });
    this.events?.changed(delivery.node);
    if (delivery.state === "queued") this.take(this.queueOf(delivery.node));
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
    this.events?.changed();
  }

  async remove(id: string): Promise<Removal> {
    const { removal, node } = await this.#file.ask("remove", id);
    if (removal === "removed") this.events?.changed(node);
    return removal;
  }

  /** Step by step, between which others have their turn. */
  async removeAll(query: RemovalQuery): Promise<number> {
    let removed = 0;
    for (let hasMore = true; hasMore;) {
      const step = await this.#file.ask("removeSome", query);
      for (const node of new Set(step.nodes)) this.events?.changed(node);
      removed += step.nodes.length;
      ({ hasMore } = step);
    }
    return removed;
  }

  protected async storeRunning({ delivery, attempts }: AttemptedDelivery, body: Buffer, _: number, key?: Candidate) {
    const { node } = delivery;
    const { pace } = this.queueOf(node);
    const wait = pace ? backoffAfter(pace, delivery.attempt) : 0;
    await this.#file.ask("add", delivery, body, { attempts, now: this.now(), wait, key });
    this.events?.changed(node);
  }

  protected async takeDue(node: string, pace: Pace, room: TakingRoom): Promise<Taken> {
    const { taken, ...rest } = await this.#file.insist("take", node, pace, room, this.now());
    return { ...rest, taken: taken.map((stored) => ({ ...stored, body: toBuffer(stored.body) })) };
  }

  protected async writeEnd(
    { key }: RunningAttempt,
    before: Delivery,
    { delivery, attempts, waitMs: wait }: AttemptChange,
    result: AttemptResult,
  ): Promise<void> {
    const { id, state, attempt, maxAttempts, nextAt, error } = delivery;
    const end = key && findKeyEnd(result);
    const change = { state, attempt, maxAttempts, nextAt, error };
    const row = { attempts, now: this.now(), wait, key: end && { ...key, end } };
    await this.#file.insist("end", id, before.attempt, change, row);
  }

  protected async writePause(node: string, pause: Pause | undefined): Promise<void> {
    await this.#file.ask("pause", node, pause);
  }

  protected async disconnect(): Promise<void> {
    await this.#file.close();
  }
}

/** Bytes of the worker, without a copy. */
function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
