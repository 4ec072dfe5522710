// Redacts secrets in messages, logs, shown deliveries and the admin API.

import { tokenLength } from "../config/fields";
import { type CallerTokens, noCallers } from "./caller-tokens";
import { mask } from "./present";
import { senders } from "./senders/table";
import type { NodeTestCredentials } from "./test-credentials";

export const redacted = "[redacted]";

/**
 * In characters. A shorter secret may occur in any text by chance, so it is redacted only where it is the whole text.
 */
const minLengthInText = 8;

/** Bytes from the first one to before the last one. */
export type ByteRange = readonly [start: number, end: number];

/** More secrets are in no body by chance: from here on, all of it counts as secret. */
const maxRanges = 100;

/** Redacts the secrets of an endpoint. */
export class Redactor {
  readonly #secrets: readonly string[];
  readonly #temporary: Pick<NodeTestCredentials, "tokens">;
  readonly #callers: CallerTokens;
  readonly #patterns: Patterns;
  /** Shorter texts (in characters) contain no secret, so most header fields need not be searched. */
  readonly minLength: number;

  /**
   * @param secrets without the empty ones
   * @param temporary the test credentials that are valid at the time of a call
   */
  constructor(
    secrets: readonly string[],
    temporary: Pick<NodeTestCredentials, "tokens"> = { tokens: () => [] },
    callers = noCallers,
  ) {
    this.#secrets = secrets;
    this.#temporary = temporary;
    this.#callers = callers;
    this.#patterns = createPatterns(secrets);
    const lengths = secrets.filter((secret) => secret !== "").map(({ length }) => length);
    this.minLength = Math.min(...lengths, tokenLength);
  }

  contains(text: string): boolean {
    if (text.length < this.minLength) return false;
    const { inText } = this.#currentPatterns();
    return (inText !== undefined && text.search(inText) !== -1) || this.#callers.findIn(text).length > 0;
  }

  /** Redact before cutting: a part of a secret is not found. */
  redact(text: string): string {
    const { inText } = this.#currentPatterns();
    return this.#callers.replaceIn(inText ? text.replace(inText, redacted) : text, redacted);
  }

  /** Where a body has secrets; a short one may be there by chance, and is not searched for. */
  findIn(body: Buffer): ByteRange[] {
    const { inBody } = this.#currentPatterns();
    const text = inBody || this.#callers.size > 0 ? body.toString("latin1") : "";
    const ranges: ByteRange[] = [];
    // Few bodies have one, and `search` is faster.
    const isThere = inBody !== undefined && text.search(inBody) !== -1;
    for (const { 0: secret, index } of isThere ? text.matchAll(inBody) : []) {
      ranges.push([index, index + secret.length]);
      if (ranges.length === maxRanges) break;
    }
    ranges.push(...this.#callers.findIn(text, maxRanges));
    ranges.sort(([one], [other]) => one - other);
    const last = ranges[maxRanges - 1];
    return last ? [...ranges.slice(0, maxRanges - 1), [last[0], body.length]] : ranges;
  }

  /** @returns the same Buffer where nothing was found */
  redactBytes(body: Buffer): Buffer {
    return redactRanges(body, this.findIn(body));
  }

  #currentPatterns(): Patterns {
    const temporary = this.#temporary.tokens();
    return temporary.length === 0 ? this.#patterns : createPatterns([...this.#secrets, ...temporary]);
  }
}

/** @returns the same Buffer where there are no ranges */
export function redactRanges(bytes: Buffer, ranges: readonly ByteRange[]): Buffer {
  return replaceRanges(
    bytes,
    ranges.map(([start, end]) => ({ start, end, mark: redacted })),
  );
}

/** The strings and numbers of JSON; a string that is not closed ends with the text. */
const jsonTokens = /"(?:[^"\\]|\\.?)*"?|-?\d[\d.eE+-]*/gs;

/** JSON stays JSON: a number with a secret in it becomes a string. */
export function redactJson(bytes: Buffer, ranges: readonly ByteRange[]): Buffer {
  const marks = ranges.map(([start, end]) => ({ start, end, mark: redacted }));
  for (const { 0: token, index } of bytes.toString("latin1").matchAll(jsonTokens)) {
    if (token.startsWith('"')) continue;
    const end = index + token.length;
    for (const mark of marks) {
      if (mark.start >= end || mark.end <= index) continue;
      Object.assign(mark, { start: Math.min(mark.start, index), end: Math.max(mark.end, end), mark: `"${redacted}"` });
    }
  }
  return replaceRanges(bytes, marks);
}

function replaceRanges(bytes: Buffer, marks: readonly { start: number; end: number; mark: string }[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, mark } of marks) {
    if (start >= bytes.length) break;
    // Two secrets in one number.
    if (start >= from) parts.push(bytes.subarray(from, start), Buffer.from(mark));
    from = Math.max(from, end);
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

/** What stands at these ranges. */
export function readRanges(bytes: Buffer, ranges: readonly ByteRange[]): string[] {
  return ranges.map(([start, end]) => bytes.toString("utf8", start, end));
}

interface Patterns {
  readonly inText: RegExp | undefined;
  /** Without the short secrets. */
  readonly inBody: RegExp | undefined;
}

function createPatterns(secrets: readonly string[]): Patterns {
  const long = secrets.filter(({ length }) => length >= minLengthInText);
  return { inText: createPattern(secrets), inBody: createPattern(long) };
}

/** @returns nothing where there is no secret */
function createPattern(secrets: readonly string[]): RegExp | undefined {
  const sources = secrets
    .filter((secret) => secret !== "")
    // A longer secret goes before its own beginning.
    .toSorted((one, other) => other.length - one.length)
    .flatMap((secret) => {
      const spellings = listSpellings(secret);
      return secret.length < minLengthInText ? spellings.map((spelling) => `^${spelling}$`) : spellings;
    });
  return sources.length === 0 ? undefined : new RegExp([...new Set(sources)].join("|"), "g");
}

/**
 * The spellings of a secret as patterns: plain or HTML, URL, form (WHATWG URL §5.2), JSON. In bytes, one character
 * stands for each byte of UTF-8.
 */
function listSpellings(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const spellings = [
    Array.from(secret, inHtml).join(""),
    escapePattern(inUrl).replace(/%../g, inAnyCase),
    escapePattern(inForm).replace(/%../g, inAnyCase),
    // PHP escapes a slash.
    escapePattern(inJson).replaceAll("/", "\\\\?/"),
  ];
  const inBytes = spellings.map((spelling) => Buffer.from(spelling).toString("latin1"));
  return [...new Set([...spellings, ...inBytes])];
}

/** Patterns of character references; the last three are those of Mustache, which Node-RED's template node uses. */
const references = new Map([
  ["&", "amp|#38|#x26"],
  ["<", "lt|#60|#x3[Cc]"],
  [">", "gt|#62|#x3[Ee]"],
  ['"', "quot|#34|#x22"],
  ["'", "apos|#0?39|#x27"],
  ["/", "#47|#x2[Ff]"],
  ["=", "#61|#x3[Dd]"],
  ["`", "#96|#x60"],
]);

function inHtml(character: string): string {
  const reference = references.get(character);
  return reference === undefined ? escapePattern(character) : `(?:${character}|&(?:${reference});)`;
}

/** The hexadecimal digits of a percent-encoded byte (RFC 3986 §2.1). */
function inAnyCase(encoded: string): string {
  return encoded.replace(/[A-F]/g, (digit) => `[${digit}${digit.toLowerCase()}]`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The header fields of known senders' signatures, in lower case. */
const signatureFields = new Set(
  Object.values(senders).flatMap(({ scheme }) => scheme.sig.headers.map((name) => name.toLowerCase())),
);
/** Names of other header fields with credentials; an idempotency key is none. */
const credentialField =
  /auth|cookie|signature|secret|token|passw|credential|hmac|api-?key|(?<!idempotency)(?:^|-)key$|jwt|session/i;
const credentialParameter = /auth|sig|secret|token|passw|credential|hmac|key|jwt|session|code/i;

type ShownValues = Readonly<Record<string, string | string[]>>;

/** Header fields as shown: values that may be credentials are masked. */
export function redactHeaders(headers: ShownValues): Record<string, string | string[]> {
  return maskWhere(headers, (name) => signatureFields.has(name) || credentialField.test(name));
}

/** Query parameters as shown: values that may be credentials are masked. */
export function redactQuery(parameters: ShownValues): Record<string, string | string[]> {
  return maskWhere(parameters, (name) => credentialParameter.test(name));
}

function maskWhere(values: ShownValues, isCredential: (name: string) => boolean): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isCredential(name) ? mask : value]));
}
