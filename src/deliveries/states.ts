// What the state of a delivery means, the errors of its attempts, and why it cannot be replayed.

import type { Delivery, State } from "./delivery";

/** Whether it has started its flow, or will. */
export function startsFlow(state: State): boolean {
  return !["refused", "duplicate", "handshake", "filtered"].includes(state);
}

/** Whether its flow is done with it, or was not started: before, a replay would start the flow twice. */
export function isReplayable(state: State): state is "succeeded" | "failed" | "filtered" {
  return state === "succeeded" || state === "failed" || state === "filtered";
}

/** Why a delivery cannot be replayed; keys under `replay` in the message catalog. */
export const replayReasons = [
  /** It starts no flow. */
  "notAccepted",
  /** Its flow runs, or will. */
  "unfinished",
  /** Its node is closed, or waits for its path. */
  "notOpen",
  /** Its body was not kept. */
  "bodyMissing",
  /** Its node has guaranteed delivery, and the store is away. */
  "notKept",
  /** Its body cannot be decoded any more. */
  "unreadable",
] as const;

export type ReplayReason = (typeof replayReasons)[number];

/** The error of a delivery whose attempt has no result: the process ended, or a deploy dropped what no queue keeps. */
export const interrupted = "interrupted";

/** The error of an attempt without an end. */
export const timedOut = "timedOut";

/** The error where the sender had gone before the flow replied. */
export const gone = "gone";

/** The error where the flow replied with a failure. */
export function statusError(status: number): string {
  return `HTTP ${status}`;
}

/** The error where the flow did not reply in time. */
export const lateReply = statusError(504);

/** Why a delivery has failed; nothing where it has not. */
export function findFailure({ state, error, status, replayOf }: Delivery): string | undefined {
  if (state !== "failed") return undefined;
  // Without an error, the reply was one.
  if (error !== undefined) return error;
  if (status !== undefined) return statusError(status);
  // A replay has no sender that could have gone.
  return replayOf === undefined ? gone : lateReply;
}

/** How many bytes of a body are shown, and may be edited for a replay. */
export const maxShownBytes = 1024 * 1024;

/** How many characters of a path are shown where no node is. */
export const maxShownPath = 200;
