import should from "should";
import type { OutgoingRequest } from "../../../../src/auth/outgoing";
import { toHead } from "../../../../src/auth/outgoing";
import { createAuthenticator } from "../../../../src/auth/create-authenticator";
import { hasSharedKey } from "../../../../src/auth/senders/sender";
import { type SenderId, senders } from "../../../../src/auth/senders/table";
import { parseConfig } from "../../../../src/config/parse";
import { signers, type SigningId, signingIds } from "../../../harness/signers";
import { authenticatorFor, judgeRequest } from "../../../harness/verification";

const at = 1_767_225_600_000;
const json = { "Content-Type": "application/json" };
const bodies: readonly [name: string, body: Buffer, headers: Record<string, string>][] = [
  ["text beyond ASCII", Buffer.from('{"name":"Zoë 🚲 \\u00e9"}'), json],
  ["a million bytes", Buffer.from(JSON.stringify({ data: "x".repeat(999_988) })), json],
  ["no body", Buffer.alloc(0), {}],
  ["a form", Buffer.from("payload=%7B%22a%22%3A%22%C3%A9+b%22%7D"), { "Content-Type": "application/x-www-form-urlencoded" }],
  ["bytes", Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256)), { "Content-Type": "application/octet-stream" }],
]; // prettier-ignore

const outgoing = (given: Partial<OutgoingRequest>): OutgoingRequest => ({
  method: "POST",
  search: "",
  headers: json,
  body: Buffer.from("{}"),
  ...given,
});

/** Whether only the sender has the key. */
const isPublic = (id: SigningId) => !hasSharedKey(senders[id].scheme);

async function signed(id: SenderId, secret: string, request: OutgoingRequest, publicUrl = "") {
  const authenticator = authenticatorFor(id, { first: secret, settings: { publicUrl } });
  return { authenticator, request: await authenticator.sign(request, at) };
}

describe("a request that the node signs as its sender does", () => {
  for (const id of signingIds.filter((each) => !isPublic(each))) {
    const { secrets: [, secret = ""], publicUrl = "", body: wrap } = signers[id]; // prettier-ignore

    it(`is accepted, whatever its body is: ${id}`, async () => {
      // Of another account, and of another time.
      const wrapped = wrap && ((bytes: Buffer) => wrap(bytes.length > 9e5 ? bytes.subarray(0, 5e5) : bytes, 0, 1));
      for (const [name, bytes, headers] of bodies) {
        const isForm = id === "twilio" && wrap;
        const body =
          wrapped && id !== "twilio" ? wrapped(bytes) : isForm && name === "a form" ? wrap(bytes, 0, 1) : bytes;
        const given = outgoing({ body, headers: wrapped && id !== "twilio" ? json : headers, search: "a=1%20" });
        const { authenticator, request } = await signed(id, secret, given, publicUrl);
        if (!request || "kind" in request) throw new Error(`${name}: ${request?.kind}`);
        const verdict = await judgeRequest(authenticator, toHead(request), request.body, at);
        should([name, verdict]).have.propertyByPath("1", "credential").equal("first");
        if (senders[id].scheme.ts) should(verdict).have.property("sentAt", at);
      }
    });
  }

  it("keeps the id that it has, and has the time of now", async () => {
    const headers = { ...json, "webhook-id": "msg_own", "Webhook-Timestamp": "1" };
    const { request } = await signed("svix", "whsec_c2VjcmV0IQ==", outgoing({ headers: { ...json, "svix-id": "msg_own" } }));
    should(request).have.property("headers").containEql({ "svix-id": "msg_own", "svix-timestamp": String(at / 1000) });
    const other = await signed("standard-webhooks", "whsec_c2VjcmV0IQ==", outgoing({ headers }));
    Object.keys((other.request as OutgoingRequest).headers)
      .filter((name) => name.toLowerCase() === "webhook-timestamp")
      .length.should.equal(1);
  }); // prettier-ignore

  it("has the time beside the signature where the sender writes it there", async () => {
    const { request } = await signed("stripe", "whsec_key", outgoing({}));
    const field = (request as OutgoingRequest).headers["Stripe-Signature"];
    should(field).match(/^t=1767225600,v1=[0-9a-f]{64}$/);
  });

  it("has the secret in each event where the sender writes it there", async () => {
    const body = Buffer.from('{"value":[{"id":"1","clientState":"old"},{"id":"2"}]}');
    const { request } = await signed("microsoft-graph", "own", outgoing({ body }));
    const value = ["1", "2"].map((id) => ({ id, clientState: "own" }));
    should(JSON.parse(String((request as OutgoingRequest).body))).eql({ value });
  });

  it("is none where only the sender has the key", async () => {
    for (const id of signingIds.filter(isPublic)) {
      should((await signed(id, signers[id].secrets[0] ?? "", outgoing({}))).request).be.undefined();
    }
    const key = signers.telnyx.secrets[0] ?? "";
    should((await signed("svix", `whpk_${key}`, outgoing({}))).request).be.undefined();
    should((await signed("paypal", "", outgoing({}), "").catch(() => ({ request: undefined }))).request).be.undefined();
  });

  it("is none, and says what it lacks, where the body has not what the sender signs", async () => {
    const lacks = async (id: SenderId, body: string, headers = json) =>
      (await signed(id, "ab12", outgoing({ body: Buffer.from(body), headers }))).request;
    should(await lacks("adyen", "{}")).have.properties({ kind: "missing" });
    should(await lacks("figma", "no JSON")).eql({ kind: "bodyNoJson" });
    should(await lacks("mailgun", "[]")).have.property("kind");
  });

  for (const [name, fields, credentials] of [
    ["a token in a header field", { verificationMethod: "header", headerParameter: "X-Token" }, {}],
    ["a Bearer token", { verificationMethod: "header" }, {}],
    ["a token in the query", { verificationMethod: "query" }, {}],
    ["user and password", { verificationMethod: "basic" }, { user: "Zoë", password: "pass wörd" }],
    [
      "a JSON Web Token by a shared secret",
      { verificationMethod: "jwt", keySource: "secret", audience: "a", issuer: "i", requiredClaim: "team=x" },
      {},
    ],
    ["the JSON Web Token of LiveKit", { verificationMethod: "jwt", sender: "livekit" }, {}],
    ["the JSON Web Token of Netlify", { verificationMethod: "jwt", sender: "netlify" }, {}],
    [
      "the JSON Web Token of monday.com",
      { verificationMethod: "jwt", sender: "monday", audience: "https://example.com/a" },
      {},
    ],
  ] as const)
    // prettier-ignore
    it(`has ${name}`, async () => {
      const given = { token: "t".repeat(40), secret: "a shared secret of the two", ...credentials };
      const config = parseConfig({ relativePath: "/a", ...fields }, given, { roots: { admin: "/", node: "/" } });
      if ("rule" in config) throw new Error(config.rule);
      const authenticator = createAuthenticator(config);
      if ("rule" in authenticator) throw new Error(authenticator.rule);
      for (const [, body, headers] of bodies) {
        const request = await authenticator.sign(outgoing({ body, headers, search: "a=1%20&state=old" }), at);
        if (!request || "kind" in request) throw new Error(request?.kind);
        const verdict = await judgeRequest(authenticator, toHead(request), request.body, at);
        should(verdict).have.property("credential", "first");
      }
    });
});
