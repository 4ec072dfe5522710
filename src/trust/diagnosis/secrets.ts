// How a secret may have been copied wrongly: what it may have been meant to be.

import type { Scheme } from "../senders/record";
import { keyOf } from "../signature/key";

/** What is wrong with a secret. */
export type SecretFlaw =
  { kind: "secretBlank" } | { kind: "secretPrefixTooMuch" | "secretPrefixMissing"; prefix: string };

/** What senders put before secrets, signatures and tokens. */
const prefixes = ["whsec_", "whpk_", "v1,", "sha256=", "Bearer "];

/**
 * Secrets that may have been meant, with what is wrong with the one that was typed.
 *
 * @param begins what the sender's secrets begin with
 */
export function* respelt(secret: string, begins = ""): Generator<[SecretFlaw, string]> {
  const bare = secret.trim();
  if (bare !== secret) yield [{ kind: "secretBlank" }, bare];
  for (const prefix of new Set([begins, ...prefixes])) {
    if (prefix === "") continue;
    if (bare.startsWith(prefix)) yield [{ kind: "secretPrefixTooMuch", prefix }, bare.slice(prefix.length)];
    else yield [{ kind: "secretPrefixMissing", prefix }, prefix + bare];
  }
}

/** Tells what is wrong with a secret that is not in the format of its scheme, if that is to be seen. */
export function flawOf(scheme: Pick<Scheme, "alg" | "key">, secret: string): SecretFlaw | undefined {
  for (const [flaw, meant] of respelt(secret)) if (keyOf(scheme, meant)) return flaw;
  return undefined;
}
