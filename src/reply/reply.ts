// What is said. Layers in front may have replaced any method of a response; nothing that they do gets past this file.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Interference, type Problem, problems } from "../problem";
import type { Answer } from "../trust/answer";
import type { Said } from "./acceptance";
import { Lingering } from "./lingering";
import { markAsOurs } from "./ours";

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

/** How a request is refused. */
export interface Manner {
  /** Whether the connection is to end whatever is left of the body. */
  close?: boolean;
  /** Whether the reply is to have no body, as a sender wants it. */
  isEmpty?: boolean;
}

/** A body of at most this many bytes is read and thrown away after a refusal, to keep the connection. */
const mostToSkip = 64 * 1024;

/** The callers of the whole process: it is its memory that they would fill. */
const lingering = new Lingering();

/**
 * Prepares to tell the caller that its delivery is known. What a layer does to the head of a reply fails here, when there
 * is no message yet.
 *
 * @throws what a layer makes it throw
 */
export function prepareReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Said,
): Prepared {
  // Something in front of Node-RED's nodes, such as a time limit, may have answered already.
  if (response.headersSent) throw new Interference("answered");
  compose(request, response, status, { ...headers, ...lengthOf(body, status), "Cache-Control": "no-store" });
  // Layers may take an empty body for one.
  const content = body.length === 0 ? undefined : body;
  return { contentLength: Buffer.byteLength(body), send: () => end(request, response, content) };
}

/**
 * Tells the caller why its request was refused; when that fails, that something went wrong; and when that fails too,
 * nothing: the connection ends. Never throws.
 *
 * @returns what it was told
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  manner: Manner = {},
): Refusal {
  if (response.headersSent) return { problem };
  try {
    sendProblem(request, response, problem, manner);
    return { problem };
  } catch (cause) {
    giveUp(request, response);
    return { problem: problems.unforeseen, cause };
  }
}

/**
 * Answers a request that starts no flow.
 *
 * @throws what a layer makes it throw
 */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
  close = false,
): void {
  if (response.headersSent) throw new Interference("answered");
  send(request, response, { status, headers, body }, close);
}

/** Ends the connection of a caller that nothing true can be told any more. */
export function abandon({ socket }: IncomingMessage): void {
  socket.destroy();
}

/** Says without what a layer has put into the head that something went wrong. */
function giveUp(request: IncomingMessage, response: ServerResponse): void {
  try {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    sendProblem(request, response, problems.unforeseen, { close: true });
  } catch {
    abandon(request);
  }
}

function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Problem,
  { close = false, isEmpty = false }: Manner,
): void {
  const type = { "Content-Type": "application/problem+json" };
  const said = isEmpty ? { status, headers, body: "" } : { status, headers: { ...headers, ...type }, body };
  send(request, response, said, close);
}

/** Sends a whole reply to a request whose body nobody needs any more. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Pick<Answer, "status" | "headers" | "body">,
  close: boolean,
): void {
  const ends = close || leavesTooMuch(request);
  const connection = ends ? { Connection: "close" } : {};
  const fields = { ...headers, ...lengthOf(body, status), "Cache-Control": "no-store", ...connection };
  compose(request, response, status, fields);
  if (!ends || request.complete) return end(request, response, body);
  response.write(body);
  lingering.stay(request, response, () => {
    try {
      end(request, response);
    } catch {
      abandon(request);
    }
  });
}

/** RFC 9110 §8.6: a reply of status 204 has no length. */
function lengthOf(body: string | Buffer, status: number): { "Content-Length"?: number } {
  return status === 204 ? {} : { "Content-Length": Buffer.byteLength(body) };
}

/** Composes the head of a reply. Nothing of it is sent before the body is. */
function compose(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  fields: Readonly<Record<string, string | number>>,
): void {
  if (status >= 400) markAsOurs(response);
  // A layer may end a response twice; without a listener, that error would end the process.
  response.on("error", () => undefined);
  watch(response.writeHead(status, fields), request, response);
  // Layers may do something else when the head is written: answer, or nothing at all yet.
  if (!response.headersSent || response.writableEnded) throw new Interference("answered");
}

function end(request: IncomingMessage, response: ServerResponse, body?: string | Buffer): void {
  watch(response.end(body), request, response);
}

/** What a layer has made asynchronous may fail later: then the connection ends, and not the process. */
export function watch(result: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (result !== response) Promise.resolve(result).catch(() => abandon(request));
}

/** Whether a body that is not all here yet is larger than is worth reading for the sake of the connection. */
function leavesTooMuch(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  const length = declared ?? (request.headers["transfer-encoding"] === undefined ? 0 : Infinity);
  return Number(length) > mostToSkip;
}
