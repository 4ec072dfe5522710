// What a flow answers, kept for those whose delivery is the same.

import type { ServerResponse } from "node:http";
import { type FirstAnswer, longestAnswer } from "../deliveries/repeats";

/** The fields that an answer is not understood without (RFC 9110 §8). */
const kept = ["Content-Type", "Content-Encoding", "Content-Language", "Location"];

/** Keeps an answer as the flow gives it: before anything in front changes it on its way out. */
export class Recording {
  #chunks: Buffer[] | undefined = [];
  #length = 0;
  #head: Pick<FirstAnswer, "status" | "fields"> | undefined;

  /**
   * Looks at what is about to be sent: a part of the body, as `write` and `end` of a response take it.
   *
   * @returns what takes it, once it is sent: what cannot be sent is no answer, and another may come in its place
   */
  of(response: ServerResponse, chunk: unknown, encoding: unknown): () => void {
    const head = this.#head ?? headOf(response);
    return () => {
      this.#head = head;
      this.#length += lengthOf(chunk, encoding);
      if (this.#length > longestAnswer) this.#chunks = undefined;
      this.#chunks?.push(bytesOf(chunk, encoding));
    };
  }

  /** What the flow has answered; nothing when that is nothing. */
  get answer(): FirstAnswer | undefined {
    return this.#head && { ...this.#head, body: this.#chunks && Buffer.concat(this.#chunks) };
  }
}

function headOf(response: ServerResponse): Pick<FirstAnswer, "status" | "fields"> {
  const fields = kept.flatMap((name) => {
    const value = response.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status: response.statusCode, fields: Object.fromEntries(fields) };
}

/** Told before a copy is made of what may be too long to be kept. */
function lengthOf(chunk: unknown, encoding: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength;
  return typeof chunk === "string" ? Buffer.byteLength(chunk, encodingOf(encoding)) : 0;
}

/** A copy: the flow may change its Buffer when that is sent. */
function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk);
  return typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.alloc(0);
}

/** The encoding is left out where there is a function in its place, which is called when the part is sent. */
function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
