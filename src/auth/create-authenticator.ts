// Creates the authenticator of a configuration.

import type { WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/fields";
import { findJwtPreset } from "../config/jwt-presets";
import type { Authenticator } from "./authenticator";
import { BasicAuthenticator } from "./basic";
import { CertificateAuthenticator } from "./certificates";
import { Handshakes } from "./handshakes";
import { JwtAuthenticator } from "./jwt";
import { createJwtKeys } from "./jwt-keys";
import { isRecipeId } from "./senders/recipes";
import { schemeForSecret, usesCertificate } from "./senders/sender";
import { isSenderId, senders } from "./senders/table";
import { parseHandshakes, parseScheme, settleScheme } from "./signature/scheme";
import { SignatureAuthenticator } from "./signature/signature-authenticator";
import { Verifier } from "./signature/verifier";
import { TestCredentials } from "./test-credentials";
import { TokenAuthenticator } from "./token";

/**
 * @param node its id
 * @returns the rule that keeps the endpoint closed
 */
export function createAuthenticator(
  { sender, access }: Pick<WebhookConfig, "sender" | "access">,
  node = "",
  allTestCredentials = new TestCredentials(),
): Authenticator | Breach {
  if (sender !== "" && !isSenderId(sender) && !isRecipeId(sender)) return broken("sender.unknown");
  const testCredentials = allTestCredentials.of(node);
  if (access.method === "basic") return new BasicAuthenticator(access, testCredentials);
  if (access.method === "jwt") {
    const keys = createJwtKeys(access);
    if (!keys) return broken("publicKey");
    return new JwtAuthenticator(access, keys, testCredentials, handshakesByToken(sender));
  }
  if (access.method !== "signature") return new TokenAuthenticator(access, testCredentials, handshakesByToken(sender));
  if (!isSenderId(sender)) return broken("sender.required");
  if (findJwtPreset(sender)) return broken("verificationMethod");
  const { settings, secret: first, secondSecret: second, verifyToken } = access;
  const row = senders[sender];
  if (usesCertificate(row.scheme)) {
    const missing = row.settings?.find((name) => name !== "verifyToken" && !settings[name]);
    if (missing === "topicArn" || missing === "webhookId") return broken(missing);
    return new CertificateAuthenticator({ sender, scheme: row.scheme, access }, node, testCredentials);
  }
  const scheme =
    sender === "custom"
      ? parseScheme(access.scheme, settings.publicUrl)
      : settleScheme({ ...row, scheme: schemeForSecret(row, first) }, settings);
  if ("rule" in scheme) return broken(scheme.rule);
  const created = Verifier.of(scheme, { first, second }, settings.publicUrl, row.id?.from);
  const isArmed = settings.arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if ("rule" in created && (first !== "" || !isArmed)) return broken(created.rule);
  const verifier = "rule" in created ? undefined : created;
  const own = sender === "custom" ? { handshakes: parseHandshakes(access.scheme) ?? [] } : row;
  const handshakes = new Handshakes(own, { settings, verifyToken, verifier });
  return new SignatureAuthenticator(access, { sender, scheme, verifier, handshakes }, testCredentials);
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: string): Handshakes | undefined {
  const row = isSenderId(sender) ? senders[sender] : undefined;
  return row?.scheme.alg === "token" && row.handshakes ? new Handshakes(row, { settings: {} }) : undefined;
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}
