// The bytes of a body, under a limit, their content codings undone.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from "node:zlib";
import { Interference, type Problem, problems } from "../problem";
import { Pieces } from "./pieces";

/** How long a body may take to arrive, in ms. */
const longestRead = 30_000;

/** Takes a part of a body as it comes; what it answers ends the reading. */
type Take = (chunk: Buffer) => Problem | undefined;

/**
 * Reads the body of a request as it was sent.
 *
 * @param limit the most bytes it may have
 * @param onBegin called when there is nothing against reading it
 * @param take called with each part of it in turn
 * @throws {Interference} when something else has read of the body already
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  onBegin: () => void = () => undefined,
  take: Take = () => undefined,
): Promise<Buffer | Problem> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return problems.bodyTooLarge;
  if (request.readableDidRead) throw new Interference("bodyRead");
  onBegin();
  // What came together with the head is here by then, and most bodies did: to listen for more costs more than to wait.
  if (!request.complete) await new Promise(setImmediate);
  if (request.destroyed) return problems.bodyIncomplete;
  if (!request.complete) return readWhatComes(request, limit, take);
  // From Node 26 on, each call gives one of the chunks that have come, not all of them.
  const chunks: Buffer[] = [];
  for (let chunk: unknown = request.read(); Buffer.isBuffer(chunk); chunk = request.read()) chunks.push(chunk);
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  return take(bytes) ?? within(limit, bytes);
}

/** The bytes of a body, unless they are more than a limit. */
export function within(limit: number, bytes: Buffer): Buffer | Problem {
  return bytes.length > limit ? problems.bodyTooLarge : bytes;
}

async function readWhatComes(request: IncomingMessage, limit: number, take: Take): Promise<Buffer | Problem> {
  return new Promise((resolve) => {
    let pieces: Pieces | undefined = new Pieces(take);
    let length = 0;
    // What comes after a refusal is thrown away: nobody has it taken back who is not there any more.
    const settle = (result: Buffer | Problem) => {
      pieces = undefined;
      clearTimeout(timer);
      resolve(result);
    };
    const timer = setTimeout(() => settle(problems.bodyLate), longestRead);
    request.on("data", (chunk: Buffer) => {
      if (!pieces) return;
      length += chunk.length;
      const refusal = length > limit ? problems.bodyTooLarge : pieces.add(chunk);
      if (refusal) settle(refusal);
    });
    request.on("end", () => pieces && settle(pieces.whole()));
    // An upload that breaks off emits an error as well, but not where nobody listens for it.
    request.on("close", () => settle(problems.bodyIncomplete));
  });
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
const mostCodings = 3;

/** How many bodies are unpacked at once. */
const mostUnpacking = 2;

/**
 * Undoes the content codings of a body, the last one first (RFC 9110 §8.4).
 *
 * @param contentEncoding the field as it came: codings in the order they were applied
 * @param limit the most bytes the body may have after each step
 */
export async function decodeContent(bytes: Buffer, contentEncoding: string, limit: number): Promise<Buffer | Problem> {
  const codings = contentEncoding
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  const steps = codings.reverse().map((coding) => decompressors.get(coding));
  if (steps.length > mostCodings) return problems.codingUnknown;

  await unpacking.begin();
  try {
    return await undo(steps, bytes, limit);
  } finally {
    unpacking.end();
  }
}

async function undo(steps: (Decompress | undefined)[], bytes: Buffer, limit: number): Promise<Buffer | Problem> {
  let content = bytes;
  for (const decompress of steps) {
    if (!decompress) return problems.codingUnknown;
    if (content.length === 0) continue;
    try {
      content = await decompress(content, { maxOutputLength: limit });
    } catch (error) {
      return isTooLarge(error) ? problems.bodyTooLarge : problems.codingBroken;
    }
  }
  return content;
}

/** A turnstile for work that takes much memory: what many callers send at once is unpacked a few at a time. */
class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async begin(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    const next = this.#waiting.shift();
    if (next) setImmediate(next);
    else this.#free++;
  }
}

/** All callers share the threads that unpack. */
const unpacking = new Turnstile(mostUnpacking);

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
