// The tokens of callers, of which only the digests are known.

import { type Caller, callerToken } from "../config/callers";
import { tokenLength } from "../config/fields";
import { digestOfPresented } from "./digest";

/** Parts of a text that may have a token in them. */
const words = new RegExp(`[A-Za-z0-9_-]{${tokenLength},}`, "g");

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
   * Finds the name of the caller whose token this is. The time that it takes depends on the digest of what was presented, which
   * reveals nothing of a token.
   *
   * @param digest of the presented text, where it is known
   */
  find(presented: string, digest?: Buffer): string | undefined {
    if (this.size === 0 || !callerToken.test(presented)) return undefined;
    return this.#names.get((digest ?? digestOfPresented(presented)).toString("hex"));
  }

  /** The indexes at which a text has tokens, in their order; no more than the first `max`. */
  findIn(text: string, max = Infinity): number[] {
    const found: number[] = [];
    if (this.size === 0) return found;
    for (const { 0: word, index } of text.matchAll(words)) {
      found.push(...this.#findInWord(word).map((start) => index + start));
      if (found.length >= max) break;
    }
    return found.slice(0, max);
  }

  replaceIn(text: string, mark: string): string {
    if (this.size === 0) return text;
    const replace = (left: string, start: number) => left.slice(0, start) + mark + left.slice(start + tokenLength);
    return text.replace(words, (word) => this.#findInWord(word).reduceRight(replace, word));
  }

  /** At its beginning or end, such as in `%20` and a token. */
  #findInWord(word: string): number[] {
    return [...new Set([0, word.length - tokenLength])].filter(
      (start) => this.find(word.slice(start, start + tokenLength)) !== undefined,
    );
  }
}
