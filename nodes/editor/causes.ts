// Why a delivery was refused or has failed, and how to mend it, in the language of the editor.

import { interrupted, statusError } from "../../src/deliveries/state";
import type { Cause, Summary } from "../../src/deliveries/summary";
import type { Reason } from "../../src/trust/diagnosis/explanation";
import { inARow } from "../../src/trust/diagnosis/sentences";
import { shortName } from "../../src/trust/senders/table";
import type { Translate } from "./host";

type Told = Pick<Summary, "cause" | "reason" | "fix">;

/** What a flow has failed with that did not answer in time. */
const lateAnswer = statusError(504);

/** Why it was refused or has failed, as one sentence without its full stop; empty where it was and has not. */
export function reasonOf(translate: Translate, { cause, reason }: Told): string {
  const error = cause?.error ?? null;
  const problem = problemOf(cause);
  if (problem !== null) {
    const refused = translate(`refused.${problem}`);
    // A newer runtime may know of what this catalog has no text for.
    if (refused === `refused.${problem}`) return reason ?? "";
    return error === null || error === lateAnswer ? refused : `${refused}: ${error}`;
  }
  return error === interrupted ? translate("store.interrupted") : (error ?? reason ?? "");
}

/** What to do about that, as whole sentences; empty where nobody knows. */
export function fixOf(translate: Translate, { cause, fix }: Told): string {
  if (!cause) return fix ?? "";
  const { reasons, looksLike } = cause;
  const told = sentencesOf(translate, reasons);
  const sender = reasons.some(({ key }) => key === "otherSender") ? "" : shortName(looksLike);
  if (sender !== "") told.push(sentenceOf(translate, translate("whyNot.looksLike", { sender })));
  if (told.length > 0) return inARow(told);
  const problem = problemOf(cause) ?? "flow";
  const known = translate(`fix.${problem}`);
  return known === `fix.${problem}` ? (fix ?? "") : sentenceOf(translate, known);
}

/** What was wrong with a request that was refused, each as a sentence with its full stop. */
export function sentencesOf(translate: Translate, reasons: readonly Reason[]): string[] {
  return reasons.map(({ key, values }) => sentenceOf(translate, translate(`whyNot.${key}`, textsOf(values))));
}

function problemOf(cause: Cause | null): string | null {
  return cause?.error === lateAnswer ? "flowLate" : (cause?.problem ?? null);
}

function sentenceOf(translate: Translate, sentence: string): string {
  return translate("standing.sentence", { sentence });
}

function textsOf(values: Reason["values"]): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
