// The queue: stores deliveries and starts their flows.

import type { EventEmitter } from "node:events";
import type { Pace } from "../config/parse";
import type { Delivery, Pause, State, StoredDelivery } from "./delivery";

/** How long finished deliveries are kept, in ms. */
export const maxAge = 7 * 24 * 3_600_000;
/** How many bytes all deliveries may take. */
export const maxBytes = 1024 ** 3;
/** The bytes that a delivery takes besides its texts and body, indexes included: an upper estimate. */
export const frameBytes = 1024;
/** A store that takes so many bytes is not full. */
export const probeBytes = 64 * 1024;
/** How many duplicate keys are kept over all endpoints; one takes some 400 bytes of memory. */
export const maxKeys = 100_000;
/** The bytes of the bodies of their replies, all together. */
export const maxRepliesBytes = 32 * 1024 * 1024;

export interface Retention {
  readonly maxAge: number;
  readonly maxBytes: number;
}

export type AttemptResult =
  | {
      readonly as: "succeeded";
      /** The flow's reply, for duplicates; missing where they get none. */
      readonly reply?: FirstReply | undefined;
    }
  | {
      readonly as: "failed";
      readonly error: string;
      /** The flow's own delay before the next attempt, instead of the backoff. */
      readonly retryAfterMs?: number;
      /** Whether the sender has got an error as the reply, and sends the delivery again itself. */
      readonly isSenderTold?: boolean;
    }
  /** By a deploy, or an orderly stop: the delivery is put back, and the attempt is not counted. */
  | { readonly as: "interrupted" };

/** The queue of a node, in numbers, over all instances. */
export interface Load {
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
}

export interface Query {
  node?: string | undefined;
  state?: State | undefined;
  /** A part of what `searchedIn` returns, in any letter case. */
  text?: string | undefined;
  /** Only those that have failed with this error. */
  error?: string | undefined;
  /** Only deliveries older than this one. */
  before?: Position | undefined;
  /** Only deliveries newer than this one, and then the oldest first. */
  after?: Position | undefined;
  limit: number;
}

/** Lists are sorted by time, then by id. */
export type Position = Pick<Delivery, "at" | "id">;

/** Whether a delivery comes after a position in a list, the newest first. */
function isBehind({ at, id }: Position, before: Position): boolean {
  return at === before.at ? id < before.id : at < before.at;
}

/** Sorts the oldest first. */
export function compareByAge(one: Position, other: Position): number {
  return isBehind(one, other) ? -1 : 1;
}

/** Whether a delivery is where a query looks. */
export function isInRange(delivery: Position, { before, after }: Pick<Query, "before" | "after">): boolean {
  return (!before || isBehind(delivery, before)) && (!after || isBehind(after, delivery));
}

/** Changes from outside the queue; `error` is that of the last attempt. */
export type Change = Partial<Pick<Delivery, "state" | "status" | "milliseconds" | "answer" | "error" | "replayedBy">>;

/** When a user wants the next attempt. */
export type RetryTime = "now" | "never";

/** What became of a delivery that a user removes; `running`: it was left, as its flow runs. */
export type Removal = "removed" | "unknown" | "running";

/** At least one of the two is given. */
export interface RemovalQuery {
  readonly node?: string | undefined;
  readonly state?: State | undefined;
}

export interface DeliveryList {
  /** The newest first, unless `after` is given; fewer than the limit only at the end. */
  list(query: Query): Promise<Delivery[]>;
  find(id: string): Promise<StoredDelivery | undefined>;
  /** Ignored where the delivery is gone. Does not fail for lack of room. */
  update(id: string, change: Change): Promise<void>;
  /** Its duplicate key stays: if the sender sends it again, that is still a duplicate. */
  remove(id: string): Promise<Removal>;
  /** Leaves what runs. @returns how many were removed */
  removeAll(query: RemovalQuery): Promise<number>;
}

/**
 * Stores deliveries and starts their flows. A promise that rejects with a `StoreError` has changed nothing: the
 * store is in trouble. What a resolved promise has written survives a power cut.
 *
 * An attempt is counted in the store before it starts. Unfinished deliveries are never dropped; of the others the
 * oldest go first, by age and size. For size, what anybody can cause goes before the rest, and failed ones last.
 */
export interface DeliveryQueue extends DeliveryList {
  /** Whether other instances use the same queue. */
  readonly isShared: boolean;
  /** Duplicate keys that survive a restart. */
  readonly duplicates: Duplicates;
  /** Missing where no other instance uses the queue. */
  readonly uses?: SharedUses;
  /** How many deliveries of each state a node has. */
  counts(node: string): Promise<Partial<Record<State, number>>>;
  /** Called once, first. In trouble it rejects, goes on trying, and announces when it is `up`; until then everything rejects. */
  open(events: StoreAnnouncer): Promise<void>;
  /**
   * Starts nothing more, and closes the file or the connections when the ends of running attempts are stored: other
   * instances take over at once what was put back. An attempt that does not end in time counts as ended by a crash.
   */
  close(): Promise<void>;
  /**
   * Stores a delivery: `queued`, or in a state that starts no flow. Ignored where its id is stored already.
   *
   * @param key stored in the same transaction: from then on the delivery is known, also after a crash
   */
  add(delivery: Delivery, body: Buffer, key?: Candidate): Promise<void>;
  /**
   * Stores a delivery as `running`: the caller starts its flow at once, whatever concurrency and rate allow, since a
   * sender waits for the reply, and calls `end`.
   *
   * @param timeoutMs after which another process may start it, if this one has ended
   * @param key stored in the same transaction, as the delivery is started again after a crash
   */
  addRunning(delivery: Delivery, body: Buffer, timeoutMs: number, key?: Candidate): Promise<void>;
  /** In the same transaction, the key gets the flow's reply, or is free: see `findKeyEnd`. */
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
  /**
   * Has the next attempt of a delivery that is `retrying` due now, as the pace of its node allows, or makes it `failed`.
   *
   * @returns whether it was `retrying`, and no attempt has begun meanwhile
   */
  retry(id: string, when: RetryTime): Promise<boolean>;
}

/** When endpoints and callers' tokens were last used, over all instances. */
export interface SharedUses {
  /**
   * Told to the other instances shortly after.
   *
   * @param key of the token, or of the endpoint itself
   * @param at in ms since the epoch
   */
  note(node: string, key: string, at: number): void;
  /** By keys. */
  read(node: string): Promise<ReadonlyMap<string, number>>;
}

// Duplicate keys.

/** A delivery with a key. */
export interface Candidate {
  /** The id of its node: keys outlive a deploy. */
  readonly endpoint: string;
  readonly key: string;
  /** Of its message. */
  readonly id: string;
  /** How long the key is kept after the reply, in ms. */
  readonly keptForMs: number;
}

/** The flow's reply to the first delivery. */
export interface FirstReply {
  status: number;
  /** The header fields that the body needs to be understood. */
  fields: Readonly<Record<string, string>>;
  /** Missing where it was too long, or dropped. */
  body: Buffer | undefined;
}

/** A key whose delivery was stored or replied to. */
export interface SettledKey extends Candidate {
  readonly reply: FirstReply | undefined;
}

/**
 * Reserves keys: of all deliveries with one key, one at a time starts the flow, and none after it got a reply. In
 * memory, in a file, or shared by several instances.
 */
export interface Duplicates {
  /** Called before the flow is started. */
  reserve(candidate: Candidate): Found | Promise<Found>;
}

export type Found = Reservation | Earlier;

/** The delivery has the key and starts the flow. Only the first call of `settle` or `release` counts. */
export interface Reservation {
  readonly isFirst: true;
  readonly candidate: Candidate;
  /**
   * It got a reply, and the key is kept. After a failure (RFC 9110 §15.6) senders try again: then the key is free,
   * and only waiting duplicates get the reply.
   *
   * @param reply by the flow; missing where the node replied
   */
  settle(reply?: FirstReply): void | Promise<void>;
  /** It has not started the flow: another delivery may. */
  release(): void | Promise<void>;
}

/** Another delivery has the key. */
export interface Earlier {
  readonly isFirst: false;
  /** Of its message. */
  readonly id: string;
  /** A promise while it is not known. */
  readonly outcome: ReservationEnd | Promise<ReservationEnd>;
}

/** The flow's reply, missing where the node replied; `released` where the key is free again. */
export type ReservationEnd = "released" | { readonly reply: FirstReply | undefined };

// Troubles.

/**
 * `full` also where unfinished deliveries take all the room, `unreachable` also where the folder is gone, `denied` by a
 * wrong password, `busy` where more waits to be stored than fits into memory, `clientMissing` without the packages,
 * `newer` where a newer version of this package has written the store.
 */
export type StoreTrouble =
  "full" | "readOnly" | "unreachable" | "denied" | "busy" | "clientMissing" | "newer" | "broken";

/**
 * What may lose deliveries: no disk, a disk that is written to after the reply, keys that are dropped for room; or have
 * them started again while they run: a version of the client's package that lacks what this package needs.
 */
export type Warning = "notPersistent" | "everySecond" | "evicts" | "unknownClient";

export class StoreError extends Error {
  constructor(
    readonly trouble: StoreTrouble,
    override readonly cause?: unknown,
  ) {
    super(trouble);
  }
}

/** What a store announces. */
export interface StoreEvents {
  /** Once per trouble, until it works again. */
  "store:down": [{ readonly trouble: StoreTrouble; readonly cause: unknown }];
  "store:up": [];
  /** A corrupt file was moved to `path`, and a new one begun. */
  "store:moved-aside": [{ readonly path: string; readonly cause: unknown }];
  /** Each once. */
  "store:warning": [{ readonly warning: Warning }];
  /** Here, or by another instance; not at the start of the process. */
  paused: [{ readonly node: string; readonly pause: Pause }];
  resumed: [{ readonly node: string }];
  /** A delivery of a node, or its pause, is new or has changed. */
  changed: [{ readonly node?: string | undefined }];
}

export type StoreAnnouncer = Pick<EventEmitter<StoreEvents>, "emit">;
