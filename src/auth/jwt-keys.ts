// The keys of JSON Web Tokens: those of the node, or those that the issuer publishes.

import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { JwtAccess } from "../config/parse";
import { isObject, tryParseJson } from "../config/values";
import type { Credential } from "./authenticator";
import { FetchError, fetchPublished, type KeptPublications } from "./published";

interface JwtKey {
  /** In a key set (RFC 7517 §4.5). */
  readonly id?: string;
  /** Those of this kind of key alone, so that a public key is never taken for a secret (RFC 8725 §3.1). */
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
  readonly credential: Credential;
}

export interface JwtKeys {
  /** The algorithms that a token may name. */
  readonly algorithms: readonly string[];
  /** Why there are no keys; missing where there are some. */
  readonly error?: FetchError | undefined;
  /** Whether there is a key with an id; missing where ids do not matter. */
  knows?(id: unknown): boolean;
  /**
   * The keys that may have signed a token.
   *
   * @param id the one that it names
   * @throws {FetchError}
   */
  find(id: string | undefined): PossibleKeys | Promise<PossibleKeys>;
  /** Keeps those that have verified a token; missing where they are the node's. */
  keep?(): void;
}

interface PossibleKeys {
  readonly keys: readonly JwtKey[];
  /** Whether the issuer may have published the key since they were fetched. */
  readonly mayLack: boolean;
}

/** @returns nothing where the public key is none that tokens are signed with */
export function createJwtKeys(access: JwtAccess, kept: KeptPublications): JwtKeys | undefined {
  const { keySource, jwksUrl, publicKey, first, second = "" } = access;
  if (keySource === "jwks") return findKeySet(jwksUrl, kept);
  const keys = keySource === "secret" ? createSecretKeys(first, second) : parsePublicKey(publicKey);
  return keys && { algorithms: keys.flatMap(({ algorithms }) => algorithms), find: () => ({ keys, mayLack: false }) };
}

/** RFC 7518 §3.2. */
const hmac = ["HS256", "HS384", "HS512"];
/** RFC 7518 §3.3 and §3.5. */
const rsa = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
/** RFC 7518 §3.4. */
const byCurve: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
/** RFC 8037 §3.1 and RFC 9864 §2.2. */
const ed25519 = ["EdDSA", "Ed25519"];

function createSecretKeys(...secrets: readonly string[]): JwtKey[] {
  const given = secrets.filter((secret) => secret !== "");
  return given.map((secret, index) => {
    const key = createSecretKey(secret, "utf8");
    return { algorithms: hmac, key, credential: index === 0 ? "first" : "second" };
  });
}

function parsePublicKey(pem: string): JwtKey[] | undefined {
  try {
    const key = toJwtKey(createPublicKey(pem));
    return key && [key];
  } catch {
    return undefined;
  }
}

/** @returns nothing for a key of another kind, and a short one (RFC 7518 §3.3) */
function toJwtKey(key: KeyObject): JwtKey | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const isRsa = type === "rsa" && (details?.modulusLength ?? 0) >= 2048;
  const ofCurve = byCurve[details?.namedCurve ?? ""];
  const algorithms = isRsa ? rsa : type === "ed25519" ? ed25519 : ofCurve === undefined ? [] : [ofCurve];
  return algorithms.length > 0 ? { algorithms, key, credential: "first" } : undefined;
}

/** Then the keys are fetched anew. */
const freshMs = 10 * 60_000;
/**
 * So long they are used while they cannot be fetched, also after a restart: an issuer that withdraws a key must not wait
 * for longer.
 */
const usableMs = 60 * 60_000;
/** The least time between two fetches. A new key is known after this time. */
const cooldownMs = 15_000;
/** How many requests may wait for one fetch. */
const maxWaiting = 100;

/** The key set of an issuer (RFC 7517 §5), fetched with the first request. */
class KeySet implements JwtKeys {
  readonly algorithms = [...rsa, ...Object.values(byCurve), ...ed25519];
  readonly #url: URL;
  readonly #kept: KeptPublications;
  #keys: readonly JwtKey[] = [];
  /** By `performance.now()`. */
  #fetchedAt = -Infinity;
  /** Fetched, and not kept before it has verified a token. */
  #unkept: Parameters<KeptPublications["keep"]>[1] | undefined;
  #triedAt = -Infinity;
  #fetching: Promise<void> | undefined;
  #error: FetchError | undefined;
  #waiting = 0;

  constructor(url: URL, kept: KeptPublications) {
    this.#url = url;
    this.#kept = kept;
    const { text = "", fetchedAt = NaN } = kept.get(url.href) ?? {};
    const age = Date.now() - fetchedAt;
    // A clock that was set back does not say how old they are.
    if (!(age >= 0)) return;
    try {
      this.#keys = parseKeySet(text, url.host);
      this.#fetchedAt = performance.now() - age;
    } catch {
      // It is fetched.
    }
  }

  keep(): void {
    if (this.#unkept) this.#kept.keep(this.#url.href, this.#unkept);
    this.#unkept = undefined;
  }

  knows(id: unknown): boolean {
    return this.#keys.length === 1 || id === undefined || this.#keys.some((key) => key.id === id);
  }

  async find(id: string | undefined): Promise<PossibleKeys> {
    const isNew = () => id !== undefined && !this.#keys.some((key) => key.id === id);
    const before = this.#fetchedAt;
    if (isNew() || this.#age > usableMs) await this.#refresh();
    else if (this.#age > freshMs) void this.#refresh();
    if (this.error) throw this.error;
    // With one key, its id does not matter; and a token need not name one (RFC 7515 §4.1.4).
    const keys = this.#keys.length === 1 || id === undefined ? this.#keys : this.#keys.filter((key) => key.id === id);
    return { keys, mayLack: isNew() && this.#fetchedAt === before };
  }

  get error(): FetchError | undefined {
    return this.#age > usableMs ? this.#error : undefined;
  }

  get #age(): number {
    return performance.now() - this.#fetchedAt;
  }

  async #refresh(): Promise<void> {
    if (!this.#fetching && performance.now() - this.#triedAt < cooldownMs) return;
    if (this.#waiting >= maxWaiting) {
      this.#error = new FetchError("busy", this.#url.host);
      return;
    }
    this.#waiting++;
    await (this.#fetching ??= this.#fetch());
    this.#waiting--;
  }

  async #fetch(): Promise<void> {
    this.#triedAt = performance.now();
    try {
      const text = (await fetchPublished(this.#url)).toString();
      this.#keys = parseKeySet(text, this.#url.host);
      this.#fetchedAt = performance.now();
      this.#unkept = { text, fetchedAt: Date.now() };
      this.#error = undefined;
    } catch (error) {
      this.#error = error instanceof FetchError ? error : new FetchError("malformed", this.#url.host);
    } finally {
      this.#fetching = undefined;
    }
  }
}

/** By their URLs: all nodes share them, over deploys. */
const shared = new WeakMap<KeptPublications, Map<string, KeySet>>();

function findKeySet(url: string, kept: KeptPublications): KeySet {
  const keySets = shared.get(kept) ?? new Map<string, KeySet>();
  shared.set(kept, keySets);
  const keySet = keySets.get(url) ?? new KeySet(new URL(url), kept);
  keySets.set(url, keySet);
  return keySet;
}

const maxKeys = 100;

/**
 * Keys of other kinds and for other uses are left out.
 *
 * @throws {FetchError} where it is no key set
 */
function parseKeySet(text: string, host: string): JwtKey[] {
  const set = tryParseJson(text);
  const keys = isObject(set) ? set.keys : undefined;
  if (!Array.isArray(keys) || keys.length > maxKeys) throw new FetchError("malformed", host);
  return keys.flatMap((jwk) => parseJwk(jwk) ?? []);
}

function parseJwk(jwk: unknown): JwtKey | undefined {
  try {
    const { kid, use = "sig", alg } = jwk as Partial<Record<string, unknown>>;
    const key = use === "sig" ? toJwtKey(createPublicKey({ key: jwk as JsonWebKey, format: "jwk" })) : undefined;
    if (!key) return undefined;
    const algorithms = key.algorithms.filter((each) => alg === undefined || each === alg);
    return algorithms.length === 0 ? undefined : { ...key, algorithms, ...(typeof kid === "string" && { id: kid }) };
  } catch {
    return undefined;
  }
}
