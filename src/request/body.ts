// Reads and unpacks bodies within limits.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { getHeapStatistics } from "node:v8";
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from "node:zlib";
import { Interference, type Problem, problems } from "./problem";

/** How long a body may take to arrive. */
const bodyTimeoutMs = 30_000;
const firstBufferBytes = 16 * 1024;

/**
 * Reads the body of a request as sent.
 *
 * @param limit in bytes
 * @param budget counts the bytes of an unverified sender
 * @throws {Interference} when something else has read a part of it
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  budget?: MemoryBudget,
): Promise<Buffer | Problem> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return problems.bodyTooLarge;
  if (request.readableDidRead) throw new Interference("bodyRead");
  // Middleware that listens as well has set the stream flowing.
  if (request.readableFlowing === null) {
    // Most bodies have arrived with the head: waiting one turn costs less than listening.
    if (!request.complete) await new Promise(setImmediate);
    if (request.destroyed) return problems.bodyIncomplete;
    if (request.complete) return readAvailable(request, limit);
  }
  if (request.readableEnded) return Buffer.alloc(0);
  return request.destroyed ? problems.bodyIncomplete : collect(request, limit, budget);
}

function readAvailable(request: IncomingMessage, limit: number): Buffer | Problem {
  // From Node 26 on, each call returns one chunk.
  const chunks: Buffer[] = [];
  for (let chunk: unknown = request.read(); Buffer.isBuffer(chunk); chunk = request.read()) chunks.push(chunk);
  const [only] = chunks;
  const bytes = only && chunks.length === 1 ? only : Buffer.concat(chunks);
  return bytes.length > limit ? problems.bodyTooLarge : bytes;
}

/** Collects chunks in one growing buffer: many small chunks take no more memory than a few large ones. */
async function collect(
  request: IncomingMessage,
  limit: number,
  budget: MemoryBudget | undefined,
): Promise<Buffer | Problem> {
  let buffer = Buffer.allocUnsafeSlow(Math.min(limit, firstBufferBytes));
  let length = 0;
  let counted = 0;
  const append = (chunk: Buffer): Problem | undefined => {
    const needed = length + chunk.length;
    if (needed > limit) return problems.bodyTooLarge;
    if (budget && !budget.take(chunk.length)) return problems.memoryFull;
    counted += chunk.length;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(needed, 2 * buffer.length)));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    length += chunk.copy(buffer, length);
    return undefined;
  };
  try {
    const problem = await new Promise<Problem | undefined>((resolve) => {
      const timer = setTimeout(() => settle(problems.bodyLate), bodyTimeoutMs);
      const settle = (outcome: Problem | undefined) => {
        clearTimeout(timer);
        request.off("data", onData).off("end", onEnd).off("close", onClose);
        resolve(outcome);
      };
      const onData = (chunk: Buffer) => {
        const refusal = append(chunk);
        if (refusal) settle(refusal);
      };
      const onEnd = () => settle(undefined);
      // A broken upload emits an error only where there is a listener.
      const onClose = () => settle(problems.bodyIncomplete);
      request.on("data", onData).once("end", onEnd).once("close", onClose);
    });
    return problem ?? buffer.subarray(0, length);
  } finally {
    budget?.release(counted);
  }
}

type Decompress = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

/** RFC 9110 §8.4.1: the content codings, and the alias of gzip. */
const decompressors = new Map<string, Decompress>([
  ["gzip", promisify<InputType, ZlibOptions, Buffer>(gunzip)],
  ["x-gzip", promisify<InputType, ZlibOptions, Buffer>(gunzip)],
  ["deflate", promisify<InputType, ZlibOptions, Buffer>(inflate)],
  ["br", promisify<InputType, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** More codings are taken for an attack: each costs an inflation up to the limit. */
export const maxCodings = 3;

/** How many bodies are unpacked at once, since they share the threads and the memory. */
const maxUnpacking = 2;
let unpacking = 0;
const waiting: (() => void)[] = [];

/**
 * Undoes the content codings of a body, the last one first (RFC 9110 §8.4).
 *
 * @param contentEncoding the header field: codings in the order they were applied
 * @param limit in bytes, after each step
 */
export async function decodeContent(bytes: Buffer, contentEncoding: string, limit: number): Promise<Buffer | Problem> {
  const steps = parseCodings(contentEncoding).map((coding) => decompressors.get(coding));
  if (steps.length > maxCodings || steps.includes(undefined)) return problems.codingUnknown;
  if (!memoryBudget.take(bytes.length)) return problems.memoryFull;
  try {
    if (unpacking >= maxUnpacking) await new Promise<void>((resolve) => waiting.push(resolve));
    else unpacking++;
    return await undo(steps, bytes, limit);
  } finally {
    memoryBudget.release(bytes.length);
    const next = waiting.shift();
    if (next) setImmediate(next);
    else unpacking--;
  }
}

/** The codings in the order in which they are undone. */
export function parseCodings(contentEncoding: string): string[] {
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== "" && coding !== "identity").reverse();
}

async function undo(steps: (Decompress | undefined)[], bytes: Buffer, limit: number): Promise<Buffer | Problem> {
  let content = bytes;
  for (const decompress of steps) {
    if (!decompress || content.length === 0) continue;
    try {
      content = await decompress(content, { maxOutputLength: limit });
    } catch (error) {
      return isTooLarge(error) ? problems.bodyTooLarge : problems.codingBroken;
    }
  }
  return content;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

// The memory of bodies that are unverified, held or being unpacked.

const defaultBytes = 64 * 1024 * 1024;

class MemoryBudget {
  /** In bytes. */
  max = Math.min(defaultBytes, Math.floor(getHeapStatistics().heap_size_limit / 8));
  #used = 0;

  get used(): number {
    return this.#used;
  }

  /** @returns whether there was room */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Shared by the process. */
export const memoryBudget = new MemoryBudget();
