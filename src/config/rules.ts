// One rule for each saved field. The runtime and the editor's form both ask here.

import { parseBlocks } from "./blocks";
import type { HandlingFields } from "./fields";

/** The exact length of a token, in characters. */
export const tokenLength = 40;
/** The longest relative path, in characters, its leading slash included. */
export const maxPathLength = 255;

/** A broken rule, by the key of its text under `rules` in the message catalog. */
export type BrokenRule =
  | "environment"
  | "relativePath.required"
  | "relativePath.length"
  | "relativePath.characters"
  | "relativePath.segments"
  | "relativePath.admin"
  | "returnQueryParams"
  | "token.required"
  | "token.length"
  | "token.characters"
  | "secondToken.length"
  | "secondToken.characters"
  | "verificationMethod"
  | "queryParameter"
  | "headerParameter"
  | "sender.required"
  | "sender.unknown"
  | "secret.required"
  | "secret.format"
  | "secondSecret.format"
  | "publicUrl"
  | "signatureHeader"
  | "timestampHeader"
  | "alg"
  | "scheme.required"
  | "scheme.alg"
  | "scheme.key"
  | "scheme.sig"
  | "scheme.enc"
  | "scheme.content"
  | "scheme.ts"
  | HandlingRule
  | "httpNodeMiddleware"
  | "storeMissing"
  | "storeMisunderstood";

/** A rule that a configuration breaks. */
export interface Breach {
  rule: BrokenRule;
  /**
   * The `${NAME}` whose variable is not set, the version of Node.js that has no store, or the name of a setting's field
   * that is not understood; empty for all other rules, for a value may be the token.
   */
  value: string;
}

/** Answers which rule a value breaks, or nothing when it keeps them all. */
type Rule = (value: unknown) => BrokenRule | undefined;

/** The hash functions of HMAC that a sender may be set to (WebSub §7.1.1). */
export const hashes = ["sha1", "sha256", "sha384", "sha512"] as const;

/** The name of the environment variable that Node-RED puts in the place of a value when it starts a node. */
export function environmentName(value: unknown): string | undefined {
  const [, inBraces, inParentheses] = /^\$(?:\{(\S+)\}|\((\S+)\))$/.exec(text(value)) ?? [];
  return inBraces ?? inParentheses;
}

/** Whether a value stands for an environment variable. Seen at run time, it means that the variable is not set. */
export function isEnvironmentValue(value: unknown): boolean {
  return environmentName(value) !== undefined;
}

/** Adds a missing leading slash and drops one trailing slash. */
export function normalisePath(path: string): string {
  return path.replace(/^(?!\/)/, "/").replace(/\/$/, "");
}

/** The rule of each field, for values whose environment variables are already resolved. */
export const rules = {
  relativePath(value) {
    const path = normalisePath(text(value));
    if (path === "") return "relativePath.required";
    if (path.length > maxPathLength) return "relativePath.length";
    // RFC 3986 §2.3: the unreserved characters. All others are patterns to a router, or need encoding.
    if (!/^[A-Za-z0-9\-._~/]+$/.test(path)) return "relativePath.characters";
    const segments = path.slice(1).split("/");
    if (segments.some((segment) => ["", ".", ".."].includes(segment))) return "relativePath.segments";
    return undefined;
  },
  returnQueryParams(value) {
    return isBoolean(value) ? undefined : "returnQueryParams";
  },
  token(value) {
    const token = text(value);
    if (token === "") return "token.required";
    if (token.length !== tokenLength) return "token.length";
    return isVisible(token) ? undefined : "token.characters";
  },
  secondToken(value) {
    const token = text(value);
    if (token === "") return undefined;
    if (token.length !== tokenLength) return "secondToken.length";
    return isVisible(token) ? undefined : "secondToken.characters";
  },
  verificationMethod(value) {
    return value === "header" || value === "query" || value === "signature" ? undefined : "verificationMethod";
  },
  queryParameter(value) {
    return text(value) === "" ? "queryParameter" : undefined;
  },
  headerParameter(value) {
    return isFieldName(text(value)) ? undefined : "headerParameter";
  },
  secret(value) {
    return text(value) === "" ? "secret.required" : undefined;
  },
  publicUrl(value) {
    return text(value) === "" || /^https?:\/\/[^\s/?#]+/i.test(text(value)) ? undefined : "publicUrl";
  },
  signatureHeader(value) {
    return text(value) === "" || isFieldName(text(value)) ? undefined : "signatureHeader";
  },
  timestampHeader(value) {
    return text(value) === "" || isFieldName(text(value)) ? undefined : "timestampHeader";
  },
  alg(value) {
    return text(value) === "" || hashes.some((hash) => hash === value) ? undefined : "alg";
  },
} satisfies Record<string, Rule>;

/** A boolean, or what an environment variable resolves to. */
function isBoolean(value: unknown): boolean {
  return [true, false, "true", "false"].some((choice) => choice === value);
}

/** RFC 9110 §5.6.2: field-name = token = 1*tchar */
export function isFieldName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

function isVisible(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/** Environment variables may resolve to numbers; everything else that is no string counts as not given. */
export function text(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}

// One rule for each field that says what becomes of requests.

/** Numbers that a field takes, the ends included. */
interface Range {
  readonly min: number;
  readonly max: number;
}

/** The successful statuses (RFC 9110 §15.3). */
export const replyStatuses: Range = { min: 200, max: 299 };
/** In seconds. */
export const replyTimeouts: Range = { min: 1, max: 300 };
/** In hours. */
export const duplicateWindows: Range = { min: 1, max: 720 };
/** In requests a minute. */
const rateLimits: Range = { min: 0, max: 1_000_000_000 };

/** Starts of the flow. */
export const attempts: Range = { min: 1, max: 50 };
/** In seconds. */
export const firstBackoffs: Range = { min: 1, max: 3600 };
export const longestBackoffRange: Range = { min: 1, max: 86_400 };
export const concurrencies: Range = { min: 0, max: 1000 };
export const ratesPerMinute: Range = { min: 0, max: 6000 };
export const breakers: Range = { min: 0, max: 1000 };
/** In seconds. */
export const attemptTimeouts: Range = { min: 1, max: 86_400 };
/** In hours, with decimals: up to a year. */
const silences: Range = { min: 0, max: 8760 };

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
  backoffLongest: (value) => (isWithin(longestBackoffRange, value) ? undefined : "backoffLongest"),
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
function isDecimalWithin({ min: least, max: most }: Range, value: unknown): boolean {
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

// By what a repeated delivery is known.

/**
 * What all duplicates of a delivery have in common:
 *
 * - empty: the sender's own id of the delivery
 * - `header:NAME`: the only field of that name
 * - `query:NAME`: the only parameter of the URL of that name
 * - `json:a.0.b`: a string or number in the body, which is JSON
 * - `body`: the bytes of the body as they were sent
 */
export type DuplicateKey = "" | "body" | `${"header" | "query" | "json"}:${string}`;

/** @returns nothing where it is none */
export function parseDuplicateKey(value: unknown): DuplicateKey | undefined {
  return typeof value === "string" && isDuplicateKey(value) ? value : undefined;
}

function isDuplicateKey(key: string): key is DuplicateKey {
  const [, from, name = ""] = /^(header|query|json):(.+)$/s.exec(key) ?? [];
  if (from === "header") return isFieldName(name);
  // An asterisk would stand for every element of an array, and two values are no key.
  if (from === "json") return name.split(".").every((step) => step !== "" && step !== "*");
  return from === "query" || key === "body" || key === "";
}
