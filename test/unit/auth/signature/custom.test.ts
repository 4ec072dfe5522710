import { createHmac } from "node:crypto";
import should from "should";
import { usesCertificate } from "../../../../src/auth/senders/sender";
import { senderIds, senders } from "../../../../src/auth/senders/table";
import { coversBody } from "../../../../src/auth/senders/sender";
import { parseScheme } from "../../../../src/auth/signature/scheme";
import { Verifier } from "../../../../src/auth/signature/verifier";
import { outcomeOf } from "../../../harness/verification";

const written = {
  alg: "hmac-sha256",
  key: { format: "utf8", strip: null },
  sig: { headers: ["X-Signature-256"], split: null, pick: { prefix: "sha256=" }, enc: "hex" },
  content: ["body"],
  ts: null,
};
const sig = written.sig;
const ts = { source: "header:X-Time", unit: "s", tolerance: 300 };
const publicUrl = "https://hooks.example.com/hook";

describe("a scheme that a user writes", () => {
  it("may be that of every sender that shares a secret", () => {
    for (const id of senderIds) {
      const { scheme } = senders[id];
      if (usesCertificate(scheme)) continue;
      const parsed = parseScheme(JSON.parse(JSON.stringify(scheme)), publicUrl);
      if ("rule" in parsed) throw new Error(`${id}: ${parsed.rule}`);
      parsed.should.containDeep(JSON.parse(JSON.stringify(scheme)));
    }
  });

  it("verifies", () => {
    const scheme = parseScheme({
      ...written,
      note: "mine",
      ts: { ...ts, signed: true },
      content: ["ts", "lit:|", "body"],
    });
    if ("rule" in scheme) throw new Error(scheme.rule);
    const body = Buffer.from("hello");
    const signature = createHmac("sha256", "secret").update("17|hello").digest("hex");
    const rawHeaders = ["X-Signature-256", `sha256=${signature}`, "X-Time", "17"];
    const head = { method: "POST", rawHeaders, search: "" };
    outcomeOf({ scheme, secrets: { first: "secret" } }, { head, body, at: 20 }).should.equal("first");
    outcomeOf({ scheme, secrets: { first: "secret" } }, { head, body, at: 20_000 }).should.equal("timeOutside");
  });

  it("may require header fields, whose names have no letter case", () => {
    const scheme = parseScheme({ ...written, requires: { "X-Env": "live", "X-Key": "a" } });
    if ("rule" in scheme) throw new Error(scheme.rule);
    const body = Buffer.from("hello");
    const signature = createHmac("sha256", "secret").update(body).digest("hex");
    const outcome = (...more: string[]) => {
      const rawHeaders = ["X-Signature-256", `sha256=${signature}`, ...more];
      return outcomeOf(
        { scheme, secrets: { first: "secret" } },
        { head: { method: "POST", rawHeaders, search: "" }, body, at: 0 },
      );
    };
    outcome("x-env", "live", "X-Key", "a").should.equal("first");
    outcome("X-Env", "test", "X-Key", "a").should.equal("valueWrong");
    outcome("X-Env", "live").should.equal("missing");
    outcome("X-Env", "live", "X-Env", "live", "X-Key", "a").should.equal("repeated");
  });

  const broken: [string, unknown, string][] = [
    ["none", null, "scheme.required"],
    ["a text", "hmac-sha256", "scheme.required"],
    ["a list", [written], "scheme.required"],
    ["no algorithm", { ...written, alg: undefined }, "scheme.alg"],
    ["an unknown algorithm", { ...written, alg: "hmac-md5" }, "scheme.alg"],
    ["an algorithm of a prototype", { ...written, alg: "constructor" }, "scheme.alg"],
    ["an unknown format of the secret", { ...written, key: { format: "pem" } }, "scheme.key"],
    ["a key that is a text", { ...written, key: "utf8" }, "scheme.key"],
    ["a prefix of the secret that is a number", { ...written, key: { format: "utf8", strip: 1 } }, "scheme.key"],
    ["no signature", { ...written, sig: null }, "scheme.sig"],
    ["no field and no other place", { ...written, sig: { ...sig, headers: [] } }, "scheme.sig"],
    ["a field whose name cannot be one", { ...written, sig: { ...sig, headers: ["X Signature"] } }, "scheme.sig"],
    ["a field that is a number", { ...written, sig: { ...sig, headers: [1] } }, "scheme.sig"],
    ["fields that are no list", { ...written, sig: { ...sig, headers: "X-Signature" } }, "scheme.sig"],
    ["a place that is none", { ...written, sig: { ...sig, source: "body" } }, "scheme.sig"],
    ["a separator that is a number", { ...written, sig: { ...sig, split: 1 } }, "scheme.sig"],
    ["two ways to pick", { ...written, sig: { ...sig, pick: { prefix: "a", kv: "b" } } }, "scheme.sig"],
    ["a prefix that is no text", { ...written, sig: { ...sig, pick: { prefix: {} } } }, "scheme.sig"],
    ["an unknown encoding", { ...written, sig: { ...sig, enc: "base32" } }, "scheme.sig"],
    ["no encoding", { ...written, sig: { ...sig, enc: null } }, "scheme.enc"],
    ["nothing signed", { ...written, content: [] }, "scheme.content"],
    ["content that is no list", { ...written, content: "body" }, "scheme.content"],
    ["an unknown part", { ...written, content: ["Body"] }, "scheme.content"],
    ["a part without a name", { ...written, content: ["header:", "body"] }, "scheme.content"],
    ["a key of a field without keys", { ...written, content: ["sig:t", "body"] }, "scheme.content"],
    ["a timestamp from nowhere", { ...written, content: ["ts", "body"] }, "scheme.ts"],
    ["a timestamp without a place", { ...written, ts: { ...ts, source: null } }, "scheme.ts"],
    ["a timestamp that is fixed", { ...written, ts: { ...ts, source: "lit:1" } }, "scheme.ts"],
    ["an unknown unit", { ...written, ts: { ...ts, unit: "min" } }, "scheme.ts"],
    ["a tolerance that is a text", { ...written, ts: { ...ts, tolerance: "300" } }, "scheme.ts"],
    ["a tolerance below nothing", { ...written, ts: { ...ts, tolerance: -1 } }, "scheme.ts"],
    ["a tolerance that is no number", { ...written, ts: { ...ts, tolerance: NaN } }, "scheme.ts"],
    ["prefixes of which one is empty", { ...written, key: { format: "base64", strip: ["a", ""] } }, "scheme.key"],
    ["a prefix that is a number", { ...written, key: { format: "base64", strip: [1] } }, "scheme.key"],
    [
      "another reading of its secret than as a text",
      { ...written, key: { format: "hex", orText: "hex" } },
      "scheme.key",
    ],
    ["separators of which one is empty", { ...written, sig: { ...written.sig, split: [",", ""] } }, "scheme.sig"],
    ["required fields that are a list", { ...written, requires: ["X-A"] }, "scheme.requires"],
    ["a required field whose name cannot be one", { ...written, requires: { "X A": "1" } }, "scheme.requires"],
    ["a required value that is a number", { ...written, requires: { "X-A": 1 } }, "scheme.requires"],
    ["a handshake by no method", { ...written, handshake: { echo: "query:c" } }, "scheme.handshake"],
    ["a handshake by a method that has none", { ...written, handshake: { method: "PUT" } }, "scheme.handshake"],
    [
      "a handshake by POST that is known by its value alone",
      { ...written, handshake: { method: "POST", echo: "json:a" } },
      "scheme.handshake",
    ],
    [
      "a handshake whose header field cannot be one",
      { ...written, handshake: { method: "GET", echo: "query:a", header: "a b" } },
      "scheme.handshake",
    ],
    [
      "a handshake by POST that is known by a parameter of its URL alone",
      { ...written, handshake: { method: "POST", echo: "query:a" } },
      "scheme.handshake",
    ],
    [
      "a handshake with a header field and no value for it",
      { ...written, handshake: { method: "HEAD", header: "X-A" } },
      "scheme.handshake",
    ],
    ["a required field without a value", { ...written, requires: { "X-A": "" } }, "scheme.requires"],
    ["a handshake by GET that is every request", { ...written, handshake: { method: "GET" } }, "scheme.handshake"],
    ["a handshake that is every request", { ...written, handshake: { method: "POST" } }, "scheme.handshake"],
    ["a handshake without a place", { ...written, handshake: { method: "GET", echo: "c" } }, "scheme.handshake"],
    [
      "a handshake that sends what we know",
      { ...written, handshake: { method: "GET", echo: "lit:a" } },
      "scheme.handshake",
    ],
    [
      "a handshake known by nothing",
      { ...written, handshake: { method: "GET", when: { c: "1" } } },
      "scheme.handshake",
    ],
    ["a URL that is not configured", { ...written, content: ["url", "body"] }, "publicUrl"],
    ["another form of a URL that is not configured", { ...written, content: ["url:hubspot"] }, "publicUrl"],
    ["Twilio's without a URL", { ...written, alg: "code:twilio", content: [] }, "publicUrl"],
  ];
  for (const [name, scheme, rule] of broken) {
    it(`is refused with ${name}: ${rule}`, () => should(parseScheme(scheme)).eql({ rule }));
  }

  it("may leave out what has a default", () => {
    const { alg, content } = written;
    const least = { alg, sig: { headers: ["X-Sig"], enc: "base64" }, content };
    for (const each of [least, { alg: "token", sig: { headers: ["X-Token"] } }]) {
      const scheme = parseScheme(each);
      if ("rule" in scheme) throw new Error(scheme.rule);
      Verifier.of(scheme, { first: "secret" }).should.be.instanceof(Verifier);
    }
  });

  it("is warned of when it does not cover the body", () => {
    coversBody(senders.github.scheme).should.be.true();
    coversBody(senders.twilio.scheme).should.be.true();
    coversBody(senders.mailgun.scheme).should.be.false();
  });
});
