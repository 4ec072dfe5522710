// Why a request did not verify, and what would mend it: for the operator alone.

import { recognise } from "../recognise";
import type { Scheme } from "../senders/record";
import { type SenderId, senders } from "../senders/table";
import type { Head } from "../signature/fields";
import { signsUrl } from "../signature/settings";
import { type Secrets, Verifier } from "../signature/verifier";
import type { Why } from "../signature/why";
import { type BodyChange, originals } from "./bodies";
import { respelt, type SecretFlaw } from "./secrets";
import { explainToken, type TokenFinding } from "./tokens";

/** What explains a refusal. */
export type Finding =
  | TokenFinding
  | SecretFlaw
  /** Its fields are those of another sender than the one that was chosen. */
  | { kind: "otherSender"; sender: SenderId }
  /** How far the clocks are apart, in seconds; less than nothing when the sender's is ahead. */
  | { kind: "clock"; seconds: number; tolerance: number }
  | { kind: "bodyChanged"; change: BodyChange }
  /** The public URL that the sender has signed. */
  | { kind: "publicUrl"; url: string }
  /** The sender has signed the public URL as well, which may be another one. */
  | { kind: "signedUrl" };

/** How requests are verified. */
export interface Verification {
  sender: SenderId;
  scheme: Scheme;
  secrets: Secrets;
  publicUrl?: string;
}

/** A request that was refused. */
export interface Refused {
  why: Why;
  head: Head;
  /** As it came over the wire; nothing when it was not read. */
  body?: Buffer;
  /** When it came, in ms since the epoch. */
  at: number;
}

/** Longer bodies are not tried in other forms: each costs as much as the request did, and there are some forty. */
const longestTried = 65_536;

/**
 * Finds out why a request was refused. It takes as long as some forty verifications, so the caller limits how often.
 *
 * @returns what is found, the surest first; nothing when there is nothing to be seen
 */
export function whyNot(verification: Verification, refused: Refused): Finding[] {
  const { why, head, body = Buffer.alloc(0) } = refused;
  const findings: Finding[] = [];
  if (why.kind === "timeOutside") findings.push({ kind: "clock", seconds: why.seconds, tolerance: why.tolerance });
  const isWrong = why.kind === "signatureWrong" || why.kind === "tokenWrong";
  if (isWrong && body.length <= longestTried) findings.push(...remedies(verification, refused, body));
  if (verification.scheme.alg === "token") findings.push(...tokenFindings(verification, head));
  const sender = recognise(head.rawHeaders);
  if (sender && sender !== verification.sender) findings.push({ kind: "otherSender", sender });
  return findings;
}

function tokenFindings({ scheme, secrets }: Verification, head: Head): TokenFinding[] {
  const [name] = scheme.sig.headers;
  const tokens = [secrets.first, secrets.second ?? ""].filter((secret) => secret !== "");
  const finding = name === undefined ? undefined : explainToken(tokens, `header:${name}`, head);
  return finding ? [finding] : [];
}

/** The first of the body, the secrets and the URL that, had it been otherwise, would have let the request in. */
function remedies(verification: Verification, { head, at }: Refused, body: Buffer): Finding[] {
  const { secrets, sender, publicUrl = "" } = verification;
  const verifies = (changed: Partial<Verification>, bytes = body) =>
    fits({ ...verification, ...changed }, head, bytes, at);
  for (const [change, original] of originals(body)) {
    if (verifies({}, original)) return [{ kind: "bodyChanged", change }];
  }
  for (const secret of [secrets.first, secrets.second ?? ""]) {
    if (secret === "") continue;
    for (const [flaw, first] of respelt(secret, senders[sender].secretBegins)) {
      if (verifies({ secrets: { first } })) return [flaw];
    }
  }
  if (!signsUrl(verification.scheme)) return [];
  const url = otherUrls(publicUrl).find((other) => verifies({ publicUrl: other }));
  return [url === undefined ? { kind: "signedUrl" } : { kind: "publicUrl", url }];
}

function fits({ scheme, secrets, publicUrl }: Verification, head: Head, body: Buffer, at: number): boolean {
  const verifier = Verifier.of(scheme, secrets, publicUrl);
  if (!(verifier instanceof Verifier)) return false;
  const check = verifier.begin(head, at);
  if ("why" in check) return false;
  return !("why" in check.verdict(() => body));
}

/** The same URL with the other scheme, and with or without a slash at its end. */
function otherUrls(url: string): string[] {
  const secure = url.replace(/^http:/i, "https:");
  const plain = url.replace(/^https:/i, "http:");
  return [secure, plain].flatMap((each) => [each.replace(/\/$/, ""), each.replace(/\/?$/, "/")]);
}
