// The queue: stores deliveries and starts their flows.

import { backoffAfter, type Pace } from "../config/parse";
import type { Delivery, StoredDelivery } from "./delivery";
import type { Duplicates } from "./duplicates";
import type { Pause, State } from "./summary";
export type { Pace } from "../config/parse";

export type { Pause } from "./summary";

/** How often a node with an open circuit breaker is tried, in ms. */
export const breakerIntervalMs = 60_000;

export type AttemptResult =
  | { readonly as: "succeeded" }
  | {
      readonly as: "failed";
      readonly error: string;
      /** The flow's own delay before the next attempt, instead of the backoff. */
      readonly retryAfterMs?: number;
      /** Whether the sender knows of the failure, and sends the delivery again. */
      readonly isTold?: boolean;
    }
  /** By a deploy: the delivery is put back, and the attempt is not counted. */
  | { readonly as: "interrupted" };

/** The queue of a node, in numbers. */
export interface Load {
  /** Attempts of this process. */
  readonly running: number;
  /** Deliveries that wait for their first and for another attempt. */
  readonly queued: number;
  readonly retrying: number;
  readonly failed: number;
  readonly pause: Pause | undefined;
}

/** The flow of an open node. */
export interface Consumer {
  readonly pace: Pace;
  /** Starts the flow; the attempt is counted already. Never rejects. */
  start(stored: StoredDelivery): Promise<AttemptResult>;
  /** An attempt has ended; the delivery is `succeeded`, `retrying`, `failed`, or `queued` after an interruption. */
  ended(delivery: Delivery, result: AttemptResult): void;
  loaded(load: Load): void;
}

export interface Query {
  node?: string | undefined;
  state?: State | undefined;
  /** A part of what `searchedIn` returns, in any letter case. */
  text?: string | undefined;
  /** Only deliveries older than this one. */
  before?: Position | undefined;
  limit: number;
}

/** Lists are sorted by time, then by id. */
export type Position = Pick<Delivery, "at" | "id">;

/** Whether a delivery comes after a position in a list, the newest first. */
export function isBehind({ at, id }: Position, before: Position): boolean {
  return at === before.at ? id < before.id : at < before.at;
}

/** Changes from outside the queue; `error` is that of the last attempt. */
export type Change = Partial<Pick<Delivery, "state" | "status" | "milliseconds" | "answer" | "error">>;

export interface DeliveryList {
  /** The newest first; fewer than the limit only at the end. */
  list(query: Query): Promise<Delivery[]>;
  find(id: string): Promise<StoredDelivery | undefined>;
  /** Without body and attempts. */
  look(id: string): Promise<Delivery | undefined>;
  /** How many deliveries of each state a node has. */
  counts(node: string): Promise<Partial<Record<State, number>>>;
  /** Ignored where the delivery is gone. Does not fail for lack of room. */
  update(id: string, change: Change): Promise<void>;
}

/**
 * Stores deliveries and starts their flows. Promises reject with a `StoreError` where the store is in trouble, and
 * then nothing has happened; what a fulfilled promise stands for survives a power cut.
 *
 * An attempt is counted in the store before it starts. Unfinished deliveries are never dropped; of the others the
 * oldest go first, by age and size, and failed ones last.
 */
export interface DeliveryQueue extends DeliveryList {
  /** Whether other instances use the same queue. */
  readonly isShared: boolean;
  /** Duplicate keys that survive a restart. */
  readonly duplicates: Duplicates;
  /** Called once, first. In trouble it rejects, goes on trying, and calls `up`; until then everything rejects. */
  open(events: StoreEvents): Promise<void>;
  /** Ends running work, and closes the file or the connections. */
  close(): Promise<void>;
  /** Stores a delivery: `queued`, or in a state that starts no flow. Ignored where its id is stored already. */
  add(delivery: Delivery, body: Buffer): Promise<void>;
  /**
   * Stores a delivery as `running`: the caller starts its flow at once, beyond concurrency and rate, since a sender
   * waits for the reply, and calls `end`.
   *
   * @param timeoutMs after which another process may start it, if this one has ended
   */
  addStarted(delivery: Delivery, body: Buffer, timeoutMs: number): Promise<void>;
  end(id: string, result: AttemptResult): Promise<void>;
  /**
   * Starts the flow of a node with its deliveries, while flows run.
   *
   * @returns the function to call when the node closes
   */
  process(node: string, consumer: Consumer): () => void;
  /** Flows are about to stop: none is started. */
  hold(): void;
  /** Flows run. */
  release(): void;
  /** Stores, but starts nothing, over restarts and on all instances. Running attempts end. */
  pause(node: string): Promise<void>;
  resume(node: string): Promise<void>;
  /** As far as this process knows; nothing where the node is not paused. */
  paused(node: string): Pause | undefined;
}

export type StoreTrouble =
  /** Disk or memory is full, or unfinished deliveries take all the room. */
  | "full"
  /** Not writable. */
  | "readOnly"
  /** Not reachable, or its folder is gone. */
  | "unreachable"
  /** Wrong password. */
  | "denied"
  /** More waits to be stored than fits into memory. */
  | "busy"
  /** The optional packages are not installed. */
  | "clientMissing"
  | "broken";

/** The store works, but may lose what it has accepted. */
export type Warning =
  /** It writes nothing to a disk: when it ends, deliveries are lost. */
  | "notPersistent"
  /** It writes to disk after it has answered: a power cut loses a second. */
  | "everySecond"
  /** When its memory is full, it drops any key. */
  | "evicts";

export class StoreError extends Error {
  constructor(
    readonly trouble: StoreTrouble,
    override readonly cause?: unknown,
  ) {
    super(trouble);
  }
}

export interface StoreEvents {
  /** Called once per trouble, until it works again. */
  down(trouble: StoreTrouble, cause: unknown): void;
  up(): void;
  /** A corrupt file was moved aside, and a new one begun. */
  movedAside(path: string, cause: unknown): void;
  /** Each called once. */
  warned(warning: Warning): void;
  /** A delivery is new or has changed. */
  changed(id: string, node?: string): void;
}

// The end of an attempt.

/**
 * The delivery after an attempt.
 *
 * @param now in ms since the epoch
 */
export function afterAttempt(
  delivery: Delivery,
  result: AttemptResult,
  pace: Pick<Pace, "attempts" | "backoffFirst" | "backoffLongest">,
  now: number,
): Delivery {
  const { nextAt: _, error: __, ...rest } = delivery;
  const { attempt } = delivery;
  if (result.as === "succeeded") return { ...rest, state: "succeeded" };
  if (result.as === "interrupted") return { ...rest, state: "queued", attempt: attempt - 1 };
  const { error, retryAfterMs, isTold = false } = result;
  if (isTold || attempt >= pace.attempts) return { ...rest, state: "failed", error };
  const nextAt = now + (retryAfterMs ?? backoffAfter(pace, attempt));
  return { ...rest, state: "retrying", error, nextAt, maxAttempts: pace.attempts };
}
