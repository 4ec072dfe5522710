// The bytes of a body, under a limit, their content codings undone.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { getHeapStatistics } from "node:v8";
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from "node:zlib";
import { Interference, type Problem, problems } from "./problem";

/** How long a body may take to arrive, in ms. */
const bodyTimeoutMs = 30_000;
const firstBufferBytes = 16 * 1024;

/**
 * Reads the body of a request as it was sent.
 *
 * @param limit the most bytes it may have
 * @param budget what its bytes count against while it is read, where its sender is not verified
 * @throws {Interference} when something else has read of the body already
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  budget?: MemoryBudget,
): Promise<Buffer | Problem> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return problems.bodyTooLarge;
  if (request.readableDidRead) throw new Interference("bodyRead");
  // A layer in front that listens as well has set the stream flowing: nothing of it may be missed.
  if (request.readableFlowing === null) {
    // Most bodies come together with the head and are here by then: to listen for them costs more than to wait.
    if (!request.complete) await new Promise(setImmediate);
    if (request.destroyed) return problems.bodyIncomplete;
    if (request.complete) return readAvailable(request, limit);
  }
  if (request.readableEnded) return Buffer.alloc(0);
  return request.destroyed ? problems.bodyIncomplete : collect(request, limit, budget);
}

function readAvailable(request: IncomingMessage, limit: number): Buffer | Problem {
  // From Node 26 on, each call gives one of the chunks that have come, not all of them.
  const chunks: Buffer[] = [];
  for (let chunk: unknown = request.read(); Buffer.isBuffer(chunk); chunk = request.read()) chunks.push(chunk);
  const [only] = chunks;
  const bytes = only && chunks.length === 1 ? only : Buffer.concat(chunks);
  return bytes.length > limit ? problems.bodyTooLarge : bytes;
}

/** Collects what comes in one growing buffer: many small chunks take no more memory than a few large ones. */
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
      // An upload that breaks off emits an error as well, but not where nobody listens for it.
      const onClose = () => settle(problems.bodyIncomplete);
      request.on("data", onData).once("end", onEnd).once("close", onClose);
    });
    return problem ?? buffer.subarray(0, length);
  } finally {
    budget?.release(counted);
  }
}

type Decompress = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

/** RFC 9110 §8.4.1: the content codings, and the alias of gzip that recipients should know. */
const decompressors = new Map<string, Decompress>([
  ["gzip", promisify<InputType, ZlibOptions, Buffer>(gunzip)],
  ["x-gzip", promisify<InputType, ZlibOptions, Buffer>(gunzip)],
  ["deflate", promisify<InputType, ZlibOptions, Buffer>(inflate)],
  ["br", promisify<InputType, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** More codings than this on one body are taken for an attack: each costs an inflation of up to the limit. */
export const maxCodings = 3;

/** How many bodies are unpacked at once: they share the threads, and each may take as much memory as the limit. */
const maxUnpacking = 2;
let unpacking = 0;
const waiting: (() => void)[] = [];

/**
 * Undoes the content codings of a body, the last one first (RFC 9110 §8.4).
 *
 * @param contentEncoding the field as it came: codings in the order they were applied
 * @param limit the most bytes the body may have after each step
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

/** The codings that have to be undone, the one first that was applied last. */
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

// The memory that bodies may take before they are a message: of strangers, of what waits, of what is unpacked.

const defaultBytes = 64 * 1024 * 1024;

/** Counts bytes against a bound. */
class MemoryBudget {
  /** In bytes. */
  max = Math.min(defaultBytes, Math.floor(getHeapStatistics().heap_size_limit / 8));
  #used = 0;

  get used(): number {
    return this.#used;
  }

  /** @returns whether there was room for so many bytes */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** It is one process whose memory they share. */
export const memoryBudget = new MemoryBudget();
