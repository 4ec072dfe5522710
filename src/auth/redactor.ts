// Keeps secrets out of texts that other people may read: messages, logs, stored deliveries, answers of the admin API.

import { mask } from "./present";
import { senders } from "./senders/table";

/** What stands in the place of a secret. */
export const redacted = "[redacted]";

/** In characters. A shorter secret may stand in any text by chance, so it is replaced only where it is the whole text. */
const minLengthInText = 8;
/** Of the one-time tokens of test requests. */
const tokenLength = 40;

/** Replaces the secrets of an endpoint in texts that other people may read. */
export class Redactor {
  readonly #secrets: readonly string[];
  readonly #temporary: () => Iterable<string>;
  readonly #pattern: RegExp | undefined;
  /** No text that is shorter, in characters, has a secret in it: most header fields need not be searched. */
  readonly #shortest: number;

  /**
   * @param secrets empty ones are none
   * @param temporary the one-time tokens of test requests that are valid at the moment of a call
   */
  constructor(secrets: readonly string[], temporary: () => Iterable<string> = () => []) {
    this.#secrets = secrets;
    this.#temporary = temporary;
    this.#pattern = createPattern(secrets);
    const lengths = secrets.filter((secret) => secret !== "").map(({ length }) => length);
    this.#shortest = Math.min(...lengths, tokenLength);
  }

  contains(text: string): boolean {
    if (text.length < this.#shortest) return false;
    const pattern = this.#currentPattern();
    return pattern !== undefined && text.search(pattern) !== -1;
  }

  /** A text is cut to its length afterwards: a part of a secret is not found. */
  redact(text: string): string {
    const pattern = this.#currentPattern();
    return pattern ? text.replace(pattern, redacted) : text;
  }

  /** @returns the same Buffer where nothing was found */
  redactBytes(bytes: Buffer): Buffer {
    const text = bytes.toString("latin1");
    const clean = this.redact(text);
    return clean === text ? bytes : Buffer.from(clean, "latin1");
  }

  #currentPattern(): RegExp | undefined {
    const temporary = [...this.#temporary()];
    return temporary.length === 0 ? this.#pattern : createPattern([...this.#secrets, ...temporary]);
  }
}

/** @returns nothing where there is no secret */
function createPattern(secrets: readonly string[]): RegExp | undefined {
  const sources = secrets
    .filter((secret) => secret !== "")
    // Where one secret begins with another, the longer one is replaced.
    .toSorted((one, other) => other.length - one.length)
    .flatMap((secret) => {
      const spellings = listSpellings(secret);
      return secret.length < minLengthInText ? spellings.map((spelling) => `^${spelling}$`) : spellings;
    });
  return sources.length === 0 ? undefined : new RegExp([...new Set(sources)].join("|"), "g");
}

/**
 * How a secret may be written, as sources of patterns: as it is or in HTML, in a URL, in a form (WHATWG URL §5.2), and in
 * JSON. Most secrets are written in one way only. In the bytes of a body or of a header field, one character stands for
 * each byte of UTF-8.
 */
function listSpellings(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const spellings = [
    Array.from(secret, inHtml).join(""),
    escapePattern(inUrl).replace(/%../g, inAnyCase),
    escapePattern(inForm).replace(/%../g, inAnyCase),
    // PHP writes a solidus with a backslash.
    escapePattern(inJson).replaceAll("/", "\\\\?/"),
  ];
  const inBytes = spellings.map((spelling) => Buffer.from(spelling).toString("latin1"));
  return [...new Set([...spellings, ...inBytes])];
}

/**
 * Patterns of character references, by what they stand for: as they are usual, with the last three those of Mustache, by
 * which Node-RED's template node fills texts in.
 */
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

/** The header fields in which known senders sign, in lower case. */
const signatureFields = new Set(
  Object.values(senders).flatMap(({ scheme }) => scheme.sig.headers.map((name) => name.toLowerCase())),
);
/** Names of other header fields with credentials: of keys, all but that of a duplicate. */
const credentialField =
  /auth|cookie|signature|secret|token|passw|credential|hmac|api-?key|(?<!idempotency)(?:^|-)key$|jwt|session/i;
const credentialParameter = /auth|sig|secret|token|passw|credential|hmac|key|jwt|session|code/i;

type Values = Readonly<Record<string, string | string[]>>;

/** Header fields as they are shown: with a mask for values that may be credentials, by their names in lower case. */
export function redactHeaders(headers: Values): Record<string, string | string[]> {
  return maskWhere(headers, (name) => signatureFields.has(name) || credentialField.test(name));
}

/** Parameters of a query as they are shown: with a mask for values that may be credentials, by their names. */
export function redactQuery(parameters: Values): Record<string, string | string[]> {
  return maskWhere(parameters, (name) => credentialParameter.test(name));
}

function maskWhere(values: Values, isCredential: (name: string) => boolean): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isCredential(name) ? mask : value]));
}
