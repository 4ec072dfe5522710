// Where a token came that was looked for in another place, or what it had too much or too little of.

import type { Source } from "../senders/record";
import { digest, isSame } from "../digest";
import type { Head } from "../signature/fields";

/** What was wrong with how a token came. Lengths are in characters. */
export type TokenFinding =
  | { kind: "tokenElsewhere"; source: Source }
  | { kind: "tokenLength"; length: number; expected: number }
  | { kind: "tokenBlank" }
  /** It came in `Authorization`, without a scheme or with another one (RFC 6750 §2.1). */
  | { kind: "tokenScheme" };

/** A token longer than this is none that somebody has mistyped. */
const longestToken = 1000;
/** More values than this are not looked through. */
const mostValues = 100;

/**
 * Finds out how a token came, for the operator: what it was is never told.
 *
 * @param tokens those that would be accepted
 * @param expected where they are looked for
 */
export function explainToken(tokens: readonly string[], expected: Source, head: Head): TokenFinding | undefined {
  const accepted = tokens.map((token) => digest(token));
  const isOurs = (text: string) => accepted.map((own) => isSame(digest(text), own)).includes(true);
  const values = [...presentedValues(head)].slice(0, mostValues);
  const elsewhere = values.find(({ source, text }) => !isAt(source, expected) && isOurs(text));
  if (elsewhere) return { kind: "tokenElsewhere", source: elsewhere.source };
  const here = values.find(({ source }) => isAt(source, expected));
  const [token] = tokens;
  if (!here || token === undefined) return undefined;
  if (here.text !== here.text.trim() && isOurs(here.text.trim())) return { kind: "tokenBlank" };
  if (here.text !== "" && !here.isBearer && isAt(here.source, "header:Authorization")) {
    return [here.text, passwordOf(here.text)].some(isOurs) ? { kind: "tokenScheme" } : undefined;
  }
  const { length } = here.text;
  const isLength = !tokens.some((each) => each.length === length);
  return isLength ? { kind: "tokenLength", length, expected: token.length } : undefined;
}

/** What credentials of the scheme `Basic` have for a password (RFC 7617 §2). */
function passwordOf(credentials: string): string {
  return Buffer.from(credentials, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
}

/** Field names have no letter case. */
function isAt(source: Source, expected: Source): boolean {
  return expected.startsWith("header:") ? source.toLowerCase() === expected.toLowerCase() : source === expected;
}

/** What stands in fields, without the scheme of its credentials (RFC 9110 §11.4), and in the query. */
function* presentedValues({ rawHeaders, search }: Head): Generator<Presented> {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [value = "", source] = [rawHeaders[index + 1], `header:${rawHeaders[index] ?? ""}` as const];
    const text = value.replace(/^(?:bearer|basic|token) +/i, "");
    if (text.length <= longestToken) yield { source, text, isBearer: /^bearer /i.test(value) };
  }
  for (const [name, text] of new URLSearchParams(search)) {
    if (text.length <= longestToken) yield { source: `query:${name}`, text, isBearer: false };
  }
}

interface Presented {
  readonly source: Source;
  readonly text: string;
  /** Whether it came with the scheme of bearer tokens. */
  readonly isBearer: boolean;
}
