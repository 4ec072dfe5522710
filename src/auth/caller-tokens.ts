// The tokens of callers, of which only the digests are known.

import { hash } from "node:crypto";
import { type Caller, callerToken, hasBothCases } from "../config/callers";
import { tokenLength } from "../config/fields";

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

/** What stands between some characters of a part and is no shorter than a token, with its index. */
function splitPart(part: string, separators: RegExp): (readonly [text: string, index: number])[] {
  // Most parts have none of them.
  if (!separators.test(part)) return [[part, 0]];
  let index = 0;
  const all = part.split(separators).map((text) => {
    const at = index;
    index += text.length + 1;
    return [text, at] as const;
  });
  return all.filter(([text]) => text.length >= tokenLength);
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
    return this.#names.get(digest ? digest.toString("hex") : hash("sha256", presented, "hex"));
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
      for (const [start, end] of listEnds(from, to)) found.push(...this.#findInPart(text.slice(start, end), start));
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
    if (!hasBothCases(part)) return [];
    const words = splitPart(part, /[+/]/).flatMap(([word, index]) => this.#findInWord(word, at + index));
    // Of Basic authentication (RFC 7617), which proxies repeat in other header fields.
    const pairs = splitPart(part, /[-_]/).flatMap(([pair, index]) => this.#findInPair(pair, at + index));
    return [...words, ...pairs];
  }

  /** Tokens at the beginning or end of a word, such as `%20` and a token. */
  #findInWord(word: string, index: number): Range[] {
    return [...new Set([0, word.length - tokenLength])]
      .filter((start) => this.find(word.slice(start, start + tokenLength)) !== undefined)
      .map((start) => [index + start, index + start + tokenLength]);
  }

  /** The name and the token of a caller in base64, without its padding. */
  #findInPair(pair: string, index: number): Range[] {
    const text = Buffer.from(pair, "base64").toString("latin1");
    const colon = text.length - tokenLength - 1;
    const isKnown = text[colon] === ":" && this.find(text.slice(colon + 1)) !== undefined;
    return isKnown ? [[index, index + pair.length]] : [];
  }
}

export const noCallers = new CallerTokens([]);
