// What may become of a request, and of each start of the flow with it, in the terms that the editor shares.

/** What became of a request. */
export type State =
  /** It was not let in, or could not be read. */
  | "refused"
  /** Another delivery with the same key has come before. */
  | "duplicate"
  /** The sender has asked something, and was answered. */
  | "handshake"
  /** It is kept, and the flow is to be started with it: for the first time, or once more. */
  | "queued"
  /** The flow has it. */
  | "running"
  /** The flow has failed with it, and is to be started with it once more. */
  | "retrying"
  /** The flow is done with it. */
  | "succeeded"
  /** The flow has failed with it so often that a person has to look. */
  | "failed";

/** Why a node starts no flow for what it accepts: a person has paused it, or its circuit breaker is open. */
export type Pause = "manual" | "breaker";

const replayable = ["queued", "running", "retrying", "succeeded", "failed"] as const;

/** Whether it has started its flow, or is to: nothing else can be replayed. */
export function isReplayable(state: State): state is (typeof replayable)[number] {
  return replayable.some((each) => each === state);
}

/** Why a delivery cannot be replayed, by the key of its text under `replay` in the message catalog. */
export const obstacles = [
  /** No flow was ever to be started with it. */
  "notAccepted",
  /** Its node does not run, is closed, or waits for its path. */
  "notOpen",
  /** Its body was not kept. */
  "bodyMissing",
  /** It cannot be stored, and its node has guaranteed delivery. */
  "notKept",
  /** Its body cannot be read any more. */
  "unreadable",
] as const;

export type Obstacle = (typeof obstacles)[number];

/** One time that the flow was started with a delivery. */
export interface Attempt {
  /** When it began, in ms since the epoch. */
  readonly at: number;
  /** When it ended, in ms since the epoch; missing while it goes on, or where nobody saw its end. */
  readonly ended?: number;
  /** Why it has failed, in the words of who has; missing where it has not. */
  readonly error?: string;
}

/** Why a delivery has failed that was under way each time when its process ended. */
export const interrupted = "interrupted";

/** What an attempt has failed with that had no end in time. */
export const timedOut = "timedOut";

/** Why a delivery has failed whose sender had gone before the flow answered. */
export const gone = "gone";

/** Why a delivery has failed whose answer was that of a failure. */
export function statusError(status: number): string {
  return `HTTP ${status}`;
}

/** What a flow has failed with that did not answer in time. */
export const lateAnswer = statusError(504);
