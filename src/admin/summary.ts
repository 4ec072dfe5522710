// Deliveries as the admin API and the editor have them, without credentials.

import { type SenderId, shortName } from "../auth/senders/table";
import type { Reason } from "../request/problem";
import type { Attempt, Delivery, FilterReason, Pause } from "../deliveries/delivery";
import { gone, interrupted, lateReply, type ReplayReason, timedOut } from "../deliveries/states";

type Nullable<Part> = { readonly [Name in keyof Part]-?: Exclude<Part[Name], undefined> | null };

/** As `Delivery` has it, with `null` for unknown values. */
type SummarizedParts = Pick<Delivery, "id" | "at" | "state" | "size" | "attempt"> &
  Pick<Delivery["head"], "method" | "path" | "ip"> &
  Nullable<
    Pick<
      Delivery,
      "status" | "words" | "milliseconds" | "maxAttempts" | "nextAt" | "replayOf" | "replayedBy" | "duplicateOf"
    >
  >;

/** A delivery in a list. */
export interface Summary extends SummarizedParts {
  /** `null` where it reached no endpoint, and none has a similar path. */
  readonly node: string | null;
  /** Why it was refused or has failed, and what to do about that, in the language of the runtime. */
  readonly reason: string | null;
  readonly fix: string | null;
  readonly sender: SenderId | null;
  /** The name that the caller had then; `null` where its token was that of no caller. */
  readonly caller: string | null;
  readonly event: string | null;
  readonly senderId: string | null;
  /** Why it waits; `null` where its node is not paused. */
  readonly pause: Pause | null;
  readonly isTest: boolean;
  readonly cause: DeliveryReason | null;
  /** Why it was filtered. */
  readonly why: FilterReason | null;
}

/** Why a delivery was refused or has failed, for editors in another language than the runtime's. */
export interface DeliveryReason {
  /** A key under `refused` in the message catalog; `null` where the flow has failed. */
  readonly problem: string | null;
  /** What was wrong and how to fix it, the most certain first; keys under `whyNot`. */
  readonly reasons: readonly Reason[];
  readonly looksLike: SenderId | null;
  readonly error: string | null;
}

export interface Detail extends Summary {
  /** Redacted. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly body: ShownBody;
  /** Whether the body is JSON whatever its content type says: it was parsed in front, or edited. */
  readonly isJson: boolean;
  /**
   * The payload that the flow would get now, its query redacted; missing where its node is closed, the body is not kept,
   * too long, no JSON or has a secret in it, or it cannot be replayed.
   */
  readonly payload?: unknown;
  /** `null` while there is none. */
  readonly answer: ShownReply | null;
  readonly attempts: readonly Attempt[];
}

export interface ShownBody {
  readonly encoding: "utf8" | "base64";
  readonly data: string;
  /** Whether more was sent than is stored or shown. */
  readonly truncated: boolean;
}

export interface ShownReply {
  readonly status: number;
  readonly milliseconds: number | null;
  /** Its beginning; `null` where that is empty, no text, or unknown. */
  readonly body: string | null;
}

export interface SummaryPage {
  readonly deliveries: readonly Summary[];
  /** `null` on the last page. */
  readonly next: string | null;
}

/** How far a replay of a group has come. */
export interface GroupReplay {
  readonly replayed: number;
  /** Those that were not replayed, by the reason. */
  readonly left: readonly { readonly code: ReplayReason; readonly message: string; readonly count: number }[];
  /** The `after` of the next call; `null` where nothing is left, or the rest would not be replayed, either. */
  readonly next: string | null;
}

// Reasons and fixes as sentences.

type Explained = Pick<Summary, "cause" | "why" | "status" | "state" | "pause">;

/** Why a delivery was refused or filtered, or has failed, and what to do about that: the reason without its full stop. */
export function explain(
  { cause, why, status, state, pause }: Explained,
  translate: Translate,
): { reason: string; fix: string } | undefined {
  if (why)
    return { reason: formatFilterReason(why, translate), fix: formatSentence(translate("fix.filtered"), translate) };
  if (!cause) return undefined;
  return { reason: formatReason(cause, status, translate), fix: formatFix({ cause, state, pause }, translate) };
}

/** One sentence without its full stop. */
export function formatFilterReason({ place, operator, value, found }: FilterReason, translate: Translate): string {
  if (operator === "listed") {
    return found === null ? translate("filter.why.noEvent") : translate("filter.why.event", { event: found });
  }
  const name = place === "event" ? translate("filter.event") : place;
  const condition = [name, translate(`filter.operators.${operator}`), value].join(" ").trimEnd();
  return found === null
    ? translate("filter.why.missing", { condition })
    : translate("filter.why.condition", { condition, found });
}

/** Looks a text up in a message catalog. */
export type Translate = (key: string, values?: Record<string, string | number>) => string;

/** One sentence without its full stop. @param status of the reply; `null` where there was none */
export function formatReason({ problem, error }: DeliveryReason, status: number | null, translate: Translate): string {
  if (error === lateReply) return translate("refused.flowLate");
  if (problem === null) return describeError(error ?? "", translate);
  const refused = formatRefusal(problem, status, translate);
  return error === null ? refused : `${refused}: ${error}`;
}

/** Why a request was refused, with the status of the reply. */
export function formatRefusal(problem: string, status: number | null, translate: Translate): string {
  const refused = translate(`refused.${problem}`);
  return status === null ? refused : translate("refusal", { refused, status });
}

/** Names of this package as words; errors of the flow as they are. */
export function describeError(error: string, translate: Translate): string {
  if (error === interrupted) return translate("store.interrupted");
  if (error === timedOut) return translate("store.timedOut");
  return error === gone ? translate("failed.gone") : error;
}

export function formatFix(
  { cause, state, pause }: Pick<Summary, "state" | "pause"> & { cause: DeliveryReason },
  translate: Translate,
): string {
  const { reasons, looksLike } = cause;
  const isPaused = pause === "manual";
  // A replay as well would start the flow twice.
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

/** Each as a sentence. */
export function formatReasons(reasons: readonly Reason[], translate: Translate): string[] {
  return reasons.map(({ key, values }) => formatSentence(translate(`whyNot.${key}`, values), translate));
}

export function formatSentence(text: string, translate: Translate): string {
  return translate("lastRequest.sentence", { sentence: text });
}

function findProblem({ problem, error }: DeliveryReason): string | null {
  return error === lateReply ? "flowLate" : problem;
}

/** No blank follows a full-width full stop. @param sentences each with its full stop */
export function inARow(sentences: readonly string[]): string {
  return sentences.reduce((said, next) => (said.endsWith("。") ? said + next : `${said} ${next}`));
}
