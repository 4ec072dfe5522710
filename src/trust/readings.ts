// Reads the escapes of a text, whatever they are encoded in themselves.

import type { Budget } from "../request/budget";

/** What stands before `end`, and the character that it spells. */
export interface Reading {
  character: string;
  end: number;
}

/** How often a text may have been encoded: an error quotes a header in JSON, a proxy has encoded that from a URL. */
const deepest = 4;
/** With what every escape begins, whatever has been encoded after it. */
export const escapeBegin = /[%\\&]/;

/** Whether a character is one of those; asked for each character of a text, so without the pattern. */
export function beginsEscape(character: string | undefined): boolean {
  return character === "%" || character === "\\" || character === "&";
}

/**
 * HTML's names for the visible ASCII characters that have one, in any letter case.
 * https://html.spec.whatwg.org/multipage/named-characters.html
 */
const named = new Map(
  Object.entries({
    excl: "!",
    quot: '"',
    num: "#",
    dollar: "$",
    percnt: "%",
    amp: "&",
    apos: "'",
    lpar: "(",
    rpar: ")",
    ast: "*",
    midast: "*",
    plus: "+",
    comma: ",",
    period: ".",
    sol: "/",
    colon: ":",
    semi: ";",
    lt: "<",
    equals: "=",
    gt: ">",
    quest: "?",
    commat: "@",
    lsqb: "[",
    lbrack: "[",
    bsol: "\\",
    rsqb: "]",
    rbrack: "]",
    hat: "^",
    lowbar: "_",
    underbar: "_",
    grave: "`",
    diacriticalgrave: "`",
    lcub: "{",
    lbrace: "{",
    verbar: "|",
    vert: "|",
    verticalline: "|",
    rcub: "}",
    rbrace: "}",
  }),
);

/** Escapes of one character: RFC 3986 §2.1, RFC 8259 §7 and ECMAScript's strings, HTML's character references. */
const hexadecimal =
  /^(?:%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});)$/i;
const decimal = /^&#([0-9]{1,7});$/;
const name = /^&([a-z]{2,16});$/i;
/** What a backslash stands before: in JSON, and where `util.inspect` and shells quote. */
const quotable = /^\\(["'`\\/])$/;
/** The beginning of any of them. */
const partial =
  /^(?:%[0-9a-f]?|\\(?:u(?:[0-9a-f]{0,3}|\{[0-9a-f]{0,6})|x[0-9a-f]?)?|&(?:#(?:[0-9]{0,7}|x[0-9a-f]{0,6})|[a-z]{0,16}))$/i;

/** The character that an escape stands for, if it is one. */
function unescape(text: string): string | undefined {
  if (text.length === 2) return quotable.exec(text)?.[1];
  const hex = hexadecimal.exec(text);
  if (hex) return fromCode(parseInt(hex[1] ?? hex[2] ?? hex[3] ?? hex[4] ?? hex[5] ?? "", 16));
  const [, digits] = decimal.exec(text) ?? [];
  if (digits !== undefined) return fromCode(Number(digits));
  return named.get(name.exec(text)?.[1]?.toLowerCase() ?? "");
}

/** Tokens are ASCII; nothing else is looked for. */
function fromCode(code: number): string | undefined {
  return code < 0x80 ? String.fromCharCode(code) : undefined;
}

/**
 * Reads a text as all that it may stand for: at each place there are a few readings, the character itself and what the
 * escapes that begin there stand for, where each character of an escape may be escaped itself.
 */
export class Readings {
  readonly #text: string;
  readonly #budget: Budget;
  /** By depth, then by place. */
  readonly #known: (Map<number, readonly Reading[]> | undefined)[] = [];
  /** The places where an escape has something in it, or stands for something, by which escapes begin. */
  readonly #nested = new Set<number>();

  constructor(text: string, budget: Budget) {
    this.#text = text;
    this.#budget = budget;
  }

  /**
   * What may be read at a place; not all of it once the budget is spent.
   *
   * @param depth how many times what stands there may have been encoded
   */
  at(start: number, depth = deepest): readonly Reading[] {
    const character = this.#text.charAt(start);
    if (character === "") return [];
    const itself = { character, end: start + 1 };
    if (depth === 0 || !beginsEscape(character)) return [itself];
    const known = (this.#known[depth] ??= new Map<number, readonly Reading[]>());
    let found = known.get(start);
    if (!found) {
      // Most escapes have no others in them: these are read in the same way at any depth.
      const plain = depth > 1 ? this.at(start, 1) : undefined;
      found = plain && !this.#nested.has(start) ? plain : [itself, ...this.#escapes(start, depth - 1)];
      known.set(start, found);
    }
    return found;
  }

  /** What stands at a place is not asked for again: a long text would fill the heap with readings. */
  forget(place: number): void {
    for (const known of this.#known) known?.delete(place);
    this.#nested.delete(place);
  }

  #escapes(start: number, depth: number): Reading[] {
    const found: Reading[] = [];
    const beginnings = [{ text: "", end: start }];
    for (let next = beginnings.pop(); next; next = beginnings.pop()) {
      for (const { character, end } of this.at(next.end, depth)) {
        if (this.#budget.isSpent) return found;
        this.#budget.spend(1);
        const text = next.text + character;
        const isPartial = partial.test(text);
        const meant = isPartial ? undefined : unescape(text);
        if (next.text !== "" && (beginsEscape(character) || beginsEscape(meant))) this.#nested.add(start);
        if (isPartial) beginnings.push({ text, end });
        if (meant === undefined || found.some((other) => other.end === end && other.character === meant)) continue;
        found.push({ character: meant, end });
      }
    }
    return found;
  }
}
