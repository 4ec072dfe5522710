// What the node itself replies, and how that is sent.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Redactor } from "../auth/redactor";
import type { Sender } from "../auth/senders/sender";
import type { ReplyByFlow } from "../config/parse";
import { isWithoutContent, type ReplyNow } from "../config/parse";
import type { Delivery } from "../deliveries/delivery";
import type { FirstAnswer } from "../deliveries/duplicates";
import { shorten } from "../request/decode";
import type { Problem } from "../request/problem";

/** The rest of a body of at most this many bytes is read after a refusal, to keep the connection. */
const maxSkippedBytes = 64 * 1024;
/** How long a sender that is still sending may take to notice the reply before the rest is read, in ms. */
const noticeTimeMs = 500;
/** How long the rest of a body is read, which is thrown away, and how long its sender may pause, in ms. */
const drainTimeoutMs = 30_000;
const idleTimeoutMs = 2_000;

/** A whole reply, besides what every reply of the node itself has. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Left out where the status forbids one. */
  readonly body: string | Buffer;
}

/**
 * Sends a reply.
 *
 * @throws what a layer in front makes it throw
 */
export function sendReply(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Reply): void {
  // A layer that ends a response twice must not end the process.
  response.on("error", () => undefined);
  // RFC 9110 §8.6: a reply of status 204 has no length.
  const length = status === 204 ? {} : { "Content-Length": Buffer.byteLength(body) };
  const isLast = leavesMuch(request);
  const connection = isLast ? { Connection: "close" } : {};
  response.writeHead(status, { ...headers, ...length, "Cache-Control": "no-store", ...connection });
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
 * Tells a sender why its request is refused. Where a layer in front makes that fail, the connection ends.
 *
 * @param isEmpty whether the reply is to have no body, as some senders want it
 * @returns the error of such a layer
 */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Problem,
  isEmpty = false,
): unknown {
  // Something in front, such as a time limit, may have answered meanwhile.
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

/** Whether more of a body is still to come than is worth reading for the sake of the connection. */
function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers["content-length"] ?? (headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return Number(length) > maxSkippedBytes;
}

/**
 * RFC 9112 §9.6: to close a connection while its sender sends resets it, and the sender may never see the reply. Most
 * senders notice the reply and close by themselves; of the others, the rest is read and thrown away.
 */
function linger(request: IncomingMessage, end: () => void): void {
  const { socket } = request;
  // Of a connection that has gone, no event would come any more.
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
  { reply, sender }: { reply: ReplyNow | ReplyByFlow; sender: { readonly row: Sender } | undefined },
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
  // What the node itself says has no secret in it.
  if (typeof body === "string" && !redactor) return body === "" ? {} : { answer: shorten(body, maxNotedBytes) ?? "" };
  const read = (Buffer.isBuffer(body) ? body : Buffer.from(body)).subarray(0, 2 * maxNotedBytes);
  const redacted = redactor?.redactBytes(read) ?? read;
  // Where it is cut, the end may be a part of a secret.
  const isWhole = read.length < 2 * maxNotedBytes;
  const max = isWhole ? maxNotedBytes : Math.min(maxNotedBytes, redacted.length - maxNotedBytes);
  const answer = shorten(redacted, Math.max(0, max));
  return answer ? { answer } : {};
}
