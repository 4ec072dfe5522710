import type { Authenticated, Authenticator, BodyVerdict } from "../../src/auth/authenticator";
import { createAuthenticator } from "../../src/auth/create-authenticator";
import type { Scheme } from "../../src/auth/senders/sender";
import { isSenderId, type SenderId, senders } from "../../src/auth/senders/table";
import { DecodedBody } from "../../src/request/decode";
import type { RequestHead } from "../../src/request/head";
import { settleScheme } from "../../src/auth/signature/scheme";
import { Verifier } from "../../src/auth/signature/verifier";
import type { OwnCredentials, SignatureAccess } from "../../src/config/parse";

/** A request as it comes, and when. */
export interface Came {
  head: RequestHead;
  body: Buffer;
  /** In seconds since the epoch. */
  at: number;
}

/** How an endpoint is configured. */
export interface Setup {
  scheme: Scheme;
  secrets: OwnCredentials;
  publicUrl?: string;
  sender?: SenderId;
}

/** The scheme of a row of the test data. */
export function schemeOf(sender: string, publicUrl = ""): Scheme {
  const { publicKey } = senders["standard-webhooks"];
  if (sender === "standard-webhooks-v1a" && publicKey) return publicKey.scheme;
  if (!isSenderId(sender)) throw new Error(sender);
  const scheme = settleScheme(senders[sender], { publicUrl });
  if ("rule" in scheme) throw new Error(scheme.rule);
  return scheme;
}

/** The authenticator of an endpoint with the secret `secret`, unless a test says otherwise. */
export function authenticatorFor(sender: SenderId, given: Partial<SignatureAccess> = {}): Authenticator {
  const none = { scheme: null, settings: {}, first: "secret", callers: [], verifyToken: "" };
  const authenticator = createAuthenticator({ sender, access: { method: "signature", ...none, ...given } });
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

/**
 * Takes a request through an authenticator.
 *
 * @param at in ms since the epoch
 */
export async function judgeRequest(
  authenticator: Authenticator,
  head: RequestHead,
  body: string | Buffer,
  at: number,
  ip?: string,
): Promise<BodyVerdict> {
  const begun = authenticator.checkHead(head, at, ip);
  const result = "authenticate" in begun ? await begun.authenticate() : begun;
  const decoded = DecodedBody.of(head, Buffer.from(body));
  if ("verifyLater" in result) return result.verifyLater(decoded);
  return "verify" in result ? result.verify(decoded) : result;
}

/** Takes a request to its verdict. */
export function verdictOn(setup: Setup, { head, body, at }: Came): Authenticated | string {
  const { scheme, secrets, publicUrl, sender } = setup;
  const verifier = Verifier.of(scheme, secrets, publicUrl, sender && senders[sender].id?.from);
  if (!(verifier instanceof Verifier)) return verifier.rule;
  const check = verifier.checkHead(head, at * 1000);
  if ("kind" in check) return check.kind;
  const verdict = check.verify(DecodedBody.of(head, body));
  return "kind" in verdict ? verdict.kind : verdict;
}

/** What became of a request: which credential fitted, or which rule or reason kept it out. */
export function outcomeOf(setup: Setup, came: Came): string {
  const verdict = verdictOn(setup, came);
  return typeof verdict === "string" ? verdict : verdict.credential;
}
