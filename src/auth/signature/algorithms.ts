// The algorithms of signatures, and their keys.

import { createHmac, createPublicKey, createSecretKey, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import { digest, isSame } from "../digest";
import { type Algorithm, type Encoding, isEncoded, readSecret, type Scheme, stripPadding } from "../senders/sender";

interface SignatureAlgorithm {
  /** Of a signature, where it does not vary. */
  readonly bytes?: number;
  takesKey(key: KeyObject): boolean;
  /** Missing where the key is the sender's own, which signs nothing here. */
  readonly sign?: (key: KeyObject, message: readonly Buffer[]) => Buffer;
  /**
   * @param message its parts in order
   * @returns whether a signature is the message's
   */
  compare(key: KeyObject, message: readonly Buffer[]): (signature: Buffer) => boolean;
}

const isSecret = (key: KeyObject) => key.type === "secret";

/** RFC 2104. */
function hmac(hash: string, bytes: number) {
  const sign = (key: KeyObject, message: readonly Buffer[]) => {
    const mac = createHmac(hash, key);
    for (const part of message) mac.update(part);
    return mac.digest();
  };
  return {
    bytes,
    takesKey: isSecret,
    sign,
    compare(key, message) {
      const digest = sign(key, message);
      return (signature) => signature.length === digest.length && timingSafeEqual(signature, digest);
    },
  } satisfies SignatureAlgorithm;
}

function asymmetric(hash: string | null, takesKey: SignatureAlgorithm["takesKey"]): SignatureAlgorithm {
  return {
    takesKey,
    compare(key, message) {
      const whole = Buffer.concat(message);
      return (signature) => verify(hash, whole, key, signature);
    },
  };
}

const hmacSha1 = hmac("sha1", 20);
const hmacSha256 = hmac("sha256", 32);

export const signatureAlgorithms: Readonly<Record<Algorithm, SignatureAlgorithm>> = {
  "hmac-sha1": hmacSha1,
  "hmac-sha256": hmacSha256,
  "hmac-sha384": hmac("sha384", 48),
  "hmac-sha512": hmac("sha512", 64),
  // HMAC-SHA1 with the Auth Token, or HMAC-SHA256 with a shared key: the length of the signature tells.
  "code:twilio": {
    takesKey: isSecret,
    sign: hmacSha1.sign,
    compare: (key, message) => (signature) =>
      (signature.length === 20 ? hmacSha1 : hmacSha256).compare(key, message)(signature),
  },
  // RFC 8032 §5.1.
  ed25519: { ...asymmetric(null, (key) => key.asymmetricKeyType === "ed25519"), bytes: 64 },
  // FIPS 186-5, in DER.
  "ecdsa-p256-sha256": asymmetric("sha256", (key) => key.asymmetricKeyDetails?.namedCurve === "prime256v1"),
  // These have keys of their own: see `certificates.ts`.
  "code:sns": { ...asymmetric("sha256", () => false) },
  "code:paypal": { ...asymmetric("sha256", () => false) },
  // The signature is the secret itself.
  token: {
    takesKey: isSecret,
    sign: (key) => key.export(),
    compare(key) {
      const own = digest(key.export());
      return (token) => isSame(digest(token), own);
    },
  },
};

/**
 * Creates the keys that a secret may be.
 *
 * @returns none when the secret is empty, or has not the format of the scheme
 */
export function createKeys({ alg, key }: Pick<Scheme, "alg" | "key">, secret: string): KeyObject[] {
  try {
    const keys = readSecret(secret, key).map(({ text, format }) => parseKey(text, format));
    return keys.filter((each) => signatureAlgorithms[alg].takesKey(each));
  } catch {
    return [];
  }
}

/** @throws where the bytes are no key */
function parseKey(text: string, format: Scheme["key"]["format"]): KeyObject {
  const bytes = Buffer.from(text, format === "utf8" ? "utf8" : format.endsWith("hex") ? "hex" : "base64");
  if (format === "spki-base64") return createPublicKey({ format: "der", type: "spki", key: bytes });
  if (!format.startsWith("ed25519")) return createSecretKey(bytes);
  // RFC 8032 §5.1.5: 32 bytes; RFC 8037 §2 for the JWK.
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") } });
}

/** @returns nothing when the text is not in this encoding: see `isEncoded` */
export function decodeStrictly(text: string, encoding: Encoding): Buffer | undefined {
  return isEncoded(text, encoding) ? Buffer.from(text, encoding) : undefined;
}

/**
 * @returns nothing where base64 has stray bits (RFC 4648 §3.5), so that each signature has one text
 */
export function decodeSignature(text: string, encoding: Encoding): Buffer | undefined {
  const bytes = text === "" ? undefined : decodeStrictly(text, encoding);
  const isCanonical = encoding === "hex" || (bytes && stripPadding(bytes.toString(encoding)) === stripPadding(text));
  return isCanonical ? bytes : undefined;
}
