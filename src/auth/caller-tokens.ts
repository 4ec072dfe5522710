// The tokens of callers, of which only the digests are known.

import { type Caller, callerToken } from "../config/callers";
import { tokenLength } from "../config/fields";
import { digestOfPresented } from "./digest";

/** Parts of a text that may have a token in them. */
const words = new RegExp(`[A-Za-z0-9_-]{${tokenLength},}`, "g");

/** Parts that may be the name of a caller and its token in base64 (RFC 7617), which proxies repeat in other header fields. */
const pairs = /[A-Za-z0-9+/]{56,}={0,2}/g;

/** So many parts are looked at: a longer text is full of them on purpose, and all that follows counts as a token. */
const maxParts = 10_000;
/** In characters. Longer parts are files in base64. */
const maxPartLength = 1000;

/** The indexes of the first character, and of the one behind the last. */
type Range = readonly [start: number, end: number];

/** By its code: whether a character may stand in a token, or in base64. */
const isOfWord = Array.from({ length: 128 }, (_, code) => /[\w+/-]/.test(String.fromCharCode(code)));

/**
 * Finds the parts of a text that have as many such characters as a token, or more. Few texts have one: looking at one
 * character of as many is enough, and takes a fraction of the time of a pattern.
 */
function* findLongWords(text: string): Generator<Range> {
  for (let at = tokenLength - 1; at < text.length; at += tokenLength) {
    if (!isOfWord[text.charCodeAt(at)]) continue;
    let [start, end] = [at, at + 1];
    while (isOfWord[text.charCodeAt(start - 1)]) start--;
    while (isOfWord[text.charCodeAt(end)]) end++;
    if (end - start >= tokenLength) yield [start, end];
    at = end;
  }
}

/** What of a part is looked at: all of it, or the ends of a long one. */
function listEnds(from: number, to: number): Range[] {
  const half = maxPartLength / 2;
  if (to - from <= maxPartLength) return [[from, to]];
  return [
    [from, from + half],
    [to - half, to],
  ];
}

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
    let parts = 0;
    for (const [from, to] of findLongWords(text)) {
      if (++parts > maxParts) {
        found.push([from, text.length]);
        break;
      }
      // With the padding of base64.
      for (const [start, end] of listEnds(from, to)) found.push(...this.#findInPart(text.slice(start, end + 2), start));
      if (found.length >= max) break;
    }
    return found.sort(([one], [other]) => one - other).slice(0, max);
  }

  replaceIn(text: string, mark: string): string {
    const parts: string[] = [];
    let from = 0;
    for (const [start, end] of this.findIn(text)) {
      parts.push(text.slice(from, start), mark);
      from = end;
    }
    return parts.length === 0 ? text : parts.join("") + text.slice(from);
  }

  /** @param at where the part begins */
  #findInPart(part: string, at: number): Range[] {
    return [
      ...Array.from(part.matchAll(words), ({ 0: word, index }) => this.#findInWord(word, at + index)),
      ...Array.from(part.matchAll(pairs), ({ 0: pair, index }) => this.#findInPair(pair, at + index)),
    ].flat();
  }

  /** At its beginning or end, such as in `%20` and a token. */
  #findInWord(word: string, index: number): Range[] {
    return [...new Set([0, word.length - tokenLength])]
      .filter((start) => this.find(word.slice(start, start + tokenLength)) !== undefined)
      .map((start) => [index + start, index + start + tokenLength]);
  }

  #findInPair(pair: string, index: number): Range[] {
    const text = Buffer.from(pair, "base64").toString("latin1");
    const colon = text.length - tokenLength - 1;
    const isKnown = text[colon] === ":" && this.find(text.slice(colon + 1)) !== undefined;
    return isKnown ? [[index, index + pair.length]] : [];
  }
}

export const noCallers = new CallerTokens([]);
