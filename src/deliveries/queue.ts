// The queue of deliveries: where they are stored, and when the flow of their node is started with them.

import { backoffAfter, type Pace } from "../config/parse";
import type { Delivery, StoredDelivery } from "./delivery";
import type { Duplicates } from "./duplicates";
import type { Pause, State } from "./summary";
export type { Pace } from "../config/parse";

export type { Pause } from "./summary";

/** Between two attempts of a node whose circuit breaker is open, in ms. */
export const breakerIntervalMs = 60_000;

/** How an attempt has ended. */
export type AttemptResult =
  | { readonly as: "succeeded" }
  | {
      readonly as: "failed";
      readonly error: string;
      /** When the flow wants to be started again, in ms from now, in the place of the backoff. */
      readonly retryAfterMs?: number;
      /** Whether the sender knows that it has failed, and sends it again by itself. */
      readonly isTold?: boolean;
    }
  /** A deploy has ended it: the delivery is put back, and the attempt is not counted. */
  | { readonly as: "interrupted" };

/** What a node has in its queue. */
export interface Load {
  /** Attempts that run in this process. */
  readonly running: number;
  /** Deliveries that wait for their first attempt, and for their next one. */
  readonly queued: number;
  readonly retrying: number;
  readonly failed: number;
  readonly pause: Pause | undefined;
}

/** The flow of a node, for as long as the node runs. */
export interface Consumer {
  readonly pace: Pace;
  /**
   * Starts the flow with a delivery, whose attempt is counted already. Never rejects.
   *
   * @returns how the attempt has ended
   */
  start(stored: StoredDelivery): Promise<AttemptResult>;
  /** An attempt has ended, and this is the delivery now: `succeeded`, `retrying`, `queued` after an interruption, or `failed`. */
  ended(delivery: Delivery, result: AttemptResult): void;
  /** The load has changed. */
  loaded(load: Load): void;
}

/** What is looked for. */
export interface Query {
  node?: string | undefined;
  state?: State | undefined;
  /** Found literally, in whatever letter case, in what `searchedIn` has of a delivery. */
  text?: string | undefined;
  /** When the oldest came that is wanted, in ms since the epoch. */
  since?: number | undefined;
  /** Only deliveries older than this one. */
  before?: Position | undefined;
  /** How many at most. */
  limit: number;
}

/** The place of a delivery in a list, which is by time and then by id. */
export type Position = Pick<Delivery, "at" | "id">;

/** Whether a delivery stands behind a position in a list, the newest first. */
export function isBehind({ at, id }: Position, before: Position): boolean {
  return at === before.at ? id < before.id : at < before.at;
}

/** What changes about a delivery that no attempt of the queue has changed; `error`: what its last attempt has failed with. */
export type Change = Partial<Pick<Delivery, "state" | "status" | "milliseconds" | "answer" | "error">>;

/** Where deliveries can be looked at. */
export interface DeliveryList {
  /** The newest first; fewer than the limit only at the end. */
  list(query: Query): Promise<Delivery[]>;
  find(id: string): Promise<StoredDelivery | undefined>;
  /** The same without its body and its attempts. */
  look(id: string): Promise<Delivery | undefined>;
  /** How many a node has of each state. */
  counts(node: string): Promise<Partial<Record<State, number>>>;
  /** Changes a delivery, if it is still here. Not for want of room that this fails. */
  update(id: string, change: Change): Promise<void>;
}

/**
 * Stores deliveries and starts flows with them. Every promise is rejected with a `StoreError` where the store is in
 * trouble, and then nothing of what it was for has happened; one that is fulfilled stands for what is stored from then
 * on, also over a power cut.
 *
 * An attempt is counted in the store before it starts. Unfinished deliveries are never dropped; of the others the oldest
 * go first, by age and by size, and failed ones last.
 */
export interface DeliveryQueue extends DeliveryList {
  /** Whether other instances have the same one. */
  readonly isShared: boolean;
  /** The keys of deliveries: they outlive the process. */
  readonly duplicates: Duplicates;
  /**
   * Opens the store. Called once, before all else. One that is in trouble from the start rejects this, goes on trying by
   * itself, and tells when it is `up`; all else is rejected until then.
   */
  open(events: StoreEvents): Promise<void>;
  /** Ends what is under way, and lets go of the file or the connections. */
  close(): Promise<void>;
  /**
   * Stores a delivery: `queued`, to be started when its node's pace allows, or in a state that starts no flow. One with a
   * known id is stored already.
   */
  add(delivery: Delivery, body: Buffer): Promise<void>;
  /**
   * Stores a delivery that is `running`, as the caller starts its flow at once, outside of concurrency and rate: its
   * sender waits for the flow's reply. The caller says how that attempt has ended by `end`.
   *
   * @param timeoutMs from when on another process may start it, should this one have ended
   */
  addStarted(delivery: Delivery, body: Buffer, timeoutMs: number): Promise<void>;
  end(id: string, result: AttemptResult): Promise<void>;
  /**
   * Starts the flow of a node from now on, whenever flows run, with what waits for it.
   *
   * @returns what to call when the node is closed
   */
  process(node: string, consumer: Consumer): () => void;
  /** Flows are about to be stopped: none is started from now on. */
  hold(): void;
  /** Flows run. */
  release(): void;
  /** Stores what comes, and starts nothing: over restarts, and on all instances. Running attempts end. */
  pause(node: string): Promise<void>;
  resume(node: string): Promise<void>;
  /** Why a node starts nothing, as far as this process knows. */
  paused(node: string): Pause | undefined;
}

/** What a store can be in trouble with. */
export type StoreTrouble =
  /** Nothing more fits: the disk or the memory is full, or unfinished deliveries alone fill what they may. */
  | "full"
  /** It may not be written to. */
  | "readOnly"
  /** It cannot be reached, or its folder is gone. */
  | "unreachable"
  /** Its password is wrong. */
  | "denied"
  /** More waits to be stored than there is memory for. */
  | "busy"
  /** What is needed to talk to it is not installed. */
  | "clientMissing"
  /** Anything else. */
  | "broken";

/** What the operator of a store is to know, though all works: how it may lose what it has taken. */
export type Warning =
  /** It writes nothing to a disk as it comes: when it ends, deliveries are lost. */
  | "notPersistent"
  /** It writes to its disk after it has answered: a power cut takes the deliveries of a second. */
  | "everySecond"
  /** When its memory is full, it drops what it likes. */
  | "evicts";

/** A promise that a store cannot keep. */
export class StoreError extends Error {
  constructor(
    readonly trouble: StoreTrouble,
    /** The error behind it. */
    override readonly cause?: unknown,
  ) {
    super(trouble);
  }
}

/** Who hears how a store fares. */
export interface StoreEvents {
  /** Something went wrong; said once until it works again, but for another trouble, which is said as well. */
  down(trouble: StoreTrouble, cause: unknown): void;
  /** All works again. */
  up(): void;
  /** A corrupt file was moved aside, and a new one was begun. */
  movedAside(path: string, cause: unknown): void;
  /** It may lose what it has taken; each said once. */
  warned(warning: Warning): void;
  /** A delivery was stored or has changed. */
  changed(id: string, node?: string): void;
}

// What becomes of a delivery when an attempt has ended.

/**
 * The delivery after an attempt, which its `attempt` counts; an interrupted attempt is taken back.
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
