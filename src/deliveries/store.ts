// Where deliveries are kept: in memory, in a file, or in a server that several instances share.

import type { Delivery, Kept, Run, State } from "./delivery";
import type { Repeats } from "./repeats";

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
  /** Anything else. */
  | "broken";

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
  /** Something went wrong; told once until it is mended. */
  troubled(trouble: Trouble, cause: unknown): void;
  /** It works again. */
  mended(): void;
  /** A file could not be read: it was moved aside, and a new one was begun. */
  movedAside(path: string, cause: unknown): void;
}

/** What is looked for. */
export interface Query {
  node?: string | undefined;
  state?: State | undefined;
  /** Found literally, in whatever letter case, in the path, the event, the ids, the address and the header fields. */
  text?: string | undefined;
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
  /** The last run has ended; or, with a new `attempt`, the next one has begun. */
  run?: Run;
  attempt?: number;
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
  /** Ready to keep deliveries. Called once, before all else. */
  open(events: StoreEvents): Promise<void>;
  /** Ends what is under way, and lets go of the file or the connection. */
  close(): Promise<void>;
  /** Keeps a delivery: unfinished ones safely, before the promise is fulfilled. */
  add(delivery: Delivery, body: Buffer): Promise<void>;
  change(id: string, change: Change): Promise<void>;
  /**
   * The deliveries of a node that are accepted or running and that nobody works on: all that this process does not know
   * after a start, and those of an instance that is no more. Whoever gets them works on them from then on.
   *
   * @param most how many at most; the oldest first, in the order in which they came
   * @param known the ids that are being worked on here
   */
  claim(node: string, most: number, known: ReadonlySet<string>): Promise<Kept[]>;
  find(id: string): Promise<Kept | undefined>;
  page(query: Query): Promise<Page>;
  /** How many a node has of each state. */
  counts(node: string): Promise<Partial<Record<State, number>>>;
  /** The keys of deliveries: they outlive the process where the deliveries do. */
  readonly repeats: Repeats;
}
