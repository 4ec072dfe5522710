// Creates the authenticator of a configuration.

import type { SignatureAccess, WebhookConfig } from "../config/parse";
import type { Breach, BrokenRule } from "../config/rules";
import type { Authenticator } from "./authenticator";
import { Handshakes } from "./handshakes";
import type { Scheme } from "./senders/sender";
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
  const scheme = resolveScheme(sender, access);
  if ("rule" in scheme) return broken(scheme.rule);
  const { settings, secret: first, secondSecret: second, verifyToken } = access;
  const row = senders[sender];
  const verifier = Verifier.of(scheme, { first, second }, settings.publicUrl, row.id?.from);
  const isArmed = settings.arm === true && row.handshakes?.some(({ secretMissing }) => secretMissing) === true;
  if (!(verifier instanceof Verifier)) {
    if (first !== "" || !isArmed) return broken(verifier.rule);
    const handshakes = new Handshakes(row, { settings, verifyToken });
    return new SignatureAuthenticator(
      access,
      { sender, scheme, verifier: undefined, handshakes },
      owner,
      testCredentials,
    );
  }
  const handshakes = new Handshakes(row, { settings, verifyToken, verifier });
  return new SignatureAuthenticator(access, { sender, scheme, verifier, handshakes }, owner, testCredentials);
}

/** A sender that sends the secret itself has handshakes with a token, too. */
function handshakesByToken(sender: SenderId | ""): Handshakes | undefined {
  const row = sender === "" ? undefined : senders[sender];
  return row?.scheme.alg === "token" && row.handshakes ? new Handshakes(row, { settings: {} }) : undefined;
}

function resolveScheme(sender: SenderId, { scheme, settings }: SignatureAccess): Scheme | { rule: BrokenRule } {
  return sender === "custom" ? parseScheme(scheme, settings.publicUrl) : settledScheme(senders[sender], settings);
}

function broken(rule: BrokenRule): Breach {
  return { rule, value: "" };
}
