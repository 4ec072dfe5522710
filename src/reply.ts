import type { IncomingMessage, ServerResponse } from "node:http";
import type { Problem } from "./problem";

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

/** A body that nobody reads is read on and thrown away up to this many bytes, to keep the connection. */
const mostToSkip = 64 * 1024;
/** How long a connection stays open for a caller that is still sending after its refusal, in ms. */
const lingerTime = 2000;

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
  if (giveUp) linger(request, response, body);
  else response.end(body);
}

function leavesTooMuch(request: IncomingMessage): boolean {
  const declared = request.headers["content-length"];
  const rest = declared ?? (request.headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return !request.complete && Number(rest) > mostToSkip;
}

/**
 * RFC 9112 §9.6: to close while the caller is still sending resets the connection, and the caller may never see
 * the reply. So the whole reply goes out first, and the connection stays until the caller is done or time is up.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.write(body);
  const timer = setTimeout(finish, lingerTime);
  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once("end", finish).once("close", finish).resume();
}
