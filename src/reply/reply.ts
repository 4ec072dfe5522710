import type { IncomingMessage, ServerResponse } from "node:http";
import type { Problem } from "../problem";

/**
 * Tells the caller that its request started the flow.
 *
 * @returns the length of the reply's body, in bytes
 */
export function accept(request: IncomingMessage, response: ServerResponse, id: string): number {
  const body = JSON.stringify({ status: "accepted", id });
  send(request, response, 200, { "Content-Type": "application/json" }, body);
  return Buffer.byteLength(body);
}

/** Tells the caller why its request was refused. */
export function refuse(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  const headers = { ...problem.headers, "Content-Type": "application/problem+json" };
  send(request, response, problem.status, headers, problem.body);
}

/** A body of at most this many bytes is read and thrown away after a refusal, to keep the connection. */
const mostToSkip = 64 * 1024;
/** How long a caller that is still sending may take to notice its refusal before we read on, in ms. */
const noticeTime = 500;
/** How long a caller may stop sending before the connection is closed, in ms, and how long it may send in all. */
const idleTime = 2000;
const longestLinger = 30_000;
/** How many refused callers may go on sending at once: what they send fills the system's memory until it is read. */
const mostLingering = 100;
/** How much of refused bodies is read in a second, on all connections together, in bytes: a flood gets no more. */
const mostInVain = 64 * 1024 * 1024;

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  // Something in front of Node-RED's nodes, such as a time limit, may have answered already.
  if (response.headersSent) return;
  const giveUp = leavesTooMuch(request);
  response.writeHead(status, {
    ...headers,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    ...(giveUp && { Connection: "close" }),
  });
  // To read on costs much more than the refusal.
  if (giveUp) request.socket.pause();
  // A caller that has gone needs no time, and its connection would not tell again that it is closed.
  if (giveUp && lingering < mostLingering && !request.socket.destroyed) linger(request, response, body);
  else response.end(body);
}

/** Whether a body that is not all here yet is larger than is worth reading for the sake of the connection. */
function leavesTooMuch(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  const length = declared ?? (request.headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return Number(length) > mostToSkip;
}

/**
 * RFC 9112 §9.6: to close while the caller is still sending resets the connection, and the caller may never see the
 * reply. So the whole reply goes out first. Most callers notice it and close by themselves; for those that send all
 * before they read, the rest is read and thrown away, as long as it keeps coming. A flood of them gets less of that.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string): void {
  lingering++;
  response.write(body);
  const deadline = performance.now() + longestLinger;
  let timer = setTimeout(readOn, noticeTime);
  function readOn(): void {
    timer = setTimeout(finish, idleTime);
    request.on("data", ({ length }: Buffer) => {
      if (performance.now() < deadline && mayReadInVain(length)) timer.refresh();
      else request.socket.destroy();
    });
    request.resume();
    request.socket.resume();
  }
  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once("end", finish);
  // The request itself does not tell when the connection closes after the reply.
  request.socket.once("close", () => {
    lingering--;
    finish();
  });
}

let lingering = 0;
let allowance = { until: -Infinity, left: 0 };

/** Whether so many bytes more may be read in vain in this second. */
function mayReadInVain(bytes: number): boolean {
  const now = performance.now();
  if (now >= allowance.until) allowance = { until: now + 1000, left: mostInVain };
  allowance.left -= bytes;
  return allowance.left >= 0;
}
