// What a sender is told whose delivery was accepted.

import { isWithoutContent, type ReplyNow } from "../config/handling";
import type { Delivery } from "../deliveries/delivery";
import type { FirstAnswer } from "../deliveries/repeats";
import type { Endpoint } from "../endpoint";
import { beginningOf } from "../request/text";
import type { Redactor } from "../trust/redactor";
import type { Reply } from "./respond";

/** How much of a reply's body is noted for the list of deliveries, in bytes. */
export const maxNotedBytes = 1024;

/** What the editor expects of the reply to its test requests, whatever the sender wants. */
const toTestRequests: ReplyNow = { by: "now", status: 200, body: "", type: "" };

/**
 * What the node itself replies. A status and a body that the user has set go before what the sender wants, and that goes
 * before our own.
 *
 * @param ours what a reply of our own says
 */
export function composeSuccess(
  { reply, sender }: Pick<Endpoint, "reply" | "sender">,
  isTest: boolean,
  ours: { status: "accepted" | "duplicate"; id: string },
): Reply {
  const isByNode = reply.by === "now" && !isTest;
  const { status, body, type } = isByNode ? reply : toTestRequests;
  const emptyStatus = isByNode ? sender?.row.emptyReply?.status : undefined;
  if (isWithoutContent(status)) return { status, headers: {}, body: "" };
  if (body !== "") return { status, headers: { "Content-Type": type }, body };
  if (emptyStatus !== undefined) return { status: status === 200 ? emptyStatus : status, headers: {}, body: "" };
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(ours) };
}

/** What the flow replied to the delivery that came first. Of a body that was not kept, only its place is told. */
export function composeEarlier({ status, fields: { Location, ...content }, body }: FirstAnswer): Reply {
  const headers = { ...(body && content), ...(Location !== undefined && { Location }) };
  return { status, headers, body: body ?? Buffer.alloc(0) };
}

/**
 * The beginning of a reply's body for the list of deliveries; nothing where it is empty, or is no text.
 *
 * @param redactor takes the endpoint's secrets out of what a flow has said
 */
export function noteAnswer(body: string | Buffer, redactor?: Pick<Redactor, "redactBytes">): Pick<Delivery, "answer"> {
  const read = (Buffer.isBuffer(body) ? body : Buffer.from(body)).subarray(0, 2 * maxNotedBytes);
  const redacted = redactor?.redactBytes(read) ?? read;
  // Where it is cut, the end may be a part of a secret.
  const isWhole = read.length < 2 * maxNotedBytes;
  const max = isWhole ? maxNotedBytes : Math.min(maxNotedBytes, redacted.length - maxNotedBytes);
  const answer = beginningOf(redacted, Math.max(0, max));
  return answer ? { answer } : {};
}
