/** The engines that deliveries are queued in, and flows that are started with them. */
import { basename } from "node:path";
import type { Pace } from "../../src/config/parse";
import { BullQueue } from "../../src/deliveries/bullmq/bull-queue";
import type { Delivery, StoredDelivery } from "../../src/deliveries/delivery";
import type { AttemptResult, Consumer, DeliveryQueue } from "../../src/deliveries/queue";
import { type SqliteOptions, SqliteQueue } from "../../src/deliveries/sqlite/sqlite-queue";
import { sqliteIsHere } from "../../src/config/stores";
import { delivered as stored } from "./deliveries";
import { compileFile } from "./fixtures";
import { Listener } from "./listener";
import { temporaryFolder } from "./package";
import { serverIsHere, ValkeyServer } from "./valkey";

/** What tests set, in ms and bytes. */
export interface QueueOptions {
  readonly maxAge?: number;
  readonly maxBytes?: number;
  readonly breakerInterval?: number;
  readonly lockDuration?: number;
  readonly maxRunningBytes?: number;
  readonly roomPatience?: number;
}

/** An engine; a new one needs nothing but a row in `engines`. */
export interface QueueEngine {
  readonly name: string;
  /** Whether this machine has what it needs. */
  readonly isHere: boolean;
  /** Whether several instances have the same queue at the same time. */
  readonly isShared: boolean;
  /** Called before the first queue is created, and after the last one. */
  begin?(): Promise<void>;
  end?(): Promise<void>;
  /** @param place what tells one store from another: an empty folder, whose name is nobody else's */
  create(place: string, options?: QueueOptions): DeliveryQueue;
}

let worker: string | undefined;

/** The queue in a file, whose thread is compiled. */
export function openFile(folder: string, options: SqliteOptions = {}): SqliteQueue {
  return new SqliteQueue(folder, { worker: (worker ??= compileFile("src/deliveries/sqlite/worker.ts")), ...options });
}

let server: ValkeyServer | undefined;
/** Where a child finds the server of its parent. */
const variable = "WEBHOOK_TRIGGER_TEST_REDIS";

/** As fast as deliveries of a process that has ended can be taken over within a test. */
export const fastTiming = {
  lockDuration: 1500,
  stalledInterval: 300,
  pollInterval: 100,
  missingJobsInterval: 200,
  tidyInterval: 200,
};

/** Longer than a loaded machine may stand still: a lock that expires has its flow started twice. */
const lockDuration = 6000;

export const engines: readonly QueueEngine[] = [
  {
    name: "SQLite",
    isHere: sqliteIsHere(),
    isShared: false,
    create: openFile,
  },
  {
    name: "BullMQ",
    isHere: serverIsHere,
    isShared: true,
    begin: async () => {
      server = await ValkeyServer.start();
      process.env[variable] = server.url();
    },
    end: async () => server?.stop(),
    create: (place, options) =>
      new BullQueue({
        url: process.env[variable] ?? "",
        namespace: basename(place),
        ...fastTiming,
        lockDuration,
        ...options,
      }),
  },
];

const fastPace: Pace = {
  attempts: 3,
  backoffFirstMs: 50,
  backoffLongestMs: 1000,
  concurrency: 0,
  ratePerMinute: 0,
  breaker: 0,
};

/** A flow of a test, which does with each delivery what the test says. */
export class TestFlow implements Consumer {
  readonly pace: Pace;
  readonly starts: { id: string; attempt: number; at: number; body: string }[] = [];
  readonly ends: Delivery[] = [];
  running = 0;
  mostRunning = 0;
  readonly #work: (stored: StoredDelivery) => AttemptResult | Promise<AttemptResult>;

  constructor(
    work: (stored: StoredDelivery) => AttemptResult | Promise<AttemptResult> = succeeded,
    pace: Partial<Pace> = {},
  ) {
    this.#work = work;
    this.pace = { ...fastPace, ...pace };
  }

  get ids(): string[] {
    return this.starts.map(({ id }) => id);
  }

  async start(stored: StoredDelivery): Promise<AttemptResult> {
    const { id, attempt } = stored.delivery;
    this.starts.push({ id, attempt, at: Date.now(), body: stored.body.toString() });
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    const result = await this.#work(stored);
    this.running--;
    return result;
  }

  ended(delivery: Delivery): void {
    this.ends.push(delivery);
  }
}

export const succeeded = (): AttemptResult => ({ as: "succeeded" });
export const failed = (more: { retryAfterMs?: number; isSenderTold?: boolean } = {}): AttemptResult => ({ as: "failed", error: "no", ...more }); // prettier-ignore

export const later = async () => new Promise((resolve) => setTimeout(resolve, 2));
export const laterSucceeded = async (): Promise<AttemptResult> => {
  await later();
  return succeeded();
};

/** The queues of a test, which are closed after it. */
export class Queues {
  readonly place = temporaryFolder("queue");
  readonly told = new Listener();
  readonly #open = new Set<DeliveryQueue>();

  /** @returns a queue whose flows run */
  async open<Each extends DeliveryQueue>(queue: Each): Promise<Each> {
    this.#open.add(queue);
    await queue.open(this.told);
    queue.release();
    return queue;
  }

  async close(queue: DeliveryQueue): Promise<void> {
    this.#open.delete(queue);
    await queue.close();
  }

  async clear(): Promise<void> {
    for (const queue of this.#open) await this.close(queue);
  }
}

export function delivered(id: string, rest: Partial<Delivery> = {}): Delivery {
  return stored(id, { at: Date.now(), state: "queued", size: 2, ...rest });
}
