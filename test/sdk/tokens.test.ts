import { Receiver } from "@upstash/qstash";
import { verifySignature } from "@vonage/jwt";
import fc from "fast-check";
import { AccessToken, WebhookReceiver } from "livekit-server-sdk";
import { createHash } from "node:crypto";
import { mock } from "node:test";
import should from "should";
import { createAuthenticator } from "../../src/auth/create-authenticator";
import { findJwtPreset, type JwtSenderId } from "../../src/auth/senders/table";
import { parseConfig } from "../../src/config/parse";
import { sharedKey, signToken } from "../harness/jwt";
import { character, seed } from "../harness/property";
import { judgeRequest } from "../harness/verification";

/** When all requests come, in seconds since the epoch. */
const now = 1_767_225_600;
const runs = { seed, numRuns: 30 };
const secret = "sig_7f3aZx9ABC_current";
const secondSecret = "sig_5WbX5kEWLlfzsGNjH_next";
const bodies = fc.dictionary(fc.string({ unit: character }), fc.string({ unit: character })).map((data) => JSON.stringify({ data })); // prettier-ignore

interface TokenLibrary {
  /** Its package. */
  name: string;
  sender: JwtSenderId;
  /** What the sender's documentation has in a token. */
  claims: (body: string) => Record<string, string | number>;
  /** The claim with the digest of the body. */
  digest: string;
  /** Where the library can tell. */
  sign?: (body: string) => Promise<string>;
  /** Refuses with an error. */
  verify: (token: string, body: string) => Promise<unknown>;
  /** Where the two may differ. */
  verdicts: Record<"withoutExpiry" | "ofAnotherIssuer" | "ofSecondSecret", Verdicts>;
  /** Whether it leaves the body to its user. */
  ignoresBody?: true;
}

interface Verdicts {
  library: boolean;
  node: boolean;
}

const both = { library: true, node: true };
const neither = { library: false, node: false };
const nodeAlone = { library: false, node: true };
const sha256 = (body: string, encoding: "base64" | "base64url" | "hex") =>
  createHash("sha256").update(body).digest(encoding);

const libraries: readonly TokenLibrary[] = [
  {
    name: "@upstash/qstash",
    sender: "qstash",
    claims: (body) => ({
      iss: "Upstash",
      sub: "https://example.com/hook",
      exp: now + 300,
      nbf: now,
      iat: now,
      jti: "jwt_1",
      body: `${sha256(body, "base64url")}=`,
    }),
    digest: "body",
    verify: (signature, body) =>
      new Receiver({ currentSigningKey: secret, nextSigningKey: secondSecret, devMode: false }).verify({
        signature,
        body,
      }),
    verdicts: { withoutExpiry: both, ofAnotherIssuer: neither, ofSecondSecret: both },
  },
  {
    name: "livekit-server-sdk",
    sender: "livekit",
    claims: (body) => ({ iss: "APIkey", nbf: now, exp: now + 300, sha256: sha256(body, "base64") }),
    digest: "sha256",
    sign: (body) => {
      const token = new AccessToken("APIkey", secret, { ttl: 300 });
      token.sha256 = sha256(body, "base64");
      return token.toJwt();
    },
    verify: (token, body) => new WebhookReceiver("APIkey", secret).receive(body, token),
    // The library is told the name of the key and one secret. The node accepts tokens without an expiry, as they are good
    // for one body alone.
    verdicts: { withoutExpiry: nodeAlone, ofAnotherIssuer: nodeAlone, ofSecondSecret: nodeAlone },
  },
  {
    name: "@vonage/jwt",
    sender: "vonage",
    claims: (body) => ({
      iss: "Vonage",
      iat: now,
      jti: "jwt_1",
      exp: now + 300,
      api_key: "abcd1234",
      application_id: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
      payload_hash: sha256(body, "hex"),
    }),
    digest: "payload_hash",
    verify: (token) => Promise.resolve().then(() => should(verifySignature(token, secret)).be.true()),
    verdicts: { withoutExpiry: both, ofAnotherIssuer: both, ofSecondSecret: nodeAlone },
    ignoresBody: true,
  },
];

/** Whether a node that is configured for the sender accepts a request. */
async function isAccepted(sender: JwtSenderId, token: string, body: string): Promise<boolean> {
  const config = parseConfig(
    { relativePath: "/a", sender, verificationMethod: "jwt" },
    { secret, secondSecret },
    { roots: { admin: "/admin", node: "/" } },
  );
  if ("rule" in config) throw new Error(config.rule);
  const authenticator = createAuthenticator(config);
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  const rawHeaders = [findJwtPreset(sender)?.headerParameter ?? "", token];
  return (
    "credential" in (await judgeRequest(authenticator, { method: "POST", rawHeaders, search: "" }, body, now * 1000))
  );
}

describe("JSON Web Tokens beside the senders' own libraries", () => {
  before(() => mock.timers.enable({ apis: ["Date"], now: now * 1000 }));
  after(() => mock.timers.reset());

  for (const { name, sender, claims, digest, sign, verify, verdicts, ignoresBody = false } of libraries) {
    const forAnotherBody = { library: ignoresBody, node: false };
    const judge = async (token: string, body: string): Promise<Verdicts> => ({
      library: await verify(token, body).then(
        () => true,
        () => false,
      ),
      node: await isAccepted(sender, token, body),
    });
    const signed = (body: string, changed: Record<string, unknown> = {}, by = secret) =>
      signToken({ ...claims(body), ...changed }, sharedKey(by));

    it(`${name} and the node accept what ${sender} signs, and refuse it once it was changed`, async () => {
      const holds = async (body: string, place: number) => {
        const token = await signed(body);
        should(await judge(token, body)).eql(both);
        should(await judge(token, `${body} `)).eql(forAnotherBody);
        // The last character of the signature has bits that do not count.
        const at = place % (token.length - 1);
        if (token[at] === ".") return;
        const changed = token.slice(0, at) + (token[at] === "0" ? "1" : "0") + token.slice(at + 1);
        should(await judge(changed, body)).eql(neither);
      };
      await fc.assert(fc.asyncProperty(bodies, fc.nat(10_000), holds), runs);
    });

    const expected: [string, Record<string, unknown>, Verdicts, string?][] = [
      ["has expired two minutes ago", { exp: now - 120 }, neither],
      ["is valid in two minutes", { nbf: now + 120 }, neither],
      ["has no digest of the body", { [digest]: undefined }, forAnotherBody],
      ["has the digest of another body", { [digest]: claims("{} ")[digest] }, forAnotherBody],
      ["is signed with another secret", {}, neither, "another secret"],
      ["is signed with the second secret", {}, verdicts.ofSecondSecret, secondSecret],
      ["never expires", { exp: undefined }, verdicts.withoutExpiry],
      ["is of another issuer", { iss: "another" }, verdicts.ofAnotherIssuer],
    ];
    for (const [title, changed, wanted, by] of expected) {
      it(`${name} ${wanted.library ? "accepts" : "refuses"} a token that ${title}, and the node ${wanted.node ? "accepts" : "refuses"} it`, async () => {
        should(await judge(await signed("{}", changed, by), "{}")).eql(wanted);
      });
    }

    if (sign) {
      it(`the node accepts what ${name} signs`, async () => {
        const holds = async (body: string) => {
          should(await judge(await sign(body), body)).eql(both);
        };
        await fc.assert(fc.asyncProperty(bodies, holds), runs);
      });
    }
  }
});
