// Where deliveries are kept: in memory, in a file, or in a server that several instances share.

import { type Delivery, finished, type Kept, type Attempt, type State } from "./delivery";
import type { Duplicates } from "./duplicates";

/** What a store can be in trouble with. */
export type Trouble =
  /** Nothing more fits: the disk or the memory is full, or unfinished deliveries alone fill what they may. */
  | "full"
  /** It may not be written to. */
  | "readOnly"
  /** It cannot be reached, or its folder is gone. */
  | "unreachable"
  /** Its password is wrong. */
  | "denied"
  /** More waits to be kept than there is memory for. */
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
    readonly trouble: Trouble,
    /** The error behind it. */
    override readonly cause?: unknown,
  ) {
    super(trouble);
  }
}

/** How a store fares, as it tells whoever listens. */
export interface StoreEvents {
  /** Something went wrong; told once until it is mended, but for another trouble, which is told as well. */
  troubled(trouble: Trouble, cause: unknown): void;
  /** All works again. */
  mended(): void;
  /** A file could not be read: it was moved aside, and a new one was begun. */
  movedAside(path: string, cause: unknown): void;
  /** It may lose what it has taken; each told once. */
  warned(warning: Warning): void;
}

/** What a store gives for what it has done already. */
export const atOnce: Promise<void> = Promise.resolve();

/** What is looked for. */
export interface Query {
  node?: string | undefined;
  state?: State | undefined;
  /** Found literally, in whatever letter case, in what `searchedIn` has of a delivery. */
  text?: string | undefined;
  /** When the oldest came that is wanted, in ms since the epoch: a page may end, as the last one, where it meets an older. */
  since?: number | undefined;
  /** Where the last page has ended: its `next`. */
  before?: string | undefined;
  /** How many at most. */
  limit: number;
}

export interface Page {
  /** The newest first. */
  deliveries: Delivery[];
  /** Where the next page goes on; nothing where there is none. Nobody but the store knows what it means. */
  next: string | undefined;
}

/** What changes about a delivery. */
export interface Change {
  state?: State;
  status?: number;
  milliseconds?: number;
  answer?: string;
  /** The last run has ended; or, with a new `attempt`, the next one has begun. */
  run?: Attempt;
  attempt?: number;
}

/** Whether a delivery is over with it. Nobody waits for that to be kept: if it is not, the delivery comes once more. */
export function isOver({ state }: Change): boolean {
  return state !== undefined && finished.includes(state);
}

/** Some of what is unfinished. */
export interface Claim {
  /** The oldest first, in the order in which they came. */
  deliveries: Kept[];
  /** Where the rest goes on; nothing where there is none. Nobody but the store knows what it means. */
  next: string | undefined;
}

/**
 * Keeps deliveries. Every promise is rejected with a `StoreError`, and then nothing of what it was for has happened; one
 * that is fulfilled stands for what is kept from then on: over a power cut, where the store outlives the process.
 *
 * What is not done is never dropped; of the rest the oldest go first, by age and by size.
 */
export interface Store {
  /** Whether it outlives the process, so that nodes may promise never to lose a delivery. */
  readonly outlives: boolean;
  /** Whether other processes may have the same one, so that what they leave behind is to be claimed now and then. */
  readonly isShared: boolean;
  /**
   * Ready to keep deliveries. Called once, before all else. One that is in trouble from the start rejects this, goes on
   * trying by itself, and tells when it is `mended`; all else is rejected until then.
   */
  open(events: StoreEvents): Promise<void>;
  /** Ends what is under way, and lets go of the file or the connection. */
  close(): Promise<void>;
  /** Keeps a delivery: unfinished ones safely, before the promise is fulfilled. One with a known id is kept already. */
  add(delivery: Delivery, body: Buffer): Promise<void>;
  /** Changes a delivery, if it is still here. It is not for want of room that this fails. */
  change(id: string, change: Change): Promise<void>;
  /**
   * The deliveries of a node that are accepted or running and that nobody works on: all that this process does not know
   * after a start, and those of an instance that is no more. Whoever gets them works on them from then on.
   *
   * They come in steps, so that neither memory nor a thread is taken by a hundred thousand of them.
   *
   * @param most how many at most; there may be fewer, or none, where more are to come
   * @param known the ids that are being worked on here
   * @param after where to go on: the `next` of the step before
   */
  claim(node: string, most: number, known: ReadonlySet<string>, after?: string): Promise<Claim>;
  find(id: string): Promise<Kept | undefined>;
  /** The same without its body and its runs. */
  look(id: string): Promise<Delivery | undefined>;
  /** Full pages, but for the last one. */
  page(query: Query): Promise<Page>;
  /** How many a node has of each state. */
  counts(node: string): Promise<Partial<Record<State, number>>>;
  /** The keys of deliveries: they outlive the process where the deliveries do. */
  readonly duplicates: Duplicates;
}
