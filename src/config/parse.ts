// From saved fields to a configuration that cannot be wrong.

import { placementField, type SavedFields, type VerificationMethod } from "./fields";
import { adminRule, type Roots } from "./roots";
import { type Breach, isEnvironmentValue, normalisePath, rules, text } from "./rules";

/** A configuration that keeps every rule. */
export interface WebhookConfig {
  /** With its leading slash and without a trailing one, in the letter case it was given. */
  path: string;
  token: string;
  /** The one place where the token is looked for. */
  placement: { method: VerificationMethod; name: string };
  returnQueryParams: boolean;
}

/**
 * Turns saved fields into a configuration, or names the first rule that they break.
 *
 * @param saved the fields with their environment variables resolved
 * @param token the credential with its environment variable resolved
 */
export function parseConfig(saved: Readonly<SavedFields>, token: unknown, roots: Roots): WebhookConfig | Breach {
  const { relativePath, returnQueryParams, verificationMethod } = saved;
  const method = verificationMethod as VerificationMethod;
  const breach =
    breachOf("relativePath", relativePath) ??
    adminBreach(text(relativePath), roots) ??
    breachOf("token", token) ??
    breachOf("returnQueryParams", returnQueryParams) ??
    breachOf("verificationMethod", verificationMethod) ??
    breachOf(placementField[method], saved[placementField[method]]);
  if (breach) return breach;
  return {
    path: normalisePath(text(relativePath)),
    token: text(token),
    placement: { method, name: text(saved[placementField[method]]) },
    returnQueryParams: String(returnQueryParams) === "true",
  };
}

function breachOf(field: keyof typeof rules, value: unknown): Breach | undefined {
  if (isEnvironmentValue(value)) return { rule: "environment", value: String(value) };
  const rule = rules[field](value);
  return rule && { rule, value: "" };
}

function adminBreach(path: string, roots: Roots): Breach | undefined {
  const rule = adminRule(path, roots);
  return rule && { rule, value: "" };
}
