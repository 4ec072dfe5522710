// What a signature is compared with: the digest of what was signed, or the message itself.

import { createHmac, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import type { Algorithm } from "../senders/record";
import { isAsymmetric } from "./key";

/** Takes what was signed as it comes, then tells which signatures are its own. */
export interface Comparison {
  update(bytes: Buffer): void;
  fits(signature: Buffer): boolean;
}

/** Begins a comparison under a key that was made for the algorithm. */
export function comparisonBy(alg: Algorithm, key: KeyObject): Comparison {
  return isAsymmetric(alg) ? new MessageComparison(key) : new MacComparison(hashes[alg] ?? "sha256", key);
}

const hashes: Readonly<Partial<Record<Algorithm, string>>> = {
  "hmac-sha1": "sha1",
  "hmac-sha256": "sha256",
  "hmac-sha384": "sha384",
  "hmac-sha512": "sha512",
  "code:twilio": "sha1",
};

/** RFC 2104. */
class MacComparison implements Comparison {
  readonly #hmac: ReturnType<typeof createHmac>;
  #digest: Buffer | undefined;

  constructor(hash: string, key: KeyObject) {
    this.#hmac = createHmac(hash, key);
  }

  update(bytes: Buffer): void {
    this.#hmac.update(bytes);
  }

  fits(signature: Buffer): boolean {
    const digest = (this.#digest ??= this.#hmac.digest());
    return signature.length === digest.length && timingSafeEqual(signature, digest);
  }
}

/** Ed25519 reads a message twice (RFC 8032 §5.1.7), so what comes is kept. ECDSA is FIPS 186-5 with SHA-256, in DER. */
class MessageComparison implements Comparison {
  readonly #key: KeyObject;
  #message: Buffer[] = [];

  constructor(key: KeyObject) {
    this.#key = key;
  }

  update(bytes: Buffer): void {
    this.#message.push(bytes);
  }

  fits(signature: Buffer): boolean {
    const message = Buffer.concat(this.#message);
    this.#message = [message];
    return verify(this.#key.asymmetricKeyType === "ed25519" ? null : "sha256", message, this.#key, signature);
  }
}
