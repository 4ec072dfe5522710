// What tokens are compared by.

import { hash, timingSafeEqual } from "node:crypto";

/** The SHA-256 digest of a token. */
export function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Where the digest of each presented token is put: a buffer of its own for each takes longer than the digest. */
const presentedDigest = Buffer.alloc(32);

/** The same of a token that a request presents; it holds until this is asked for the next one. */
export function digestOfPresented(token: string): Buffer {
  presentedDigest.write(hash("sha256", token, "hex"), "hex");
  return presentedDigest;
}

/** Digests have one length, so comparing them in constant time leaks neither the token nor its length. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
