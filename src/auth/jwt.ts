// Authentication by a JSON Web Token (RFC 7519), verified by jose.

import { createHash, createSecretKey } from "node:crypto";
import type { JWTPayload } from "jose";
import { isObject, tryParseJson } from "../config/values";
import type { JwtAccess } from "../config/parse";
import type { DecodedBody } from "../request/decode";
import { Problem, problems, type Reason } from "../request/problem";
import { type Authenticated, type Authenticator, byTest, type PendingVerification } from "./authenticator";
import { toDuration } from "./diagnosis";
import type { Handshakes } from "./handshakes";
import type { JwtKeys } from "./jwt-keys";
import { FetchError } from "./published";
import { type OutgoingRequest, presentToken, toHead } from "./outgoing";
import { testField } from "./present";
import { Redactor } from "./redactor";
import { type BodyDigest, stripPadding } from "./senders/sender";
import { fieldValues, type RequestHead } from "../request/head";
import type { NodeTestCredentials } from "./test-credentials";
import { extractToken } from "./token";

/** Clocks may differ by so many seconds. */
const clockTolerance = 60;
/** How long a token that is made here is valid, in seconds. */
const tokenLifetime = 300;

type Claims = Readonly<Record<string, unknown>>;

/** Loaded with the first request that needs it; its own modules are ECMAScript's. */
let loading: Promise<typeof import("jose")> | undefined;
const loadJose = () => (loading ??= import("jose"));

/** @param handshakes of the sender, if it has some */
export function createJwtAuthenticator(
  access: JwtAccess,
  keys: JwtKeys,
  testCredentials: NodeTestCredentials,
  handshakes?: Handshakes,
): Authenticator {
  const { bodyDigest } = access;
  const field = access.name.toLowerCase();

  const authenticate = async (
    token: string,
    head: RequestHead,
    at: number,
  ): Promise<Authenticated | PendingVerification | Problem> => {
    const authenticated = await verifyToken(access, keys, token, at);
    if (authenticated instanceof Problem || bodyDigest === undefined) return authenticated;
    const { claims = {} } = authenticated;
    const verify = ({ bytes }: DecodedBody) =>
      hasDigest(claims, bodyDigest, head, bytes) ? authenticated : problems.tokenInvalid;
    return { isUnverified: false, needsBytes: true, verify };
  };

  return {
    missing: problems.tokenMissing,
    handshakeMethods: handshakes?.methods ?? [],
    fields: [field],
    hidden: [field, testField],
    parameter: undefined,
    redactor: new Redactor([access.first, access.second ?? ""], testCredentials),
    validFor: tokenLifetime,
    checkHead(head, at) {
      if (testCredentials.isTest(head)) return byTest;
      const [token, ...repeated] = fieldValues(head.rawHeaders, field).map((value) => extractToken(value, false));
      const finish = (result: Authenticated | PendingVerification | Problem) =>
        handshakes?.checkHead(head, () => result) ?? result;
      if (repeated.length > 0) return problems.tokenInvalid;
      if (token === undefined) return finish(problems.tokenMissing);
      return { authenticate: async () => finish(await authenticate(token, head, at)) };
    },
    isSignedTest: (head) => testCredentials.isSignedTest(head),
    sign: (request, at) => makeToken(access, request, at),
    explain({ head, body, at }) {
      const { error } = keys;
      if (error) return { reasons: [{ key: `fetch.${error.kind}`, values: { host: error.host } }] };
      const [value] = fieldValues(head.rawHeaders, field);
      if (value === undefined) return { reasons: [] };
      const decoded = decodeJwt(extractToken(value, false) ?? "");
      if (!decoded) return { reasons: [{ key: "jwt.malformed", values: {} }] };
      const reasons = [...listErrors(access, keys, decoded, at / 1000)];
      const isOther = bodyDigest && body && !hasDigest(decoded.claims, bodyDigest, head, body);
      if (reasons.length === 0) reasons.push({ key: isOther ? "jwt.body" : "jwt.signature", values: {} });
      return { reasons };
    },
  };
}

async function verifyToken(
  { issuer, audience, claims, bodyDigest }: JwtAccess,
  jwtKeys: JwtKeys,
  token: string,
  at: number,
): Promise<Authenticated | Problem> {
  const jose = await loadJose();
  const options = {
    ...(issuer !== "" && { issuer }),
    ...(audience !== "" && { audience }),
    currentDate: new Date(at),
    clockTolerance,
    requiredClaims: bodyDigest === undefined ? ["exp"] : [],
  };
  try {
    const { kid, alg = "", crit } = jose.decodeProtectedHeader(token);
    // RFC 7515 §4.1.11: extensions must be understood, and none is.
    if (crit !== undefined || !jwtKeys.algorithms.includes(alg)) return problems.tokenInvalid;
    const { keys, mayLack } = await jwtKeys.find(kid);
    for (const { key, algorithms, credential } of keys) {
      // Keys of two kinds may have the same id (RFC 7517 §4.5).
      if (!algorithms.includes(alg)) continue;
      const payload = await jose.jwtVerify(token, key, { ...options, algorithms: [...algorithms] }).then(
        (result) => result.payload,
        (error: unknown) => {
          if (!(error instanceof jose.errors.JWSSignatureVerificationFailed)) throw error;
        },
      );
      if (!payload) continue;
      if (!hasClaims(payload, claims)) return problems.tokenInvalid;
      jwtKeys.keep?.();
      return { credential, claims: payload };
    }
    return mayLack ? problems.keysUnavailable : problems.tokenInvalid;
  } catch (error) {
    if (error instanceof FetchError) return problems.keysUnavailable;
    if (error instanceof jose.errors.JOSEError || error instanceof TypeError) return problems.tokenInvalid;
    throw error;
  }
}

/** By a secret, with a token that is valid for five minutes. */
async function makeToken(
  { keySource, first, name, issuer, audience, claims, bodyDigest }: JwtAccess,
  request: OutgoingRequest,
  at: number,
): Promise<OutgoingRequest | undefined> {
  if (keySource !== "secret") return undefined;
  const { SignJWT } = await loadJose();
  const now = Math.floor(at / 1000);
  const digest = bodyDigest && digestOf(bodyDigest, toHead(request), request.body);
  const unsigned = {
    ...claims,
    ...(issuer !== "" && { iss: issuer }),
    ...(audience !== "" && { aud: audience }),
    ...(bodyDigest && digest !== undefined && { [bodyDigest.claim]: digest }),
    iat: now,
    exp: now + tokenLifetime,
  };
  const token = await new SignJWT(unsigned)
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(createSecretKey(first, "utf8"));
  return presentToken(request, { method: "header", name }, token);
}

/** The most certain first. Nothing of the token is verified here. */
function* listErrors(
  { issuer, audience, claims: required, bodyDigest }: JwtAccess,
  keys: JwtKeys,
  { header, claims }: DecodedJwt,
  now: number,
): Generator<Reason> {
  const { exp, nbf, aud } = claims;
  const distance = (time: number) => ({ distance: toDuration(Math.abs(Math.round(now - time))) });
  if (header.crit !== undefined) yield { key: "jwt.extensions", values: {} };
  if (!keys.algorithms.some((each) => each === header.alg)) {
    yield { key: "jwt.algorithm", values: { expected: keys.algorithms.join(", ") } };
  }
  if (keys.knows?.(header.kid) === false) yield { key: "jwt.unknownKey", values: {} };
  if (typeof exp !== "number" && bodyDigest === undefined) yield { key: "jwt.noExpiry", values: {} };
  if (typeof exp === "number" && exp <= now - clockTolerance) yield { key: "jwt.expired", values: distance(exp) };
  if (typeof nbf === "number" && nbf > now + clockTolerance) yield { key: "jwt.early", values: distance(nbf) };
  if (issuer !== "" && claims.iss !== issuer) yield { key: "jwt.issuer", values: { expected: issuer } };
  if (audience !== "" && ![aud].flat().includes(audience)) {
    yield { key: "jwt.audience", values: { expected: audience } };
  }
  for (const [name, expected] of Object.entries(required)) {
    if (!hasClaims(claims, { [name]: expected })) yield { key: "jwt.claim", values: { name, expected } };
  }
}

/** Whether the payload of a request has the digest that its token says. */
function hasDigest(claims: Claims, described: BodyDigest, head: RequestHead, body: Buffer): boolean {
  const { [described.claim]: digest } = claims;
  const own = digestOf(described, head, body);
  return typeof digest === "string" && own !== undefined && stripPadding(digest) === stripPadding(own);
}

/** The digest of the payload of a request; nothing where it is none that the sender signs. */
function digestOf(
  { encoding, ofQuery }: BodyDigest,
  { method, search }: RequestHead,
  body: Buffer,
): string | undefined {
  const isByUrl = method === "GET" || method === "HEAD";
  const signed = isByUrl ? ofQuery && body.length === 0 && toObject(search) : body;
  return signed ? createHash("sha256").update(signed).digest(encoding) : undefined;
}

/** The parameters as a JSON object, which has no place for repeated ones. */
function toObject(search: string): string | undefined {
  const parameters = new URLSearchParams(search);
  const object = Object.fromEntries(parameters);
  return Object.keys(object).length === parameters.size ? JSON.stringify(object) : undefined;
}

function hasClaims(claims: Claims | JWTPayload, required: Readonly<Record<string, string>>): boolean {
  return Object.entries(required).every(([name, expected]) => {
    const claim: unknown = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return ["string", "number", "boolean"].includes(typeof claim) && String(claim) === expected;
  });
}

interface DecodedJwt {
  readonly header: Claims;
  readonly claims: Claims;
}

/** For explanations only. */
function decodeJwt(token: string): DecodedJwt | undefined {
  const parts = token.split(".");
  const [header, claims] = parts.slice(0, 2).map((part) => tryParseJson(Buffer.from(part, "base64url").toString()));
  return parts.length === 3 && isObject(header) && isObject(claims) ? { header, claims } : undefined;
}
