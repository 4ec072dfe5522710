// Creates the authenticator of a configuration.

import { createRequire } from "node:module";
import type { WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/fields";
import type { Authenticator } from "./authenticator";
import { BasicAuthenticator } from "./basic";
import type { Handshakes } from "./handshakes";
import { KeptPublications } from "./kept-publications";
import { usesCertificate } from "./senders/sender";
import { findJwtPreset, isKnownId, isSenderId, senders } from "./senders/table";
import { TestCredentials } from "./test-credentials";
import { TokenAuthenticator } from "./token";

/** Loads what not every endpoint needs. An `import()` would be late, as a node starts at once. */
const load = createRequire(__filename);

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
  if (access.method === "basic") return new BasicAuthenticator(access, testCredentials);
  if (access.method === "jwt") {
    const { createJwtAuthenticator } = load("./jwt") as typeof import("./jwt");
    return createJwtAuthenticator(access, testCredentials, handshakesByToken(sender), kept) ?? broken("publicKey");
  }
  if (access.method !== "signature") return new TokenAuthenticator(access, testCredentials, handshakesByToken(sender));
  if (!isSenderId(sender)) return broken("sender.required");
  if (findJwtPreset(sender)) return broken("verificationMethod");
  const { scheme, settings } = senders[sender];
  if (usesCertificate(scheme)) {
    const missing = settings?.find((name) => name !== "verifyToken" && !access.settings[name]);
    if (missing === "topicArn" || missing === "webhookId") return broken(missing);
    const { CertificateAuthenticator } = load("./certificates") as typeof import("./certificates");
    return new CertificateAuthenticator({ sender, scheme, access }, testCredentials, kept);
  }
  const { createSignatureAuthenticator } = load(
    "./signature/signature-authenticator",
  ) as typeof import("./signature/signature-authenticator");
  const created = createSignatureAuthenticator(sender, access, testCredentials);
  return "rule" in created ? broken(created.rule) : created;
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: string): Handshakes | undefined {
  const row = isSenderId(sender) ? senders[sender] : undefined;
  if (row?.scheme.alg !== "token" || !row.handshakes) return undefined;
  const { Handshakes } = load("./handshakes") as typeof import("./handshakes");
  return new Handshakes(row, { settings: {} });
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}
