// Authentication by a signature whose certificate the request names by a URL: Amazon SNS and PayPal.

import { verify, type X509Certificate } from "node:crypto";
import { crc32 } from "node:zlib";
import type { SignatureAccess } from "../config/parse";
import { isObject } from "../config/values";
import { DecodedBody } from "../request/decode";
import { fieldValues, type RequestHead } from "../request/head";
import { readJson } from "../request/json";
import { Problem, problems, type Reason } from "../request/problem";
import {
  type Authenticator,
  type BodyVerdict,
  byFirst,
  byTest,
  type RefusalReason,
  type RefusedRequestFacts,
} from "./authenticator";
import { recogniseOther, toReason } from "./diagnosis";
import { FetchError, type KeptPublications } from "./published";
import { testField } from "./present";
import { Redactor } from "./redactor";
import type { Scheme, Source } from "./senders/sender";
import { type SenderId, shortName } from "./senders/table";
import { decodeSignature } from "./signature/algorithms";
import { judgeTime } from "./signature/time";
import type { NodeTestCredentials } from "./test-credentials";

export function createCertificateAuthenticator(
  { sender, scheme, access }: { sender: SenderId; scheme: Scheme; access: SignatureAccess },
  testCredentials: NodeTestCredentials,
  { certificates }: KeptPublications,
): Authenticator {
  const isSns = scheme.alg === "code:sns";
  const tolerance = scheme.ts?.tolerance ?? 0;
  const { topicArn = "", webhookId = "" } = access.settings;
  const readTimeAt =
    (at: number): ReadTime =>
    (text, source) =>
      judgeTime(text, { source, unit: "iso8601", tolerance }, at);

  /** Nothing where the head breaks no rule, and the body, which says what is signed, is missing. */
  const read = (head: RequestHead, at: number, body?: DecodedBody): SignedText | RefusalReason | undefined =>
    isSns ? readSns(head, body, topicArn, readTimeAt(at)) : readPaypal(head, webhookId, readTimeAt(at));

  const judge = (signed: SignedText, body: Buffer, certificate: X509Certificate, at: number) => {
    const text = isSns ? signed.text : `${signed.text}${crc32(body)}`;
    return judgeSignature({ ...signed, text }, certificate, at);
  };

  const verifyBody = async (head: RequestHead, body: DecodedBody, at: number, ip: string): Promise<BodyVerdict> => {
    const signed = read(head, at, body);
    if (!signed || "kind" in signed) return toProblem(signed);
    try {
      const refusal = judge(signed, body.bytes, await certificates.find(signed.certificate, ip), at);
      if (refusal) return toProblem(refusal);
      certificates.keep(signed.certificate, ip);
      const { isHandshake = false, confirmation, sentAt } = signed;
      if (confirmation) await certificates.confirm(confirmation);
      return isHandshake ? { status: 200, headers: {}, body: "", isVerified: true } : { ...byFirst, sentAt };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      return problems.keysUnavailable;
    }
  };

  /** Nothing where the body is missing, and the head says nothing. */
  const findReason = ({ head, body, at }: RefusedRequestFacts): Reason | undefined => {
    const signed = read(head, at, body && DecodedBody.of(head, body));
    if (signed && "kind" in signed) return toReason(signed);
    if (!signed || !body) return undefined;
    const certificate = certificates.get(signed.certificate);
    const wrong = certificate && judge(signed, body, certificate, at);
    if (wrong) return toReason(wrong);
    const { kind, host } = certificates.explain((certificate && signed.confirmation) ?? signed.certificate);
    return { key: `fetch.${kind}`, values: { host } };
  };

  return {
    missing: problems.signatureMissing,
    handshakeMethods: [],
    scheme,
    fields: [],
    hidden: [testField],
    parameter: undefined,
    redactor: new Redactor([], testCredentials),
    checkHead(head, at, ip = "") {
      if (testCredentials.isTest(head)) return byTest;
      const signed = read(head, at);
      if (signed && "kind" in signed) return toProblem(signed);
      const verifyLater = (body: DecodedBody) => verifyBody(head, body, at, ip);
      const maxBody = isSns ? { bytes: maxSnsBytes, otherwise: problems.bodyTooLarge } : undefined;
      return { isUnverified: true, needsBytes: true, maxBody, verifyLater };
    },
    isSignedTest: (head) => testCredentials.isSignedTest(head),
    sign: () => undefined,
    explain(refused) {
      const looksLike = recogniseOther(refused.head.rawHeaders, sender);
      const reason = findReason(refused);
      if (!reason || looksLike === undefined) return { reasons: reason ? [reason] : [] };
      return { reasons: [{ key: "otherSender", values: { sender: shortName(looksLike) } }], looksLike };
    },
  };
}

/** The sender learns only whether there was a signature. */
function toProblem(refusal?: RefusalReason) {
  const isMissing = !refusal || refusal.kind === "missing" || refusal.kind === "certificate.raw";
  return isMissing ? problems.signatureMissing : problems.signatureInvalid;
}

function judgeSignature(
  { text, signature, hash }: SignedText,
  { publicKey, validFrom, validTo }: X509Certificate,
  at: number,
): RefusalReason | undefined {
  if (at < Date.parse(validFrom) || Date.parse(validTo) < at) return { kind: "certificate.expired" };
  const bytes = decodeSignature(signature, "base64");
  const isSigned = bytes && publicKey.asymmetricKeyType === "rsa" && verify(hash, Buffer.from(text), publicKey, bytes);
  return isSigned ? undefined : { kind: "signatureWrong" };
}

/** What a request says is signed, for one of its certificates. */
interface SignedText {
  readonly text: string;
  /** In base64. */
  readonly signature: string;
  readonly hash: "sha1" | "sha256";
  readonly certificate: URL;
  /** In ms since the epoch. */
  readonly sentAt: number;
  /** Whether it starts no flow. */
  readonly isHandshake?: boolean;
  /** Confirms a subscription when it is fetched. */
  readonly confirmation?: URL | undefined;
}

/** Reads when a request was signed, in ms since the epoch, if that is near enough to when it came. */
type ReadTime = (text: string, source: Source) => number | RefusalReason;

/** By https, without a port and user information. A certificate has one URL, without a query. */
function parseUrl(text: string, host: RegExp, path: RegExp): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, port, username, password, pathname, search, hash } = url;
  const isPlain = protocol === "https:" && `${port}${username}${password}${hash}` === "";
  return isPlain && host.test(hostname) && path.test(pathname + search) ? url : undefined;
}

// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html

/** The signed members of each type of message, in their order. */
const signedMembers = new Map([
  ["Notification", ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]],
  ["SubscriptionConfirmation", ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]],
  ["UnsubscribeConfirmation", ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]],
]);
const snsHashes = new Map<string | undefined, SignedText["hash"]>([
  ["1", "sha1"],
  ["2", "sha256"],
]);
/** Only Amazon publishes here; also in China. `sns.s3.amazonaws.com` could be anybody's. */
const snsHost = /^sns\.[a-z]{2}(?:-[a-z]+)+-\d+\.amazonaws\.com(?:\.cn)?$/;
const snsPath = /^\/SimpleNotificationService-[\w-]+\.pem$/;

/**
 * A message has at most 256 kB (https://docs.aws.amazon.com/general/latest/gr/sns.html). JSON in it takes up to twice as
 * much, as its quotes are escaped, and its attributes are wrapped in members of their own.
 */
const maxSnsBytes = 1024 * 1024;

/**
 * @param body of which the flow gets the same members; missing before it is read
 * @param topicArn anybody may have a topic at Amazon, and let it send to any URL
 */
function readSns(
  { rawHeaders }: RequestHead,
  body: DecodedBody | undefined,
  topicArn: string,
  readTime: ReadTime,
): SignedText | RefusalReason | undefined {
  const [isRaw] = fieldValues(rawHeaders, "x-amz-sns-rawdelivery");
  if (isRaw === "true") return { kind: "certificate.raw" };
  if (!body) return undefined;
  if (body.isPacked) return { kind: "bodyPacked" };
  const missing = { kind: "missing", source: "json:Signature" } as const;
  // Parsing a stranger's JSON may take a hundred times as long.
  if (!body.bytes.includes(topicArn))
    return body.bytes.includes('"Signature"') ? { kind: "certificate.topic" } : missing;
  const members = readTexts(body);
  const { Type: type = "", Signature: signature, SubscribeURL: subscribeUrl = "" } = members;
  const names = signedMembers.get(type);
  if (!names || signature === undefined) return missing;
  // Lines are signed: with a line break in a value, or without one that is always there, they could be read in two ways.
  for (const name of names) {
    const value = members[name];
    const isBroken = value === undefined ? name !== "Subject" : name !== "Message" && value.includes("\n");
    if (isBroken) return { kind: "signatureMalformed", source: `json:${name}` };
  }
  if (members.TopicArn !== topicArn) return { kind: "certificate.topic" };
  const hash = snsHashes.get(members.SignatureVersion);
  if (!hash) return { kind: "signatureMalformed", source: "json:SignatureVersion" };
  const certificate = parseUrl(members.SigningCertURL ?? "", snsHost, snsPath);
  if (!certificate) return { kind: "signatureMalformed", source: "json:SigningCertURL" };
  const sentAt = readTime(members.Timestamp ?? "", "json:Timestamp");
  if (typeof sentAt !== "number") return sentAt;
  const text = names.map((name) => (members[name] === undefined ? "" : `${name}\n${members[name]}\n`)).join("");
  const confirmation = type === "SubscriptionConfirmation" ? parseUrl(subscribeUrl, snsHost, /^/) : undefined;
  if (type === "SubscriptionConfirmation" && !confirmation) {
    return { kind: "signatureMalformed", source: "json:SubscribeURL" };
  }
  return { text, signature, hash, certificate, sentAt, isHandshake: type !== "Notification", confirmation };
}

const snsMembers = ["Signature", "SignatureVersion", "SigningCertURL", ...[...signedMembers.values()].flat()];

/** The texts among these members of a JSON object. */
function readTexts({ content }: DecodedBody): Readonly<Partial<Record<string, string>>> {
  const value = content instanceof Problem ? undefined : readJson(content?.value);
  if (!isObject(value)) return {};
  const texts: Partial<Record<string, string>> = {};
  for (const name of snsMembers) {
    const member: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof member === "string") texts[name] = member;
  }
  return texts;
}

// https://developer.paypal.com/api/rest/webhooks/rest/

const paypalFields = ["id", "time", "sig"].map((name) => `paypal-transmission-${name}`).concat("paypal-cert-url");
const paypalHost = /^api(?:-m)?(?:\.sandbox)?\.paypal\.com$/;
const paypalPath = /^\/v1\/notifications\/certs\/[\w-]+$/;

/**
 * The head of a request of PayPal, and its text without the checksum of the body, which comes last.
 *
 * @param webhookId of this URL at PayPal
 */
function readPaypal({ rawHeaders }: RequestHead, webhookId: string, readTime: ReadTime): SignedText | RefusalReason {
  const values: string[] = [];
  for (const name of paypalFields) {
    const [value = "", ...repeated] = fieldValues(rawHeaders, name);
    const source: Source = `header:${name}`;
    if (value === "") return { kind: "missing", source };
    if (repeated.length > 0) return { kind: "repeated", source };
    values.push(value);
  }
  const [id = "", time = "", signature = "", url = ""] = values;
  const certificate = parseUrl(url, paypalHost, paypalPath);
  if (!certificate) return { kind: "signatureMalformed", source: "header:paypal-cert-url" };
  const sentAt = readTime(time, "header:paypal-transmission-time");
  if (typeof sentAt !== "number") return sentAt;
  return { text: `${id}|${time}|${webhookId}|`, signature, hash: "sha256", certificate, sentAt };
}
