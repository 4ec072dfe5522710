// Authentication by signature.

import type { SignatureAccess } from "../config/parse";
import { type Problem, problems } from "../request/problem";
import type { AuthResult, Authenticator, ReceivedFields, RefusedRequestFacts } from "./authenticator";
import { explainFindings, explainedByWhy, whyNot } from "./diagnosis";
import { digestOfPresented } from "./digest";
import { claimBySignature, type Handshakes, withHandshakes } from "./handshakes";
import { testField } from "./present";
import { Redactor } from "./redactor";
import type { Explanation, RefusalReason } from "./result";
import type { Scheme } from "./senders/sender";
import type { SenderId } from "./senders/table";
import { fieldValues, type RequestHead } from "./signature/fields";
import type { Verifier } from "./signature/verifier";
import type { TestCredentials } from "./test-credentials";
import { byTrial } from "./token";

interface Signing {
  sender: SenderId;
  scheme: Scheme;
  /** Missing until the sender has sent the secret. */
  verifier: Verifier | undefined;
  handshakes: Handshakes;
}

export class SignatureAuthenticator implements Authenticator {
  readonly missing = problems.signatureMissing;
  readonly methods: readonly string[];
  /** For a custom sender that sends its secret in the query. */
  readonly parameter: string | undefined;
  readonly #access: SignatureAccess;
  readonly #signing: Signing;
  /** The header fields of signatures, in lower case. */
  readonly #fields: readonly string[];
  readonly #owner: string;
  readonly #testCredentials: TestCredentials;
  readonly redactor: Redactor;
  readonly scheme: Scheme;

  /** @param owner the id of the node, for test credentials */
  constructor(access: SignatureAccess, signing: Signing, owner: string, testCredentials: TestCredentials) {
    const { secret, secondSecret, verifyToken } = access;
    this.#access = access;
    this.#signing = signing;
    this.scheme = signing.scheme;
    this.methods = signing.handshakes.methods;
    this.#fields = signing.scheme.sig.headers.map((name) => name.toLowerCase());
    const { alg, sig } = signing.scheme;
    this.parameter = alg === "token" ? /^query:([^]+)$/.exec(sig.source ?? "")?.[1] : undefined;
    this.#owner = owner;
    this.#testCredentials = testCredentials;
    this.redactor = new Redactor([secret, secondSecret, verifyToken], () => testCredentials.tokens(owner));
  }

  isTakenFrom({ headers, rawHeaders }: ReceivedFields): boolean {
    const isTaken = (field: string) => headers[field] === undefined && fieldValues(rawHeaders, field).length > 0;
    return this.#fields.some(isTaken);
  }

  begin(head: RequestHead, at: number): AuthResult {
    const { handshakes, verifier } = this.#signing;
    if (this.#isTest(head)) return byTrial;
    const met = handshakes.meet(head);
    if (typeof met === "object") return met;
    if (head.method !== "POST") return problems.methodNotAllowed;
    const mayBeUnsigned = met === "body";
    if (!verifier) return withHandshakes(handshakes, head, problems.signatureMissing, mayBeUnsigned);
    const check = verifier.begin(head, at);
    if (!("why" in check) && (check.coversBody || check.readsBody)) {
      return claimBySignature(check, handshakes, head, mayBeUnsigned);
    }
    // The signature does not cover the body, so the result is known.
    const verdict = "why" in check ? check : check.verdict(() => Buffer.alloc(0));
    return withHandshakes(handshakes, head, "why" in verdict ? toProblem(verdict.why) : verdict, mayBeUnsigned);
  }

  hides(field: string): boolean {
    return field === testField || (this.#signing.scheme.alg === "token" && this.#fields.includes(field));
  }

  explain(refused: RefusedRequestFacts): Explanation {
    const explanation = this.#explain(refused);
    if (explanation.looksLike !== this.#signing.sender) return explanation;
    // The expected sender explains nothing.
    const { reasons } = explanation;
    return { reasons };
  }

  #explain({ head, body, at }: RefusedRequestFacts): Explanation {
    const { sender, scheme, verifier } = this.#signing;
    const why = verifier && toRefusal(verifier, head, body, at);
    if (!why) return explainFindings([], head);
    const { secret, secondSecret, settings } = this.#access;
    const secrets = { first: secret, second: secondSecret };
    const { publicUrl = "" } = settings;
    const findings = whyNot({ sender, scheme, secrets, publicUrl }, { why, head, at, ...(body && { body }) });
    return findings.length > 0 ? explainFindings(findings, head) : explainedByWhy(why, head);
  }

  #isTest({ rawHeaders }: RequestHead): boolean {
    const [testCredential, ...more] = fieldValues(rawHeaders, testField);
    if (testCredential === undefined || more.length > 0) return false;
    return this.#testCredentials.accept(this.#owner, digestOfPresented(testCredential), rawHeaders);
  }
}

/** Refusals of larger signed bodies are not explained. */
const maxExplainedBytes = 64 * 1024;

/** Verifies a refused request again, to explain it. */
function toRefusal(
  verifier: Verifier,
  head: RequestHead,
  body: Buffer | undefined,
  at: number,
): RefusalReason | undefined {
  const check = verifier.begin(head, at);
  if ("why" in check) return check.why;
  // That would take as long as before.
  if (!body || body.length > maxExplainedBytes) return undefined;
  const verdict = check.verdict(() => body);
  return "why" in verdict ? verdict.why : undefined;
}

/** The sender learns only whether there was a signature. */
function toProblem({ kind }: RefusalReason): Problem {
  return kind === "missing" ? problems.signatureMissing : problems.signatureInvalid;
}
