// What a flow answers, kept for those whose delivery is the same, and for whoever looks.

import type { ServerResponse } from "node:http";
import { types } from "node:util";
import { type FirstAnswer, longestAnswer } from "../deliveries/repeats";
import { mostRead } from "./acceptance";

/** The fields that an answer is not understood without (RFC 9110 §8). */
const kept = ["Content-Type", "Content-Encoding", "Content-Language", "Location"];

/** Keeps an answer as the flow gives it: before anything in front changes it on its way out. */
export class Recording {
  /** Whether others are to be told the same: they wait for it, whoever else has gone. */
  readonly isShared: boolean;
  readonly #most: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #hasBegun = false;
  #head: Pick<FirstAnswer, "status" | "fields"> | undefined;

  constructor(isShared: boolean) {
    this.isShared = isShared;
    this.#most = isShared ? longestAnswer : mostRead;
  }

  /**
   * Looks at what is about to be sent: a part of the body, as `write` and `end` of a response take it.
   *
   * @returns what takes it, once it is sent: what cannot be sent is no answer, and another may come in its place
   */
  of(response: ServerResponse, chunk: unknown, encoding: unknown): () => void {
    // Where nobody is told the same, nobody needs it.
    const head = this.isShared ? (this.#head ?? headOf(response)) : undefined;
    return () => {
      this.#head = head;
      this.#hasBegun = true;
      const room = this.#most - this.#length;
      if (room > 0) this.#chunks.push(bytesOf(chunk, encoding, room));
      this.#length += lengthOf(chunk, encoding);
    };
  }

  /** Whether some of it is sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** What the flow has answered; nothing when that is nothing. */
  get answer(): FirstAnswer | undefined {
    const isWhole = this.#length <= this.#most;
    return this.#head && { ...this.#head, body: isWhole ? Buffer.concat(this.#chunks) : undefined };
  }

  /** How its body begins: all that is to be read of it. */
  get beginning(): Buffer {
    const [first] = this.#chunks;
    // Most answers come in one part.
    return first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
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
  // Those of a function node may be of another realm.
  if (types.isUint8Array(chunk)) return chunk.byteLength;
  return typeof chunk === "string" ? Buffer.byteLength(chunk, encodingOf(encoding)) : 0;
}

/** A copy, of so many bytes at most: the flow may change its Buffer when that is sent. */
function bytesOf(chunk: unknown, encoding: unknown, most: number): Buffer {
  if (types.isUint8Array(chunk)) return Buffer.from(chunk.subarray(0, most));
  if (typeof chunk !== "string") return Buffer.alloc(0);
  const isTooLong = lengthOf(chunk, encoding) > most;
  // Two digits of hex are a byte; of all else, it takes fewer characters.
  return Buffer.from(isTooLong ? chunk.slice(0, 2 * most) : chunk, encodingOf(encoding)).subarray(0, most);
}

/** The encoding is left out where there is a function in its place, which is called when the part is sent. */
function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
