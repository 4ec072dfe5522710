// Explains to the operator why a signed request was refused, and how to fix it.

import { isDeeperThan, type Json, parseJson } from "../../request/json";
import { Problem } from "../../request/problem";
import type { Explanation, Reason, RefusalReason, RefusedRequestFacts } from "../authenticator";
import { findToken, recogniseOther, toReason } from "../diagnosis";
import { coversBody, type Scheme, signsUrl } from "../senders/sender";
import { type SenderId, senders, shortName } from "../senders/table";
import { type Secrets, Verifier } from "./verifier";

/** How an endpoint verifies signatures. */
export interface SignatureSetup {
  sender: SenderId;
  scheme: Scheme;
  secrets: Secrets;
  publicUrl: string;
}

/** Explains why a signed request was refused: each of some forty tries costs a verification. */
export function explainSignature(setup: SignatureSetup, refused: RefusedRequestFacts): Explanation {
  const { head } = refused;
  const looksLike = recogniseOther(head.rawHeaders, setup.sender);
  const why = verifyAgain(setup, refused);
  if (!why) return { reasons: [], ...(looksLike && { looksLike }) };
  const reasons: Reason[] = why.kind === "timeOutside" ? [toReason(why)] : [];
  if (why.kind === "signatureWrong" || why.kind === "tokenWrong") reasons.push(...findErrors(setup, refused));
  const [field] = setup.scheme.sig.headers;
  if (setup.scheme.alg === "token" && field !== undefined) {
    const { first, second = "" } = setup.secrets;
    reasons.push(...findToken([first, second], `header:${field}`, head));
  }
  if (looksLike) reasons.push({ key: "otherSender", values: { sender: shortName(looksLike) } });
  if (reasons.length === 0) reasons.push(toReason(why));
  return { reasons, ...(looksLike && { looksLike }) };
}

/** The reason of the verifier; nothing where that cannot be found out. */
function verifyAgain(
  { sender, scheme, secrets, publicUrl }: SignatureSetup,
  { head, body, at }: RefusedRequestFacts,
): RefusalReason | undefined {
  const verifier = Verifier.of(scheme, secrets, publicUrl, senders[sender].id?.from);
  if ("rule" in verifier) return undefined;
  const check = verifier.begin(head, at);
  if ("kind" in check) return check;
  if (verifier.readsBody && !body) return undefined;
  const verdict = check.verify(body ?? Buffer.alloc(0));
  return "kind" in verdict ? verdict : undefined;
}

/** The first change of the body, the secrets or the URL with which the request verifies. */
function findErrors(setup: SignatureSetup, { head, body, at }: RefusedRequestFacts): Reason[] {
  const { secrets, sender, publicUrl, scheme } = setup;
  const verifies = (changed: Partial<SignatureSetup>, bytes = body ?? Buffer.alloc(0)) => {
    const other = { ...setup, ...changed };
    const verifier = Verifier.of(scheme, other.secrets, other.publicUrl);
    if ("rule" in verifier) return false;
    const check = verifier.begin(head, at);
    return !("kind" in check || "kind" in check.verify(bytes));
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
