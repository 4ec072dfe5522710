// The scheme of a sender that has no row, as a user has written it.

import type { Settings } from "../../config/fields";
import { type BrokenRule, isFieldName, rules } from "../../config/rules";
import {
  algorithms,
  encodings,
  keyFormats,
  macAlgorithms,
  type Scheme,
  type Sender,
  type Source,
  timeUnits,
} from "../senders/sender";

/** What is wrong with a scheme, by the part that is. */
type SchemeRule = Extract<BrokenRule, `scheme.${string}` | "publicUrl">;

/** A JSON object that may be anything. */
type SchemeParts = Readonly<Record<string, unknown>>;

/**
 * Reads a scheme; members that are `null` or absent are not given, and others than those of a scheme are passed over.
 *
 * @param publicUrl the URL that the sender was given
 * @returns which rule it breaks, if it breaks one
 */
export function parseScheme(value: unknown, publicUrl = ""): Scheme | { rule: SchemeRule } {
  if (!isParts(value)) return { rule: "scheme.required" };
  const alg = algorithms.find((each) => each === value.alg);
  if (!alg) return { rule: "scheme.alg" };
  const key = parseKey(value.key ?? { format: "utf8" });
  if (!key) return { rule: "scheme.key" };
  const sig = parseSig(value.sig);
  if (!sig) return { rule: "scheme.sig" };
  if (!sig.enc && alg !== "token") return { rule: "scheme.enc" };
  const hasKeys = sig.pick ? "kv" in sig.pick : false;
  const ts = parseTime(value.ts ?? undefined, hasKeys);
  if (ts === undefined) return { rule: "scheme.ts" };
  const content = parseContent(value.content ?? [], hasKeys);
  if (!content || (content.length === 0 && alg !== "token" && alg !== "code:twilio")) return { rule: "scheme.content" };
  if (content.includes("ts") && !ts) return { rule: "scheme.ts" };
  return signsUrl({ alg, content }) && !isPublicUrl(publicUrl) ? { rule: "publicUrl" } : { alg, key, sig, content, ts };
}

function parseKey(key: unknown): Scheme["key"] | undefined {
  if (!isParts(key)) return undefined;
  const format = keyFormats.find((each) => each === key.format);
  const strip = asText(key.strip);
  return format && strip !== undefined ? { format, strip } : undefined;
}

function parseSig(sig: unknown): Scheme["sig"] | undefined {
  if (!isParts(sig)) return undefined;
  const headers = listNames(sig.headers ?? []);
  const source = sig.source ?? null;
  const split = asText(sig.split);
  const pick = parsePick(sig.pick ?? null);
  const enc = sig.enc ?? null;
  if (!headers || split === undefined || pick === undefined) return undefined;
  if (enc !== null && !isOneOf(encodings, enc)) return undefined;
  if (source !== null) return isSource(source, carrying) ? { headers, source, split, pick, enc } : undefined;
  return headers.length > 0 ? { headers, split, pick, enc } : undefined;
}

function listNames(names: unknown): string[] | undefined {
  if (!Array.isArray(names)) return undefined;
  const all: unknown[] = names;
  const known = all.filter((name) => typeof name === "string");
  return known.length === all.length && known.every(isFieldName) ? known : undefined;
}

function parsePick(pick: unknown): Scheme["sig"]["pick"] | undefined {
  if (pick === null) return null;
  if (!isParts(pick)) return undefined;
  const prefix = asText(pick.prefix);
  const kv = asText(pick.kv);
  if (prefix === "" && kv === "") return null;
  if (prefix && kv === "") return { prefix };
  return kv && prefix === "" ? { kv } : undefined;
}

/** Gives `null` for a scheme without a timestamp. */
function parseTime(ts: unknown, hasKeys: boolean): NonNullable<Scheme["ts"]> | null | undefined {
  if (ts === undefined) return null;
  if (!isParts(ts)) return undefined;
  const { source, tolerance = null } = ts;
  const unit = timeUnits.find((each) => each === ts.unit);
  const isTolerance = tolerance === null || (typeof tolerance === "number" && tolerance >= 0);
  if (!unit || !isTolerance || !isSource(source, hasKeys ? carryingWithKeys : carrying)) return undefined;
  return { source, unit, tolerance };
}

function parseContent(content: unknown, hasKeys: boolean): Source[] | undefined {
  if (!Array.isArray(content)) return undefined;
  const all: unknown[] = content;
  const known = all.filter((source) => isSource(source));
  const isRead = hasKeys || !known.some((source) => source.startsWith("sig:"));
  return isRead && known.length === all.length ? known : undefined;
}

const carrying = /^(?:header|json|form|query):/;
const carryingWithKeys = /^(?:header|json|form|query|sig):/;

function isSource(value: unknown, kind = /^/): value is Source {
  if (typeof value !== "string" || !kind.test(value)) return false;
  const [, name] = /^header:([^]*)$/.exec(value) ?? [];
  if (name !== undefined) return isFieldName(name);
  return /^(?:(?:sig|json|form|query|lit):[^]+|body|ts|method|url|url:hubspot)$/.test(value);
}

/** A text that may be absent; nothing for what is no text. */
function asText(value: unknown): string | undefined {
  const text = value ?? "";
  return typeof text === "string" ? text : undefined;
}

function isOneOf<Value extends string>(values: readonly Value[], value: unknown): value is Value {
  return values.some((each) => each === value);
}

function isParts(value: unknown): value is SchemeParts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// A sender's scheme, filled in by what its user has entered.

/** A setting that breaks its rule. */
type SettingRule = "publicUrl" | "signatureHeader" | "timestampHeader" | "alg";

/**
 * Fills the settings into the scheme of a sender; those that it does not have are passed over.
 *
 * @returns which rule a setting breaks, if one does
 */
export function settledScheme(
  { scheme, settings = [] }: Pick<Sender, "scheme" | "settings">,
  given: Settings,
): Scheme | { rule: SettingRule } {
  const { signatureHeader = "", timestampHeader = "", alg = "" } = given;
  let settled = scheme;
  if (settings.includes("signatureHeader") && signatureHeader !== "") {
    if (rules.signatureHeader(signatureHeader)) return { rule: "signatureHeader" };
    settled = { ...settled, sig: { ...settled.sig, headers: [signatureHeader] } };
  }
  if (settings.includes("timestampHeader") && timestampHeader !== "" && settled.ts) {
    if (rules.timestampHeader(timestampHeader)) return { rule: "timestampHeader" };
    settled = { ...settled, ts: { ...settled.ts, source: `header:${timestampHeader}` } };
  }
  if (settings.includes("alg") && alg !== "") {
    const chosen = macAlgorithms.find((name) => name === `hmac-${alg}`);
    if (!chosen) return { rule: "alg" };
    settled = { ...settled, alg: chosen, sig: { ...settled.sig, pick: { prefix: `${alg}=` } } };
  }
  return signsUrl(settled) && !isPublicUrl(given.publicUrl) ? { rule: "publicUrl" } : settled;
}

/** Whether a signature covers the URL that the sender was given. */
export function signsUrl({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.some((source) => source === "url" || source === "url:hubspot");
}

/** Whether a signature covers the body; where it does not, whoever has seen one can send any event with it. */
export function coversBody({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.includes("body");
}

function isPublicUrl(url = ""): boolean {
  return url !== "" && rules.publicUrl(url) === undefined;
}
