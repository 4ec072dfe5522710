import { createHmac } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import should from "should";
import { readSamples, type Sample } from "../../src/admin/samples";
import { hasSharedKey } from "../../src/auth/senders/sender";
import { isSenderId, type SenderId, senders } from "../../src/auth/senders/table";
import { bearer, tab, token, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { root } from "../harness/package";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { signers, type SigningId, signingIds } from "../harness/signers";

const ids = readdirSync(join(root, "src/admin/samples")).map((file) => basename(file, ".json") as SenderId);
const publicUrl = "https://hooks.example.com/a";
const isSigning = (id: SenderId): id is SigningId => signingIds.some((each) => each === id);
/** Whether the node has the key with which the sender signs. */
const isShared = (id: SenderId) => hasSharedKey(senders[id].scheme);

/** A node for a sender, as the form fills it in. */
function nodeFor(id: SenderId) {
  const settings = { publicUrl, webhookId: "1AB", topicArn: "arn:aws:sns:eu-north-1:904418273640:ovens" };
  const [secret = ""] = isSigning(id) ? signers[id].secrets : [];
  const access = { verificationMethod: "signature", sender: id, senderSettings: settings, credentials: { secret } };
  return webhook(id, `/${id}`, { ...access, ignoreDuplicates: true, duplicateKey: "body" });
}

const signature = (sender: SenderId, secret: string, fields: object = {}) => ({
  ...{ verificationMethod: "signature", sender, credentials: { secret } },
  ...fields,
});

const secret = "a secret that is long enough";

describe("a sample of a sender", () => {
  const nodeRed = useNodeRed({ flow: tab(...ids.map(nodeFor)) });

  it("is there for 25 senders and more, two to five for each, with a name and an event of their own", async () => {
    ids.length.should.be.aboveOrEqual(25);
    for (const id of ids) {
      isSenderId(id).should.be.true(id);
      const samples = (await readSamples(id)) ?? [];
      samples.length.should.be.within(2, 5, id);
      new Set(samples.map(({ name }) => name)).size.should.equal(samples.length, id);
      for (const { headers } of samples) {
        const fields = senders[id].scheme.sig.headers.map((name) => name.toLowerCase());
        Object.keys(headers).filter((name) => fields.includes(name.toLowerCase())).should.eql([]);
      }
    }
  }); // prettier-ignore

  it("is listed by the admin API, and 404 says that a sender has none, or is not known", async () => {
    const list = (id: string) => send(nodeRed().admin(`/webhook-trigger/samples/${id}`), { method: "GET" });
    for (const id of ["github", "gitlab-signed"]) {
      const { status, json } = await list(id);
      should({ status, json }).eql({ status: 200, json: { samples: await readSamples(id) } });
    }
    for (const id of ["strava", "nobody", "..%2Fsamples%2Fgithub", "__proto__"]) {
      (await list(id)).status.should.equal(404, id);
    }
  });

  for (const id of ids) {
    it(`starts the flow, ${isShared(id) ? "signed as its sender does" : "by a test credential"}: ${id}`, async () => {
      for (const { name, event } of (await readSamples(id)) ?? []) {
        const { json } = await command(nodeRed().admin(`/webhook-trigger/${id}/test`), { sample: name });
        should(json).containEql({ outcome: "accepted", status: 200, signed: isShared(id) });
        const message = await nodeRed().message(json.id);
        should([name, message.topic ?? null]).eql([name, event]);
        should(message).have.property("webhook").containEql({ sender: id, credential: "first" });
        if (senders[id].scheme.ts && isShared(id)) should(message).have.propertyByPath("webhook", "sentAt");
      }
    });
  }
});

describe("a test request that a user writes", () => {
  const flow = tab(
    webhook("github", "/github", signature("github", secret)),
    webhook("stripe", "/stripe", signature("stripe", secret, { rateLimit: 1, allowFrom: "192.0.2.1" })),
    webhook("slack", "/slack", signature("slack", secret)),
    webhook("figma", "/figma", signature("figma", secret)),
    webhook("telegram", "/telegram", signature("telegram", "a_secret_that_is_long")),
    webhook("header", "/header", { methods: ["POST", "PUT", "PATCH", "DELETE", "GET"] }),
    webhook("query", "/query", { verificationMethod: "query" }),
    webhook("basic", "/basic", { verificationMethod: "basic", credentials: { user: "user", password: secret } }),
    webhook("jwt", "/jwt", {
      ...{ verificationMethod: "jwt", keySource: "secret", issuer: "i", audience: "a", credentials: { secret } },
    }),
    webhook("keyed", "/keyed", signature("github", secret, { conditions: [{ place: "header:X-Api-Key", operator: "exists", value: "" }] })),
    webhook("mailgun", "/mailgun", signature("mailgun", secret)),
    webhook("adyen", "/adyen", signature("adyen", "ab12")),
    webhook("answering", "/answering", signature("github", secret, { reply: "flow", wires: [["echo"]] })),
    webhook("split", "/split", { ...signature("github", secret), events: ["issues", "push"], outputPerEvent: true, outputs: 2, wires: [["sink"], ["sink"]] }),
    { id: "echo", type: "function", func: `msg.statusCode = 202; msg.payload = "<b>${secret}</b>" + msg.payload; return msg;`, wires: [["answer"]] },
    { id: "answer", type: "http response", headers: { "Content-Type": "text/html" }, wires: [] },
  ); // prettier-ignore
  const nodeRed = useNodeRed({ flow });
  const json = { "Content-Type": "application/json" };

  const test = (id: string, asked: object) => command(nodeRed().admin(`/webhook-trigger/${id}/test`), asked);

  it("goes through the real check of each way to authenticate, and neither answer, log nor list has the secret", async () => {
    const told: string[] = [];
    const shown: string[] = [];
    for (const id of ["github", "stripe", "telegram", "header", "query", "basic", "jwt"]) {
      const reply = await test(id, { method: "POST", headers: json, body: '{"size":"größer"}', query: "a=1" });
      should(reply.json).containEql({ outcome: "accepted", signed: true, status: 200 });
      should(reply.json.milliseconds).be.a.Number();
      const { payload, req } = await nodeRed().message(reply.json.id);
      should(payload).eql({ size: "größer" });
      should(req).have.property("headers").not.have.property("x-webhook-trigger-test");
      const { isTest, headers } = { ...(await new ShownDeliveries(nodeRed()).detail(String(reply.json.id))) };
      should(isTest).be.true();
      shown.push(reply.body, JSON.stringify(headers));
      told.push(JSON.stringify([payload, req]));
    }
    for (const own of [secret, "a_secret_that_is_long", token, Buffer.from(`user:${secret}`).toString("base64")]) {
      [...told, ...shown, nodeRed().log].join("\n").should.not.containEql(own);
    }
    // Of a signature, the list shows that there is one.
    shown
      .join("\n")
      .should.match(/X-Hub-Signature-256":"•+"/i)
      .and.not.match(/[0-9a-f]{64}/);
  });

  it("may be by any method, of any bytes, and without a signature", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { json: result } = await test("header", { method, body: "/wD+", encoding: "base64" });
      should(result).containEql({ outcome: "accepted", signed: true });
      const message = await nodeRed().message(result.id);
      should(message.payload).eql(Buffer.from([255, 0, 254]));
    }
    const { json: got } = await test("header", { method: "GET", query: "a=1&a=2" });
    should((await nodeRed().message(got.id)).payload).eql({ a: ["1", "2"] });
    const { json: other } = await test("github", { method: "POST", body: "{}", sign: false });
    should(other).containEql({ outcome: "accepted", signed: false });
    const { json: refused } = await test("github", { method: "PUT", body: "{}" });
    should(refused).containEql({ outcome: "refused", status: 405, problem: "methodNotAllowed" });
  });

  it("has the method, the query and the header fields of the delivery that it repeats, but no credential", async () => {
    const headers = { ...bearer, ...json, "X-Shop": "Bern", "X-Api-Key": "another's", "Content-Encoding": "identity" };
    const call = { method: "PUT", headers, body: '{"a":1}' };
    const { json: first } = await send(nodeRed().node("/header?x=1&y=two&x=2&api_key=k"), call);
    const { json: result } = await test("header", { delivery: first.id });
    should(result).containEql({ outcome: "accepted", signed: true });
    const { req, payload } = await nodeRed().message(result.id);
    should(req).containDeep({ method: "PUT", query: { x: ["1", "2"], y: "two" }, headers: { "x-shop": "Bern" } });
    should(req).have.property("headers").not.have.any.keys("x-api-key", "authorization", "user-agent");
    should(req).have.property("query").not.have.property("api_key");
    should(payload).eql({ a: 1 });
  });

  it("has nothing of a delivery that is hidden where that is shown; a field that a condition reads is sent", async () => {
    const body = gzipSync(JSON.stringify({ secret, size: 1 }));
    const digest = createHmac("sha256", secret).update(body).digest("hex");
    const coding = { "Content-Encoding": "gzip", "X-Api-Key": "another's" };
    const headers = { ...json, ...coding, "X-Hub-Signature-256": `sha256=${digest}` };
    const { json: first } = await send(nodeRed().node("/keyed"), { headers, body });
    const { json: prepared } = await test("keyed", { delivery: first.id, send: false });
    const { headers: fields, body: given } = prepared.request as Sample;
    should(JSON.parse(given)).eql({ secret: "[redacted]", size: 1 });
    fields.should.have.property("X-Hub-Signature-256");
    fields.should.not.have.any.keys("x-api-key", "content-encoding");
    const { json: result } = await test("keyed", { delivery: first.id });
    should(result).containEql({ outcome: "accepted", signed: true });
    should((await nodeRed().message(result.id)).payload).eql({ secret: "[redacted]", size: 1 });
  });

  it("says that the node took it for a handshake, which starts no flow", async () => {
    const asked = { method: "POST", headers: json, body: '{"type":"url_verification","challenge":"abc"}' };
    const { json: result } = await test("slack", asked);
    should(result).containEql({ outcome: "handshake", status: 200 }).and.not.have.property("id");
    should(result.reply).containEql({ body: "abc" });
  });

  it("says by which output the message leaves", async () => {
    for (const [sample, output, event] of [
      ["Push to a branch", 2, "push"],
      ["Issue opened", 1, "issues"],
    ]) {
      should((await test("split", { sample })).json).containEql({ outcome: "accepted", output, event });
    }
    const { outcome, why } = (await test("split", { sample: "Release published" })).json;
    const listed = { place: "event", operator: "listed", value: "issues, push", found: "release" };
    should({ outcome, why }).eql({ outcome: "filtered", why: listed });
  });

  it("shows the flow's reply without the secret, as JSON, whatever that is", async () => {
    const reply = await test("answering", { method: "POST", headers: { "Content-Type": "text/plain" }, body: "<i>x</i>" });
    reply.headers["content-type"]?.should.match(/^application\/json/);
    const { outcome, status, reply: shown } = reply.json;
    should({ outcome, status }).eql({ outcome: "answered", status: 202 });
    should(shown).containEql({ body: "<b>[redacted]</b><i>x</i>", truncated: false });
    const { json: long } = await test("answering", { method: "POST", headers: { "Content-Type": "text/plain" }, body: "x".repeat(20_000) });
    should(long.reply).have.properties({ truncated: true });
    (long.reply as { body: string }).body.length.should.equal(10_000);
  }); // prettier-ignore

  it("is not sent, and says what it lacks, where the body has not what the sender signs", async () => {
    const { json: result } = await test("adyen", { method: "POST", headers: json, body: "{}" });
    should(result).eql({
      outcome: "unsignable",
      reasons: [{ key: "missing", values: { place: "notificationItems.*.NotificationRequestItem.pspReference" } }],
    });
    const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    should((await test("mailgun", { method: "POST", headers: json, body: deep })).json).containEql({
      outcome: "unsignable",
    });
  });

  it("is prepared for another program, with a fresh signature that the node accepts, but never with the secret itself", async () => {
    for (const [id, validFor] of [
      ["stripe", 300],
      ["github", null],
      ["jwt", 300],
    ] as const) {
      const { json: result } = await test(id, { method: "POST", headers: json, body: '{"a":1}', send: false });
      should(result).containEql({ outcome: "prepared", signed: true });
      const { headers, body, validFor: seconds } = result.request as Sample & { validFor: number | null };
      should(seconds).equal(validFor);
      if (id !== "stripe") (await send(nodeRed().node(`/${id}`), { headers: { ...headers }, body })).status.should.equal(200);
    }
    for (const id of ["header", "query", "basic", "telegram", "figma"]) {
      const asked = { method: "POST", headers: json, body: "{}", send: false };
      should((await test(id, asked)).json).eql({ outcome: "prepared", signed: false });
    }
  }); // prettier-ignore

  it("is refused with 400 for what it cannot mean, and then nothing is sent", async () => {
    const own = { method: "POST", headers: json, body: "{}" };
    const wrong: object[] = [
      { sample: "Push to a branch!" },
      { sample: 1 },
      { sample: "toString" },
      { sample: "Push to a branch", delivery: "1" },
      { sample: "Push to a branch", body: "{}" },
      { delivery: "1", ...own },
      { body: "{}" },
      { unknown: 1 },
      ...["HEAD", "OPTIONS", "CONNECT", "TRACE", "post", "", 1, null].map((method) => ({ ...own, method })),
      ...["?<", "a b", "a#b", "a\r\nb", "ä", 1, null].map((query) => ({ ...own, query: query === "?<" ? "\u0000" : query })),
      ...["host", "Content-Length", "TRANSFER-ENCODING", "connection", "a b", "", "a:b", "ä", "a\n"].map((name) => ({ ...own, headers: { [name]: "1" } })),
      ...["a\r\nX-B: 1", "\u0000", "\u0100", 1, null, ["a"]].map((value) => ({ ...own, headers: { "X-A": value } })),
      ...[null, [], "a", 1].map((headers) => ({ ...own, headers })),
      { ...own, headers: { "X-A": "1", "x-a": "2" } },
      ...[1, null, {}].map((body) => ({ ...own, body })),
      ...["utf16le", "hex", 1, null].map((encoding) => ({ ...own, encoding })),
      { ...own, encoding: "base64", body: "{}" },
      { method: "GET", body: "{}" },
      ...["yes", 1, null].flatMap((value) => [{ ...own, sign: value }, { ...own, send: value }]),
    ];
    const before = (await new ShownDeliveries(nodeRed()).page("limit=500")).deliveries.length;
    for (const asked of wrong) {
      const { status, json: answer, body } = await test("github", asked);
      should([asked, status, answer.code]).eql([asked, 400, "badRequest"]);
      body.should.not.match(/</);
    }
    (await new ShownDeliveries(nodeRed()).page("limit=500")).deliveries.length.should.equal(before);
  }); // prettier-ignore

  it("of a caller cannot be forged with the header field of a test", async () => {
    const headers = { ...bearer, "X-Webhook-Trigger-Test": "x".repeat(40) };
    const { json: reply } = await send(nodeRed().node("/header"), { headers, body: "a" });
    const { isTest } = await new ShownDeliveries(nodeRed()).detail(String(reply.id));
    isTest.should.be.false();
  });
});
