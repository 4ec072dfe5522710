// A delivery as it is written into its table.

import { type Delivery, searchedIn, type State } from "./delivery";
import { withWords } from "./words";

/** By the names of the columns. */
export interface Written {
  id: string;
  node: string;
  at: number;
  state: State;
  attempt: number;
  status: number | null;
  milliseconds: number | null;
  rest: string;
  searched: string;
}

/** The same as it is read, with what its last run has failed with. */
export interface Read extends Omit<Written, "searched"> {
  error: string | null;
  /** What was answered after it was written. */
  answer: string | null;
}

export function write(delivery: Delivery, body: Buffer): Written {
  const shown = withWords(delivery, body);
  const { id, node, at, state, attempt, status = null, milliseconds = null, ...rest } = shown;
  const searched = searchedIn(shown);
  return { id, node, at, state, attempt, status, milliseconds, rest: JSON.stringify(rest), searched };
}

/** @returns nothing where it cannot be read, as it was damaged or is of another version */
export function read(row: Read): Delivery | undefined {
  const { id, node, at, state, attempt, status, milliseconds, rest, answer, error } = row;
  const known = restOf(rest);
  return (
    known && {
      ...{ id, node, at, state, attempt },
      ...known,
      ...(status !== null && { status }),
      ...(milliseconds !== null && { milliseconds }),
      ...(answer !== null && { answer }),
      ...(error !== null && { error }),
    }
  );
}

type Rest = Omit<Delivery, "id" | "node" | "at" | "state" | "attempt" | "status" | "milliseconds">;

function restOf(text: string): Rest | undefined {
  try {
    return JSON.parse(text) as Rest;
  } catch {
    return undefined;
  }
}

/** The same memory, as it is worked with elsewhere. */
export function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
