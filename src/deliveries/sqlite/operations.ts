// What the main thread asks of the worker that has the file, and what it is told.

import type { Attempt, State } from "../delivery";
import type { Change, Trouble } from "../store";
import type { Read, Written } from "../written";

/** A delivery with all that belongs to it. */
export interface WrittenKept {
  written: Read;
  body: Uint8Array;
  attempts: Attempt[];
}

/** Looked for in steps, each of which looks at so many deliveries that others need not wait for it. */
export interface Step {
  node: string | undefined;
  state: State | undefined;
  /** In lower case. */
  text: string;
  /** What came before that, in ms since the epoch, is not looked for. */
  since: number | undefined;
  /** Older than that of this number. */
  before: number;
  limit: number;
}

/** A key of a delivery that has been answered; its body travels beside it. */
export interface KeptKey {
  endpoint: string;
  key: string;
  id: string;
  /** In ms since the epoch. */
  until: number;
  answer: { status: number; fields: Readonly<Record<string, string>> } | undefined;
}

/** What is known of the first delivery with a key. */
export interface FoundKey {
  id: string;
  answer: { status: number; fields: Readonly<Record<string, string>>; body: Uint8Array | undefined } | undefined;
}

/** What can be asked, and what is given for it: nothing of interest, where that is unknown. `now` is in ms since the epoch. */
export interface Operations {
  /** Gives until when keys of earlier processes are known, in ms since the epoch. */
  open: { asks: undefined; gives: number };
  /** The body travels beside it. */
  add: { asks: Written; gives: unknown };
  /** Drops the delivery with this id, which was not kept as far as anybody has been told. */
  forget: { asks: string; gives: unknown };
  change: { asks: { id: string; change: Change }; gives: unknown };
  claim: {
    asks: { node: string; most: number; after: number };
    gives: { kept: WrittenKept[]; next: number | undefined };
  };
  find: { asks: string; gives: WrittenKept | undefined };
  look: { asks: string; gives: Read | undefined };
  page: { asks: Step; gives: { found: Read[]; next: number | undefined } };
  counts: { asks: string; gives: Partial<Record<State, number>> };
  findKey: { asks: { endpoint: string; key: string; now: number }; gives: FoundKey | undefined };
  keepKey: { asks: { kept: KeptKey; now: number }; gives: unknown };
  /** Drops some of what is too old; gives whether there may be more of it. */
  tidy: { asks: undefined; gives: boolean };
  /** Sees whether anything can be written. */
  probe: { asks: undefined; gives: unknown };
}

export type Kind = keyof Operations;

/** What changes the file. */
export const writing: readonly Kind[] = ["add", "forget", "change", "keepKey", "tidy", "probe"];

export interface Request<K extends Kind = Kind> {
  kind: K;
  asks: Operations[K]["asks"];
  bytes: Uint8Array | undefined;
}

/** What is asked, by a number that its answer has as well; nobody waits for what has none. */
export interface Asked {
  number: number | undefined;
  request: Request;
}

/** What the main thread says. */
export type ToWorker = Asked[] | "close";

export type Answer = { number: number } & Outcome;
/** `cause` is the error behind it. */
export type Outcome = { value: unknown } | { trouble: Trouble; cause: unknown };

/** What the worker says. */
export type FromWorker =
  | { says: "answers"; answers: Answer[] }
  | { says: "troubled"; trouble: Trouble; cause: unknown }
  | { says: "mended" }
  | { says: "movedAside"; path: string; cause: unknown };

/** What the worker is told when it is started. */
export interface Setup {
  path: string;
  /** How long finished deliveries are kept, in ms. */
  maxAge: number;
  /** How much of the file is filled at most, in bytes. */
  maxBytes: number;
}
