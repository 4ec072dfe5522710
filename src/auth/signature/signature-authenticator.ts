// Authentication by signature.

import type { SignatureAccess } from "../../config/parse";
import type { BrokenRule } from "../../config/fields";
import type { DecodedBody } from "../../request/decode";
import { type Problem, problems } from "../../request/problem";
import type {
  Authenticated,
  Authenticator,
  AuthResult,
  Explanation,
  PendingVerification,
  RefusedRequestFacts,
} from "../authenticator";
import { Handshakes } from "../handshakes";
import { testField } from "../present";
import { Redactor } from "../redactor";
import { type Scheme, schemeForSecret } from "../senders/sender";
import { type SenderId, senders } from "../senders/table";
import type { NodeTestCredentials } from "../test-credentials";
import { byTest } from "../token";
import { explainSignature } from "./explain-signature";
import { maxReadBytes } from "../request-values";
import { findFormKind, type RequestHead } from "../../request/header-fields";
import { parseHandshakes, parseScheme, settleScheme } from "./scheme";
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

class SignatureAuthenticator implements Authenticator {
  readonly missing = problems.signatureMissing;
  readonly methods: readonly string[];
  readonly scheme: Scheme;
  readonly fields: readonly string[];
  readonly hidden: readonly string[];
  readonly redactor: Redactor;
  /** For a custom sender that sends its secret in the query. */
  readonly parameter: string | undefined;
  readonly #access: SignatureAccess;
  readonly #signing: Signing;
  readonly #testCredentials: NodeTestCredentials;

  constructor(access: SignatureAccess, signing: Signing, testCredentials: NodeTestCredentials) {
    const { secret, secondSecret, verifyToken } = access;
    const { alg, sig } = signing.scheme;
    this.#access = access;
    this.#signing = signing;
    this.scheme = signing.scheme;
    this.methods = signing.handshakes.methods;
    this.fields = sig.headers.map((name) => name.toLowerCase());
    this.hidden = alg === "token" ? [...this.fields, testField] : [testField];
    this.parameter = alg === "token" && sig.source?.startsWith("query:") ? sig.source.slice(6) : undefined;
    this.#testCredentials = testCredentials;
    this.redactor = new Redactor([secret, secondSecret, verifyToken], () => testCredentials.tokens());
  }

  begin(head: RequestHead, at: number): AuthResult {
    return this.#testCredentials.isTest(head)
      ? byTest
      : this.#signing.handshakes.begin(head, () => this.#verify(head, at));
  }

  #verify(head: RequestHead, at: number): Authenticated | PendingVerification | Problem {
    const verifier = this.#findVerifier(head);
    if (!verifier) return problems.signatureMissing;
    const check = verifier.begin(head, at);
    // The sender learns only whether there was a signature.
    if ("kind" in check) return check.kind === "missing" ? problems.signatureMissing : problems.signatureInvalid;
    const verify = (body: Buffer, decoded?: DecodedBody) => {
      const verdict = check.verify(body, decoded);
      return "kind" in verdict ? problems.signatureInvalid : verdict;
    };
    if (!verifier.readsBody) return verify(Buffer.alloc(0));
    // Files make a form large, and are not read.
    const isParsed = verifier.parsesBody && !(verifier.readsForm && findFormKind(head) === "multipart");
    const limit = isParsed ? { bytes: maxReadBytes, otherwise: problems.bodyTooLarge } : undefined;
    return { isUnverified: true, needsBytes: verifier.coversBody, limit, verify };
  }

  #findVerifier(head: RequestHead): Verifier | undefined {
    const { verifier, formVerifier } = this.#signing;
    return formVerifier && findFormKind(head) ? formVerifier : verifier;
  }

  explain(refused: RefusedRequestFacts): Explanation {
    const { sender } = this.#signing;
    const { scheme } = this.#findVerifier(refused.head) ?? this.#signing;
    const { secret: first, secondSecret: second, settings } = this.#access;
    const { publicUrl = "" } = settings;
    return explainSignature({ sender, scheme, secrets: { first, second }, publicUrl }, refused);
  }
}
