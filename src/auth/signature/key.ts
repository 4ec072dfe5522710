// From secrets to keys.

import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import type { Algorithm, Encoding, Scheme } from "../senders/sender";

/**
 * Makes the key of a secret, which is used as it was typed.
 *
 * @returns nothing when the secret is empty, not in the format of the scheme, or no key for its algorithm: then nothing
 *   can be verified with it
 */
export function createKey({ alg, key }: Pick<Scheme, "alg" | "key">, secret: string): KeyObject | undefined {
  const strip = key.strip ?? "";
  const text = secret.startsWith(strip) ? secret.slice(strip.length) : secret;
  if (key.format === "ed25519-hex" || key.format === "ed25519-base64") {
    return alg === "ed25519" ? ed25519Key(text, key.format === "ed25519-hex" ? "hex" : "base64") : undefined;
  }
  if (key.format === "spki-base64") return spkiKey(text, alg);
  if (isAsymmetric(alg)) return undefined;
  const bytes = key.format === "utf8" ? Buffer.from(text) : decodeStrictly(text, key.format);
  return bytes && bytes.length > 0 ? createSecretKey(bytes) : undefined;
}

/** Whether a sender signs with a key of its own, and the secret is its public half. */
export function isAsymmetric(alg: Algorithm): boolean {
  return alg === "ed25519" || alg === "ecdsa-p256-sha256";
}

/** RFC 8032 §5.1.5: 32 bytes; RFC 8037 §2 is how they are handed over. */
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

// Bytes written as text, read strictly: what is not all of the alphabet is no bytes.

const alphabets: Readonly<Record<Encoding, RegExp>> = {
  hex: /^(?:[0-9a-f]{2})*$/i,
  base64: /^[A-Za-z0-9+/]*={0,2}$/,
  base64url: /^[A-Za-z0-9_-]*={0,2}$/,
};

/**
 * Decodes RFC 4648 without the leniency of `Buffer.from`, which stops at what it does not know, or skips it. Padding may
 * be absent; where it is, it is right.
 *
 * @returns nothing when the text is not in this encoding
 */
export function decodeStrictly(text: string, encoding: Encoding): Buffer | undefined {
  if (!alphabets[encoding].test(text)) return undefined;
  if (encoding === "hex") return Buffer.from(text, "hex");
  const padding = text.indexOf("=");
  const length = padding === -1 ? text.length : padding;
  if (length % 4 === 1) return undefined;
  return padding !== -1 && text.length % 4 !== 0 ? undefined : Buffer.from(text, encoding);
}

/** Whether base64 has no bits beside the bytes that it stands for (RFC 4648 §3.5): two texts would be one signature. */
export function isCanonical(text: string, bytes: Buffer, encoding: Encoding): boolean {
  return encoding === "hex" || bytes.toString(encoding).replace(/=+$/, "") === text.replace(/=+$/, "");
}
