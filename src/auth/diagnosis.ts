// Explains to the operator why a request was refused, and how to fix it.

import { isDeeperThan, type Json, parseJson } from "../request/decode";
import { Problem } from "../request/problem";
import { digest, isSame } from "./digest";
import type { Explanation, Reason, RefusalReason } from "./result";
import type { Scheme, Source } from "./senders/sender";
import { recogniseOrder, type SenderId, senders, shortName } from "./senders/table";
import { fieldValues, type RequestHead } from "./signature/fields";
import { signsUrl } from "./signature/scheme";
import { type Secrets, Verifier } from "./signature/verifier";

export type Finding =
  | TokenFinding
  | SecretFlaw
  /** The request has the header fields of another sender. */
  | { kind: "otherSender"; sender: SenderId }
  /** Seconds between the clocks; negative when the sender's is ahead. */
  | { kind: "clock"; seconds: number; tolerance: number }
  | { kind: "bodyChanged"; change: BodyChange }
  /** The public URL that was signed. */
  | { kind: "publicUrl"; url: string }
  /** The signature covers the public URL, which may differ. */
  | { kind: "signedUrl" };

export interface Verification {
  sender: SenderId;
  scheme: Scheme;
  secrets: Secrets;
  publicUrl?: string;
}

interface RefusedHead {
  why: RefusalReason;
  head: RequestHead;
  /** As sent; missing when it was not read. */
  body?: Buffer;
  /** When it came, in ms since the epoch. */
  at: number;
}

/** Larger bodies are not tried in other forms: each of some forty tries costs a verification. */
const maxTriedBytes = 65_536;

/**
 * Finds out why a request was refused. Takes as long as some forty verifications; the caller limits how often.
 *
 * @returns the most certain first; empty when nothing was found
 */
export function whyNot(verification: Verification, refused: RefusedHead): Finding[] {
  const { why, head, body = Buffer.alloc(0) } = refused;
  const findings: Finding[] = [];
  if (why.kind === "timeOutside") findings.push({ kind: "clock", seconds: why.seconds, tolerance: why.tolerance });
  const isWrong = why.kind === "signatureWrong" || why.kind === "tokenWrong";
  if (isWrong && body.length <= maxTriedBytes) findings.push(...remedies(verification, refused, body));
  if (verification.scheme.alg === "token") findings.push(...tokenFindings(verification, head));
  const sender = recognise(head.rawHeaders);
  if (sender && sender !== verification.sender) findings.push({ kind: "otherSender", sender });
  return findings;
}

function tokenFindings({ scheme, secrets }: Verification, head: RequestHead): TokenFinding[] {
  const [name] = scheme.sig.headers;
  const tokens = [secrets.first, secrets.second ?? ""].filter((secret) => secret !== "");
  const finding = name === undefined ? undefined : explainToken(tokens, `header:${name}`, head);
  return finding ? [finding] : [];
}

/** The first change of the body, the secrets or the URL with which the request verifies. */
function remedies(verification: Verification, { head, at }: RefusedHead, body: Buffer): Finding[] {
  const { secrets, sender, publicUrl = "" } = verification;
  const verifies = (changed: Partial<Verification>, bytes = body) =>
    fits({ ...verification, ...changed }, head, bytes, at);
  for (const [change, original] of originals(body)) {
    if (verifies({}, original)) return [{ kind: "bodyChanged", change }];
  }
  for (const secret of [secrets.first, secrets.second ?? ""]) {
    if (secret === "") continue;
    for (const [flaw, first] of respelt(secret, senders[sender].secretBegins)) {
      if (verifies({ secrets: { first } })) return [flaw];
    }
  }
  if (!signsUrl(verification.scheme)) return [];
  const url = otherUrls(publicUrl).find((other) => verifies({ publicUrl: other }));
  return [url === undefined ? { kind: "signedUrl" } : { kind: "publicUrl", url }];
}

function fits({ scheme, secrets, publicUrl }: Verification, head: RequestHead, body: Buffer, at: number): boolean {
  const verifier = Verifier.of(scheme, secrets, publicUrl);
  if (!(verifier instanceof Verifier)) return false;
  const check = verifier.begin(head, at);
  if ("why" in check) return false;
  return !("why" in check.verdict(() => body));
}

/** The same URL with the other scheme, and with or without a slash at its end. */
function otherUrls(url: string): string[] {
  const secure = url.replace(/^http:/i, "https:");
  const plain = url.replace(/^https:/i, "http:");
  return [secure, plain].flatMap((each) => [each.replace(/\/$/, ""), each.replace(/\/?$/, "/")]);
}

// Findings as sentences for the operator.

export function explainFindings(findings: readonly Finding[], { rawHeaders }: RequestHead): Explanation {
  const looksLike = recognise(rawHeaders);
  return { reasons: findings.map(toReason), ...(looksLike && { looksLike }) };
}

/** From the failed check, where nothing more was found. */
export function explainedByWhy(why: RefusalReason, head: RequestHead): Explanation {
  return { ...explainFindings([], head), reasons: [reasonOfWhy(why)] };
}

function toReason(finding: Finding): Reason {
  switch (finding.kind) {
    case "tokenElsewhere":
      return { key: "tokenElsewhere", values: { place: placeText(finding.source) } };
    case "tokenLength":
      return { key: "tokenLength", values: { length: finding.length, expected: finding.expected } };
    case "secretPrefixTooMuch":
    case "secretPrefixMissing":
      return { key: finding.kind, values: { prefix: finding.prefix } };
    case "otherSender":
      return { key: "otherSender", values: { sender: shortName(finding.sender) } };
    case "clock":
      return clockReason(finding.seconds, finding.tolerance);
    case "bodyChanged":
      return { key: `bodyChanged.${finding.change}`, values: {} };
    case "publicUrl":
      return { key: "publicUrl", values: { url: shownUrl(finding.url) } };
    case "signedUrl":
    case "tokenBlank":
    case "tokenScheme":
    case "secretBlank":
      return { key: finding.kind, values: {} };
  }
}

function reasonOfWhy(why: RefusalReason): Reason {
  switch (why.kind) {
    case "timeOutside":
      return clockReason(why.seconds, why.tolerance);
    case "signatureLength":
      return { key: why.kind, values: { place: placeText(why.source), bytes: why.bytes, expected: why.expected } };
    case "tooManySignatures":
      return { key: why.kind, values: { count: why.count, most: why.most } };
    case "missing":
    case "repeated":
    case "timeMalformed":
    case "signatureMalformed":
      return { key: why.kind, values: { place: placeText(why.source) } };
    case "signatureWrong":
    case "tokenWrong":
    case "bodyDigestWrong":
      return { key: why.kind, values: {} };
  }
}

function clockReason(seconds: number, tolerance: number): Reason {
  const values = { distance: duration(Math.abs(seconds)), tolerance: duration(tolerance) };
  return { key: seconds < 0 ? "clockAhead" : "clockBehind", values };
}

/** In SI symbols, which need no translation. */
function duration(seconds: number): string {
  const [size, symbol] = units.find(([most]) => seconds >= 2 * most) ?? [1, "s"];
  return `${Math.round(seconds / size)} ${symbol}`;
}

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** A place as written in a request, or in JSON. */
function placeText(source: Source): string {
  const colon = source.indexOf(":");
  const from = source.slice(0, Math.max(colon, 0));
  const name = source.slice(colon + 1);
  return from === "query" ? `?${name}=` : name;
}

/** User information, query and fragment may be secret. */
function shownUrl(url: string): string {
  return url.replace(/^(https?:\/\/)(?:[^/?#]*@)?([^?#]*)[^]*$/i, "$1$2");
}

// Tokens in another place, or of a wrong length.

/** Lengths are in characters. */
type TokenFinding =
  | { kind: "tokenElsewhere"; source: Source }
  | { kind: "tokenLength"; length: number; expected: number }
  | { kind: "tokenBlank" }
  /** In `Authorization`, without a scheme or with another one (RFC 6750 §2.1). */
  | { kind: "tokenScheme" };

/** A longer text is no mistyped token. */
const maxTokenLength = 1000;
/** How many values are searched. */
const maxValues = 100;

/**
 * Explains a wrong token, without revealing anything of it.
 *
 * @param tokens the valid ones
 * @param expected the configured place
 */
export function explainToken(tokens: readonly string[], expected: Source, head: RequestHead): TokenFinding | undefined {
  const accepted = tokens.map((token) => digest(token));
  const isOurs = (text: string) => accepted.map((own) => isSame(digest(text), own)).includes(true);
  const values = [...presentedValues(head)].slice(0, maxValues);
  const elsewhere = values.find(({ source, text }) => !isAt(source, expected) && isOurs(text));
  if (elsewhere) return { kind: "tokenElsewhere", source: elsewhere.source };
  const here = values.find(({ source }) => isAt(source, expected));
  const [token] = tokens;
  if (!here || token === undefined) return undefined;
  if (here.text !== here.text.trim() && isOurs(here.text.trim())) return { kind: "tokenBlank" };
  if (here.text !== "" && !here.isBearer && isAt(here.source, "header:Authorization")) {
    return [here.text, readBasicPassword(here.text)].some(isOurs) ? { kind: "tokenScheme" } : undefined;
  }
  const { length } = here.text;
  const isLength = !tokens.some((each) => each.length === length);
  return isLength ? { kind: "tokenLength", length, expected: token.length } : undefined;
}

/** The password of the scheme `Basic` (RFC 7617 §2). */
function readBasicPassword(credentials: string): string {
  return Buffer.from(credentials, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
}

/** Field names have no letter case. */
function isAt(source: Source, expected: Source): boolean {
  return expected.startsWith("header:") ? source.toLowerCase() === expected.toLowerCase() : source === expected;
}

/** The values of header fields, without their authentication scheme (RFC 9110 §11.4), and of the query. */
function* presentedValues({ rawHeaders, search }: RequestHead): Generator<PresentedToken> {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [value = "", source] = [rawHeaders[index + 1], `header:${rawHeaders[index] ?? ""}` as const];
    const text = value.replace(/^(?:bearer|basic|token) +/i, "");
    if (text.length <= maxTokenLength) yield { source, text, isBearer: /^bearer /i.test(value) };
  }
  for (const [name, text] of new URLSearchParams(search)) {
    if (text.length <= maxTokenLength) yield { source: `query:${name}`, text, isBearer: false };
  }
}

interface PresentedToken {
  readonly source: Source;
  readonly text: string;
  /** Whether it had the scheme Bearer. */
  readonly isBearer: boolean;
}

// Typing errors in secrets.

type SecretFlaw = { kind: "secretBlank" } | { kind: "secretPrefixTooMuch" | "secretPrefixMissing"; prefix: string };

/** Prefixes of secrets, signatures and tokens. */
const prefixes = ["whsec_", "whpk_", "v1,", "sha256=", "Bearer "];

/**
 * Secrets that may have been meant, each with the error.
 *
 * @param begins the prefix of the sender's secrets
 */
function* respelt(secret: string, begins = ""): Generator<[SecretFlaw, string]> {
  const bare = secret.trim();
  if (bare !== secret) yield [{ kind: "secretBlank" }, bare];
  for (const prefix of new Set([begins, ...prefixes])) {
    if (prefix === "") continue;
    if (bare.startsWith(prefix)) yield [{ kind: "secretPrefixTooMuch", prefix }, bare.slice(prefix.length)];
    else yield [{ kind: "secretPrefixMissing", prefix }, prefix + bare];
  }
}

// Changes of a body on its way.

type BodyChange = "trailingNewline" | "lineEndings" | "byteOrderMark" | "json";

/** In levels: the indentation of deeper JSON may take hundreds of times its length. */
const deepestIndented = 16;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Bodies that may have become this one, with the change. Latin-1 keeps other bytes as they are. */
export function* originals(body: Buffer): Generator<[BodyChange, Buffer]> {
  const text = body.toString("latin1");
  const bytes = (changed: string) => Buffer.from(changed, "latin1");
  for (const end of ["\n", "\r\n"]) {
    yield ["trailingNewline", bytes(text + end)];
    if (text.endsWith(end)) yield ["trailingNewline", bytes(text.slice(0, -end.length))];
  }
  const withLineFeeds = text.replace(/\r\n/g, "\n");
  yield ["lineEndings", bytes(withLineFeeds)];
  yield ["lineEndings", bytes(withLineFeeds.replace(/\n/g, "\r\n"))];
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  yield ["byteOrderMark", hasMark ? body.subarray(byteOrderMark.length) : Buffer.concat([byteOrderMark, body])];
  const value = parseJson(body.toString());
  if (!(value instanceof Problem)) for (const json of serialisations(value)) yield ["json", Buffer.from(json)];
}

/** JSON as JavaScript, PHP, Python and pretty printers write it. */
function* serialisations(value: Json): Generator<string> {
  const compact = JSON.stringify(value);
  const spaced = withSpaces(value);
  yield* [compact, inAscii(compact), inAscii(compact.replaceAll("/", "\\/"))];
  yield* [spaced, inAscii(spaced)];
  if (!isDeeperThan(deepestIndented, value))
    for (const indent of [2, 4, "\t"]) yield JSON.stringify(value, null, indent);
}

/** With a space behind each comma and colon. */
function withSpaces(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(withSpaces).join(", ")}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${withSpaces(member)}`);
  return `{${members.join(", ")}}`;
}

/** RFC 8259 §7: other characters as escapes of UTF-16 code units. */
function inAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// Guesses the sender of a request, for the operator: nothing in it is verified.

/**
 * Guesses the sender by its header fields. It never selects a scheme: an attacker would choose the weakest one.
 *
 * @param rawHeaders names and values in turn
 */
export function recognise(rawHeaders: readonly string[]): SenderId | undefined {
  return recogniseOrder.find((id) => senders[id].recognise?.some((group) => hasFields(group, rawHeaders)));
}

function hasFields(group: Readonly<Record<string, string>>, rawHeaders: readonly string[]): boolean {
  return Object.entries(group).every(([name, beginning]) =>
    fieldValues(rawHeaders, name.toLowerCase()).some((value) =>
      value.toLowerCase().startsWith(beginning.toLowerCase()),
    ),
  );
}
