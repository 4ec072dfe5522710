// Keys from secrets.

import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { type Algorithm, type Encoding, isEncoded, type Scheme, stripPrefix } from "../senders/sender";

/**
 * Creates the key of a secret.
 *
 * @returns nothing when the secret is empty, or has not the format of the scheme
 */
export function createKey({ alg, key }: Pick<Scheme, "alg" | "key">, secret: string): KeyObject | undefined {
  const text = stripPrefix(secret, key);
  if (key.format === "ed25519-hex" || key.format === "ed25519-base64") {
    return alg === "ed25519" ? ed25519Key(text, key.format === "ed25519-hex" ? "hex" : "base64") : undefined;
  }
  if (key.format === "spki-base64") return spkiKey(text, alg);
  if (isAsymmetric(alg)) return undefined;
  const bytes = key.format === "utf8" ? Buffer.from(text) : decodeStrictly(text, key.format);
  return bytes && bytes.length > 0 ? createSecretKey(bytes) : undefined;
}

/** Whether the secret is the public key of the sender. */
export function isAsymmetric(alg: Algorithm): boolean {
  return alg === "ed25519" || alg === "ecdsa-p256-sha256";
}

/** RFC 8032 §5.1.5: 32 bytes; RFC 8037 §2 for the JWK. */
function ed25519Key(text: string, encoding: Encoding): KeyObject | undefined {
  const bytes = decodeStrictly(text, encoding);
  if (bytes?.length !== 32) return undefined;
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") } });
}

function spkiKey(text: string, alg: Algorithm): KeyObject | undefined {
  const bytes = decodeStrictly(text, "base64");
  if (!bytes) return undefined;
  try {
    const key = createPublicKey({ format: "der", type: "spki", key: bytes });
    const curve = key.asymmetricKeyDetails?.namedCurve;
    const fits = alg === "ed25519" ? key.asymmetricKeyType === "ed25519" : curve === "prime256v1" && isAsymmetric(alg);
    return fits ? key : undefined;
  } catch {
    return undefined;
  }
}

/** @returns nothing when the text is not in this encoding: see `isEncoded` */
export function decodeStrictly(text: string, encoding: Encoding): Buffer | undefined {
  return isEncoded(text, encoding) ? Buffer.from(text, encoding) : undefined;
}

/** Whether base64 has no stray bits (RFC 4648 §3.5), so that each signature has one text. */
export function isCanonical(text: string, bytes: Buffer, encoding: Encoding): boolean {
  return encoding === "hex" || bytes.toString(encoding).replace(/=+$/, "") === text.replace(/=+$/, "");
}
