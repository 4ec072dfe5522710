// Schemes that a user has written, or filled in.

import { type BrokenRule, rules } from "../../config/fields";
import { isFieldName, isObject } from "../../config/values";
import {
  algorithms,
  challenge,
  encodings,
  type Handshake,
  keyFormats,
  macAlgorithms,
  plainText,
  type Scheme,
  type Sender,
  type Settings,
  signsUrl,
  type Source,
  timeUnits,
} from "../senders/sender";

/** The rule that a part of a scheme breaks. */
type SchemeRule = Extract<BrokenRule, `scheme.${string}` | "publicUrl">;

/**
 * Reads the scheme of a custom sender. Members may be `null` or absent; unknown ones are ignored.
 *
 * @param publicUrl the URL that the sender was given
 * @returns the rule that it breaks, if it breaks one
 */
export function parseScheme(value: unknown, publicUrl = ""): Scheme | { rule: SchemeRule } {
  if (!isObject(value)) return { rule: "scheme.required" };
  const alg = findOne(algorithms, value.alg);
  if (!alg) return { rule: "scheme.alg" };
  const key = parseKey(value.key ?? { format: "utf8" });
  if (!key) return { rule: "scheme.key" };
  const sig = parseSig(value.sig);
  if (!sig) return { rule: "scheme.sig" };
  if (!sig.enc && alg !== "token") return { rule: "scheme.enc" };
  const hasKeys = sig.pick ? "kv" in sig.pick : false;
  const ts = parseTime(value.ts ?? undefined, hasKeys);
  if (ts === undefined) return { rule: "scheme.ts" };
  const isPart = (source: unknown): source is Source => isSource(source, hasKeys ? anywhere : anywhereWithoutKeys);
  const content = asList(value.content, isPart);
  if (!content || (content.length === 0 && alg !== "token" && alg !== "code:twilio")) return { rule: "scheme.content" };
  if (content.includes("ts") && !ts) return { rule: "scheme.ts" };
  const requires = asTexts(value.requires);
  if (!requires || !Object.keys(requires).every(isFieldName)) return { rule: "scheme.requires" };
  if (!parseHandshakes(value)) return { rule: "scheme.handshake" };
  if (signsUrl({ alg, content }) && !isPublicUrl(publicUrl)) return { rule: "publicUrl" };
  return { alg, key, sig, content, ts, requires };
}

/**
 * Reads the handshake of a custom sender, if its scheme has one: a method; in `when`, values that the request has, by
 * their places; in `echo`, the place of the value that the sender wants back, without which an empty reply will do. It
 * is the reply as plain text, the `member` of a JSON object, or in the field `header`.
 *
 * @returns nothing where it is wrong
 */
export function parseHandshakes(scheme: unknown): Handshake[] | undefined {
  const handshake = isObject(scheme) ? (scheme.handshake ?? undefined) : undefined;
  if (handshake === undefined) return [];
  if (!isObject(handshake)) return undefined;
  const method = findOne(handshakeMethods, handshake.method);
  const when = asTexts(handshake.when);
  const member = asText(handshake.member);
  const header = asText(handshake.header);
  const echo = handshake.echo ?? undefined;
  const isRead = (source: unknown): source is Source => isSource(source, carrying);
  const places = Object.keys(when ?? {});
  if (!method || !when || member === undefined || !places.every(isRead)) return undefined;
  if (header === undefined || (header !== "" && !isFieldName(header))) return undefined;
  // It must be known from deliveries, which come by POST and, where the node accepts that, by GET.
  const isInHeader = typeof echo === "string" && echo.startsWith("header:");
  const isKnown = places.length > 0 || (method === "POST" ? isInHeader : echo !== undefined);
  if (!isKnown && (method === "POST" || method === "GET")) return undefined;
  const conditions = Object.entries(when) as [Source, string][];
  if (echo === undefined) {
    return header === "" ? [{ method, signed: false, when: conditions, reply: { status: 200 } }] : undefined;
  }
  if (!isRead(echo)) return undefined;
  const reply = { status: 200, ...composeEcho(echo, member, header) } as const;
  return [
    { method, signed: false, when: [...conditions, [echo, { is: "text" }]], restrict: [[echo, challenge]], reply },
  ];
}

function composeEcho(echo: Source, member: string, header: string): Omit<Handshake["reply"], "status"> {
  const headers = header === "" ? {} : { [header]: echo };
  if (member !== "") return { headers, body: { [member]: echo } };
  return header === "" ? { headers: plainText, body: echo } : { headers };
}

function parseKey(key: unknown): Scheme["key"] | undefined {
  if (!isObject(key)) return undefined;
  const format = findOne(keyFormats, key.format);
  const strip = asTextOrList(key.strip);
  const orText = key.orText ?? false;
  return format && strip !== undefined && typeof orText === "boolean" ? { format, strip, orText } : undefined;
}

function parseSig(sig: unknown): Scheme["sig"] | undefined {
  if (!isObject(sig)) return undefined;
  const headers = asList(sig.headers, (name): name is string => typeof name === "string" && isFieldName(name));
  const source = sig.source ?? null;
  const split = asTextOrList(sig.split);
  const pick = parsePick(sig.pick ?? null);
  const enc = findOne(encodings, sig.enc) ?? null;
  if (!headers || split === undefined || pick === undefined || enc !== (sig.enc ?? null)) return undefined;
  if (source !== null) return isSource(source, carrying) ? { headers, source, split, pick, enc } : undefined;
  return headers.length > 0 ? { headers, split, pick, enc } : undefined;
}

function parsePick(pick: unknown): Scheme["sig"]["pick"] | undefined {
  if (pick === null) return null;
  if (!isObject(pick)) return undefined;
  const prefix = asText(pick.prefix);
  const kv = asText(pick.kv);
  if (prefix === "" && kv === "") return null;
  if (prefix && kv === "") return { prefix };
  return kv && prefix === "" ? { kv } : undefined;
}

/** Gives `null` for a scheme without a timestamp. */
function parseTime(ts: unknown, hasKeys: boolean): NonNullable<Scheme["ts"]> | null | undefined {
  if (ts === undefined) return null;
  if (!isObject(ts)) return undefined;
  const { source, tolerance = null } = ts;
  const unit = findOne(timeUnits, ts.unit);
  const isTolerance = tolerance === null || (typeof tolerance === "number" && tolerance >= 0);
  return unit && isTolerance && isSource(source, hasKeys ? carryingWithKeys : carrying)
    ? { source, unit, tolerance }
    : undefined;
}

const handshakeMethods = ["GET", "HEAD", "OPTIONS", "POST"] as const;
const carrying = /^(?:header|json|form|query):/;
const carryingWithKeys = /^(?:header|json|form|query|sig):/;
const anywhere = /^/;
const anywhereWithoutKeys = /^(?!sig:)/;

function isSource(value: unknown, kind: RegExp): value is Source {
  if (typeof value !== "string" || !kind.test(value)) return false;
  if (value.startsWith("header:")) return isFieldName(value.slice(7));
  return /^(?:(?:sig|json\??|form!?|query|lit):[^]+|body|ts|method|url|url:hubspot)$/.test(value);
}

/** A text that may be absent; nothing for what is no text. */
function asText(value: unknown): string | undefined {
  const text = value ?? "";
  return typeof text === "string" ? text : undefined;
}

/** A text that may be absent, or a list of some; nothing for what is none, or an empty one in a list. */
function asTextOrList(value: unknown): string | readonly string[] | undefined {
  const isItem = (text: unknown): text is string => typeof text === "string" && text !== "";
  return Array.isArray(value) ? asList(value, isItem) : asText(value);
}

/** Texts by name, which may be absent; nothing where one is no text, or empty. */
function asTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  const texts = value ?? {};
  if (!isObject(texts)) return undefined;
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === "string" && entry[1] !== "";
  const entries = Object.entries(texts);
  return entries.every(isText) ? Object.fromEntries(entries) : undefined;
}

/** A list that may be absent; nothing where an item is wrong. */
function asList<Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] | undefined {
  const list: unknown = value ?? [];
  return Array.isArray(list) && list.every(isItem) ? list : undefined;
}

function findOne<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((each) => each === value);
}

/**
 * Fills the settings into the scheme of a sender; those that it does not have are ignored.
 *
 * @param given without a broken rule
 * @returns the rule that the missing URL breaks, where the sender signs that
 */
export function settleScheme(
  { scheme, settings = [] }: Pick<Sender, "scheme" | "settings">,
  given: Settings,
): Scheme | { rule: "publicUrl" } {
  const { signatureHeader, timestampHeader } = given;
  let settled = scheme;
  if (settings.includes("signatureHeader") && signatureHeader) {
    settled = { ...settled, sig: { ...settled.sig, headers: [signatureHeader] } };
  }
  if (settings.includes("timestampHeader") && timestampHeader && settled.ts) {
    settled = { ...settled, ts: { ...settled.ts, source: `header:${timestampHeader}` } };
  }
  const alg = settings.includes("alg") && macAlgorithms.find((name) => name === `hmac-${given.alg}`);
  if (alg) settled = { ...settled, alg, sig: { ...settled.sig, pick: { prefix: `${given.alg}=` } } };
  return signsUrl(settled) && !isPublicUrl(given.publicUrl) ? { rule: "publicUrl" } : settled;
}

function isPublicUrl(url = ""): boolean {
  return url !== "" && rules.publicUrl(url) === undefined;
}
