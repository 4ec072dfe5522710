// Authentication by signature.

import { randomUUID } from "node:crypto";
import type { SignatureAccess } from "../../config/parse";
import type { BrokenRule } from "../../config/fields";
import type { DecodedBody } from "../../request/decode";
import { type Problem, problems } from "../../request/problem";
import { type Authenticated, type Authenticator, byTest, type PendingVerification } from "../authenticator";
import { Handshakes } from "../handshakes";
import { toHead } from "../outgoing";
import { testField } from "../present";
import { Redactor } from "../redactor";
import { schemeForSecret } from "../senders/sender";
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
  const { settings, first, second = "", verifyToken } = access;
  const { publicUrl = "", arm } = settings;
  const row = senders[sender];
  const scheme =
    sender === "custom"
      ? parseScheme(access.scheme, publicUrl)
      : settleScheme({ ...row, scheme: schemeForSecret(row, first) }, settings);
  if ("rule" in scheme) return scheme;
  const created = Verifier.of(scheme, access, publicUrl, row.id?.from);
  const isArmed = arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if ("rule" in created && (first !== "" || !isArmed)) return created;
  // Missing until the sender has sent the secret.
  const verifier = "rule" in created ? undefined : created;
  const forms = row.formScheme && Verifier.of(row.formScheme, access, publicUrl, row.id?.from);
  // Where the sender signs forms in another way.
  const formVerifier = forms && !("rule" in forms) ? forms : undefined;
  const own = sender === "custom" ? { handshakes: parseHandshakes(access.scheme) ?? [] } : row;
  const handshakes = new Handshakes(own, { settings, verifyToken, verifier });
  const { alg, sig, ts } = scheme;
  const fields = sig.headers.map((name) => name.toLowerCase());

  const findVerifier = (head: RequestHead): Verifier | undefined =>
    formVerifier && findFormKind(head) ? formVerifier : verifier;

  const verifySignature = (head: RequestHead, at: number): Authenticated | PendingVerification | Problem => {
    const own = findVerifier(head);
    if (!own) return problems.signatureMissing;
    const check = own.checkHead(head, at);
    // The sender learns only whether there was a signature.
    if ("kind" in check) return check.kind === "missing" ? problems.signatureMissing : problems.signatureInvalid;
    const verify = (body?: DecodedBody) => {
      const verdict = check.verify(body);
      return "kind" in verdict ? problems.signatureInvalid : verdict;
    };
    if (!own.readsBody) return verify();
    // Files make a form large, and are not read.
    const isParsed = own.parsesBody && !(own.readsForm && findFormKind(head) === "multipart");
    const maxBody = isParsed ? { bytes: maxReadBytes, otherwise: problems.bodyTooLarge } : undefined;
    return { isUnverified: true, needsBytes: own.coversBody, maxBody, verify };
  };

  return {
    missing: problems.signatureMissing,
    handshakeMethods: handshakes.methods,
    scheme,
    fields,
    hidden: alg === "token" ? [...fields, testField] : [testField],
    // A custom sender may send its secret in the query.
    parameter: alg === "token" && sig.source?.startsWith("query:") ? sig.source.slice(6) : undefined,
    redactor: new Redactor([first, second, verifyToken], testCredentials),
    ...(alg !== "token" && { validFor: ts?.tolerance ?? null }),
    checkHead: (head, at) =>
      testCredentials.isTest(head) ? byTest : handshakes.checkHead(head, () => verifySignature(head, at)),
    isSignedTest: (head) => testCredentials.isSignedTest(head),
    sign(request, at) {
      const own = findVerifier(toHead(request));
      return own && signRequest(own, request, { at, id: randomUUID() });
    },
    explain(refused) {
      const { scheme: own } = findVerifier(refused.head) ?? { scheme };
      return explainSignature({ sender, scheme: own, secrets: access, publicUrl }, refused);
    },
  };
}
