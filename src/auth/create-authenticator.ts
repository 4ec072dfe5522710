// Creates the authenticator of a configuration.

import type { WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/rules";
import type { Authenticator } from "./authenticator";
import { Handshakes } from "./handshakes";
import { isSenderId, type SenderId, senders } from "./senders/table";
import { parseScheme, settledScheme } from "./signature/scheme";
import { Verifier } from "./signature/verifier";
import { SignatureAuthenticator } from "./signed";
import { TestCredentials } from "./test-credentials";
import { TokenAuthenticator } from "./token";

/**
 * @param owner the id of the node, for test credentials
 * @returns the rule that keeps the endpoint closed
 */
export function createAuthenticator(
  { sender, access }: Pick<WebhookConfig, "sender" | "access">,
  owner = "",
  testCredentials = new TestCredentials(),
): Authenticator | Breach {
  if (sender !== "" && !isSenderId(sender)) return broken("sender.unknown");
  if (access.method !== "signature")
    return new TokenAuthenticator(access, owner, testCredentials, handshakesByToken(sender));
  if (sender === "") return broken("sender.required");
  const { settings, secret: first, secondSecret: second, verifyToken } = access;
  const row = senders[sender];
  const scheme = sender === "custom" ? parseScheme(access.scheme, settings.publicUrl) : settledScheme(row, settings);
  if ("rule" in scheme) return broken(scheme.rule);
  const created = Verifier.of(scheme, { first, second }, settings.publicUrl, row.id?.from);
  const isArmed = settings.arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if ("rule" in created && (first !== "" || !isArmed)) return broken(created.rule);
  const verifier = "rule" in created ? undefined : created;
  const handshakes = new Handshakes(row, { settings, verifyToken, verifier });
  return new SignatureAuthenticator(access, { sender, scheme, verifier, handshakes }, owner, testCredentials);
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: SenderId | ""): Handshakes | undefined {
  const row = sender === "" ? undefined : senders[sender];
  return row?.scheme.alg === "token" && row.handshakes ? new Handshakes(row, { settings: {} }) : undefined;
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}
