// What tokens are compared by.

import { hash, timingSafeEqual } from "node:crypto";

/** The SHA-256 digest of a token. */
export function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Digests have one length, so comparing them in constant time leaks neither the token nor its length. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
