// What lets somebody in is not kept: it is taken out of a body, and put back when that is delivered again.

import type { Gap } from "./delivery";

const asterisk = 0x2a;
const none: readonly Gap[] = [];
/** More of them than this are taken out, and not put back. */
const mostGaps = 1000;
const firstWays = 4;
/** More than the numbers of all secrets in those. */
const apart = 100;

/** The secrets of an endpoint, as they may stand in bodies. */
export class Secrets {
  /** Each in each of the ways in which it is written, by its number in gaps, which tells the way as well. */
  readonly #secrets = new Map<number, Buffer>();
  /** The same, each only once: most are written in one way only. */
  readonly #sought = new Map<number, Buffer>();

  /** @param secrets none of them empty */
  constructor(secrets: readonly string[]) {
    const known = new Set<string>();
    for (const [index, secret] of secrets.entries()) {
      for (const [way, text] of spelled(secret).entries()) {
        const [number, bytes] = [numberOf(index, way), Buffer.from(text)];
        this.#secrets.set(number, bytes);
        if (!known.has(text)) this.#sought.set(number, bytes);
        known.add(text);
      }
    }
  }

  /** Whether any stands in a text or in a body. */
  standIn(text: string | Buffer): boolean {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    for (const secret of this.#sought.values()) if (bytes.includes(secret)) return true;
    return false;
  }

  /**
   * Takes them out of a body, as far as they stand in it as they are, or as forms, URLs and JSON have them.
   *
   * @returns the body itself where it has none
   */
  takenFrom(body: Buffer): { body: Buffer; gaps: readonly Gap[] } {
    if (!this.standIn(body)) return { body, gaps: none };
    const gaps = Array.from(this.#sought, ([number, secret]) => gapsOf(body, secret, number)).flat();
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
      parts.push(body.subarray(end, at), this.#secrets.get(secret) ?? Buffer.alloc(0));
      end = at + length;
    }
    return Buffer.concat([...parts, body.subarray(end)]);
  }
}

/**
 * As it is, as a URL and as a form has it (WHATWG URL §5.2), and as JSON does; then what else libraries write: JSON with
 * solidi escaped, as PHP's, and the digits of escapes in lower case (RFC 3986 §2.1). Their order is known in files.
 */
function spelled(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inUrl, inForm, inJson, inJson.replaceAll("/", "\\/"), inLowerCase(inUrl), inLowerCase(inForm)];
}

function inLowerCase(encoded: string): string {
  return encoded.replace(/%../g, (escape) => escape.toLowerCase());
}

/** Files know the first four ways of each secret one after the other; what came later is apart, however many there are. */
function numberOf(secret: number, way: number): number {
  return way < firstWays ? firstWays * secret + way : apart * way + secret;
}

function gapsOf(body: Buffer, bytes: Buffer, secret: number): Gap[] {
  const gaps: Gap[] = [];
  for (let at = body.indexOf(bytes); at !== -1; at = body.indexOf(bytes, at + bytes.length)) {
    gaps.push({ at, length: bytes.length, secret });
  }
  return gaps;
}
