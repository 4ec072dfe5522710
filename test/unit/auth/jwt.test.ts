import { createHash, createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import * as jose from "jose";
import should from "should";
import catalog from "../../../locales/en-US/webhook-trigger.json";
import type { Authenticated, Authenticator, HeadResult } from "../../../src/auth/authenticator";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { createJwtAuthenticator } from "../../../src/auth/jwt";
import { KeptPublications, keptFileName } from "../../../src/auth/published";
import { TestCredentials } from "../../../src/auth/test-credentials";
import type { JwtAccess } from "../../../src/config/parse";
import { findJwtPreset, isSenderId, senders } from "../../../src/auth/senders/table";
import { readSenderDelivery, RequestValues } from "../../../src/auth/request-values";
import { parseConfig } from "../../../src/config/parse";
import { DecodedBody } from "../../../src/request/decode";
import type { RequestHead } from "../../../src/request/head";
import { Problem } from "../../../src/request/problem";
import tokens from "../../data/tokens.json";
import { useFetch } from "../../harness/fetching";
import { temporaryFolder } from "../../harness/package";
import { until } from "../../harness/until";
import { judgeRequest } from "../../harness/verification";
import { createKeyPair, sharedKey, signToken, type TokenKey } from "../../harness/jwt";

const at = 1_767_225_600_000;
const now = at / 1000;
const issuer = "https://issuer.example";
const audience = "https://nodered.example/orders";
const secret = "a-shared-secret-of-more-than-32-bytes";
const usual: JwtAccess = {
  ...{ method: "jwt", name: "Authorization", keySource: "secret", jwksUrl: "", publicKey: "", bodyDigest: undefined },
  ...{ first: secret, callers: [], issuer, audience, claims: {} },
};
const claims = { iss: issuer, aud: audience, exp: now + 600 };

/** Of the Node-RED of all tests. */
const all = new KeptPublications();

function create(given: Partial<JwtAccess> = {}, sender = "", kept = all): Authenticator {
  const authenticator = createAuthenticator({ sender, access: { ...usual, ...given } }, "node", undefined, kept);
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

function toHead(...values: string[]) {
  return { method: "POST", rawHeaders: values.flatMap((value) => ["authorization", value]), search: "" };
}

async function authenticate(authenticator: Authenticator, ...values: string[]): Promise<HeadResult> {
  const result = authenticator.checkHead(toHead(...values), at);
  return "authenticate" in result ? result.authenticate() : result;
}

/** The credential, or the name of the problem. */
async function judge(authenticator: Authenticator, ...values: string[]): Promise<string> {
  const result = await authenticate(authenticator, ...values);
  return result instanceof Problem ? result.name : (result as Authenticated).credential;
}

function reasonsFor(authenticator: Authenticator, value: string): string[] {
  const { reasons } = authenticator.explain({ head: toHead(value), at });
  for (const { key, values } of reasons) {
    const [group = "", name = ""] = key.split(".");
    const texts = (catalog.whyNot as Record<string, string | Record<string, string>>)[group];
    const text = typeof texts === "object" ? (texts[name] ?? "") : "";
    const places = Array.from(text.matchAll(/__(\w+)__/g), ([, place]) => place);
    places.sort().should.eql(Object.keys(values).sort(), key);
  }
  return reasons.map(({ key }) => key);
}

describe("a JSON Web Token", () => {
  const authenticator = create({ second: "the-second-secret-of-more-than-32-bytes" });

  it("is accepted behind Bearer and bare, by either secret, with its claims", async () => {
    const token = await signToken({ ...claims, sub: "4711" }, sharedKey(secret));
    for (const value of [`Bearer ${token}`, `bEARER  ${token}`, token]) {
      should(await authenticate(authenticator, value)).match({ credential: "first", claims: { sub: "4711" } });
    }
    const second = await signToken(claims, sharedKey("the-second-secret-of-more-than-32-bytes"));
    (await judge(authenticator, second)).should.equal("second");
  });

  it("may name several audiences, and clocks may differ by a minute", async () => {
    for (const changed of [{ aud: ["other", audience] }, { exp: now - 59 }, { nbf: now + 60 }]) {
      (await judge(authenticator, await signToken({ ...claims, ...changed }, sharedKey(secret)))).should.equal("first");
    }
  });

  const refused: [string, () => Promise<string>, string[]][] = [
    ["expired three minutes ago", () => signToken({ ...claims, exp: now - 180 }, sharedKey(secret)), ["jwt.expired"]],
    ["never expires", () => signToken({ iss: issuer, aud: audience }, sharedKey(secret)), ["jwt.noExpiry"]],
    ["is valid later", () => signToken({ ...claims, nbf: now + 180 }, sharedKey(secret)), ["jwt.early"]],
    ["is of another issuer", () => signToken({ ...claims, iss: `${issuer}/` }, sharedKey(secret)), ["jwt.issuer"]],
    ["is for others", () => signToken({ ...claims, aud: `${audience}/` }, sharedKey(secret)), ["jwt.audience"]],
    ["has another signature", () => signToken(claims, sharedKey("x".repeat(40))), ["jwt.signature"]],
    [
      "must be understood",
      () => signToken(claims, sharedKey(secret), { crit: ["b64"], b64: true }),
      ["jwt.extensions"],
    ],
    ["is not signed", () => Promise.resolve(new jose.UnsecuredJWT(claims).encode()), ["jwt.algorithm"]],
    ["is none", () => Promise.resolve("a.b.c"), ["jwt.malformed"]],
    ["is a user and a password", () => Promise.resolve("Basic dTpw"), ["jwt.malformed"]],
  ];
  for (const [title, make, reasons] of refused) {
    it(`is refused if it ${title}, and the operator is told so`, async () => {
      const token = await make();
      (await judge(authenticator, token)).should.equal("tokenInvalid");
      reasonsFor(authenticator, token).should.eql(reasons);
    });
  }

  it("is refused where it is missing or repeated", async () => {
    const token = await signToken(claims, sharedKey(secret));
    (await judge(authenticator)).should.equal("tokenMissing");
    (await judge(authenticator, "")).should.equal("tokenMissing");
    (await judge(authenticator, token, token)).should.equal("tokenInvalid");
  });

  it("says how long ago it expired", async () => {
    const head = toHead(await signToken({ ...claims, exp: now - 180 }, sharedKey(secret)));
    should(authenticator.explain({ head, at }).reasons).eql([{ key: "jwt.expired", values: { distance: "3 min" } }]);
  });

  it("has the required claims", async () => {
    const requiring = create({ claims: { email: "a@example.com", admin: "true" } });
    const judgeClaims = async (given: object) =>
      judge(requiring, await signToken({ ...claims, ...given }, sharedKey(secret)));
    (await judgeClaims({ email: "a@example.com", admin: true })).should.equal("first");
    for (const given of [
      { email: "b@example.com", admin: true },
      { admin: true },
      { email: ["a@example.com"], admin: true },
    ]) {
      (await judgeClaims(given)).should.equal("tokenInvalid");
    }
    const other = await signToken({ ...claims, email: "b@example.com", admin: true }, sharedKey(secret));
    should(requiring.explain({ head: toHead(other), at }).reasons).eql([
      { key: "jwt.claim", values: { name: "email", expected: "a@example.com" } },
    ]);
  });

  it("is never accepted for a claim of Object.prototype", async () => {
    const requiring = create({ claims: { constructor: String(Object) } });
    (await judge(requiring, await signToken(claims, sharedKey(secret)))).should.equal("tokenInvalid");
  });
});

/** RFC 7515, appendix A: one payload, signed by three algorithms. */
const payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
const vectors: [string, string, string, KeyObject, string][] = [
  [
    "A.1", "HS256", "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
    createSecretKey("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow", "base64url"),
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  ],
  [
    "A.2", "RS256", "eyJhbGciOiJSUzI1NiJ9",
    createPublicKey({ format: "jwk", key: { kty: "RSA", e: "AQAB", n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ" } }),
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
  ],
  [
    "A.3", "ES256", "eyJhbGciOiJFUzI1NiJ9",
    createPublicKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" } }),
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
  ],
]; // prettier-ignore

describe("the tokens of RFC 7515", () => {
  for (const [section, algorithm, header, key, signature] of vectors) {
    const keys = {
      algorithms: [algorithm],
      find: () => ({ keys: [{ algorithms: [algorithm], key, credential: "first" as const }], mayLack: false }),
    };
    const authenticator = createJwtAuthenticator(
      { ...usual, issuer: "joe", audience: "" },
      keys,
      new TestCredentials().of(""),
    );
    const token = `${header}.${payload}.${signature}`;
    const judgeAt = async (seconds: number) => {
      const result = authenticator.checkHead(toHead(token), seconds * 1000);
      return "authenticate" in result ? result.authenticate() : result;
    };

    it(`are accepted up to a minute after they expired: ${section}`, async () => {
      should(await judgeAt(1_300_819_380)).match({ claims: { iss: "joe", "http://example.com/is_root": true } });
      should(await judgeAt(1_300_819_439)).have.property("credential", "first");
      should(await judgeAt(1_300_819_440)).have.property("name", "tokenInvalid");
    });
  }
});

describe("a JSON Web Token with a public key", () => {
  for (const alg of ["RS256", "PS256", "ES256", "ES384", "EdDSA"]) {
    it(`is verified by ${alg}, whatever id it gives the key`, async () => {
      const { key, pem } = await createKeyPair(alg, "1");
      const authenticator = create({ keySource: "publicKey", publicKey: pem });
      (await judge(authenticator, await signToken(claims, { ...key, kid: "other" }))).should.equal("first");
    });
  }

  it("is refused where the public key was the secret that signed it", async () => {
    const { pem } = await createKeyPair("RS256", "1");
    const token = await signToken(claims, sharedKey(pem));
    const authenticator = create({ keySource: "publicKey", publicKey: pem });
    (await judge(authenticator, token)).should.equal("tokenInvalid");
    reasonsFor(authenticator, token).should.eql(["jwt.algorithm"]);
  });

  it("needs a key that tokens are signed with", () => {
    const texts = ["-----BEGIN PUBLIC KEY-----\n", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"];
    for (const publicKey of texts) {
      const access = { ...usual, keySource: "publicKey", publicKey } as const;
      createAuthenticator({ sender: "", access }).should.eql({ rule: "publicKey", value: "" });
    }
  });
});

describe("a JSON Web Token with a key set", () => {
  const fetching = useFetch(() => Promise.reject(new Error("nothing is published")));
  /** Each test has a key set of its own. */
  const jwks = () => ({ keySource: "jwks", jwksUrl: `https://issuer.example/keys/${++sets}` }) as const;
  let sets = 0;
  afterEach(() => mock.restoreAll());
  const publish = (...keys: jose.JWK[]) => (fetching.respond = () => Promise.resolve(Response.json({ keys })));

  it("makes the keys be fetched once, and is verified by the one that it names", async () => {
    const [one, two] = [await createKeyPair("RS256", "1"), await createKeyPair("ES256", "2")];
    publish(one.jwk, two.jwk, { kty: "oct", k: "c2VjcmV0", kid: "3" }, { ...one.jwk, kid: "4", use: "enc" });
    const authenticator = create(jwks());
    const judgeBy = async (key: TokenKey) => judge(authenticator, await signToken(claims, key));
    (await judgeBy(one.key)).should.equal("first");
    (await judgeBy(two.key)).should.equal("first");
    (await judgeBy({ ...two.key, kid: "1" })).should.equal("tokenInvalid");
    fetching.urls.length.should.equal(1);
    for (const id of ["4", "3"]) {
      (await judgeBy({ ...one.key, kid: id })).should.equal("keysUnavailable");
    }
    (await judgeBy({ ...sharedKey("secret"), kid: "3" })).should.equal("tokenInvalid");
  });

  it("that names an unknown key is refused with 401 only by a set that was fetched for it", async () => {
    const [one, two, three] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2"), await createKeyPair("ES256", "3")];
    let clock = 1_000_000;
    mock.method(performance, "now", () => clock);
    for (const others of [[], [three.jwk]]) {
      publish(one.jwk, ...others);
      const authenticator = create(jwks());
      const judgeBy = async (key: TokenKey) => judge(authenticator, await signToken(claims, key));
      (await judgeBy(one.key)).should.equal("first");
      clock += 15_000;
      (await judgeBy({ ...two.key, kid: "x" })).should.equal("tokenInvalid");
      // The issuer changes its key now, and its server is not asked again so soon.
      publish(two.jwk, ...others);
      clock += 14_999;
      (await judgeBy(two.key)).should.equal("keysUnavailable");
      reasonsFor(authenticator, await signToken(claims, two.key)).should.eql(others.length === 0 ? ["jwt.signature"] : ["jwt.unknownKey"]);
      (await judgeBy(one.key)).should.equal("first");
      clock += 1;
      (await judgeBy(two.key)).should.equal("first");
      (await judgeBy(one.key)).should.equal("keysUnavailable");
    }
  });

  describe("after a restart", () => {
    const withKept = async (age: number, judgeAfter: (authenticator: Authenticator, token: string) => Promise<void>) => {
      const [one, two] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
      publish(one.jwk, two.jwk);
      const [folder, set] = [temporaryFolder("kept"), jwks()];
      const token = await signToken(claims, one.key);
      (await judge(create(set, "", new KeptPublications(folder)), token)).should.equal("first");
      await until(() => existsSync(join(folder, keptFileName)), "the file");
      fetching.urls = [];
      const later = Date.now() + age;
      mock.method(Date, "now", () => later);
      await judgeAfter(create(set, "", new KeptPublications(folder)), token);
    };

    it("is verified by the keys from before, without a fetch", () =>
      withKept(60_000, async (authenticator, token) => {
        (await judge(authenticator, token)).should.equal("first");
        fetching.urls.should.eql([]);
      }));

    it("is verified by keys of up to an hour, which are fetched again", () =>
      withKept(59 * 60_000, async (authenticator, token) => {
        fetching.respond = () => Promise.reject(new TypeError("fetch failed"));
        (await judge(authenticator, token)).should.equal("first");
        fetching.urls.should.have.length(1);
      }));

    for (const [title, age] of [["older than an hour", 61 * 60_000], ["from a later time than now", -60_000]] as const) {
      it(`is not verified by keys ${title}`, () =>
        withKept(age, async (authenticator, token) => {
          fetching.respond = () => Promise.reject(new TypeError("fetch failed"));
          (await judge(authenticator, token)).should.equal("keysUnavailable");
          fetching.urls.should.have.length(1);
        }));
    }

    it("is not verified by what is damaged", async () => {
      const { key, jwk } = await createKeyPair("ES256", "1");
      publish(jwk);
      for (const text of ["", "x", "null", "[]", '{"keys":1}', '{"keys":[null,1,{"kty":"EC"}]}']) {
        const [kept, set] = [new KeptPublications(), jwks()];
        kept.keep(set.jwksUrl, { text, fetchedAt: Date.now() });
        (await judge(create(set, "", kept), await signToken(claims, key))).should.equal("first", text);
      }
    });

    it("finds no keys that have not verified a token", async () => {
      const [one, two] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
      publish(one.jwk);
      const [kept, set] = [new KeptPublications(), jwks()];
      (await judge(create(set, "", kept), await signToken(claims, two.key))).should.equal("tokenInvalid");
      should(kept.get(set.jwksUrl)).be.undefined();
    });
  });

  it("is verified by the keys that another node has fetched", async () => {
    const { key, jwk } = await createKeyPair("ES256", "1");
    publish(jwk);
    const shared = jwks();
    for (let node = 0; node < 3; node++) (await judge(create(shared), await signToken(claims, key))).should.equal("first");
    fetching.urls.length.should.equal(1);
  });

  it("may name any key where there is one only, and need not name one of several", async () => {
    const [one, two] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
    const token = await signToken(claims, { alg: one.key.alg, key: one.key.key });
    publish(one.jwk);
    (await judge(create(jwks()), token)).should.equal("first");
    publish(two.jwk, one.jwk);
    (await judge(create(jwks()), token)).should.equal("first");
    publish(two.jwk, (await createKeyPair("ES256", "3")).jwk);
    (await judge(create(jwks()), token)).should.equal("tokenInvalid");
  });

  it("may have the id that keys of two kinds have", async () => {
    const [one, two] = [await createKeyPair("RS256", "1"), await createKeyPair("ES256", "1")];
    publish(one.jwk, two.jwk);
    (await judge(create(jwks()), await signToken(claims, two.key))).should.equal("first");
  });

  it("that names unknown keys a thousand times causes two fetches", async () => {
    const [one, two] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
    publish(one.jwk, two.jwk);
    const authenticator = create(jwks());
    const tokens = await Promise.all(Array.from({ length: 1000 }, (_, index) => signToken(claims, { ...one.key, kid: `x${index}` })));
    const names = new Set(await Promise.all(tokens.map((token) => judge(authenticator, token))));
    for (const token of tokens) names.add(await judge(authenticator, token));
    // What does not wait for the first fetch has no key yet.
    [...names].sort().should.eql(["keysUnavailable", "tokenInvalid"]);
    reasonsFor(authenticator, tokens[0] ?? "").should.eql(["jwt.unknownKey"]);
    fetching.urls.length.should.be.belowOrEqual(2);
  });

  it("waits for a slow key set with a hundred others, and no more", async () => {
    const { key, jwk } = await createKeyPair("ES256", "1");
    let answer: (response: Response) => void = () => undefined;
    fetching.respond = () => new Promise((resolve) => (answer = resolve));
    const authenticator = create(jwks());
    const token = await signToken(claims, key);
    const waiting = Array.from({ length: 150 }, () => judge(authenticator, token));
    (await Promise.race(waiting)).should.equal("keysUnavailable");
    reasonsFor(authenticator, token).should.eql(["fetch.busy"]);
    answer(Response.json({ keys: [jwk] }));
    const names = await Promise.all(waiting);
    names.filter((name) => name === "first").length.should.equal(100);
    fetching.urls.length.should.equal(1);
  });

  it("is still accepted while the keys cannot be fetched again", async () => {
    const [one, two] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
    publish(one.jwk);
    const authenticator = create(jwks());
    const token = await signToken(claims, one.key);
    (await judge(authenticator, token)).should.equal("first");
    fetching.respond = () => Promise.reject(new TypeError("fetch failed"));
    (await judge(authenticator, await signToken(claims, two.key))).should.equal("keysUnavailable");
    (await judge(authenticator, token)).should.equal("first");
  });

  const failures: [string, (signal: AbortSignal) => Promise<Response>, string][] = [
    ["does not reply", (signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))), "fetch.late"],
    ["is unreachable", () => Promise.reject(new TypeError("fetch failed")), "fetch.unreachable"],
    ["replies with an error", () => Promise.resolve(new Response("", { status: 500 })), "fetch.status"],
    ["redirects", () => Promise.resolve(new Response("", { status: 302 })), "fetch.redirect"],
    ["sends ten megabytes", () => Promise.resolve(new Response("x".repeat(10_000_000))), "fetch.tooLarge"],
    ["sends no key set", () => Promise.resolve(Response.json({})), "fetch.malformed"],
  ];
  for (const [title, reply, reason] of failures) {
    it(`is answered with 503, and the operator is told why, while the server of the keys ${title}`, async () => {
      fetching.respond = reply;
      const { key } = await createKeyPair("ES256", "1");
      const authenticator = create(jwks());
      const token = await signToken(claims, key);
      for (let count = 0; count < 20; count++) (await judge(authenticator, token)).should.equal("keysUnavailable");
      fetching.urls.length.should.equal(1);
      should(authenticator.explain({ head: toHead(token), at }).reasons).eql([{ key: reason, values: { host: "issuer.example" } }]);
    });
  }
}); // prettier-ignore

describe("the senders of JSON Web Tokens", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  const verdict = (authenticator: Authenticator, head: RequestHead, body: string) =>
    judgeRequest(authenticator, head, body, at);

  it("may sign a digest of the body, and then need no expiry: Netlify and Vonage", async () => {
    const authenticator = create({ issuer: "netlify", audience: "", bodyDigest: { claim: "sha256", encoding: "hex" } }, "netlify");
    const head = toHead(await signToken({ iss: "netlify", sha256: sha256("hello") }, sharedKey(secret)));
    should(await verdict(authenticator, head, "hello")).have.property("credential", "first");
    should(await verdict(authenticator, head, "hello!")).have.property("name", "tokenInvalid");
    const refused = { head, body: Buffer.from("hello!"), at };
    authenticator.explain(refused).reasons.map(({ key }) => key).should.eql(["jwt.body"]);
    const without = toHead(await signToken({ iss: "netlify" }, sharedKey(secret)));
    should(await verdict(authenticator, without, "hello")).have.property("name", "tokenInvalid");
  }); // prettier-ignore

  it("may sign a digest of the parameters by GET: Vonage", async () => {
    const bodyDigest = { claim: "payload_hash", encoding: "hex", ofQuery: true } as const;
    const authenticator = create({ issuer: "", audience: "", bodyDigest }, "vonage");
    const token = await signToken({ payload_hash: sha256('{"to":"447700900000","uuid":"1"}') }, sharedKey(secret));
    const head = { ...toHead(`Bearer ${token}`), method: "GET", search: "to=447700900000&uuid=1" };
    should(await verdict(authenticator, head, "")).have.property("credential", "first");
    should(await verdict(authenticator, head, "not signed")).have.property("name", "tokenInvalid");
    for (const search of ["to=4477&uuid=1", `to=4477&${head.search}`, ""]) {
      should(await verdict(authenticator, { ...head, search }, "")).have.property("name", "tokenInvalid");
    }
  });

  for (const { sender, name, secret, secondSecret = "", authorization, headers, body, credential, ...told } of tokens) {
    it(`of ${sender} is accepted for its body and for no other: ${name}`, async () => {
      if (!isSenderId(sender)) throw new Error(sender);
      const config = parseConfig(
        { relativePath: "/a", sender, verificationMethod: "jwt" },
        { secret, secondSecret },
        { roots: { admin: "/admin", node: "/" } },
      );
      if ("rule" in config) throw new Error(config.rule);
      const authenticator = createAuthenticator(config);
      if ("rule" in authenticator) throw new Error(authenticator.rule);
      const field = findJwtPreset(sender)?.headerParameter ?? "";
      const head = { method: "POST", rawHeaders: [field, authorization, ...headers], search: "" };
      should(await verdict(authenticator, head, body)).have.property("credential", credential);
      should(await verdict(authenticator, head, `${body} `)).have.property("name", "tokenInvalid");
      should(await verdict(authenticator, { ...head, method: "GET" }, body)).have.property("name", "tokenInvalid");
      const fields = new RequestValues(head, DecodedBody.of(head, Buffer.from(body)));
      readSenderDelivery(senders[sender], fields).should.containEql(told);
    });
  }

  it("may ask first, without a token: monday", async () => {
    const authenticator = create({ issuer: "" }, "monday");
    should(await verdict(authenticator, toHead(), '{"challenge":"abc_123"}')).match({ status: 200, body: '{"challenge":"abc_123"}' });
    should(await verdict(authenticator, toHead(), '{"challenge":"<b>"}')).have.property("status", 400);
    should(await verdict(authenticator, toHead(), '{"event":{}}')).have.property("name", "tokenMissing");
    const token = toHead(await signToken(claims, sharedKey(secret)));
    should(await verdict(authenticator, token, '{"event":{}}')).have.property("credential", "first");
    should(await verdict(authenticator, toHead("x"), '{"event":{}}')).have.property("name", "tokenInvalid");
  }); // prettier-ignore

  it("cannot be verified as senders that sign", () => {
    const access = {
      method: "signature",
      scheme: null,
      settings: {},
      ...{ first: secret, callers: [], verifyToken: "" },
    } as const;
    createAuthenticator({ sender: "netlify", access }).should.eql({ rule: "verificationMethod", value: "" });
  });
});
