import should from "should";
import { createHmac } from "node:crypto";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";

const secret = "It's a Secret to Everybody";
const duplicates = (id: string, fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { ignoreDuplicates: true, ...fields });

const flow = tab(
  duplicates("github", { sender: "github", verificationMethod: "signature", credentials: { secret } }),
  duplicates("by-header", { duplicateKey: "header:Idempotency-Key" }),
  duplicates("by-json", { duplicateKey: "json:order.id" }),
  duplicates("by-query", { duplicateKey: "query:id" }),
  duplicates("by-body", { duplicateKey: "body" }),
  duplicates("own", { duplicateKey: "body", replyStatus: 202, replyBody: "thanks", replyType: "text/plain" }),
  webhook("off", "/off"),
  duplicates("by-flow", { duplicateKey: "body", reply: "flow", replyTimeout: 300, wires: [["hold", "sink"]] }),
  duplicates("late", { duplicateKey: "body", reply: "flow", replyTimeout: 1, wires: [["sink"]] }),
  { id: "hold", type: "hold-reply", wires: [["response"]] },
  { id: "response", type: "http response", statusCode: "", headers: {}, wires: [] },
);

describe("ignoring duplicates", () => {
  const nodeRed = useNodeRed({ flow, plugin: moduleOf("answers") });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    send(nodeRed().node(path), { headers: { ...bearer, "Content-Type": "application/json", ...headers }, body });
  const statusOf = async (sent: Promise<Reply>) => (await sent).json.status;
  const tenTimes = (call: () => Promise<Reply>) => Promise.all(Array.from({ length: 10 }, call));
  const messagesWith = (payload: unknown) =>
    nodeRed().messages.filter((message) => JSON.stringify(message.payload) === JSON.stringify(payload));

  for (const [by, path, body, headers, payload] of [
    ["a header field", "/by-header", '{"h":1}', { "Idempotency-Key": "k1" }, { h: 1 }],
    ["a value in the JSON", "/by-json", '{"order":{"id":77}}', {}, { order: { id: 77 } }],
    ["a query parameter", "/by-query?id=5", '{"q":1}', {}, { q: 1 }],
    ["the body", "/by-body", '{"b":1}', {}, { b: 1 }],
  ] as const) {
    it(`starts the flow once for ten equal requests at once, and for one after a deploy, by ${by}`, async () => {
      const replies = await tenTimes(() => post(path, body, headers));
      for (const { status } of replies) status.should.equal(200);
      const [id, ...others] = new Set(replies.map(({ json }) => json.id));
      others.should.eql([]);
      const statuses = replies.map(({ json }) => json.status).sort();
      statuses.should.eql(["accepted", ...Array<string>(9).fill("duplicate")]);
      await nodeRed().message(id);
      await nodeRed().deploy(flow);
      const { json } = await post(path, body, headers);
      should([json.status, json.id]).eql(["duplicate", id]);
      messagesWith(payload).should.have.length(1);
    });
  }

  it("knows a duplicate by the sender's own id together with a body that alone is signed", async () => {
    const deliver = (id: string, body: string) => {
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      return statusOf(post("/github", body, { "X-GitHub-Delivery": id, "X-Hub-Signature-256": signature }));
    };
    should(await deliver("d1", "{}")).equal("accepted");
    should(await deliver("d1", "{}")).equal("duplicate");
    should(await deliver("d2", "{}")).equal("accepted");
    should(await deliver("d1", "[]")).equal("accepted");
  });

  it("answers a duplicate by the node's own reply", async () => {
    for (let time = 0; time < 2; time++) {
      const { status, headers, body } = await post("/own", '"x"');
      should([status, headers["content-type"], body]).eql([202, "text/plain", "thanks"]);
    }
    await nodeRed().until(() => messagesWith("x")[0], "the message");
    messagesWith("x").should.have.length(1);
  });

  it("accepts again what has no key, what was refused before, and what nobody wants to be ignored", async () => {
    for (const [path, body] of [
      ["/by-json", '{"order":{}}'],
      ["/by-header", "{}"],
      ["/off", '{"off":1}'],
    ] as const) {
      for (let time = 0; time < 2; time++) should(await statusOf(post(path, body))).equal("accepted");
    }
    const key = { "Idempotency-Key": "k2" };
    (await post("/by-header", "{", key)).status.should.equal(400);
    should(await statusOf(post("/by-header", "{}", key))).equal("accepted");
  });

  it("gives duplicates the flow's reply to the first, those included that arrive before it", async () => {
    const waiting = tenTimes(() => post("/by-flow", '"good"'));
    await nodeRed().reported("held");
    await nodeRed().tell({ release: { statusCode: 201, payload: "done" } }, "released");
    for (const { status, body } of [...(await waiting), await post("/by-flow", '"good"')]) {
      should([status, body]).eql([201, "done"]);
    }
    messagesWith("good").should.have.length(1);
  });

  it("starts the flow again where its reply was an error, or did not come in time", async () => {
    for (let time = 1; time <= 2; time++) {
      const waiting = post("/by-flow", '"bad"');
      await nodeRed().reported("held");
      await nodeRed().tell({ release: { statusCode: 500 } }, "released");
      (await waiting).status.should.equal(500);
      messagesWith("bad").should.have.length(time);
      (await post("/late", '"never"')).status.should.equal(504);
      messagesWith("never").should.have.length(time);
    }
  });
});

describe("a key of a duplicate", () => {
  const code = `httpNodeMiddleware: (request, response, next) => {
    if (request.headers["x-answered"]) response.end("by middleware");
    next();
  }`;
  const nodeRed = useNodeRed({ flow: tab(duplicates("keyed", { duplicateKey: "body" })), code });

  it("is free again where a request fails right after it was reserved, as middleware has answered", async () => {
    const post = (headers: Record<string, string> = {}) =>
      send(nodeRed().node("/keyed"), { headers: { ...bearer, "Content-Type": "application/json", ...headers }, body: "{}" });
    (await post({ "X-Answered": "1" })).body.should.equal("by middleware");
    await nodeRed().logged(/another middleware replied/);
    should((await post()).json.status).equal("accepted");
    should((await post()).json.status).equal("duplicate");
  }); // prettier-ignore
});
