// Who may come in by a signature.

import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import { isSame } from "../digest";
import type { Authenticated, Credential, Refusal } from "../result";
import type { Algorithm, Scheme, Source } from "../senders/sender";
import { toBytes, Evidence, Plan, twilioUrls } from "./evidence";
import { type RequestHead, isInBody, parseSource, readForm } from "./fields";
import { decodeStrictly, isAsymmetric, createKey } from "./key";
import { coversBody } from "./scheme";

/** Why a configuration can verify nothing. */
type SecretRule = "secret.required" | "secret.format" | "secondSecret.format";

export interface Secrets {
  first: string;
  /** Accepted as well, so that a change of secret loses nothing; an empty one is none. */
  second?: string;
}

/** A scheme with its secrets, which judges requests. */
export class Verifier {
  readonly #plan: Plan;
  readonly #keys: readonly KeyObject[];

  private constructor(plan: Plan, keys: readonly KeyObject[]) {
    this.#plan = plan;
    this.#keys = keys;
  }

  /**
   * @param publicUrl the URL that the sender was given, where the scheme signs it
   * @param ids where the sender's id of a delivery stands
   * @returns which rule a secret breaks, if one does
   */
  static of(
    scheme: Scheme,
    { first, second = "" }: Secrets,
    publicUrl = "",
    ids: readonly Source[] = [],
  ): Verifier | { rule: SecretRule } {
    if (first === "") return { rule: "secret.required" };
    const key = createKey(scheme, first);
    if (!key) return { rule: "secret.format" };
    if (second === "") return new Verifier(new Plan(scheme, publicUrl, ids), [key]);
    const secondKey = createKey(scheme, second);
    if (!secondKey) return { rule: "secondSecret.format" };
    return new Verifier(new Plan(scheme, publicUrl, ids), [key, secondKey]);
  }

  /**
   * Judges a request by its head: whether it has a signature that is well-formed, and a time that is near enough.
   *
   * @param now in ms since the epoch
   * @returns the check that is to get the body, or why the request is refused without it
   */
  begin(head: RequestHead, now: number): Check | Refusal {
    const evidence = new Evidence(this.#plan, head);
    const refusal = evidence.judgeHead(now);
    if (refusal) return refusal;
    const { alg } = this.#plan.scheme;
    if (alg === "code:twilio") return new TwilioCheck(this.#plan, evidence, this.#keys);
    if (alg !== "token") return new ContentCheck(this.#plan, evidence, this.#keys, now);
    const check = new TokenCheck(this.#plan, evidence, this.#keys);
    const verdict = check.readsBody ? undefined : check.verdict(() => Buffer.alloc(0));
    return verdict && "why" in verdict ? verdict : check;
  }

  /**
   * HMAC-SHA256 (RFC 2104) of a text, as handshakes want it. It is a signature of what a caller has chosen: the text is
   * to be restricted, or its sender verified.
   *
   * @returns nothing where the sender has a key of its own
   */
  mac(text: string, credential: Credential): Buffer | undefined {
    const key = this.#keys[credential === "second" ? 1 : 0];
    if (!key || isAsymmetric(this.#plan.scheme.alg)) return undefined;
    return createHmac("sha256", key).update(text).digest();
  }
}

// The checks of one request: begun by its head, and ended by a verdict once its body is here.

/** One request whose head has nothing against it. */
export interface Check {
  /** Whether the verdict reads the body: then all of it is to be kept, even where nothing else will read it. */
  readonly readsBody: boolean;
  /** Whether it takes the bytes of the body as they came. */
  readonly coversBody: boolean;
  /** @param body all of what came, in one piece */
  verdict(body: () => Buffer): Authenticated | Refusal;
}

const credentials: readonly Credential[] = ["first", "second"];

/** Which of the secrets fits, by those that do. */
function toAuthenticated(fitting: readonly boolean[]): Authenticated | undefined {
  const credential = credentials[fitting.indexOf(true)];
  return credential && { credential };
}

/** For a scheme whose content a row can say. */
class ContentCheck implements Check {
  readonly readsBody: boolean;
  readonly coversBody: boolean;
  readonly #plan: Plan;
  readonly #evidence: Evidence;
  readonly #now: number;
  readonly #comparisons: readonly Comparison[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[], now: number) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#now = now;
    this.#comparisons = keys.map((key) => createComparison(plan.scheme.alg, key));
    this.coversBody = coversBody(plan.scheme);
    const places = plan.time ? [...plan.content, plan.time] : plan.content;
    this.readsBody = plan.format.isInBody || places.some((place) => place.from === "body" || isInBody(place));
  }

  verdict(body: () => Buffer): Authenticated | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    for (const place of this.#plan.content) {
      const bytes = this.#evidence.bytesAt(place);
      if ("why" in bytes) return bytes;
      for (const comparison of this.#comparisons) comparison.update(bytes);
    }
    const accepted = toAuthenticated(
      this.#comparisons.map((each) => signatures.some((signature) => each.fits(signature))),
    );
    if (!accepted) return { why: { kind: "signatureWrong" } };
    const sentAt = this.#evidence.sentAt(this.#now);
    if (typeof sentAt === "object") return sentAt;
    return sentAt === undefined ? accepted : { ...accepted, sentAt };
  }
}

/** For a scheme that sends the secret itself, in a field or in each element of the body. */
class TokenCheck implements Check {
  readonly readsBody: boolean;
  readonly coversBody = false;
  readonly #isInFields: boolean;
  readonly #evidence: Evidence;
  readonly #digests: readonly Buffer[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[]) {
    this.readsBody = plan.format.isInBody;
    this.#isInFields = plan.format.isInFields;
    this.#evidence = evidence;
    this.#digests = keys.map((key) => sha256(key.export()));
  }

  verdict(body: () => Buffer): Authenticated | Refusal {
    this.#evidence.complete(body);
    const tokens = this.#evidence.tokens();
    if ("why" in tokens) return tokens;
    // Of a batch, the first that is wrong decides: a stranger's may have hundreds of thousands.
    const isOwn = (token: string, own: Buffer) => isSame(sha256(toBytes(token, this.#isInFields)), own);
    const fitting = this.#digests.map((own) => tokens.every((token) => isOwn(token, own)));
    return toAuthenticated(fitting) ?? { why: { kind: "tokenWrong" } };
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

// Twilio's signature, which covers the URL and the sorted fields of a form.

const bodyDigest = parseSource("query:bodySHA256");

/**
 * Of a form, name and value of each field follow the URL; of another body, the URL has the SHA-256.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security
 */
class TwilioCheck implements Check {
  readonly readsBody = true;
  readonly coversBody = true;
  readonly #plan: Plan;
  readonly #evidence: Evidence;
  readonly #keys: readonly KeyObject[];

  constructor(plan: Plan, evidence: Evidence, keys: readonly KeyObject[]) {
    this.#plan = plan;
    this.#evidence = evidence;
    this.#keys = keys;
  }

  verdict(body: () => Buffer): Authenticated | Refusal {
    this.#evidence.complete(body);
    const signatures = this.#evidence.signatures();
    if ("why" in signatures) return signatures;
    const { isForm } = this.#evidence;
    const fields = isForm ? sortedFields(this.#evidence.body.toString()) : Buffer.alloc(0);
    if (!fields) return { why: { kind: "signatureWrong" } };
    const fitting = this.#keys.map((key) => signatures.some((signature) => this.#fits(key, fields, signature)));
    const accepted = toAuthenticated(fitting);
    if (!accepted) return { why: { kind: "signatureWrong" } };
    return (isForm ? undefined : this.#judgeDigest()) ?? accepted;
  }

  #fits(key: KeyObject, fields: Buffer, signature: Buffer): boolean {
    for (const url of twilioUrls(this.#plan.publicUrl, this.#evidence.search)) {
      const comparison = createComparison(this.#plan.scheme.alg, key);
      comparison.update(Buffer.from(url));
      comparison.update(fields);
      if (comparison.fits(signature)) return true;
    }
    return false;
  }

  #judgeDigest(): Refusal | undefined {
    const text = this.#evidence.textAt(bodyDigest);
    if (typeof text !== "string") return text;
    const told = decodeStrictly(text, "hex");
    const own = createHash("sha256").update(this.#evidence.body).digest();
    return told?.length === own.length && isSame(told, own) ? undefined : { why: { kind: "bodyDigestWrong" } };
  }
}

/** Fields by their names; the values of a repeated one sorted, each once. Nothing for a form that is not read. */
function sortedFields(text: string): Buffer | undefined {
  const form = readForm(text);
  if (!form) return undefined;
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of form) fields.set(name, (fields.get(name) ?? new Set()).add(value));
  const names = [...fields.keys()].sort();
  const sorted = names.flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value));
  return Buffer.from(sorted.join(""));
}

// What a signature is compared with: the digest of what was signed, or the message itself.

/** Takes what was signed as it comes, then tells which signatures are its own. */
interface Comparison {
  update(bytes: Buffer): void;
  fits(signature: Buffer): boolean;
}

/** Begins a comparison under a key that was made for the algorithm. */
function createComparison(alg: Algorithm, key: KeyObject): Comparison {
  return isAsymmetric(alg) ? new MessageComparison(key) : new MacComparison(hashes[alg] ?? "sha256", key);
}

const hashes: Readonly<Partial<Record<Algorithm, string>>> = {
  "hmac-sha1": "sha1",
  "hmac-sha256": "sha256",
  "hmac-sha384": "sha384",
  "hmac-sha512": "sha512",
  "code:twilio": "sha1",
};

/** RFC 2104. */
class MacComparison implements Comparison {
  readonly #hmac: ReturnType<typeof createHmac>;
  #digest: Buffer | undefined;

  constructor(hash: string, key: KeyObject) {
    this.#hmac = createHmac(hash, key);
  }

  update(bytes: Buffer): void {
    this.#hmac.update(bytes);
  }

  fits(signature: Buffer): boolean {
    const digest = (this.#digest ??= this.#hmac.digest());
    return signature.length === digest.length && timingSafeEqual(signature, digest);
  }
}

/** Ed25519 reads a message twice (RFC 8032 §5.1.7), so what comes is kept. ECDSA is FIPS 186-5 with SHA-256, in DER. */
class MessageComparison implements Comparison {
  readonly #key: KeyObject;
  #message: Buffer[] = [];

  constructor(key: KeyObject) {
    this.#key = key;
  }

  update(bytes: Buffer): void {
    this.#message.push(bytes);
  }

  fits(signature: Buffer): boolean {
    const message = Buffer.concat(this.#message);
    this.#message = [message];
    return verify(this.#key.asymmetricKeyType === "ed25519" ? null : "sha256", message, this.#key, signature);
  }
}
