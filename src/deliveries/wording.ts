// Why a delivery was refused or has failed, and how to mend it, in the language that its texts are looked up in.

import type { Reason } from "../trust/diagnosis/explanation";
import { inARow } from "../trust/diagnosis/sentences";
import { shortName } from "../trust/senders/table";
import { gone, interrupted, lateAnswer, timedOut } from "./state";
import type { Cause, Summary } from "./summary";

/** Looks a text up in a message catalog. */
export type Translate = (key: string, values?: Record<string, string | number>) => string;

/** Why it was refused, or what it has failed with: one sentence without its full stop. */
export function reasonOf(cause: Cause, translate: Translate): string {
  const error = cause.error === lateAnswer ? null : cause.error;
  const problem = problemOf(cause);
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
export function fixOf(
  { cause, state, pause }: Pick<Summary, "state" | "pause"> & { cause: Cause },
  translate: Translate,
): string {
  const { reasons, looksLike } = cause;
  const isPaused = pause === "manual";
  // To replay it as well would start the flow twice.
  if (state !== "refused" && state !== "failed") {
    return sentenceOf(translate(isPaused ? "fix.retryingPaused" : "fix.retrying"), translate);
  }
  const told = sentencesOf(reasons, translate);
  if (looksLike !== null && !reasons.some(({ key }) => key === "otherSender")) {
    told.push(sentenceOf(translate("whyNot.looksLike", { sender: shortName(looksLike) }), translate));
  }
  const key = problemOf(cause) ?? (cause.error === gone ? gone : "flow");
  if (told.length > 0) return inARow(told);
  const fix = sentenceOf(translate(`fix.${key}`), translate);
  return isPaused ? inARow([fix, sentenceOf(translate("fix.paused"), translate)]) : fix;
}

/** What was wrong with a request that was refused, each as a sentence with its full stop. */
export function sentencesOf(reasons: readonly Reason[], translate: Translate): string[] {
  return reasons.map(({ key, values }) => sentenceOf(translate(`whyNot.${key}`, values), translate));
}

function sentenceOf(text: string, translate: Translate): string {
  return translate("standing.sentence", { sentence: text });
}

function problemOf({ problem, error }: Cause): string | null {
  return error === lateAnswer ? "flowLate" : problem;
}
