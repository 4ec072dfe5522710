// From saved fields to a configuration that cannot be wrong.

import { placementField, type SavedCredentials, type SavedFields, type Settings, type TokenMethod } from "./fields";
import { type Handling, parseHandling } from "./handling";
import { adminRule, type Roots } from "./roots";
import { type Breach, isEnvironmentValue, normalisePath, rules, text } from "./rules";

/** A configuration that keeps every rule of its fields. Whether a sender is known, and its secret a key, tells the gate. */
export interface WebhookConfig extends Handling {
  /** With its leading slash and without a trailing one, in the letter case it was given. */
  path: string;
  returnQueryParams: boolean;
  /** Who sends: empty for anybody. */
  sender: string;
  access: TokenAccess | SignatureAccess;
}

/** Whoever has the token may come in. */
export interface TokenAccess {
  method: TokenMethod;
  /** The one place where the token is looked for: a header field, or a query parameter. */
  name: string;
  token: string;
  /** Accepted as well; empty for none. */
  secondToken: string;
}

/** What the sender has signed may come in. */
export interface SignatureAccess {
  method: "signature";
  scheme: unknown;
  settings: Settings;
  /** Empty while the sender has not brought it yet. */
  secret: string;
  /** Accepted as well; empty for none. */
  secondSecret: string;
  verifyToken: string;
}

/** What a configuration depends on beside its own fields. */
export interface Host {
  roots: Roots;
  /** The address that callers use, without a slash at its end; nothing where it is not known. */
  baseUrl?: string | undefined;
}

/**
 * Turns saved fields into a configuration, or names the first rule that they break.
 *
 * @param saved the fields with their environment variables resolved
 * @param credentials those with their environment variables resolved
 */
export function parseConfig(
  saved: Readonly<SavedFields>,
  credentials: SavedCredentials,
  host: Host,
): WebhookConfig | Breach {
  const { relativePath, returnQueryParams, verificationMethod, sender } = saved;
  const breach =
    breachOf("relativePath", relativePath) ??
    adminBreach(text(relativePath), host.roots) ??
    breachOf("verificationMethod", verificationMethod) ??
    unresolved(sender) ??
    breachOf("returnQueryParams", returnQueryParams);
  if (breach) return breach;
  const path = normalisePath(text(relativePath));
  const access =
    verificationMethod === "signature"
      ? signatureAccess(saved, credentials, publicUrlOf(path, host))
      : tokenAccess(saved, credentials, verificationMethod as TokenMethod);
  if ("rule" in access) return access;
  const handling = parseHandling(saved);
  if ("rule" in handling) return handling;
  return { path, returnQueryParams: String(returnQueryParams) === "true", sender: text(sender), access, ...handling };
}

function tokenAccess(
  saved: Readonly<SavedFields>,
  { token, secondToken }: SavedCredentials,
  method: TokenMethod,
): TokenAccess | Breach {
  const field = placementField[method];
  const breach = breachOf("token", token) ?? breachOf("secondToken", secondToken) ?? breachOf(field, saved[field]);
  return breach ?? { method, name: text(saved[field]), token: text(token), secondToken: text(secondToken) };
}

/** The names of the settings that are texts. */
const settingNames = ["publicUrl", "signatureHeader", "timestampHeader", "alg"] as const;

function signatureAccess(
  { scheme, senderSettings }: Readonly<SavedFields>,
  credentials: SavedCredentials,
  publicUrl: string,
): SignatureAccess | Breach {
  const { secret, secondSecret, verifyToken } = credentials;
  // A flow file may have been written by hand.
  const given = (senderSettings as SavedFields["senderSettings"] | null | undefined) ?? {};
  for (const value of [secret, secondSecret, verifyToken, given.topicUrl, given.arm]) {
    const breach = unresolved(value);
    if (breach) return breach;
  }
  for (const name of settingNames) {
    const breach = breachOf(name, given[name]);
    if (breach) return breach;
  }
  const settings = {
    publicUrl: text(given.publicUrl) || publicUrl,
    signatureHeader: text(given.signatureHeader),
    timestampHeader: text(given.timestampHeader),
    topicUrl: text(given.topicUrl),
    alg: text(given.alg),
    arm: String(given.arm) === "true",
  };
  const secrets = { secret: text(secret), secondSecret: text(secondSecret), verifyToken: text(verifyToken) };
  return { method: "signature", scheme, settings, ...secrets };
}

/** The URL that a sender was given, as far as the settings file tells it; empty where that does not. */
function publicUrlOf(path: string, { roots, baseUrl }: Host): string {
  return baseUrl === undefined || roots.node === false ? "" : baseUrl + normalisePath(roots.node) + path;
}

function breachOf(field: keyof typeof rules, value: unknown): Breach | undefined {
  const breach = unresolved(value);
  if (breach) return breach;
  const rule = rules[field](value);
  return rule && { rule, value: "" };
}

function unresolved(value: unknown): Breach | undefined {
  return isEnvironmentValue(value) ? { rule: "environment", value: String(value) } : undefined;
}

function adminBreach(path: string, roots: Roots): Breach | undefined {
  const rule = adminRule(path, roots);
  return rule && { rule, value: "" };
}
