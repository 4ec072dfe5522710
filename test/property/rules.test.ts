import fc from "fast-check";
import type { IncomingMessage } from "node:http";
import should from "should";
import { createTokenAuthenticator } from "../../src/auth/token";
import { parseConfig } from "../../src/config/parse";
import { describeRequest, removeCredential } from "../../src/request/request-info";
import { token } from "../harness/flow";
import { character, seed } from "../harness/property";

const text = fc.string({ unit: character, maxLength: 100 });
/** Text that is more likely to look like part of a URL. */
const urlPart = fc.string({ unit: fc.constantFrom(...Array.from("aZ09-._~/?#%25fF:&=+ ü")), maxLength: 40 });
const path = fc.string({ unit: fc.constantFrom(...Array.from("aZ09-._~/:")), maxLength: 40 });
const holds = <T>(arbitrary: fc.Arbitrary<T>, predicate: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, predicate), { seed, numRuns: 2000 });

describe("for any configuration", () => {
  const value = fc.oneof(text, path, fc.anything());
  const saved = fc.record({
    name: text,
    relativePath: fc.oneof(path, urlPart, value) as fc.Arbitrary<string>,
    returnQueryParams: fc.oneof(fc.boolean(), value) as fc.Arbitrary<boolean>,
    verificationMethod: fc.oneof(
      fc.constantFrom("header", "query", "basic", "jwt", "signature"),
      value,
    ) as fc.Arbitrary<string>,
    queryParameter: value as fc.Arbitrary<string>,
    headerParameter: fc.oneof(fc.constantFrom("Authorization", "X-Token"), value) as fc.Arbitrary<string>,
    keySource: fc.oneof(fc.constantFrom("jwks", "publicKey", "secret"), value) as fc.Arbitrary<string>,
    jwksUrl: fc.oneof(fc.constantFrom("https://issuer.example/keys"), urlPart, value) as fc.Arbitrary<string>,
    publicKey: fc.oneof(fc.constantFrom("-----BEGIN PUBLIC KEY-----\n"), value) as fc.Arbitrary<string>,
    issuer: value as fc.Arbitrary<string>,
    audience: value as fc.Arbitrary<string>,
    requiredClaim: fc.oneof(fc.constantFrom("", "email=a"), value) as fc.Arbitrary<string>,
    sender: fc.oneof(fc.constantFrom("", "github", "google-pubsub", "netlify"), value) as fc.Arbitrary<string>,
    scheme: value,
    senderSettings: fc.oneof(fc.dictionary(fc.constantFrom("publicUrl", "alg", "arm"), value), value) as fc.Arbitrary<
      Record<string, unknown>
    >,
  });
  const anyToken = fc.oneof({ arbitrary: fc.constant<unknown>(token), weight: 3 }, value);
  const other = fc.oneof(fc.constantFrom<unknown>("", undefined), value);
  const kept = fc.record({
    token: anyToken,
    callers: fc.oneof(fc.constantFrom(JSON.stringify([{ name: "door", digest: "0".repeat(64) }])), other),
    user: value,
    password: value,
    secondPassword: other,
    secret: other,
    secondSecret: other,
    verifyToken: other,
  });

  it("what is accepted keeps every rule", () => {
    holds(fc.tuple(saved, kept), ([fields, credentials]) => {
      const config = parseConfig(fields, credentials, { roots: { admin: "/", node: "/" } });
      if ("rule" in config) return;
      config.path.should.match(/^(\/([A-Za-z0-9\-._~]+|:\w+))+$/).and.not.match(/\/\.{1,2}(\/|$)/);
      config.path.length.should.be.belowOrEqual(255);
      const { access } = config;
      access.method.should.match(/^(header|query|basic|jwt|signature)$/);
      if (access.method === "signature") {
        for (const value of [access.first, access.second, access.verifyToken]) should(value).be.a.String();
        return;
      }
      if (access.method === "basic") {
        if (access.callers.length > 0 && [access.user, access.first, access.second].join("") === "") return;
        access.user.should.match(/^[^:]+$/);
        access.first.should.not.equal("");
        return;
      }
      if (access.method === "jwt") {
        const { keySource, jwksUrl, first, issuer, audience, bodyDigest } = access;
        keySource.should.match(/^(jwks|publicKey|secret)$/);
        if (keySource === "jwks") new URL(jwksUrl).protocol.should.equal("https:");
        if (keySource === "secret") first.should.not.equal("");
        // Netlify has no audience, but signs the body.
        if (bodyDigest === undefined) [issuer, audience].should.not.containEql("");
        return;
      }
      access.first.should.match(access.callers.length > 0 ? /^([\x21-\x7e]{40})?$/ : /^[\x21-\x7e]{40}$/);
      access.name.should.not.equal("");
      if (access.method === "header") access.name.should.match(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
    });
  });
});

describe("for any request", () => {
  const everyByte = Array.from(token, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
  const telling = (...forms: string[]) =>
    fc.tuple(urlPart, fc.constantFrom(token, encodeURIComponent(token), ...forms, ""), urlPart).map((parts) => parts.join("")); // prettier-ignore
  const fieldNames = fc.constantFrom("authorization", "x-token", "x-forwarded-uri", "referer");
  const headers = fc.dictionary(fieldNames, telling());

  it("what the message tells of it has no token in it, however it is written", () => {
    const placement = fc.constantFrom(
      { method: "header", name: "X-Token" } as const,
      { method: "query", name: "state" } as const,
    );
    holds(fc.tuple(placement, telling(everyByte), headers), ([place, search, fields]) => {
      const url = `/hook?${search.replaceAll("#", "")}`;
      const rawHeaders = Object.entries(fields).flat();
      const known = { method: "POST", url, headers: { ...fields }, rawHeaders, headersDistinct: {} };
      const request = known as unknown as IncomingMessage;
      const authenticator = createTokenAuthenticator({ ...place, first: token, callers: [] });
      const told = describeRequest(request, authenticator, "/hook", "192.0.2.1");
      removeCredential(request, authenticator);
      const all = JSON.stringify([told, request]);
      for (const form of [token, encodeURIComponent(token), everyByte]) all.should.not.containEql(form);
    });
  });
});
