// Deliveries as the editor shows them.

import { redactHeaders, redactQuery } from "../auth/redactor";
import { type Delivery, type Pause, readText, type State, type StoredDelivery } from "../deliveries/delivery";
import { redactStored } from "../deliveries/record";
import { findFailure, maxShownBytes } from "../deliveries/states";
import { decodeIfText } from "../request/decode";
import { type Problem, problems } from "../request/problem";
import { toObject } from "../request/head";
import {
  type DeliveryReason,
  type Detail,
  explain,
  type ShownReply,
  type ShownBody,
  type Summary,
  type Translate,
} from "./summary";

interface SummaryOptions {
  /** In the language of the runtime. */
  readonly translate: Translate;
  /** Nothing where the node is not paused. */
  readonly paused: (node: string) => Pause | undefined;
}

/** Their flow may be started again, by itself or by a replay. */
const unsettled: readonly State[] = ["queued", "retrying", "failed"];

export function summarize(delivery: Delivery, { translate, paused }: SummaryOptions): Summary {
  const { id, node, at, state, status = null, head, webhook, size, milliseconds = null, attempt } = delivery;
  const { words = null, maxAttempts = null, nextAt = null, replayOf = null, replayedBy = null, duplicateOf = null, why = null, isTest = false } = delivery; // prettier-ignore
  const cause = explainState(delivery);
  const pause = (unsettled.includes(state) && paused(node)) || null;
  const { reason = null, fix = null } = explain({ cause, why, status, state, pause }, translate) ?? {};
  return {
    ...{ id, node: node === "" ? null : node, at, state, status },
    ...{ reason, fix, why },
    ...{ method: head.method, path: head.path, ip: head.ip },
    sender: webhook?.sender ?? null,
    caller: readText(delivery, "caller") ?? null,
    event: readText(delivery, "event") ?? null,
    senderId: readText(delivery, "id") ?? null,
    ...{ size, milliseconds: milliseconds === null ? null : Number(milliseconds.toFixed(3)), attempt },
    ...{ words, maxAttempts, nextAt, pause, replayOf, replayedBy, duplicateOf, isTest, cause },
  };
}

export async function describeDelivery(stored: StoredDelivery, means: SummaryOptions): Promise<Detail> {
  const { delivery, attempts } = stored;
  const summary = summarize(delivery, means);
  const shown = await redactStored(stored);
  const { head } = shown.delivery;
  return {
    ...summary,
    headers: redactHeaders(head.headers),
    query: redactQuery(toObject(new URLSearchParams(head.search))),
    body: showBody(delivery, shown.body),
    isJson: delivery.isJson ?? false,
    answer: decodeReply(delivery, summary),
    // The first attempt is stored when it has ended.
    attempts: attempts.length > 0 || delivery.attempt === 0 ? attempts : [{ at: delivery.at }],
  };
}

function explainState(delivery: Delivery): DeliveryReason | null {
  const { state, reasons = [], looksLike = null, error } = delivery;
  if (state === "refused") {
    // It was accepted, but the reply failed.
    const problem = delivery.problem ?? problems.unforeseen.name;
    return { problem, reasons, looksLike, error: error ?? null };
  }
  // Earlier failures are shown with the attempts.
  if (state === "succeeded") return null;
  const failure = error ?? findFailure(delivery);
  return failure === undefined ? null : { problem: null, reasons: [], looksLike: null, error: failure };
}

function showBody({ size }: Delivery, body: Buffer): ShownBody {
  const isCut = body.length > maxShownBytes;
  const shown = body.subarray(0, maxShownBytes);
  const truncated = isCut || (body.length === 0 && size > 0);
  const text = decodeIfText(shown, isCut);
  return text === undefined
    ? { encoding: "base64", data: shown.toString("base64"), truncated }
    : { encoding: "utf8", data: text, truncated };
}

function decodeReply({ problem, answer }: Delivery, { status, milliseconds }: Summary): ShownReply | null {
  if (status === null) return null;
  const said: Problem | undefined = Object.values(problems).find(({ name }) => name === problem);
  return { status, milliseconds, body: answer ?? (said?.status === status ? said.body : null) };
}
