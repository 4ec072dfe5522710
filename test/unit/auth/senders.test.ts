import should from "should";
import type { Condition, Source } from "../../../src/auth/senders/sender";
import { aToC } from "../../../src/auth/senders/a-c";
import { dToH } from "../../../src/auth/senders/d-h";
import { iToN } from "../../../src/auth/senders/i-n";
import { oToS } from "../../../src/auth/senders/o-s";
import { tToZ } from "../../../src/auth/senders/t-z";
import { authenticatorFor, judgeRequest } from "../../harness/verification";
import { accepted } from "../../data/signatures.json";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { parseConfig } from "../../../src/config/parse";
import { token } from "../../harness/flow";
import {
  fullName,
  isSenderId,
  listAliases,
  recipeIds,
  recipes,
  senderIds,
  senders,
  shortName,
} from "../../../src/auth/senders/table";

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

  it("that keep to Standard Webhooks may have a key pair, of which the secret is the public key", async () => {
    const sent = accepted.find(({ sender }) => sender === "standard-webhooks-v1a");
    const { secret = "", headers = [], body = "", at = 0 } = sent ?? {};
    const authenticator = authenticatorFor("standard-webhooks", { first: secret });
    const head = { method: "POST", rawHeaders: headers, search: "" };
    should(await judgeRequest(authenticator, head, body, at * 1000)).have.property("credential", "first");
    should(await judgeRequest(authenticator, head, `${body} `, at * 1000)).have.property("name", "signatureInvalid");
    authenticatorFor("svix", { first: "whsec_c2VjcmV0" })
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

  it("stand in alphabetical order of their ids, in the file of their first letter", () => {
    for (const [file, rows] of Object.entries({ aToC, dToH, iToN, oToS, tToZ })) {
      const ids = Object.keys(rows);
      ids.should.eql(ids.slice().sort());
      const [first = "", last = ""] = file.toLowerCase().split("to");
      for (const [letter = ""] of ids) (letter >= first && letter <= last).should.be.true(`${letter} in ${file}`);
    }
  });

  it("come in recognition before others that have fields of their own to be recognised by, and do not come before them", () => {
    for (const [id, { recognise, before = [] }] of known) {
      if (before.length > 0) should(recognise).be.ok();
      for (const other of before.filter((each) => each !== "*")) {
        if (!isSenderId(other)) throw new Error(`${id}: ${other}`);
        const { recognise: fields, before: others = [] } = senders[other];
        should(fields).be.ok();
        others.should.not.containEql(id);
        for (const each of others) before.should.containEql(each);
      }
    }
  });

  it("are listed with their other names, at most six of which are shown, and no name is another's", () => {
    const ids = [...senderIds, ...recipeIds];
    const names = ids.flatMap((id) => [
      shortName(id) === "" ? id : fullName(id).replace(/ \(.*/, ""),
      ...listAliases(id),
    ]);
    const repeated = names.filter((name, index) => names.indexOf(name) !== index);
    // These have several rows.
    [...new Set(repeated)].should.eql(["Adyen", "Buildkite", "Convoy", "Front", "GitLab"]);
    fullName("meta").should.equal("Meta (Facebook, Instagram, Messenger, WhatsApp, Lead Ads)");
    for (const id of ids) fullName(id).should.match(/^[^(),]+(?: \([^(),]+(?:, [^(),]+){0,6}\))?$/);
    fullName("standard-webhooks", 2).should.equal("Standard Webhooks (OpenAI, Replicate, …)");
    listAliases("").should.eql([]);
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
