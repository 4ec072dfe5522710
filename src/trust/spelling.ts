// Finds a token in a text, however it was quoted or encoded on the way.

/** What stands from `start` to before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** What stands before `end`, and the character that it spells. */
interface Reading {
  character: string;
  end: number;
}

type Fold = (character: string) => string;
const asItStands: Fold = (character) => character;

/** How often a text may have been encoded: an error quotes a header in JSON, a proxy has encoded that from a URL. */
const deepest = 4;
/** Every escape begins with one of these, whatever has been encoded after it. */
const escapeBegin = /[%\\&]/;

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
const quotable = "\"'`\\/";
/** The beginning of any of them. */
const partial =
  /^(?:%[0-9a-f]?|\\(?:u(?:[0-9a-f]{0,3}|\{[0-9a-f]{0,6})|x[0-9a-f]?)?|&(?:#(?:[0-9]{0,7}|x[0-9a-f]{0,6})|[a-z]{0,16}))$/i;

/** The character that an escape stands for, if it is one. */
function unescape(text: string): string | undefined {
  if (text.length < 2) return undefined;
  // First, and without a pattern: of backslashes a text may have many in a row, each with a few readings.
  if (text.length === 2) return text.startsWith("\\") && quotable.includes(text.charAt(1)) ? text.charAt(1) : undefined;
  const hex = hexadecimal.exec(text)?.slice(1).find(Boolean);
  if (hex !== undefined) return fromCode(parseInt(hex, 16));
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
  /** By depth, then by place. */
  readonly #known: (Map<number, Reading[]> | undefined)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** @param depth how many times what stands there may have been encoded */
  at(start: number, depth = deepest): readonly Reading[] {
    const character = this.#text.charAt(start);
    const itself = { character, end: start + 1 };
    if (depth === 0 || !escapeBegin.test(character)) return character === "" ? [] : [itself];
    const known = (this.#known[depth] ??= new Map<number, Reading[]>());
    const found = known.get(start) ?? [itself, ...this.#escapes(start, depth - 1)];
    known.set(start, found);
    return found;
  }

  /** What stands at a place is not asked for again: a long text would fill the heap with readings. */
  forget(place: number): void {
    for (const known of this.#known) known?.delete(place);
  }

  #escapes(start: number, depth: number): Reading[] {
    const found: Reading[] = [];
    const beginnings = [{ text: "", end: start }];
    for (let next = beginnings.pop(); next; next = beginnings.pop()) {
      for (const { character, end } of this.at(next.end, depth)) {
        const text = next.text + character;
        const meant = unescape(text);
        if (meant === undefined) {
          if (partial.test(text)) beginnings.push({ text, end });
        } else if (!found.some((other) => other.end === end && other.character === meant)) {
          found.push({ character: meant, end });
        }
      }
    }
    return found;
  }
}

/**
 * Finds where a token stands in a text. What may be the token and what may be its surroundings overlap (a backslash
 * before a quote, a percent sign before digits), so all readings are followed at once: the effort grows with the length
 * of the text and no faster, whatever is in it.
 */
export function* spellings(token: string, text: string, fold: Fold = asItStands): Generator<Span> {
  const readings = new Readings(text);
  /** At the places ahead: how much of the token has been read before them, and where that began. */
  const ahead = new Map<number, Map<number, number>>();
  for (let place = 0; place < text.length; place++) {
    const underway = ahead.get(place) ?? new Map<number, number>();
    ahead.delete(place);
    const [first] = token;
    if (underway.size === 0 && text[place] !== first && !escapeBegin.test(text.charAt(place))) continue;
    if (!underway.has(0)) underway.set(0, place);
    for (const { character, end } of readings.at(place)) {
      for (const [read, start] of underway) {
        if (token[read] !== fold(character)) continue;
        if (read + 1 === token.length) yield { start, end };
        else advance(ahead, end, read + 1, start);
      }
    }
    readings.forget(place);
  }
}

/** Notes that so much of the token has been read up to a place; of two beginnings, the earlier one counts. */
function advance(ahead: Map<number, Map<number, number>>, place: number, read: number, start: number): void {
  const underway = ahead.get(place) ?? new Map<number, number>();
  ahead.set(place, underway.set(read, Math.min(start, underway.get(read) ?? start)));
}

/**
 * Whether a text has the token in it.
 *
 * @param fold what each character counts as
 */
export function isSpelled(token: string, text: string, fold?: Fold): boolean {
  if (text.length < token.length) return false;
  if (text.includes(token)) return true;
  return escapeBegin.test(text) && !spellings(token, text, fold).next().done;
}

/** Puts something in the place of the token, wherever it stands in a text. */
export function withoutToken(token: string, text: string, replacement: string): string {
  if (!isSpelled(token, text)) return text;
  const spans: Span[] = [];
  for (const span of [...spellings(token, text)].sort((a, b) => a.start - b.start)) {
    const before = spans.at(-1);
    // Those of two readings, or of a token that repeats itself, lie over each other.
    if (before && span.start < before.end) before.end = Math.max(before.end, span.end);
    else spans.push(span);
  }
  const kept = [0, ...spans.map(({ end }) => end)];
  return kept.map((from, index) => text.slice(from, spans[index]?.start ?? text.length)).join(replacement);
}
