// Deliveries as they are shown to whoever looks at them in the editor.

import { type Problem, problems } from "../problem";
import { toObject } from "../request/parameters";
import { textOf } from "../request/text";
import { redactHeaders, redactQuery } from "../trust/redactor";
import { type Delivery, type Kept, toldBy } from "./delivery";
import { gone, lateAnswer, type Pause, type State, statusError } from "./state";
import type { Cause, Detail, ShownAnswer, ShownBody, Summary } from "./summary";
import { fixOf, reasonOf, type Translate } from "./wording";

/** Of a body, so many bytes are shown. */
export const mostShown = 1024 * 1024;

/** What there is to know besides what is stored. */
export interface Means {
  /** Looks texts up in the language of the runtime. */
  readonly translate: Translate;
  /** Why a node starts no flow; nothing where it does. */
  readonly paused: (node: string) => Pause | undefined;
}

/** Whose flow may be started once more: by itself, or by a replay. */
const unsettled: readonly State[] = ["queued", "retrying", "failed"];

export function summaryOf(delivery: Delivery, { translate, paused }: Means): Summary {
  const { id, node, at, state, status = null, head, webhook, size, milliseconds = null, attempt } = delivery;
  const { event, senderId } = toldBy(delivery);
  const cause = causeOf(delivery);
  const pause = (unsettled.includes(state) && paused(node)) || null;
  return {
    ...{ id, node: node === "" ? null : node, at, state, status },
    reason: cause && reasonOf(cause, translate),
    fix: cause && fixOf({ cause, state, pause }, translate),
    ...{ method: head.method, path: head.path, ip: head.ip },
    sender: webhook?.sender ?? null,
    event: event ?? null,
    words: delivery.words ?? null,
    senderId: senderId ?? null,
    ...{ size, milliseconds: milliseconds === null ? null : Number(milliseconds.toFixed(3)), attempt },
    ...{ maxAttempts: delivery.maxAttempts ?? null, nextAt: delivery.nextAt ?? null, pause },
    replayOf: delivery.replayOf ?? null,
    isTrial: delivery.isTrial ?? false,
    cause,
  };
}

export function detailOf(kept: Kept, means: Means): Detail {
  const { delivery, attempts } = kept;
  const { head } = delivery;
  const summary = summaryOf(delivery, means);
  return {
    ...summary,
    headers: redactHeaders(head.headers),
    query: redactQuery(toObject(new URLSearchParams(head.search))),
    body: shownBody(kept),
    isJson: delivery.isJson ?? false,
    answer: answerOf(delivery, summary),
    // Of the first one, nothing is noted before it has ended.
    attempts: attempts.length > 0 || delivery.attempt === 0 ? attempts : [{ at: delivery.at }],
  };
}

function causeOf(delivery: Delivery): Cause | null {
  const { state, reasons = [], looksLike = null, error } = delivery;
  if (state === "refused") {
    // Of what was kept, and then could not be answered, no more is known.
    const problem = delivery.problem ?? problems.unforeseen.name;
    return { problem, reasons, looksLike, error: error ?? null };
  }
  // What has failed before, and was done in the end, is told with its runs.
  if (state === "succeeded") return null;
  const failure = error ?? (state === "failed" ? answerError(delivery) : undefined);
  return failure === undefined ? null : { problem: null, reasons: [], looksLike: null, error: failure };
}

/** What a flow has failed with of which no error is known: it has not answered well. */
function answerError({ status, replayOf }: Delivery): string {
  if (status !== undefined) return statusError(status);
  // Nobody waits for the answer to a replay who might have gone.
  return replayOf === undefined ? gone : lateAnswer;
}

/** As text where it is some, by its bytes where it is not. */
function shownBody({ delivery: { size }, body }: Kept): ShownBody {
  const isCut = body.length > mostShown;
  const shown = body.subarray(0, mostShown);
  const truncated = isCut || (body.length === 0 && size > 0);
  const text = textOf(shown, isCut);
  return text === undefined
    ? { encoding: "base64", data: shown.toString("base64"), truncated }
    : { encoding: "utf8", data: text, truncated };
}

function answerOf({ problem, answer }: Delivery, { status, milliseconds }: Summary): ShownAnswer | null {
  if (status === null) return null;
  const said: Problem | undefined = Object.values(problems).find(({ name }) => name === problem);
  return { status, milliseconds, body: answer ?? (said?.status === status ? said.body : null) };
}
