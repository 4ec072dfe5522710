// Authentication by a signature whose certificate the request names: Amazon SNS and PayPal.

import { verify, X509Certificate } from "node:crypto";
import { problems } from "../request/problem";
import type { SignatureAccess } from "../config/parse";
import type {
  Authenticator,
  AuthResult,
  BodyVerdict,
  Explanation,
  RefusalReason,
  RefusedRequestFacts,
} from "./authenticator";
import { type Clock, crc32, maxSnsBytes, readPaypal, readSns, type SignedText } from "./sns-paypal";
import { recognise, toReason } from "./diagnosis";
import { FetchFailure, fetchPublished } from "./fetch-published";
import { testField } from "./present";
import { Redactor } from "./redactor";
import type { Scheme } from "./senders/sender";
import { type SenderId, shortName } from "./senders/table";
import { decodeSignature } from "./signature/algorithms";
import { fieldValues, type RequestHead } from "./signature/fields";
import type { NodeTestCredentials } from "./test-credentials";
import { byFirst, byTest } from "./token";

export class CertificateAuthenticator implements Authenticator {
  readonly methods: readonly string[] = [];
  readonly missing = problems.signatureMissing;
  readonly parameter = undefined;
  readonly redactor: Redactor;
  readonly scheme: Scheme;
  readonly #sender: SenderId;
  readonly #access: SignatureAccess;
  readonly #testCredentials: NodeTestCredentials;
  readonly #certificates: Certificates;

  /** @param node its id */
  constructor(
    { sender, scheme, access }: { sender: SenderId; scheme: Scheme; access: SignatureAccess },
    node: string,
    testCredentials: NodeTestCredentials,
  ) {
    this.#sender = sender;
    this.scheme = scheme;
    this.#access = access;
    this.#testCredentials = testCredentials;
    this.#certificates = Certificates.of(node);
    this.redactor = new Redactor([], () => testCredentials.tokens());
  }

  isTakenFrom(): boolean {
    return false;
  }

  hides(field: string): boolean {
    return field === testField;
  }

  begin(head: RequestHead, at: number): AuthResult {
    if (this.#testCredentials.isTest(head)) return byTest;
    const refusal = this.#judgeHead(head, at);
    if (refusal) return toProblem(refusal);
    const limit = this.scheme.alg === "code:sns" ? { bytes: maxSnsBytes, otherwise: problems.bodyTooLarge } : undefined;
    return { isUnverified: true, needsBytes: true, limit, verifyLater: (body) => this.#verify(head, body, at) };
  }

  /** What keeps the body from being read. */
  #judgeHead(head: RequestHead, at: number): RefusalReason | undefined {
    if (this.scheme.alg === "code:sns") {
      const [isRaw] = fieldValues(head.rawHeaders, "x-amz-sns-rawdelivery");
      return isRaw === "true" ? { kind: "certificate.raw" } : undefined;
    }
    const signed = readPaypal(head, this.#access.settings.webhookId ?? "", this.#clock(at));
    return "kind" in signed ? signed : undefined;
  }

  #read(head: RequestHead, body: Buffer, at: number): SignedText | RefusalReason {
    const { topicArn = "", webhookId = "" } = this.#access.settings;
    const clock = this.#clock(at);
    return this.scheme.alg === "code:sns" ? readSns(body, topicArn, clock) : readPaypal(head, webhookId, clock);
  }

  #clock(at: number): Clock {
    return { at, tolerance: this.scheme.ts?.tolerance ?? 0 };
  }

  #judge(signed: SignedText, body: Buffer, certificate: X509Certificate, at: number): RefusalReason | undefined {
    const text = this.scheme.alg === "code:sns" ? signed.text : `${signed.text}${crc32(body)}`;
    return judgeSignature({ ...signed, text }, certificate, at);
  }

  async #verify(head: RequestHead, body: Buffer, at: number): Promise<BodyVerdict> {
    const signed = this.#read(head, body, at);
    if ("kind" in signed) return toProblem(signed);
    try {
      const refusal = this.#judge(signed, body, await this.#certificates.find(signed.certificate), at);
      if (refusal) return toProblem(refusal);
      this.#certificates.keep(signed.certificate);
      const { isHandshake = false, confirmation, sentAt } = signed;
      if (confirmation) await this.#certificates.confirm(confirmation);
      return isHandshake ? { status: 200, headers: {}, body: "" } : { ...byFirst, sentAt };
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
      this.#certificates.failure = error;
      return problems.keysUnavailable;
    }
  }

  explain({ head, body, at }: RefusedRequestFacts): Explanation {
    const looksLike = recognise(head.rawHeaders);
    const reason = this.#judgeHead(head, at) ?? this.#explainBody(head, body, at);
    const { failure } = this.#certificates;
    if (!reason) return { reasons: failure ? [{ key: `fetch.${failure.kind}`, values: { host: failure.host } }] : [] };
    if (looksLike === undefined || looksLike === this.#sender) return { reasons: [toReason(reason)] };
    return { reasons: [{ key: "otherSender", values: { sender: shortName(looksLike) } }], looksLike };
  }

  /** Nothing where the body or the certificate is not there. */
  #explainBody(head: RequestHead, body: Buffer | undefined, at: number): RefusalReason | undefined {
    if (!body) return undefined;
    const signed = this.#read(head, body, at);
    if ("kind" in signed) return signed;
    const certificate = this.#certificates.get(signed.certificate);
    return certificate && this.#judge(signed, body, certificate, at);
  }
}

/** The sender learns only whether there was a signature. */
function toProblem({ kind }: RefusalReason) {
  return kind === "missing" || kind === "certificate.raw" ? problems.signatureMissing : problems.signatureInvalid;
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

/** Senders change theirs a few times a year. */
const maxCertificates = 20;
const maxFetchesPerMinute = 10;
/** How many requests may wait for certificates. */
const maxWaiting = 100;

/** How many confirmed subscriptions are remembered. */
const maxConfirmed = 1000;

/** The certificates of a node's sender. Strangers may name others, so that fetches are bounded. */
class Certificates {
  /** By the ids of the nodes, over deploys. */
  static readonly #all = new Map<string, Certificates>();

  static of(node: string): Certificates {
    const found = Certificates.#all.get(node) ?? new Certificates();
    Certificates.#all.set(node, found);
    return found;
  }

  /** Why the last one could not be fetched. */
  failure: FetchFailure | undefined;
  readonly #known = new Map<string, X509Certificate>();
  /** Those that have verified a request. */
  readonly #kept = new Set<string>();
  readonly #fetching = new Map<string, Promise<X509Certificate>>();
  readonly #confirmed = new Set<string>();
  /** When the fetches of the last minute began, by `performance.now()`. */
  #begun: number[] = [];
  #waiting = 0;

  get({ href }: URL): X509Certificate | undefined {
    return this.#known.get(href);
  }

  /** Keeps one that has verified a request: those that strangers name do not take its place. */
  keep({ href }: URL): void {
    this.#kept.add(href);
  }

  /** @throws {FetchFailure} */
  async find(url: URL): Promise<X509Certificate> {
    const known = this.get(url);
    if (known) return known;
    if (this.#waiting >= maxWaiting) throw new FetchFailure("busy", url.host);
    this.#waiting++;
    try {
      return await (this.#fetching.get(url.href) ?? this.#fetch(url));
    } finally {
      this.#waiting--;
    }
  }

  /**
   * Confirms a subscription, once.
   *
   * @throws {FetchFailure}
   */
  async confirm(url: URL): Promise<void> {
    if (this.#confirmed.has(url.href)) return;
    this.#count(url);
    await fetchPublished(url);
    if (this.#confirmed.size >= maxConfirmed) this.#confirmed.clear();
    this.#confirmed.add(url.href);
  }

  #count({ host }: URL): void {
    const now = performance.now();
    this.#begun = this.#begun.filter((begun) => now - begun < 60_000);
    if (this.#begun.length >= maxFetchesPerMinute) throw new FetchFailure("busy", host);
    this.#begun.push(now);
  }

  async #fetch(url: URL): Promise<X509Certificate> {
    this.#count(url);
    const fetching = fetchPublished(url)
      .then((body) => this.#add(url, body))
      .finally(() => this.#fetching.delete(url.href));
    this.#fetching.set(url.href, fetching);
    return fetching;
  }

  #add({ href, host }: URL, body: Buffer): X509Certificate {
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(body);
    } catch {
      throw new FetchFailure("malformed", host);
    }
    if (this.#known.size >= maxCertificates) {
      const [first = "", ...others] = this.#known.keys();
      const oldest = [first, ...others].find((each) => !this.#kept.has(each)) ?? first;
      this.#known.delete(oldest);
      this.#kept.delete(oldest);
    }
    this.#known.set(href, certificate);
    this.failure = undefined;
    return certificate;
  }
}
