// How a node's sender proves that a request is its own.

import { findSender } from "../../../src/auth/senders/table";
import type { SavedFields } from "../../../src/config/fields";
import { isObject } from "../../../src/config/values";

/** Nothing where requests have a token, a password or a JSON Web Token. */
export function findAlgorithm({ verificationMethod, sender, scheme }: SavedFields): unknown {
  if (verificationMethod !== "signature") return undefined;
  if (sender === "custom") return isObject(scheme) ? scheme.alg : undefined;
  return findSender(sender)?.scheme.alg;
}

/** Whether its sender sends a signature, and not the secret. */
export function sendsSignature(values: SavedFields): boolean {
  const alg = findAlgorithm(values);
  return values.verificationMethod === "jwt" || (alg !== undefined && alg !== "token");
}
