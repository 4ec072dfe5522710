// Creates the authenticator of a configuration.

import type { WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/fields";
import type { Authenticator } from "./authenticator";
import { createBasicAuthenticator } from "./basic";
import { createCertificateAuthenticator } from "./certificates";
import { Handshakes } from "./handshakes";
import { createJwtAuthenticator } from "./jwt";
import { createJwtKeys } from "./jwt-keys";
import { KeptPublications } from "./published";
import { usesCertificate } from "./senders/sender";
import { findJwtPreset, isKnownId, isSenderId, senders } from "./senders/table";
import { createSignatureAuthenticator } from "./signature/signature-authenticator";
import { TestCredentials } from "./test-credentials";
import { createTokenAuthenticator } from "./token";

/**
 * @param node its id
 * @param kept what all nodes have fetched of published keys
 * @returns the rule that keeps the endpoint closed
 */
export function createAuthenticator(
  { sender, access }: Pick<WebhookConfig, "sender" | "access">,
  node = "",
  allTestCredentials = new TestCredentials(),
  kept = new KeptPublications(),
): Authenticator | Breach {
  if (sender !== "" && !isKnownId(sender)) return broken("sender.unknown");
  const testCredentials = allTestCredentials.of(node);
  if (access.method === "basic") return createBasicAuthenticator(access, testCredentials);
  if (access.method === "jwt") {
    const keys = createJwtKeys(access, kept);
    if (!keys) return broken("publicKey");
    return createJwtAuthenticator(access, keys, testCredentials, handshakesByToken(sender));
  }
  if (access.method !== "signature")
    return createTokenAuthenticator(access, testCredentials, handshakesByToken(sender));
  if (!isSenderId(sender)) return broken("sender.required");
  if (findJwtPreset(sender)) return broken("verificationMethod");
  const { scheme, settings } = senders[sender];
  if (usesCertificate(scheme)) {
    const missing = settings?.find((name) => name !== "verifyToken" && !access.settings[name]);
    if (missing === "topicArn" || missing === "webhookId") return broken(missing);
    return createCertificateAuthenticator({ sender, scheme, access }, testCredentials, kept);
  }
  const created = createSignatureAuthenticator(sender, access, testCredentials);
  return "rule" in created ? broken(created.rule) : created;
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: string): Handshakes | undefined {
  const row = isSenderId(sender) ? senders[sender] : undefined;
  if (row?.scheme.alg !== "token" || !row.handshakes) return undefined;
  return new Handshakes(row, { settings: {} });
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}
