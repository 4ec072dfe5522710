import should from "should";
import type { Scheme } from "../../../src/auth/senders/sender";
import { type SenderId, senderIds, senders } from "../../../src/auth/senders/table";
import { parseConfig } from "../../../src/config/parse";
import { composePayload } from "../../../src/flow/message";
import type { Body } from "../../../src/request/decode";
import { toObject } from "../../../src/request/head";
import { token } from "../../harness/flow";

const publicUrl = "https://hooks.example.com/voice";

function payloadOf(sender: SenderId | "", saved: object, search: string, method = "GET", body: Body = ""): unknown {
  const given = { relativePath: "/a", methods: ["POST", "GET"], sender, ...saved };
  const config = parseConfig(given, { token, secret: "secret" }, { roots: { admin: "/admin", node: "/" } });
  if ("rule" in config) throw new Error(config.rule);
  const req = { method, url: `/a${search}`, query: toObject(new URLSearchParams(search)) };
  return composePayload({ body, req }, config);
}

const signed = { verificationMethod: "signature", senderSettings: { publicUrl } };

describe("the payload of a request by GET", () => {
  it("is the query where it is signed: by each sender that signs the URL of the request, and by nobody else", () => {
    const byQuery = senderIds.filter((id) => {
      const scheme: Scheme = senders[id].scheme;
      return senders[id].scheme.alg === "code:twilio" || scheme.content.includes("url:hubspot");
    });
    byQuery.should.eql(["hubspot", "twilio"]);
    for (const id of senderIds) {
      if (id === "custom" || (senders[id].scheme.alg.startsWith("code:") && id !== "twilio")) continue;
      should(payloadOf(id, signed, "?a=1&a=2")).eql(byQuery.includes(id) ? { a: ["1", "2"] } : "", id);
      should(payloadOf(id, signed, "?a=1", "POST")).equal("", id);
    }
  });

  it("is the query where there is nothing but a token", () => {
    should(payloadOf("", { verificationMethod: "query" }, "?a=1")).eql({ a: "1" });
    should(payloadOf("", { verificationMethod: "header" }, "")).eql({});
  });

  it("is the body where it has one, unless only the query is signed", () => {
    const sig = { headers: ["X-Signature"], enc: "hex" };
    const byUrl = { ...signed, scheme: { alg: "hmac-sha256", sig, content: ["url:hubspot"] } };
    for (const [sender, saved, expected] of [
      ["", { verificationMethod: "query" }, { b: 2 }],
      ["github", signed, { b: 2 }],
      ["hubspot", signed, { b: 2 }],
      ["custom", byUrl, { a: "1" }],
    ] as const) {
      should(payloadOf(sender, saved, "?a=1", "GET", { b: 2 })).eql(expected, sender);
    }
  });

  it("is the query of a URL that is signed as it was given only where the request has the same", () => {
    const settings = { senderSettings: { publicUrl: `${publicUrl}?a=1` } };
    for (const [sender, search, expected] of [
      ["square", "?a=1", { a: "1" }],
      ["square", "?a=2", ""],
      ["square", "?a=1&b=1", ""],
      ["square", "", ""],
    ] as const) {
      should(payloadOf(sender, { ...signed, ...settings }, search)).eql(expected, search);
    }
    should(payloadOf("square", signed, "?a=1")).equal("");
    should(payloadOf("square", signed, "")).equal("");
  });

  it("is the query for a scheme of a user that signs it, and the body for one that does not", () => {
    const sig = { headers: ["X-Signature"], enc: "hex" };
    for (const [scheme, expected] of [
      [{ alg: "hmac-sha256", sig, content: ["method", "url:hubspot", "body"] }, { a: "1" }],
      [{ alg: "code:twilio", sig: { ...sig, enc: "base64" }, content: [] }, { a: "1" }],
      [{ alg: "hmac-sha256", sig, content: ["query:a"] }, ""],
      [{ alg: "hmac-sha256", sig, content: ["body"] }, ""],
      [{ alg: "token", sig, content: ["url:hubspot"] }, ""],
    ] as const) {
      should(payloadOf("custom", { ...signed, scheme }, "?a=1")).eql(expected, JSON.stringify(scheme));
    }
  });
});
