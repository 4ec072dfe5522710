// Creates the authenticator of a configuration; and authentication by signature.

import type { SignatureAccess, WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/fields";
import { findJwtPreset } from "../config/jwt-presets";
import { type Problem, problems } from "../request/problem";
import type {
  Authenticated,
  Authenticator,
  AuthResult,
  Explanation,
  PendingVerification,
  ReceivedFields,
  RefusedRequestFacts,
} from "./authenticator";
import { BasicAuthenticator } from "./basic";
import { CertificateAuthenticator } from "./certificates";
import { explainSignature } from "./diagnosis";
import { Handshakes } from "./handshakes";
import { JwtAuthenticator } from "./jwt";
import { createJwtKeys } from "./jwt-keys";
import { testField } from "./present";
import { Redactor } from "./redactor";
import { isRecipeId } from "./senders/recipes";
import { type Scheme, schemeForSecret, usesCertificate } from "./senders/sender";
import { isSenderId, type SenderId, senders } from "./senders/table";
import { fieldValues, type RequestHead } from "./signature/fields";
import { parseHandshakes, parseScheme, settledScheme } from "./signature/scheme";
import { Verifier } from "./signature/verifier";
import { TestCredentials } from "./test-credentials";
import { byTest, TokenAuthenticator } from "./token";

/**
 * @param owner the id of the node, for test credentials
 * @returns the rule that keeps the endpoint closed
 */
export function createAuthenticator(
  { sender, access }: Pick<WebhookConfig, "sender" | "access">,
  owner = "",
  testCredentials = new TestCredentials(),
): Authenticator | Breach {
  if (sender !== "" && !isSenderId(sender) && !isRecipeId(sender)) return broken("sender.unknown");
  if (access.method === "basic") return new BasicAuthenticator(access, owner, testCredentials);
  if (access.method === "jwt") {
    const keys = createJwtKeys(access);
    if (!keys) return broken("publicKey");
    return new JwtAuthenticator(access, keys, owner, testCredentials, handshakesByToken(sender));
  }
  if (access.method !== "signature")
    return new TokenAuthenticator(access, owner, testCredentials, handshakesByToken(sender));
  if (!isSenderId(sender)) return broken("sender.required");
  if (findJwtPreset(sender)) return broken("verificationMethod");
  const { settings, secret: first, secondSecret: second, verifyToken } = access;
  const row = senders[sender];
  if (usesCertificate(row.scheme)) {
    const missing = row.settings?.find((name) => name !== "verifyToken" && !settings[name]);
    if (missing === "topicArn" || missing === "webhookId") return broken(missing);
    return new CertificateAuthenticator({ sender, scheme: row.scheme, access }, owner, testCredentials);
  }
  const scheme =
    sender === "custom"
      ? parseScheme(access.scheme, settings.publicUrl)
      : settledScheme({ ...row, scheme: schemeForSecret(row, first) }, settings);
  if ("rule" in scheme) return broken(scheme.rule);
  const created = Verifier.of(scheme, { first, second }, settings.publicUrl, row.id?.from);
  const isArmed = settings.arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if ("rule" in created && (first !== "" || !isArmed)) return broken(created.rule);
  const verifier = "rule" in created ? undefined : created;
  const own = sender === "custom" ? { handshakes: parseHandshakes(access.scheme) ?? [] } : row;
  const handshakes = new Handshakes(own, { settings, verifyToken, verifier });
  return new SignatureAuthenticator(access, { sender, scheme, verifier, handshakes }, owner, testCredentials);
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: string): Handshakes | undefined {
  const row = isSenderId(sender) ? senders[sender] : undefined;
  return row?.scheme.alg === "token" && row.handshakes ? new Handshakes(row, { settings: {} }) : undefined;
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}

interface Signing {
  sender: SenderId;
  scheme: Scheme;
  /** Missing until the sender has sent the secret. */
  verifier: Verifier | undefined;
  handshakes: Handshakes;
}

class SignatureAuthenticator implements Authenticator {
  readonly missing = problems.signatureMissing;
  readonly methods: readonly string[];
  readonly scheme: Scheme;
  readonly redactor: Redactor;
  /** For a custom sender that sends its secret in the query. */
  readonly parameter: string | undefined;
  readonly #access: SignatureAccess;
  readonly #signing: Signing;
  /** The header fields of signatures, in lower case. */
  readonly #fields: readonly string[];
  readonly #owner: string;
  readonly #testCredentials: TestCredentials;

  /** @param owner the id of the node, for test credentials */
  constructor(access: SignatureAccess, signing: Signing, owner: string, testCredentials: TestCredentials) {
    const { secret, secondSecret, verifyToken } = access;
    const { alg, sig } = signing.scheme;
    this.#access = access;
    this.#signing = signing;
    this.scheme = signing.scheme;
    this.methods = signing.handshakes.methods;
    this.#fields = sig.headers.map((name) => name.toLowerCase());
    this.parameter = alg === "token" && sig.source?.startsWith("query:") ? sig.source.slice(6) : undefined;
    this.#owner = owner;
    this.#testCredentials = testCredentials;
    this.redactor = new Redactor([secret, secondSecret, verifyToken], () => testCredentials.tokens(owner));
  }

  isTakenFrom({ headers, rawHeaders }: ReceivedFields): boolean {
    const isTaken = (field: string) => headers[field] === undefined && fieldValues(rawHeaders, field).length > 0;
    return this.#fields.some(isTaken);
  }

  begin(head: RequestHead, at: number): AuthResult {
    return this.#testCredentials.isTest(this.#owner, head)
      ? byTest
      : this.#signing.handshakes.begin(head, () => this.#verify(head, at));
  }

  #verify(head: RequestHead, at: number): Authenticated | PendingVerification | Problem {
    const { verifier } = this.#signing;
    if (!verifier) return problems.signatureMissing;
    const check = verifier.begin(head, at);
    // The sender learns only whether there was a signature.
    if ("kind" in check) return check.kind === "missing" ? problems.signatureMissing : problems.signatureInvalid;
    const verify = (body: Buffer) => {
      const verdict = check.verify(body);
      return "kind" in verdict ? problems.signatureInvalid : verdict;
    };
    if (!verifier.readsBody) return verify(Buffer.alloc(0));
    return { isUnverified: true, needsBytes: verifier.coversBody, verify };
  }

  hides(field: string): boolean {
    return field === testField || (this.scheme.alg === "token" && this.#fields.includes(field));
  }

  explain(refused: RefusedRequestFacts): Explanation {
    const { sender, scheme } = this.#signing;
    const { secret: first, secondSecret: second, settings } = this.#access;
    const { publicUrl = "" } = settings;
    return explainSignature({ sender, scheme, secrets: { first, second }, publicUrl }, refused);
  }
}
