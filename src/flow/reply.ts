// Replies of the node itself.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Redactor } from "../auth/redactor";
import type { Sender } from "../auth/senders/sender";
import type { ReplyByFlow, ReplyNow } from "../config/parse";
import { isWithoutContent } from "../config/values";
import type { Delivery } from "../deliveries/delivery";
import type { FirstReply } from "../deliveries/queue";
import { shorten } from "../request/decode";
import type { Problem } from "../request/problem";

/** After a refusal, at most so many bytes of the body are read to keep the connection. */
const maxSkippedBytes = 64 * 1024;
/** How long a sender that is still sending may take to notice the reply, in ms. */
const noticeTimeMs = 500;
/** How long the rest of a body is read and discarded, and how long the sender may pause, in ms. */
const drainTimeoutMs = 30_000;
const idleTimeoutMs = 2_000;

/** A reply, without the fields that every reply of the node has. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Left out where the status forbids a body. */
  readonly body: string | Buffer;
}

const ignore = () => undefined;

/** @throws what a middleware in front makes it throw */
export function sendReply(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Reply): void {
  // A middleware that ends a response twice must not end the process.
  response.on("error", ignore);
  const fields: OutgoingHttpHeaders = { ...headers, "Cache-Control": "no-store" };
  // RFC 9110 §8.6: a reply of status 204 has no length.
  if (status !== 204) fields["Content-Length"] = Buffer.byteLength(body);
  const isLast = leavesMuch(request);
  if (isLast) fields.Connection = "close";
  response.writeHead(status, fields);
  const content = body.length === 0 ? undefined : body;
  if (request.complete || (response.shouldKeepAlive && !isLast) || !response.socket) {
    response.end(content);
    if (!request.complete) request.resume();
    return;
  }
  if (content) response.write(content);
  linger(request, () => response.end());
}

/**
 * Sends a problem. Where a middleware in front makes that fail, the connection is closed.
 *
 * @param isEmpty some senders want a refusal without a body
 * @returns the error of that middleware
 */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Problem,
  isEmpty = false,
): unknown {
  // A time limit in front may have replied.
  if (response.headersSent) return undefined;
  const type = { "Content-Type": "application/problem+json" };
  try {
    sendReply(request, response, isEmpty ? { status, headers, body: "" } : { status, headers: { ...headers, ...type }, body }); // prettier-ignore
    return undefined;
  } catch (error) {
    request.socket.destroy();
    return error;
  }
}

/** Whether more of the body is to come than is worth reading to keep the connection. */
function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers["content-length"] ?? (headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return Number(length) > maxSkippedBytes;
}

/**
 * RFC 9112 §9.6: closing a connection while the sender is sending resets it, and the reply may be lost. Most senders
 * notice the reply and close; for the others, the rest is read and discarded.
 */
function linger(request: IncomingMessage, end: () => void): void {
  const { socket } = request;
  // It emits no more events.
  if (socket.destroyed) return end();
  socket.pause();
  let timer = setTimeout(() => {
    timer = setTimeout(finish, drainTimeoutMs);
    request.resume();
    socket.resume();
    socket.setTimeout(idleTimeoutMs, finish);
  }, noticeTimeMs);
  const finish = () => {
    clearTimeout(timer);
    end();
  };
  request.once("end", finish);
  socket.once("close", finish);
}

/** How many bytes of a reply's body are recorded. */
export const maxNotedBytes = 1024;

/** Test requests get this reply, whatever is configured. */
const toTestRequests: ReplyNow = { by: "now", status: 200, body: "", type: "" };

interface ReplySettings {
  readonly config: { readonly reply: ReplyNow | ReplyByFlow };
  readonly sender: { readonly row: Sender } | undefined;
}

/** The success reply: a configured status and body first, then what the sender expects, then our own JSON. */
export function composeSuccess(
  { config: { reply }, sender }: ReplySettings,
  isTest: boolean,
  ours: { status: "accepted" | "duplicate"; id: string } | { status: "filtered" },
): Reply {
  const isByNode = reply.by === "now" && !isTest;
  const { status, body, type } = isByNode ? reply : toTestRequests;
  const emptyStatus = isByNode ? sender?.row.emptyReply?.status : undefined;
  if (isWithoutContent(status)) return { status, headers: {}, body: "" };
  if (body !== "") return { status, headers: { "Content-Type": type }, body };
  if (emptyStatus !== undefined) return { status: status === 200 ? emptyStatus : status, headers: {}, body: "" };
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(ours) };
}

/** The flow's reply to the first delivery, for a duplicate. Where the body was not kept, only its location. */
export function composeEarlier({ status, fields: { Location, ...content }, body }: FirstReply): Reply {
  const headers = { ...(body && content), ...(Location !== undefined && { Location }) };
  return { status, headers, body: body ?? Buffer.alloc(0) };
}

/**
 * The beginning of a reply's body for the list of deliveries; empty where it is no text.
 *
 * @param redactor for a reply by the flow
 */
export function noteReply(body: string | Buffer, redactor?: Pick<Redactor, "redactBytes">): Pick<Delivery, "answer"> {
  // The node's own replies contain no secret.
  if (typeof body === "string" && !redactor) return body === "" ? {} : { answer: shorten(body, maxNotedBytes) ?? "" };
  const read = (Buffer.isBuffer(body) ? body : Buffer.from(body)).subarray(0, 2 * maxNotedBytes);
  const redacted = redactor?.redactBytes(read) ?? read;
  // A cut text may end in a part of a secret.
  const isWhole = read.length < 2 * maxNotedBytes;
  const max = isWhole ? maxNotedBytes : Math.min(maxNotedBytes, redacted.length - maxNotedBytes);
  const answer = shorten(redacted, Math.max(0, max));
  return answer ? { answer } : {};
}
