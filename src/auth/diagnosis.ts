// Explains to the operator why a request was refused, and how to fix it.

import type { Explanation, Reason, RefusalReason } from "./authenticator";
import { digest, isSame } from "./digest";
import type { Source } from "./senders/sender";
import { type SenderId, senderIds, senders } from "./senders/table";
import { fieldValues, type RequestHead } from "../request/header-fields";

// Sentences for the operator.

export function toReason(why: RefusalReason): Reason {
  if (why.kind === "timeOutside") {
    const values = { distance: toDuration(Math.abs(why.seconds)), tolerance: toDuration(why.tolerance) };
    return { key: why.seconds < 0 ? "clockAhead" : "clockBehind", values };
  }
  const { kind: key, ...facts } = why;
  if (!("source" in facts)) return { key, values: facts };
  const { source, ...values } = facts;
  return { key, values: { place: toPlaceText(source), ...values } };
}

/** In SI symbols, which need no translation. */
export function toDuration(seconds: number): string {
  const [size, symbol] = units.find(([unit]) => seconds >= 2 * unit) ?? [1, "s"];
  return `${Math.round(seconds / size)} ${symbol}`;
}

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** A place as written in a request, or in JSON. */
function toPlaceText(source: Source): string {
  const [, from, name = ""] = /^(\w+)\??:([^]*)$/.exec(source) ?? [];
  return from === "query" ? `?${name}=` : name;
}

// Tokens in another place, or of a wrong length.

/** In characters. A longer text is no mistyped token. */
const maxTokenLength = 1000;
/** How many values are searched. */
const maxValues = 100;

/**
 * Explains a wrong token, without revealing anything of it.
 *
 * @param tokens the valid ones; an empty one is none
 * @param expected the configured place
 */
export function explainToken(tokens: readonly string[], expected: Source, head: RequestHead): Explanation {
  const looksLike = recognise(head.rawHeaders);
  return { reasons: findToken(tokens, expected, head), ...(looksLike && { looksLike }) };
}

export function findToken(given: readonly string[], expected: Source, head: RequestHead): Reason[] {
  const tokens = given.filter((token) => token !== "");
  const accepted = tokens.map((token) => digest(token));
  const isOurs = (text: string) => accepted.map((own) => isSame(digest(text), own)).includes(true);
  const values = listValues(head).slice(0, maxValues);
  const elsewhere = values.find(({ source, text }) => !isAt(source, expected) && isOurs(text));
  if (elsewhere) return [{ key: "tokenElsewhere", values: { place: toPlaceText(elsewhere.source) } }];
  const here = values.find(({ source }) => isAt(source, expected));
  const [token] = tokens;
  if (!here || token === undefined) return [];
  const { text, isBearer } = here;
  if (text !== text.trim() && isOurs(text.trim())) return [{ key: "tokenBlank", values: {} }];
  // Without a scheme, or with another one (RFC 6750 §2.1).
  if (text !== "" && !isBearer && isAt(here.source, "header:Authorization")) {
    return [text, readBasicPassword(text)].some(isOurs) ? [{ key: "tokenScheme", values: {} }] : [];
  }
  if (tokens.some(({ length }) => length === text.length)) return [];
  return [{ key: "tokenLength", values: { length: text.length, expected: token.length } }];
}

/** The password of the scheme `Basic` (RFC 7617 §2). */
function readBasicPassword(text: string): string {
  return Buffer.from(text, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
}

/** Field names have no letter case. */
function isAt(source: Source, expected: Source): boolean {
  return expected.startsWith("header:") ? source.toLowerCase() === expected.toLowerCase() : source === expected;
}

interface PresentedValue {
  readonly source: Source;
  readonly text: string;
  readonly isBearer: boolean;
}

/** The values of header fields, without their authentication scheme (RFC 9110 §11.4), and of the query. */
function listValues({ rawHeaders, search }: RequestHead): PresentedValue[] {
  const values: PresentedValue[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? "";
    const text = value.replace(/^(?:bearer|basic|token) +/i, "");
    values.push({ source: `header:${rawHeaders[index] ?? ""}`, text, isBearer: /^bearer /i.test(value) });
  }
  for (const [name, text] of new URLSearchParams(search))
    values.push({ source: `query:${name}`, text, isBearer: false });
  return values.filter(({ text }) => text.length <= maxTokenLength);
}

/**
 * Guesses the sender by its header fields, for the operator. It never selects a scheme: an attacker would choose the
 * weakest one.
 *
 * @param rawHeaders names and values in turn
 * @returns nothing where it may be from several senders
 */
export function recognise(rawHeaders: readonly string[]): SenderId | undefined {
  const ids = senderIds.filter((id) => senders[id].recognise?.some((group) => hasFields(group, rawHeaders)));
  const comesBefore = (other: SenderId, id: SenderId) =>
    other !== id && senders[other].before?.some((each) => each === "*" || each === id);
  const [likely, ...others] = ids.filter((id) => !ids.some((other) => comesBefore(other, id)));
  return others.length === 0 ? likely : undefined;
}

/** The sender that a request looks like, where that is another than the configured one. */
export function recogniseOther(rawHeaders: readonly string[], configured: SenderId): SenderId | undefined {
  const found = recognise(rawHeaders);
  if (found === undefined || found === configured) return undefined;
  // One without fields of its own cannot be told from one that signs in the same.
  const { recognise: own, scheme } = senders[configured];
  const isAlike = !own && senders[found].scheme.sig.headers.some((name) => scheme.sig.headers.includes(name));
  return isAlike ? undefined : found;
}

function hasFields(group: Readonly<Record<string, string>>, rawHeaders: readonly string[]): boolean {
  return Object.entries(group).every(([name, beginning]) =>
    fieldValues(rawHeaders, name.toLowerCase()).some((value) =>
      value.toLowerCase().startsWith(beginning.toLowerCase()),
    ),
  );
}
