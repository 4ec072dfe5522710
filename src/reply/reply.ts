// What is said. Layers in front may have replaced any method of a response; nothing that they do gets past this file.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Interference, type Problem, problems } from "../problem";
import { Lingering } from "./lingering";

/** What a caller was told of its refusal. */
export interface Refusal {
  problem: Problem;
  /** Why it is not the problem that it should have been. */
  cause?: unknown;
}

/** A reply whose head is composed, and of which nothing is sent yet. */
export interface Prepared {
  /** The length of its body, in bytes. */
  contentLength: number;
  send(): void;
}

/** A body of at most this many bytes is read and thrown away after a refusal, to keep the connection. */
const mostToSkip = 64 * 1024;

/** The callers of the whole process: it is its memory that they would fill. */
const lingering = new Lingering();

/**
 * Prepares to tell the caller that its request started the flow. What a layer does to the head of a reply fails here,
 * when there is no message yet.
 *
 * @throws what a layer makes it throw
 */
export function prepareAcceptance(request: IncomingMessage, response: ServerResponse, id: string): Prepared {
  // Something in front of Node-RED's nodes, such as a time limit, may have answered already.
  if (response.headersSent) throw new Interference("answered");
  const body = JSON.stringify({ status: "accepted", id });
  return prepare(request, response, 200, { "Content-Type": "application/json" }, body, false);
}

/**
 * Tells the caller why its request was refused; when that fails, that something went wrong; and when that fails too,
 * nothing: the connection ends. Never throws.
 *
 * @param close whether the connection is to end whatever is left of the body
 * @returns what it was told
 */
export function refuse(request: IncomingMessage, response: ServerResponse, problem: Problem, close = false): Refusal {
  if (response.headersSent) return { problem };
  try {
    prepareProblem(request, response, problem, close).send();
    return { problem };
  } catch (cause) {
    giveUp(request, response);
    return { problem: problems.unforeseen, cause };
  }
}

/** Ends the connection of a caller that nothing true can be told any more. */
export function abandon({ socket }: IncomingMessage): void {
  socket.destroy();
}

/** Says without what a layer has put into the head that something went wrong. */
function giveUp(request: IncomingMessage, response: ServerResponse): void {
  try {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    prepareProblem(request, response, problems.unforeseen, true).send();
  } catch {
    abandon(request);
  }
}

function prepareProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  close: boolean,
): Prepared {
  const headers = { ...problem.headers, "Content-Type": "application/problem+json" };
  return prepare(request, response, problem.status, headers, problem.body, close || leavesTooMuch(request));
}

function prepare(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  close: boolean,
): Prepared {
  const contentLength = Buffer.byteLength(body);
  const fields = { ...headers, "Content-Length": contentLength, "Cache-Control": "no-store" };
  // A layer may end a response twice; without a listener, that error would end the process.
  response.on("error", () => undefined);
  watch(response.writeHead(status, close ? { ...fields, Connection: "close" } : fields), request, response);
  // Layers may do something else when the head is written: answer, or nothing at all yet.
  if (!response.headersSent || response.writableEnded) throw new Interference("answered");
  return {
    contentLength,
    send: () => {
      if (!close || request.complete) watch(response.end(body), request, response);
      else {
        response.write(body);
        lingering.stay(request, response, () => end(request, response));
      }
    },
  };
}

/** Ends a reply that is written. */
function end(request: IncomingMessage, response: ServerResponse): void {
  try {
    watch(response.end(), request, response);
  } catch {
    abandon(request);
  }
}

/** What a layer has made asynchronous may fail later: then the connection ends, and not the process. */
function watch(result: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (result !== response) Promise.resolve(result).catch(() => abandon(request));
}

/** Whether a body that is not all here yet is larger than is worth reading for the sake of the connection. */
function leavesTooMuch(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  const length = declared ?? (request.headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return Number(length) > mostToSkip;
}
