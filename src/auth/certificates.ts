// Authentication by a signature whose certificate the request names: Amazon SNS and PayPal.

import { verify, X509Certificate } from "node:crypto";
import { crc32 } from "node:zlib";
import { DecodedBody } from "../request/decode";
import { problems } from "../request/problem";
import type { SignatureAccess } from "../config/parse";
import type {
  Authenticator,
  AuthResult,
  BodyVerdict,
  Explanation,
  LongVerification,
  Reason,
  RefusalReason,
  RefusedRequestFacts,
} from "./authenticator";
import { type Clock, maxSnsBytes, readPaypal, readSns, type SignedText } from "./sns-paypal";
import { recogniseOther, toReason } from "./diagnosis";
import { FetchError, fetchPublished } from "./fetch-published";
import type { KeptPublications } from "./kept-publications";
import { findNetwork, MemoryRateCounter } from "./limits";
import { testField } from "./present";
import { Redactor } from "./redactor";
import type { Scheme } from "./senders/sender";
import { type SenderId, shortName } from "./senders/table";
import { decodeSignature } from "./signature/algorithms";
import { fieldValues, type RequestHead } from "../request/header-fields";
import type { NodeTestCredentials } from "./test-credentials";
import { byFirst, byTest } from "./token";

export class CertificateAuthenticator implements Authenticator {
  readonly methods: readonly string[] = [];
  readonly missing = problems.signatureMissing;
  readonly fields: readonly string[] = [];
  readonly hidden = [testField];
  readonly parameter = undefined;
  readonly redactor: Redactor;
  readonly scheme: Scheme;
  readonly #sender: SenderId;
  readonly #access: SignatureAccess;
  readonly #testCredentials: NodeTestCredentials;
  readonly #certificates: Certificates;

  constructor(
    { sender, scheme, access }: { sender: SenderId; scheme: Scheme; access: SignatureAccess },
    testCredentials: NodeTestCredentials,
    kept: KeptPublications,
  ) {
    this.#sender = sender;
    this.scheme = scheme;
    this.#access = access;
    this.#testCredentials = testCredentials;
    this.#certificates = Certificates.of(kept);
    this.redactor = new Redactor([], () => testCredentials.tokens());
  }

  begin(head: RequestHead, at: number, ip = ""): AuthResult {
    if (this.#testCredentials.isTest(head)) return byTest;
    const refusal = this.#judgeHead(head, at);
    if (refusal) return toProblem(refusal);
    const verifyLater: LongVerification["verifyLater"] = (body, decoded = DecodedBody.of(head, body)) =>
      this.#verify(head, decoded, at, ip);
    const limit = this.scheme.alg === "code:sns" ? { bytes: maxSnsBytes, otherwise: problems.bodyTooLarge } : undefined;
    return { isUnverified: true, needsBytes: true, limit, verifyLater };
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

  #read(head: RequestHead, body: DecodedBody, at: number): SignedText | RefusalReason {
    const { topicArn = "", webhookId = "" } = this.#access.settings;
    const clock = this.#clock(at);
    return this.scheme.alg === "code:sns" ? readSns(body, topicArn, clock) : readPaypal(head, webhookId, clock);
  }

  #clock(at: number): Clock {
    return { at, unit: "iso8601", tolerance: this.scheme.ts?.tolerance ?? 0 };
  }

  #judge(signed: SignedText, body: Buffer, certificate: X509Certificate, at: number): RefusalReason | undefined {
    const text = this.scheme.alg === "code:sns" ? signed.text : `${signed.text}${crc32(body)}`;
    return judgeSignature({ ...signed, text }, certificate, at);
  }

  async #verify(head: RequestHead, body: DecodedBody, at: number, ip: string): Promise<BodyVerdict> {
    const signed = this.#read(head, body, at);
    if ("kind" in signed) return toProblem(signed);
    try {
      const refusal = this.#judge(signed, body.bytes, await this.#certificates.find(signed.certificate, ip), at);
      if (refusal) return toProblem(refusal);
      this.#certificates.keep(signed.certificate, ip);
      const { isHandshake = false, confirmation, sentAt } = signed;
      if (confirmation) await this.#certificates.confirm(confirmation);
      return isHandshake ? { status: 200, headers: {}, body: "", isVerified: true } : { ...byFirst, sentAt };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      return problems.keysUnavailable;
    }
  }

  explain(refused: RefusedRequestFacts): Explanation {
    const looksLike = recogniseOther(refused.head.rawHeaders, this.#sender);
    const reason = this.#findReason(refused);
    if (!reason || looksLike === undefined) return { reasons: reason ? [reason] : [] };
    return { reasons: [{ key: "otherSender", values: { sender: shortName(looksLike) } }], looksLike };
  }

  /** Nothing where the body is missing, and the head says nothing. */
  #findReason({ head, body, at }: RefusedRequestFacts): Reason | undefined {
    const refusal = this.#judgeHead(head, at);
    if (refusal) return toReason(refusal);
    if (!body) return undefined;
    const signed = this.#read(head, DecodedBody.of(head, body), at);
    if ("kind" in signed) return toReason(signed);
    const certificate = this.#certificates.get(signed.certificate);
    const wrong = certificate && this.#judge(signed, body, certificate, at);
    if (wrong) return toReason(wrong);
    const { kind, host } = this.#certificates.explain((certificate && signed.confirmation) ?? signed.certificate);
    return { key: `fetch.${kind}`, values: { host } };
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

/**
 * Those that have verified a request. Senders change theirs a few times a year, and Amazon has one in each of some forty
 * regions.
 */
const maxVerified = 100;
/** Others, which strangers may have named. */
const maxFetched = 20;
/** In each minute: of one network, as strangers may name certificates that there are not. */
const maxFetchesOfNetwork = 5;
/**
 * In each minute, of all networks: of those near one that has sent a verified request, of others that ask for the first
 * time in it, and of the rest.
 */
const maxFetches = 20;
/** How many neighbourhoods of genuine senders are remembered. */
const maxNeighbourhoods = 1000;
/** In each minute: nobody but the sender can cause one. */
const maxConfirmations = 60;
/** How many requests may wait for certificates, and how many of one network. */
const maxWaiting = 100;
const maxWaitingOfNetwork = 25;
/** What could not be fetched is not asked for again so soon, in ms. */
const failedMs = 30_000;
/** How many confirmed subscriptions are remembered. */
const maxConfirmed = 1000;

/** The certificates of senders. Strangers may name others, so that fetches are bounded. */
class Certificates {
  /** All nodes share them, over deploys. */
  static readonly #shared = new WeakMap<KeptPublications, Certificates>();

  static of(kept: KeptPublications): Certificates {
    const found = Certificates.#shared.get(kept) ?? new Certificates(kept);
    Certificates.#shared.set(kept, found);
    return found;
  }

  readonly #kept: KeptPublications;
  readonly #verified = new Map<string, X509Certificate>();
  readonly #fetched = new Map<string, X509Certificate>();
  readonly #fetching = new Map<string, Promise<Buffer>>();
  /** What could not be fetched, and when by `performance.now()`; no more than is fetched in that time. */
  readonly #failed = new Map<string, { readonly failure: FetchError; readonly at: number }>();
  readonly #fetches = new MemoryRateCounter();
  /** Of verified requests: strangers cannot add to them. */
  readonly #neighbourhoods = new Map<string, true>();
  readonly #confirmed = new Set<string>();
  /** The networks of the requests that wait. */
  readonly #waiting: string[] = [];

  constructor(kept: KeptPublications) {
    this.#kept = kept;
  }

  get({ href }: URL): X509Certificate | undefined {
    return this.#verified.get(href) ?? this.#fetched.get(href) ?? this.#recall(href);
  }

  /** Only URLs at the hosts of senders are asked for, and expired certificates may have been renewed. */
  #recall(href: string): X509Certificate | undefined {
    const { text } = this.#kept.get(href) ?? {};
    const certificate = text === undefined ? undefined : parseCertificate(text);
    if (!certificate || Date.parse(certificate.validTo) < Date.now()) return undefined;
    add(this.#verified, href, certificate, maxVerified);
    return certificate;
  }

  /**
   * Keeps one that has verified a request, also over restarts.
   *
   * @param ip of the sender
   */
  keep({ href }: URL, ip: string): void {
    const neighbourhood = findNeighbourhood(findNetwork(ip));
    if (!this.#neighbourhoods.has(neighbourhood)) add(this.#neighbourhoods, neighbourhood, true, maxNeighbourhoods);
    const certificate = this.#fetched.get(href);
    if (!certificate) return;
    this.#fetched.delete(href);
    add(this.#verified, href, certificate, maxVerified);
    this.#kept.keep(href, { text: certificate.toString(), fetchedAt: Date.now() });
  }

  /**
   * @param ip of the sender
   * @throws {FetchError}
   */
  async find(url: URL, ip: string): Promise<X509Certificate> {
    const known = this.get(url);
    if (known) return known;
    const network = findNetwork(ip);
    const { length } = this.#waiting.filter((each) => each === network);
    if (this.#waiting.length >= maxWaiting || length >= maxWaitingOfNetwork) throw new FetchError("busy", url.host);
    this.#waiting.push(network);
    try {
      const body = await this.#fetch(url, () => this.#mayFetch(network));
      const certificate = this.get(url) ?? parseCertificate(body);
      if (!certificate) throw this.#fail(url, new FetchError("malformed", url.host));
      if (!this.#verified.has(url.href)) add(this.#fetched, url.href, certificate, maxFetched);
      return certificate;
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(network), 1);
    }
  }

  /**
   * Confirms a subscription, once.
   *
   * @throws {FetchError}
   */
  async confirm(url: URL): Promise<void> {
    if (this.#confirmed.has(url.href)) return;
    await this.#fetch(url, () => this.#fetches.count("confirmations").requests <= maxConfirmations);
    if (this.#confirmed.size >= maxConfirmed) this.#confirmed.clear();
    this.#confirmed.add(url.href);
  }

  /** Why something is not there. */
  explain({ href, host }: URL): FetchError {
    return this.#failed.get(href)?.failure ?? new FetchError("busy", host);
  }

  /** A network that has just asked for one in vain leaves fetches to others. */
  #mayFetch(network: string): boolean {
    const { requests } = this.#fetches.count(network);
    const isKnown = this.#neighbourhoods.has(findNeighbourhood(network));
    const share = isKnown ? "known" : requests === 1 ? "first" : "again";
    return requests <= maxFetchesOfNetwork && this.#fetches.count(share).requests <= maxFetches;
  }

  async #fetch(url: URL, mayFetch: () => boolean): Promise<Buffer> {
    const { href, host } = url;
    const failed = this.#failed.get(href);
    if (failed && performance.now() - failed.at < failedMs) throw failed.failure;
    let fetching = this.#fetching.get(href);
    if (!fetching) {
      if (!mayFetch()) throw new FetchError("busy", host);
      fetching = fetchPublished(url)
        .catch((error: unknown) => {
          throw error instanceof FetchError ? this.#fail(url, error) : error;
        })
        .finally(() => this.#fetching.delete(href));
      this.#fetching.set(href, fetching);
    }
    return fetching;
  }

  #fail({ href }: URL, failure: FetchError): FetchError {
    const now = performance.now();
    for (const [each, { at }] of this.#failed) if (now - at >= failedMs) this.#failed.delete(each);
    this.#failed.set(href, { failure, at: now });
    return failure;
  }
}

/** Senders have many addresses: of IPv4, a /24. */
function findNeighbourhood(network: string): string {
  return network.replace(/\.\d+$/, "");
}

/** The oldest makes place. */
function add<Value>(all: Map<string, Value>, key: string, value: Value, max: number): void {
  const [oldest] = all.size < max ? [] : all.keys();
  if (oldest !== undefined) all.delete(oldest);
  all.set(key, value);
}

function parseCertificate(pem: Buffer | string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
