// One rule for each field that says what becomes of requests.

import { parseBlocks } from "./blocks";
import type { HandlingFields } from "./fields";
import { parseDuplicateKey } from "./duplicate-key";
import { isBoolean, type Rule } from "./rules";

/** Numbers that a field takes, the ends included. */
interface Range {
  readonly least: number;
  readonly most: number;
}

/** The successful statuses (RFC 9110 §15.3). */
export const replyStatuses: Range = { least: 200, most: 299 };
/** In seconds. */
export const replyTimeouts: Range = { least: 1, most: 300 };
/** In hours. */
export const duplicateWindows: Range = { least: 1, most: 720 };
/** In requests a minute. */
export const rateLimits: Range = { least: 0, most: 1_000_000_000 };

/** Starts of the flow. */
export const attempts: Range = { least: 1, most: 50 };
/** In seconds. */
export const firstBackoffs: Range = { least: 1, most: 3600 };
export const longestBackoffs: Range = { least: 1, most: 86_400 };
export const concurrencies: Range = { least: 0, most: 1000 };
export const ratesPerMinute: Range = { least: 0, most: 6000 };
export const breakers: Range = { least: 0, most: 1000 };
/** In seconds. */
export const attemptTimeouts: Range = { least: 1, most: 86_400 };
/** In hours, with decimals: up to a year. */
export const silences: Range = { least: 0, most: 8760 };

/** The fields whose value may be anything have no rule. */
export type HandlingRule = Exclude<keyof HandlingFields, "replyBody">;

/** The rule of each field, for values whose environment variables are already resolved. */
export const handlingRules = {
  reply: (value) => (value === "now" || value === "flow" ? undefined : "reply"),
  replyStatus: (value) => (isWithin(replyStatuses, value) ? undefined : "replyStatus"),
  replyType: (value) => (typeof value === "string" && isMediaType(value) ? undefined : "replyType"),
  replyTimeout: (value) => (isWithin(replyTimeouts, value) ? undefined : "replyTimeout"),
  ignoreDuplicates: (value) => (isBoolean(value) ? undefined : "ignoreDuplicates"),
  duplicateKey: (value) => (parseDuplicateKey(value) === undefined ? "duplicateKey" : undefined),
  duplicateWindow: (value) => (isWithin(duplicateWindows, value) ? undefined : "duplicateWindow"),
  allowFrom: (value) => (parseBlocks(value) ? undefined : "allowFrom"),
  rateLimit: (value) => (isWithin(rateLimits, value) ? undefined : "rateLimit"),
  alertWhenSilent: (value) => (isDecimalWithin(silences, value) ? undefined : "alertWhenSilent"),
  rawBody: (value) => (isBoolean(value) ? undefined : "rawBody"),
  guaranteed: (value) => (isBoolean(value) ? undefined : "guaranteed"),
  attempts: (value) => (isWithin(attempts, value) ? undefined : "attempts"),
  backoffFirst: (value) => (isWithin(firstBackoffs, value) ? undefined : "backoffFirst"),
  backoffLongest: (value) => (isWithin(longestBackoffs, value) ? undefined : "backoffLongest"),
  concurrency: (value) => (isWithin(concurrencies, value) ? undefined : "concurrency"),
  ratePerMinute: (value) => (isWithin(ratesPerMinute, value) ? undefined : "ratePerMinute"),
  breaker: (value) => (isWithin(breakers, value) ? undefined : "breaker"),
  attemptTimeout: (value) => (isWithin(attemptTimeouts, value) ? undefined : "attemptTimeout"),
} satisfies Record<HandlingRule, Rule>;

/** Whether a value is such a number, and a whole one. */
function isWithin(range: Range, value: unknown): boolean {
  return isDecimalWithin(range, value) && /^\d+$/.test(String(value));
}

/** Environment variables resolve to texts. What `Number` makes of other texts, such as blanks and `0x10`, is not taken. */
function isDecimalWithin({ least, most }: Range, value: unknown): boolean {
  const number = typeof value === "string" && /^\d{1,10}(?:\.\d{1,10})?$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= least && number <= most;
}

/** RFC 9110 §5.6.2 and §5.6.4: what a parameter's value is written as. */
const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const quoted = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`;
/** RFC 9110 §8.3.1: media-type = type "/" subtype parameters */
const mediaType = new RegExp(`^${token}/${token}(?:[\\t ]*;[\\t ]*${token}=(?:${token}|${quoted}))*$`);

function isMediaType(text: string): boolean {
  return mediaType.test(text);
}
