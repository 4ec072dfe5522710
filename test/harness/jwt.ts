import { createPublicKey } from "node:crypto";
import * as jose from "jose";

/** The private key of a sender of tokens, and how it names it. */
export interface TokenKey {
  alg: string;
  kid?: string;
  key: Parameters<jose.SignJWT["sign"]>[0];
}

export function sharedKey(secret: string): TokenKey {
  return { alg: "HS256", key: Buffer.from(secret) };
}

/** A key pair, its public key as it is published. */
export async function createKeyPair(alg: string, kid: string): Promise<{ key: TokenKey; jwk: jose.JWK; pem: string }> {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await jose.exportJWK(publicKey)), kid, alg };
  const pem = createPublicKey({ key: { ...jwk, kty: String(jwk.kty) }, format: "jwk" });
  return { key: { alg, kid, key: privateKey }, jwk, pem: String(pem.export({ type: "spki", format: "pem" })) };
}

export function signToken(claims: jose.JWTPayload, { alg, kid, key }: TokenKey, header = {}): Promise<string> {
  return new jose.SignJWT(claims).setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header }).sign(key);
}
