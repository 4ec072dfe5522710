// What the main thread and the worker say to each other. Neither loads the file of the other.

import type { Retention, StoreTrouble } from "../queue";
import type { Tables } from "./tables";

/** The methods of the tables, which the main thread calls. */
export type Method = keyof Tables;

/** A call; its answer has the same number. */
export interface WorkerCall<M extends Method = Method> {
  readonly number: number;
  readonly method: M;
  readonly args: Parameters<Tables[M]>;
}

export type WorkerResult = { readonly number: number } & (
  { readonly value: unknown } | { readonly trouble: StoreTrouble; readonly cause: unknown }
);

export type WorkerMessage =
  | { readonly says: "answers"; readonly answers: readonly WorkerResult[] }
  /** The file is closed after an error, until `open` is called. */
  | { readonly says: "closed"; readonly trouble: StoreTrouble; readonly cause: unknown }
  | { readonly says: "movedAside"; readonly path: string; readonly cause: unknown };

export type WorkerSetup = Retention & { readonly path: string };

/** Smaller bodies are copied sooner than handed over. */
const minTransferredBytes = 16 * 1024;

/** The bodies that a message transfers to the other thread. The caller must not use them afterwards. */
export function listTransfers(bodies: readonly Uint8Array[]): ArrayBuffer[] {
  return bodies.filter(({ length }) => length >= minTransferredBytes).map(({ buffer }) => buffer as ArrayBuffer);
}
