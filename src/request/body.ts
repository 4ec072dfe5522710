// Reads and unpacks bodies within limits.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import {
  brotliDecompress,
  brotliDecompressSync,
  gunzip,
  gunzipSync,
  inflate,
  inflateSync,
  type InputType,
  type ZlibOptions,
} from "node:zlib";
import { bodyMemory, maxSmallBytes, type MemoryLease } from "./memory";
import { ReasonError, type Problem, problems } from "./problem";

/** How long a body may pause. Node's `requestTimeout` bounds how long it may take in all: 300 s unless set. */
export const maxPauseMs = 30_000;
/** The first buffer, unless more has come. */
const firstBufferBytes = 4 * 1024;

/**
 * Reads the body of a request as sent.
 *
 * @param limit in bytes
 * @param lease the memory of an unverified sender
 * @throws {ReasonError} when something else has read a part of it
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  lease?: MemoryLease,
): Promise<Buffer | Problem> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return problems.bodyTooLarge;
  if (request.readableDidRead) throw new ReasonError("bodyRead");
  // Middleware that listens as well has set the stream flowing.
  if (request.readableFlowing === null) {
    // Most bodies have arrived with the head: waiting one turn costs less than listening. What Node.js refuses behind the
    // body, because its length was wrong, has then ended the connection: with 400, no flow starts.
    if (!request.complete) await new Promise(setImmediate);
    if (request.destroyed) return problems.bodyIncomplete;
    if (request.complete) return readAvailable(request, limit);
  }
  if (request.readableEnded) return Buffer.alloc(0);
  return request.destroyed ? problems.bodyIncomplete : collect(request, limit, lease);
}

function readAvailable(request: IncomingMessage, limit: number): Buffer | Problem {
  // From Node 26 on, each call returns one chunk.
  const chunks: Buffer[] = [];
  for (let chunk: unknown = request.read(); Buffer.isBuffer(chunk); chunk = request.read()) chunks.push(chunk);
  const [only] = chunks;
  const bytes = only && chunks.length === 1 ? only : Buffer.concat(chunks);
  return bytes.length > limit ? problems.bodyTooLarge : bytes;
}

/**
 * Collects chunks in one growing buffer: many small chunks take no more memory than a few large ones, and a body that
 * has not begun takes none.
 */
function collect(request: IncomingMessage, limit: number, lease?: MemoryLease): Promise<Buffer | Problem> {
  const declared = request.headers["content-length"];
  const end = declared === undefined ? limit : Number(declared);
  let buffer = Buffer.alloc(0);
  let length = 0;
  /** @returns whether there is memory for so many bytes */
  const grow = (needed: number): boolean => {
    const doubled = Math.max(2 * buffer.length, firstBufferBytes);
    const next = declared !== undefined && doubled > maxSmallBytes ? end : doubled;
    const size = Math.min(end, Math.max(needed, next));
    // While the bytes of a large body are copied, both buffers are there.
    if (lease?.resize(size > maxSmallBytes ? buffer.length + size : size) === false) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
    lease?.resize(size);
    return true;
  };
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (problem?: Problem) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      lease?.release();
      resolve(problem ?? buffer.subarray(0, length));
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => settle(problems.bodyLate), maxPauseMs);
    };
    const onData = (chunk: Buffer) => {
      const needed = length + chunk.length;
      if (needed > limit) return settle(problems.bodyTooLarge);
      if (needed > buffer.length && !grow(needed)) return settle(problems.memoryFull);
      length += chunk.copy(buffer, length);
      wait();
    };
    const onEnd = () => settle();
    // A broken upload emits an error only where there is a listener.
    const onClose = () => settle(problems.bodyIncomplete);
    wait();
    request.on("data", onData).once("end", onEnd).once("close", onClose);
  });
}

interface Unpacked {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** Their types do not know the result that `info` asks for. */
type Decompress<Result> = (packed: InputType, options: ZlibOptions) => Result;
type ContentCoding = readonly [undo: Decompress<Promise<unknown>>, undoSync: Decompress<unknown>];

const gzip: ContentCoding = [promisify<InputType, ZlibOptions, unknown>(gunzip), gunzipSync];

/** RFC 9110 §8.4.1: what undoes the content codings, and the alias of gzip. */
const contentCodings = new Map<string, ContentCoding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", [promisify<InputType, ZlibOptions, unknown>(inflate), inflateSync]],
  ["br", [promisify<InputType, ZlibOptions, unknown>(brotliDecompress), brotliDecompressSync]],
]);

/**
 * Node.js ignores bytes behind the end of what is compressed: another text could be put in front of what was signed.
 *
 * @param unpacked with `info`
 * @throws where there are such bytes
 */
function takeWhole(unpacked: unknown, packed: Buffer): Buffer {
  const { buffer, engine } = unpacked as Unpacked;
  if (engine.bytesWritten !== packed.length) throw new Error("There are bytes behind the end.");
  return buffer;
}

/** More codings are taken for an attack: each costs an inflation up to the limit. */
const maxCodings = 3;

/** How many bodies are unpacked at once, since they share the threads and the memory. */
const maxUnpacking = 2;
let unpacking = 0;
const waiting: (() => void)[] = [];

/**
 * Undoes the content codings of a body, the last one first (RFC 9110 §8.4).
 *
 * @param contentEncoding the header field: codings in the order they were applied
 * @param limit in bytes, after each step
 * @param network of its verified sender; missing: it is not counted
 */
export async function decodeContent(
  bytes: Buffer,
  contentEncoding: string,
  limit: number,
  network: string | undefined,
): Promise<Buffer | Problem> {
  const codings = parseCodings(contentEncoding);
  if (!codings) return problems.codingUnknown;
  const undo = () => undoInTurn(codings, bytes, limit);
  if (network === undefined) return undo();
  return (await bodyMemory.verified.hold(network, bytes.length, undo)) ?? problems.memoryFull;
}

async function undoInTurn(codings: readonly ContentCoding[], bytes: Buffer, limit: number): Promise<Buffer | Problem> {
  try {
    if (unpacking >= maxUnpacking) await new Promise<void>((resolve) => waiting.push(resolve));
    else unpacking++;
    const options = { maxOutputLength: limit, info: true };
    let content = bytes;
    for (const [undo] of codings) {
      if (content.length > 0) content = takeWhole(await undo(content, options), content);
    }
    return content;
  } catch (error) {
    return toProblem(error);
  } finally {
    const next = waiting.shift();
    if (next) setImmediate(next);
    else unpacking--;
  }
}

/** The same at once, for middleware that reads the body. */
export function decodeContentSync(bytes: Buffer, contentEncoding: string, limit: number): Buffer | Problem {
  const undo = (content: Buffer, [, undoSync]: ContentCoding) =>
    content.length > 0 ? takeWhole(undoSync(content, { maxOutputLength: limit, info: true }), content) : content;
  try {
    return parseCodings(contentEncoding)?.reduce(undo, bytes) ?? problems.codingUnknown;
  } catch (error) {
    return toProblem(error);
  }
}

/**
 * The codings in the order in which they are undone.
 *
 * @returns nothing where one is unknown, or there are too many
 */
function parseCodings(contentEncoding: string): ContentCoding[] | undefined {
  const names = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  const applied = names.filter((coding) => coding !== "" && coding !== "identity");
  const codings = applied.map((coding) => contentCodings.get(coding)).filter((coding) => coding !== undefined);
  return codings.length === applied.length && applied.length <= maxCodings ? codings.reverse() : undefined;
}

function toProblem(error: unknown): Problem {
  const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
  return isTooLarge ? problems.bodyTooLarge : problems.codingBroken;
}
