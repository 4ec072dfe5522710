// Explains to the operator why a request was refused, and how to fix it.

import type { OwnCredentials } from "../config/parse";
import { DecodedBody } from "../request/decode";
import { fieldValues, type RequestHead } from "../request/head";
import { isDeeperThan, type Json, parseJson } from "../request/json";
import { Problem, type Reason } from "../request/problem";
import type { Authenticated, Explanation, RefusalReason, RefusedRequestFacts } from "./authenticator";
import { tokenLength } from "../config/fields";
import { type CallerTokens, noCallers } from "./caller-tokens";
import { digest, isSame } from "./digest";
import { coversBody, type Scheme, signsUrl, type Source } from "./senders/sender";
import { type SenderId, senderIds, senders, shortName } from "./senders/table";
import { Verifier } from "./signature/verifier";

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
export function explainToken(
  tokens: readonly string[],
  expected: Source,
  head: RequestHead,
  callers = noCallers,
): Explanation {
  const looksLike = recognise(head.rawHeaders);
  return { reasons: findToken(tokens, expected, head, callers), ...(looksLike && { looksLike }) };
}

function findToken(given: readonly string[], expected: Source, head: RequestHead, callers: CallerTokens): Reason[] {
  const tokens = given.filter((token) => token !== "");
  const lengths = [...tokens.map(({ length }) => length), ...(callers.size > 0 ? [tokenLength] : [])];
  const accepted = tokens.map((token) => digest(token));
  const isOurs = (text: string) => {
    const presented = digest(text);
    const isOwn = accepted.map((own) => isSame(presented, own)).includes(true);
    return isOwn || callers.find(text, presented) !== undefined;
  };
  const values = listValues(head).slice(0, maxValues);
  const elsewhere = values.find(({ source, text }) => !isAt(source, expected) && isOurs(text));
  if (elsewhere) return [{ key: "tokenElsewhere", values: { place: toPlaceText(elsewhere.source) } }];
  const [here, ...repeated] = values.filter(({ source }) => isAt(source, expected));
  const [length] = lengths;
  if (!here || length === undefined) return [];
  const { text, isBearer } = here;
  if (text !== text.trim() && isOurs(text.trim())) return [{ key: "tokenBlank", values: {} }];
  // Without a scheme, or with another one (RFC 6750 §2.1).
  if (text !== "" && !isBearer && isAt(here.source, "header:Authorization")) {
    return [text, readBasicPassword(text)].some(isOurs) ? [{ key: "tokenScheme", values: {} }] : [];
  }
  if (!lengths.includes(text.length))
    return [{ key: "tokenLength", values: { length: text.length, expected: length } }];
  // A repeated one may be right.
  return callers.size > 0 && repeated.length === 0 ? [{ key: "callerUnknown", values: {} }] : [];
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

// Signatures that cannot be verified.

/** How an endpoint verifies signatures. */
export interface SignatureSetup {
  sender: SenderId;
  scheme: Scheme;
  secrets: OwnCredentials;
  publicUrl: string;
}

/** Explains why a signed request was refused: each of some forty tries costs a verification. */
export function explainSignature(setup: SignatureSetup, refused: RefusedRequestFacts): Explanation {
  const { head } = refused;
  const looksLike = recogniseOther(head.rawHeaders, setup.sender);
  const why = verifyAgain(setup, refused);
  if (!why || "credential" in why) return { reasons: [], ...(looksLike && { looksLike }) };
  const reasons: Reason[] = why.kind === "timeOutside" ? [toReason(why)] : [];
  if (why.kind === "signatureWrong" || why.kind === "tokenWrong") reasons.push(...findErrors(setup, refused));
  const [field] = setup.scheme.sig.headers;
  if (setup.scheme.alg === "token" && field !== undefined) {
    const { first, second = "" } = setup.secrets;
    reasons.push(...findToken([first, second], `header:${field}`, head, noCallers));
  }
  if (looksLike) reasons.push({ key: "otherSender", values: { sender: shortName(looksLike) } });
  if (reasons.length === 0) reasons.push(toReason(why));
  return { reasons, ...(looksLike && { looksLike }) };
}

/** The result of the verifier; nothing where that cannot be found out. */
function verifyAgain(
  { sender, scheme, secrets, publicUrl }: SignatureSetup,
  { head, body, at }: RefusedRequestFacts,
): Authenticated | RefusalReason | undefined {
  const verifier = Verifier.of(scheme, secrets, publicUrl, senders[sender].id?.from);
  if ("rule" in verifier) return undefined;
  const check = verifier.checkHead(head, at);
  if ("kind" in check) return check;
  if (verifier.readsBody && !body) return undefined;
  return check.verify(body && DecodedBody.of(head, body));
}

/** The first change of the body, the secrets or the URL with which the request verifies. */
function findErrors(setup: SignatureSetup, refused: RefusedRequestFacts): Reason[] {
  const { secrets, sender, publicUrl, scheme } = setup;
  const { body } = refused;
  const verifies = (changed: Partial<SignatureSetup>, bytes = body) => {
    const verdict = verifyAgain({ ...setup, ...changed }, { ...refused, body: bytes });
    return verdict !== undefined && "credential" in verdict;
  };
  if (body && coversBody(scheme)) {
    for (const [change, original] of originals(body)) {
      if (verifies({}, original)) return [{ key: `bodyChanged.${change}`, values: {} }];
    }
  }
  for (const secret of [secrets.first, secrets.second ?? ""]) {
    if (secret === "") continue;
    for (const [reason, first] of respell(secret, senders[sender].secretBegins)) {
      if (verifies({ secrets: { first } })) return [reason];
    }
  }
  if (!signsUrl(scheme)) return [];
  const url = listOtherUrls(publicUrl).find((other) => verifies({ publicUrl: other }));
  return [
    url === undefined ? { key: "signedUrl", values: {} } : { key: "publicUrl", values: { url: withoutSecrets(url) } },
  ];
}

/** The same URL with the other scheme, and with or without a slash at its end. */
function listOtherUrls(url: string): string[] {
  const secure = url.replace(/^http:/i, "https:");
  const plain = url.replace(/^https:/i, "http:");
  return [secure, plain].flatMap((each) => [each.replace(/\/$/, ""), each.replace(/\/?$/, "/")]);
}

/** User information, query and fragment may be secret. */
function withoutSecrets(url: string): string {
  return url.replace(/^(https?:\/\/)(?:[^/?#]*@)?([^?#]*)[^]*$/i, "$1$2");
}

// Typing errors in secrets.

/** Prefixes of secrets, signatures and tokens. */
const prefixes = ["whsec_", "whpk_", "v1,", "sha256=", "Bearer "];

/**
 * Secrets that may have been meant, each with the error.
 *
 * @param begins the prefix of the sender's secrets
 */
function* respell(secret: string, begins = ""): Generator<[Reason, string]> {
  const bare = secret.trim();
  if (bare !== secret) yield [{ key: "secretBlank", values: {} }, bare];
  for (const prefix of new Set([begins, ...prefixes])) {
    if (prefix === "") continue;
    const values = { prefix };
    if (bare.startsWith(prefix)) yield [{ key: "secretPrefixTooMuch", values }, bare.slice(prefix.length)];
    else yield [{ key: "secretPrefixMissing", values }, prefix + bare];
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
