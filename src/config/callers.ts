// The callers of an endpoint: each has a token of its own there, of which only the digest is known.

import { isObject, tryParseJson } from "./values";

export interface Caller {
  readonly name: string;
  /** The SHA-256 digest of its token, in lower-case hexadecimal digits. */
  readonly digest: string;
}

/** Tokens are made by `makeToken`. No encoding writes these characters in another way, so that they can be found in texts. */
export const callerToken = /^[A-Za-z0-9_-]{40}$/;

/** Whether a text has capital and small letters, as each token has: hexadecimal numbers need not be looked at. */
export function hasBothCases(text: string): boolean {
  return /[A-Z]/.test(text) && /[a-z]/.test(text);
}

export const maxCallers = 1000;
/** In characters. */
const maxCallerName = 64;

/** A rule that a list of callers breaks. */
type CallersRule = `callers.${"format" | "many" | "name" | "digest" | "twice"}`;

/**
 * The callers in a credential.
 *
 * @param saved JSON, or its value, as an environment variable of a group may be; missing or empty for none
 */
export function parseCallers(saved: unknown): readonly Caller[] | CallersRule {
  const list = (saved ?? "") === "" ? [] : typeof saved === "string" ? tryParseJson(saved) : saved;
  if (!Array.isArray(list) || !list.every(isObject)) return "callers.format";
  if (list.length > maxCallers) return "callers.many";
  const callers: Caller[] = [];
  for (const { name, digest } of list) {
    if (!isCallerName(name)) return "callers.name";
    if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest)) return "callers.digest";
    callers.push({ name, digest });
  }
  const isTwice = hasTwice(callers.map(({ name }) => name)) || hasTwice(callers.map(({ digest }) => digest));
  return isTwice ? "callers.twice" : callers;
}

/** Whether a text comes twice, in any letter case. */
export function hasTwice(texts: readonly string[]): boolean {
  return new Set(texts.map((each) => each.toLowerCase())).size < texts.length;
}

/** Control, format and half characters, but for those that join letters and emoji (ZWNJ, ZWJ). */
const unseen = /[\p{Cc}\p{Cs}\u2028\u2029]|(?![\u200C\u200D])\p{Cf}/u;

/** Names are seen in logs and lists: they have no such characters, and no blanks around them. */
export function isCallerName(name: unknown): name is string {
  if (typeof name !== "string" || name !== name.trim() || /^[\u200C\u200D]*$/.test(name)) return false;
  return name.length <= maxCallerName && !unseen.test(name);
}

/** The text by which a search finds the deliveries of a caller. */
export function formatCallerSearch(caller: string): string {
  return `caller: "${caller}"`;
}

/** How many names a line has room for. */
const maxListed = 5;

/** Some names, and how many there are besides. */
export function listNames(names: readonly string[]): string {
  const more = names.length - maxListed;
  return [...names.slice(0, maxListed), ...(more > 0 ? [`+${more}`] : [])].join(", ");
}
