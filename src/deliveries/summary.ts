// What is told of deliveries to whoever looks at them in the editor: nothing of it lets anybody in.

import type { Reason } from "../auth/result";
import { type SenderId, shortName } from "../auth/senders/table";

/** One delivery in a list. What is not known of it is `null`. */
export interface Summary {
  /** The id of its message. */
  readonly id: string;
  /** The id of the node whose endpoint it came to; `null` where it came to none, and none is like its path. */
  readonly node: string | null;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  readonly state: State;
  /** The status of the reply. */
  readonly status: number | null;
  /** Why it was refused or has failed, for the operator, in the language of the runtime. */
  readonly reason: string | null;
  /** What to do about that, for the operator, in the language of the runtime. */
  readonly fix: string | null;
  readonly method: string;
  /** Without the query: below Node-RED's root for nodes where it came to an endpoint, else whole. */
  readonly path: string;
  /** The address of the sender; empty where it is not known. */
  readonly ip: string;
  readonly sender: SenderId | null;
  /** The type of the event. */
  readonly event: string | null;
  /** The first words of its body, where no event is known. */
  readonly words: string | null;
  /** The sender's own id of the delivery. */
  readonly senderId: string | null;
  /** The length of the body as it was sent, in bytes. */
  readonly size: number;
  /** How long it took from the head of the request to the reply, in ms. */
  readonly milliseconds: number | null;
  /** How often the flow was started with it. */
  readonly attempt: number;
  /** How often it is started at most; `null` without guaranteed delivery. */
  readonly maxAttempts: number | null;
  /** When it is started again, in ms since the epoch; `null` where it does not wait for that. */
  readonly nextAt: number | null;
  /** Why its node starts no flow, where this delivery waits for that or has failed; `null` where it starts them. */
  readonly pause: Pause | null;
  /** The id of the delivery that it is a replay of. */
  readonly replayOf: string | null;
  /** Whether the editor has sent it, to try the endpoint. */
  readonly isTest: boolean;
  readonly cause: Cause | null;
}

/** Why a delivery was refused or has failed, for whoever reads in another language than the runtime's. */
export interface Cause {
  /** Why it was refused, by the key of its text under `refused` in the message catalog; `null` where the flow has failed. */
  readonly problem: string | null;
  /** What was wrong and how to mend it, the surest first, each by the key of its text under `whyNot`. */
  readonly reasons: readonly Reason[];
  /** The sender that it looks like: a guess that nothing has proven. */
  readonly looksLike: SenderId | null;
  /** What the flow has failed with; `null` where it was not the flow. */
  readonly error: string | null;
}

/** One delivery, with all that is kept of it. */
export interface Detail extends Summary {
  /** Without what lets somebody in. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly body: ShownBody;
  /** Whether its body is kept as JSON, whatever its content type says: it was parsed in front, or changed by somebody. */
  readonly isJson: boolean;
  /**
   * What the flow would get of it now, without what lets somebody in; missing where its node is closed, where it is not
   * kept, too long or no JSON, and where it cannot be replayed.
   */
  readonly payload?: unknown;
  /** What was answered; `null` where nothing was, or not yet. */
  readonly answer: ShownAnswer | null;
  /** Each start of the flow, the first one first. */
  readonly attempts: readonly Attempt[];
}

export interface ShownBody {
  readonly encoding: "utf8" | "base64";
  /** Text, or its bytes in base64 where they are none. */
  readonly data: string;
  /** Whether there was more than is kept or shown. */
  readonly truncated: boolean;
}

export interface ShownAnswer {
  readonly status: number;
  readonly milliseconds: number | null;
  /** How its body begins; `null` where that is empty, is no text, or is not known. */
  readonly body: string | null;
}

/** A page of a list, the newest first. */
export interface SummaryPage {
  readonly deliveries: readonly Summary[];
  /** The `before` of the next page; `null` where there is none. */
  readonly next: string | null;
}

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

// Why a delivery was refused or has failed, and how to mend it, in the language that its texts are looked up in.

/** Looks a text up in a message catalog. */
export type Translate = (key: string, values?: Record<string, string | number>) => string;

/** Why it was refused, or what it has failed with: one sentence without its full stop. */
export function formatReason(cause: Cause, translate: Translate): string {
  const error = cause.error === lateAnswer ? null : cause.error;
  const problem = findProblem(cause);
  if (problem === null) return describeError(error ?? "", translate);
  const refused = translate(`refused.${problem}`);
  return error === null ? refused : `${refused}: ${error}`;
}

/** What an attempt has failed with: in words what this package calls by a name, and the words of the flow as they are. */
export function describeError(error: string, translate: Translate): string {
  if (error === interrupted) return translate("store.interrupted");
  if (error === timedOut) return translate("store.timedOut");
  return error === gone ? translate("failed.gone") : error;
}

/** What to do about that, as sentences. */
export function formatFix(
  { cause, state, pause }: Pick<Summary, "state" | "pause"> & { cause: Cause },
  translate: Translate,
): string {
  const { reasons, looksLike } = cause;
  const isPaused = pause === "manual";
  // To replay it as well would start the flow twice.
  if (state !== "refused" && state !== "failed") {
    return formatSentence(translate(isPaused ? "fix.retryingPaused" : "fix.retrying"), translate);
  }
  const told = formatReasons(reasons, translate);
  if (looksLike !== null && !reasons.some(({ key }) => key === "otherSender")) {
    told.push(formatSentence(translate("whyNot.looksLike", { sender: shortName(looksLike) }), translate));
  }
  const key = findProblem(cause) ?? (cause.error === gone ? gone : "flow");
  if (told.length > 0) return inARow(told);
  const fix = formatSentence(translate(`fix.${key}`), translate);
  return isPaused ? inARow([fix, formatSentence(translate("fix.paused"), translate)]) : fix;
}

/** What was wrong with a request that was refused, each as a sentence with its full stop. */
export function formatReasons(reasons: readonly Reason[], translate: Translate): string[] {
  return reasons.map(({ key, values }) => formatSentence(translate(`whyNot.${key}`, values), translate));
}

function formatSentence(text: string, translate: Translate): string {
  return translate("standing.sentence", { sentence: text });
}

function findProblem({ problem, error }: Cause): string | null {
  return error === lateAnswer ? "flowLate" : problem;
}

// Sentences in a row.

/** @param sentences each with its full stop; behind one that is as wide as a character, no blank follows */
export function inARow(sentences: readonly string[]): string {
  return sentences.reduce((said, next) => (said.endsWith("。") ? said + next : `${said} ${next}`));
}
