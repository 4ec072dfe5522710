// The tokens of callers, of which only the digests are known.

import { type Caller, callerToken } from "../config/callers";
import { tokenLength } from "../config/fields";
import { digestOfPresented } from "./digest";

/** Parts of a text that may have a token in them. */
const words = new RegExp(`[A-Za-z0-9_-]{${tokenLength},}`, "g");

/** Parts that may be the name of a caller and its token in base64 (RFC 7617), which proxies repeat in other header fields. */
const pairs = /[A-Za-z0-9+/]{56,}={0,2}/g;

/** The indexes of the first character, and of the one behind the last. */
type Range = readonly [start: number, end: number];

/** The callers of an endpoint, by the digests of their tokens. */
export class CallerTokens {
  readonly #names: ReadonlyMap<string, string>;

  constructor(callers: readonly Caller[]) {
    this.#names = new Map(callers.map(({ name, digest }) => [digest, name]));
  }

  get size(): number {
    return this.#names.size;
  }

  /**
   * Finds the name of the caller whose token this is. Its time depends on the digest of the presented text, which reveals
   * nothing of a token.
   *
   * @param digest of the presented text, where it is known
   */
  find(presented: string, digest?: Buffer): string | undefined {
    if (this.size === 0 || !callerToken.test(presented)) return undefined;
    return this.#names.get((digest ?? digestOfPresented(presented)).toString("hex"));
  }

  /** Where a text has tokens, in their order; no more than the first `max` of them. */
  findIn(text: string, max = Infinity): Range[] {
    const found: Range[] = [];
    if (this.size === 0) return found;
    for (const pattern of [words, pairs]) {
      let left = max;
      for (const { 0: part, index } of text.matchAll(pattern)) {
        const ranges = pattern === words ? this.#findInWord(part) : this.#findInPair(part);
        found.push(...ranges.map(([start, end]): Range => [index + start, index + end]));
        if ((left -= ranges.length) <= 0) break;
      }
    }
    return found.sort(([one], [other]) => one - other).slice(0, max);
  }

  replaceIn(text: string, mark: string): string {
    const replace = (left: string, [start, end]: Range) => left.slice(0, start) + mark + left.slice(end);
    return this.findIn(text).reduceRight(replace, text);
  }

  /** At its beginning or end, such as in `%20` and a token. */
  #findInWord(word: string): Range[] {
    return [...new Set([0, word.length - tokenLength])]
      .filter((start) => this.find(word.slice(start, start + tokenLength)) !== undefined)
      .map((start) => [start, start + tokenLength]);
  }

  #findInPair(pair: string): Range[] {
    const text = Buffer.from(pair, "base64").toString("latin1");
    const colon = text.length - tokenLength - 1;
    return text[colon] === ":" && this.find(text.slice(colon + 1)) !== undefined ? [[0, pair.length]] : [];
  }
}

export const noCallers = new CallerTokens([]);
