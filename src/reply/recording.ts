// What a flow answers, kept for those whose delivery is the same.

import type { ServerResponse } from "node:http";
import { type FirstAnswer, longestAnswer } from "../deliveries/repeats";

/** The fields that an answer is not understood without (RFC 9110 §8). */
const kept = ["Content-Type", "Content-Encoding", "Content-Language", "Location"];

/** Keeps an answer as the flow gives it: before anything in front changes it on its way out. */
export class Recording {
  #chunks: Buffer[] | undefined = [];
  /** In bytes, or in characters of texts: the store looks at the bytes again. */
  #length = 0;
  #head: Pick<FirstAnswer, "status" | "fields"> | undefined;

  /** Takes what is about to be sent: a part of the body, as `write` and `end` of a response take it. */
  add(response: ServerResponse, chunk: unknown, encoding: unknown): void {
    this.#head ??= headOf(response);
    if (!this.#chunks || !(typeof chunk === "string" || chunk instanceof Uint8Array)) return;
    this.#length += chunk.length;
    if (this.#length > longestAnswer) this.#chunks = undefined;
    // A copy: the flow may change its Buffer when that is sent.
    else this.#chunks.push(typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.from(chunk));
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

/** The encoding is left out where there is a function in its place, which is called when the part is sent. */
function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
