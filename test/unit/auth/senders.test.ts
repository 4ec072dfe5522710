import should from "should";
import type { Condition, Source } from "../../../src/auth/senders/sender";
import { authenticatorFor } from "../../harness/verification";
import { accepted } from "../../data/signatures.json";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { recipeIds, recipes } from "../../../src/auth/senders/recipes";
import { parseConfig } from "../../../src/config/parse";
import { token } from "../../harness/flow";
import { isSenderId, recogniseOrder, senderIds, senders } from "../../../src/auth/senders/table";

const roots = { admin: "/admin", node: "/" };
const known = senderIds.map((id) => [id, senders[id]] as const);

describe("the senders", () => {
  it("are known by their ids, and nothing else is", () => {
    senderIds.length.should.be.above(60);
    for (const id of senderIds) isSenderId(id).should.be.true();
    for (const value of ["", "GitHub", "constructor", "__proto__", 1, null, undefined, ["github"]]) {
      isSenderId(value).should.be.false();
    }
  });

  it("that keep to Standard Webhooks may have a key pair, of which the secret is the public key", () => {
    const sent = accepted.find(({ sender }) => sender === "standard-webhooks-v1a");
    const { secret = "", headers = [], body = "", at = 0 } = sent ?? {};
    const authenticator = authenticatorFor("standard-webhooks", { secret });
    const result = authenticator.begin({ method: "POST", rawHeaders: headers, search: "" }, at * 1000);
    const verify = (text: string) => "verify" in result && result.verify(Buffer.from(text));
    should(verify(body)).have.property("credential", "first");
    should(verify(`${body} `)).have.property("name", "signatureInvalid");
    authenticatorFor("svix", { secret: "whsec_c2VjcmV0" })
      .should.have.propertyByPath("scheme", "alg")
      .eql("hmac-sha256");
  });

  it("have a name of their own, documentation that can be opened, and an encoding in which they sign, unless they send the secret itself", () => {
    new Set(known.map(([, { name }]) => name)).size.should.equal(senderIds.length);
    for (const [id, { name, docs, scheme }] of known) {
      name.trim().should.equal(name).and.not.equal("");
      new URL(docs).protocol.should.equal("https:", id);
      should(scheme.sig.enc === undefined).equal(scheme.alg === "token", id);
    }
  });

  it("may be recipes, which have an id and a name of their own, fill in valid fields, and are any sender at run time", () => {
    const names = [...senderIds.map((id) => senders[id].name), ...recipeIds.map((id) => recipes[id].name)];
    new Set(names).size.should.equal(names.length);
    for (const id of recipeIds) {
      const { docs, fields, where } = recipes[id];
      isSenderId(id).should.be.false();
      new URL(docs).protocol.should.equal("https:", id);
      where.should.match(/[^.]$/);
      const access = parseConfig(
        { relativePath: "/a", sender: id, ...fields },
        { token, user: id, password: "p" },
        { roots },
      );
      if ("rule" in access) throw new Error(`${id}: ${access.rule}`);
      should(createAuthenticator(access)).not.have.property("rule");
      const signed = parseConfig(
        { relativePath: "/a", sender: id, verificationMethod: "signature" },
        { secret: "s" },
        { roots },
      );
      if ("rule" in signed) throw new Error(`${id}: ${signed.rule}`);
      should(createAuthenticator(signed)).have.property("rule", "sender.required");
    }
  });

  it("are tried in an order that has each of those whose requests tell, once", () => {
    const telling = known.filter(([, { recognise }]) => recognise).map(([id]) => id);
    [...recogniseOrder].sort().should.eql(telling.sort());
  });

  it("ask for the URL exactly where they sign it, and may for a scheme that a user writes", () => {
    for (const [id, { scheme, settings = [] }] of known) {
      const signed = scheme.alg === "code:twilio" || scheme.content.some((source) => source.startsWith("url"));
      settings.includes("publicUrl").should.equal(signed || id === "custom", id);
    }
  });

  it("ask for what their handshakes compare with", () => {
    for (const [id, { handshakes = [], settings = [] }] of known) {
      for (const { when, secretMissing } of handshakes) {
        for (const [, condition] of when) {
          if (isConfigured(condition)) settings.includes(condition.configured).should.be.true(id);
        }
        if (secretMissing) settings.includes("arm").should.be.true(id);
      }
    }
  });

  it("never echo what a stranger sends without restriction, and never sign it", () => {
    for (const [id, { handshakes = [] }] of known) {
      for (const { signed, restrict = [], reply, show } of handshakes) {
        const pieces = [...Object.values(reply.headers ?? {}), ...piecesOf(reply.body), ...(show ? [show] : [])];
        const said = pieces.flatMap((piece) => (typeof piece === "string" ? piece : piece.of));
        const macs = pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.of));
        const allowed = restrict.map(([source]) => source);
        for (const source of signed ? macs : said) {
          (source.startsWith("lit:") || allowed.includes(source)).should.be.true(`${id}: ${source}`);
        }
        for (const [source, pattern] of restrict) {
          for (const text of ["", "<b>", "x".repeat(2000), "a\r\nb"])
            pattern.test(text).should.be.false(`${id}: ${source}`);
        }
      }
    }
  });
});

function isConfigured(condition: Condition): condition is Extract<Condition, { configured: unknown }> {
  return typeof condition === "object" && "configured" in condition;
}

type Reply = NonNullable<(typeof senders)["x"]["handshakes"]>[number]["reply"];

function piecesOf(body: Reply["body"]): (Source | { of: Source })[] {
  if (body === undefined) return [];
  if (typeof body === "string") return [body];
  return Object.values(body).filter((piece) => typeof piece !== "number");
}
