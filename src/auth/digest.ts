// Tokens are compared by digest.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { hasBothCases } from "../config/callers";

/** The SHA-256 digest of a token. */
export function digest(token: string | Buffer): Buffer {
  return hash("sha256", token, "buffer");
}

/** Reused: allocating a buffer takes longer than the digest. */
const presentedDigest = Buffer.alloc(32);

/** The digest of a presented token, valid until the next call. */
export function digestOfPresented(token: string): Buffer {
  presentedDigest.write(hash("sha256", token, "hex"), "hex");
  return presentedDigest;
}

/**
 * A random token of 40 characters: 30 bytes in base64url (RFC 4648 §5), with capital and small letters. None begins with a
 * hyphen, which spreadsheets take for the beginning of a formula.
 */
export function makeToken(): string {
  const token = randomBytes(30).toString("base64url");
  return token.startsWith("-") || !hasBothCases(token) ? makeToken() : token;
}

/** All digests have one length: comparing them in constant time reveals neither a token nor its length. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
