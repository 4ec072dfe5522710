// Authentication by signature.

import { randomUUID } from "node:crypto";
import type { SignatureAccess } from "../../config/parse";
import type { BrokenRule } from "../../config/fields";
import type { DecodedBody } from "../../request/decode";
import { type Problem, problems } from "../../request/problem";
import {
  type Authenticated,
  Authenticator,
  type AuthResult,
  byTest,
  type Explanation,
  type PendingVerification,
  type RefusalReason,
  type RefusedRequestFacts,
} from "../authenticator";
import { Handshakes } from "../handshakes";
import { type OutgoingRequest, toHead } from "../outgoing";
import { testField } from "../present";
import { type Scheme, schemeForSecret } from "../senders/sender";
import { type SenderId, senders } from "../senders/table";
import type { NodeTestCredentials } from "../test-credentials";
import { explainSignature } from "../diagnosis";
import { maxReadBytes } from "../request-values";
import type { RequestHead } from "../../request/head";
import { findFormKind } from "../../request/media-types";
import { parseHandshakes, parseScheme, settleScheme } from "./scheme";
import { signRequest } from "./sign-request";
import { Verifier } from "./verifier";

/** @returns the rule that keeps the endpoint closed */
export function createSignatureAuthenticator(
  sender: SenderId,
  access: SignatureAccess,
  testCredentials: NodeTestCredentials,
): Authenticator | { rule: BrokenRule } {
  const { settings, secret: first, secondSecret: second, verifyToken } = access;
  const row = senders[sender];
  const scheme =
    sender === "custom"
      ? parseScheme(access.scheme, settings.publicUrl)
      : settleScheme({ ...row, scheme: schemeForSecret(row, first) }, settings);
  if ("rule" in scheme) return scheme;
  const created = Verifier.of(scheme, { first, second }, settings.publicUrl, row.id?.from);
  const isArmed = settings.arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if ("rule" in created && (first !== "" || !isArmed)) return created;
  const verifier = "rule" in created ? undefined : created;
  const forms = row.formScheme && Verifier.of(row.formScheme, { first, second }, settings.publicUrl, row.id?.from);
  const formVerifier = forms && !("rule" in forms) ? forms : undefined;
  const own = sender === "custom" ? { handshakes: parseHandshakes(access.scheme) ?? [] } : row;
  const handshakes = new Handshakes(own, { settings, verifyToken, verifier });
  return new SignatureAuthenticator(access, { sender, scheme, verifier, formVerifier, handshakes }, testCredentials);
}

interface Signing {
  sender: SenderId;
  scheme: Scheme;
  /** Missing until the sender has sent the secret. */
  verifier: Verifier | undefined;
  /** Where the sender signs forms in another way. */
  formVerifier: Verifier | undefined;
  handshakes: Handshakes;
}

class SignatureAuthenticator extends Authenticator {
  readonly #access: SignatureAccess;
  readonly #signing: Signing;

  constructor(access: SignatureAccess, signing: Signing, testCredentials: NodeTestCredentials) {
    const { secret, secondSecret, verifyToken } = access;
    const { scheme, handshakes } = signing;
    const { alg, sig } = scheme;
    const fields = sig.headers.map((name) => name.toLowerCase());
    const hidden = alg === "token" ? [...fields, testField] : [testField];
    // A custom sender may send its secret in the query.
    const parameter = alg === "token" && sig.source?.startsWith("query:") ? sig.source.slice(6) : undefined;
    const facts = { missing: problems.signatureMissing, handshakeMethods: handshakes.methods, scheme, fields, hidden };
    super({ ...facts, parameter }, [secret, secondSecret, verifyToken], testCredentials);
    this.#access = access;
    this.#signing = signing;
  }

  checkHead(head: RequestHead, at: number): AuthResult {
    return this.testCredentials.isTest(head)
      ? byTest
      : this.#signing.handshakes.checkHead(head, () => this.#verify(head, at));
  }

  #verify(head: RequestHead, at: number): Authenticated | PendingVerification | Problem {
    const verifier = this.#findVerifier(head);
    if (!verifier) return problems.signatureMissing;
    const check = verifier.checkHead(head, at);
    // The sender learns only whether there was a signature.
    if ("kind" in check) return check.kind === "missing" ? problems.signatureMissing : problems.signatureInvalid;
    const verify = (body?: DecodedBody) => {
      const verdict = check.verify(body);
      return "kind" in verdict ? problems.signatureInvalid : verdict;
    };
    if (!verifier.readsBody) return verify();
    // Files make a form large, and are not read.
    const isParsed = verifier.parsesBody && !(verifier.readsForm && findFormKind(head) === "multipart");
    const maxBody = isParsed ? { bytes: maxReadBytes, otherwise: problems.bodyTooLarge } : undefined;
    return { isUnverified: true, needsBytes: verifier.coversBody, maxBody, verify };
  }

  #findVerifier(head: RequestHead): Verifier | undefined {
    const { verifier, formVerifier } = this.#signing;
    return formVerifier && findFormKind(head) ? formVerifier : verifier;
  }

  override sign(request: OutgoingRequest, at: number): OutgoingRequest | RefusalReason | undefined {
    const verifier = this.#findVerifier(toHead(request));
    return verifier && signRequest(verifier, request, { at, id: randomUUID() });
  }

  explain(refused: RefusedRequestFacts): Explanation {
    const { sender } = this.#signing;
    const { scheme } = this.#findVerifier(refused.head) ?? this.#signing;
    const { secret: first, secondSecret: second, settings } = this.#access;
    const { publicUrl = "" } = settings;
    return explainSignature({ sender, scheme, secrets: { first, second }, publicUrl }, refused);
  }
}
