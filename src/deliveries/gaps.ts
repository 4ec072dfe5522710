// What lets somebody in is not kept: it is taken out of a body, and put back when that is delivered again.

import type { Gap } from "./delivery";

const asterisk = 0x2a;
const none: readonly Gap[] = [];
/** More of them than this are taken out, and not put back. */
const mostGaps = 1000;

/** The secrets of an endpoint, as they may stand in bodies. */
export class Secrets {
  /** Of each, how it is written: always as many ways, so that a gap tells the way as well. */
  readonly #secrets: readonly Buffer[];
  /** The same, each only once: most are written in one way only. */
  readonly #sought: readonly Buffer[];

  /** @param secrets none of them empty */
  constructor(secrets: readonly string[]) {
    const all = secrets.flatMap(spelled);
    this.#secrets = all.map((secret) => Buffer.from(secret));
    this.#sought = [...new Set(all)].map((secret) => Buffer.from(secret));
  }

  /** Whether any stands in a text or in a body. */
  standIn(text: string | Buffer): boolean {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    return this.#sought.some((secret) => bytes.includes(secret));
  }

  /**
   * Takes them out of a body, as far as they stand in it as they are, or as forms, URLs and JSON have them.
   *
   * @returns the body itself where it has none
   */
  takenFrom(body: Buffer): { body: Buffer; gaps: readonly Gap[] } {
    if (!this.standIn(body)) return { body, gaps: none };
    const gaps = this.#secrets.flatMap((secret, index) => gapsOf(body, secret, index));
    const kept = Buffer.from(body);
    for (const { at, length } of gaps) kept.fill(asterisk, at, at + length);
    return { body: kept, gaps: gaps.slice(0, mostGaps) };
  }

  /** Puts them back, those of today: one may have been changed, and be longer than it was. */
  putBack(body: Buffer, gaps: readonly Gap[]): Buffer {
    if (gaps.length === 0) return body;
    const parts: Buffer[] = [];
    let end = 0;
    for (const { at, length, secret } of gaps.toSorted((one, other) => one.at - other.at)) {
      // Two secrets that stand one in the other.
      if (at < end) continue;
      parts.push(body.subarray(end, at), this.#secrets[secret] ?? Buffer.alloc(0));
      end = at + length;
    }
    return Buffer.concat([...parts, body.subarray(end)]);
  }
}

/** As it is, as a URL and as a form has it (WHATWG URL §5.2), and as JSON does. */
function spelled(secret: string): string[] {
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  return [secret, encodeURIComponent(secret), inForm, JSON.stringify(secret).slice(1, -1)];
}

function gapsOf(body: Buffer, bytes: Buffer, secret: number): Gap[] {
  const gaps: Gap[] = [];
  for (let at = body.indexOf(bytes); at !== -1; at = body.indexOf(bytes, at + bytes.length)) {
    gaps.push({ at, length: bytes.length, secret });
  }
  return gaps;
}
