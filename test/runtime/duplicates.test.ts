import should from "should";
import { createHmac } from "node:crypto";
import { answeringNodes } from "../harness/answers";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

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
  { id: "hold", type: "hold", wires: [["answer"]] },
  {
    id: "answer",
    type: "function",
    func: "msg.statusCode = msg.payload === 'bad' ? 500 : 201; msg.payload = 'done ' + msg._msgid; msg.headers = { 'content-type': 'text/x-own' }; return msg;",
    outputs: 1,
    wires: [["response"]],
  },
  { id: "response", type: "http response", statusCode: "", headers: {}, wires: [] },
);

onBothWays("a repeated delivery", { flow, plugin: answeringNodes }, (nodeRed) => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    send(nodeRed().node(path), { headers: { ...bearer, "Content-Type": "application/json", ...headers }, body });
  const tenTimes = (call: () => Promise<Reply>) => Promise.all(Array.from({ length: 10 }, call));
  const messagesWith = (payload: unknown) =>
    nodeRed().messages.filter((message) => JSON.stringify(message.payload) === JSON.stringify(payload));
  const ids = (replies: Reply[]) => new Set(replies.map(({ json }) => json.id));

  for (const [by, path, body, headers, payload] of [
    ["its header field", "/by-header", '{"h":1}', { "Idempotency-Key": "k1" }, { h: 1 }],
    ["a value in its JSON", "/by-json", '{"order":{"id":77}}', {}, { order: { id: 77 } }],
    ["its query parameter", "/by-query?id=5", '{"q":1}', {}, { q: 1 }],
    ["its body", "/by-body", '{"b":1}', {}, { b: 1 }],
  ] as const) {
    it(`starts the flow once, however many come at once, known by ${by}`, async () => {
      const replies = await tenTimes(() => post(path, body, headers));
      for (const { status } of replies) status.should.equal(200);
      ids(replies).size.should.equal(1);
      const told = replies.map(({ json }) => json.status).sort();
      told.should.eql(["accepted", ...Array<string>(9).fill("duplicate")]);
      await nodeRed().message(replies[0]?.json.id);
      await nodeRed().deploy(flow);
      const { json } = await post(path, body, headers);
      should([json.status, json.id]).eql(["duplicate", replies[0]?.json.id]);
      messagesWith(payload).should.have.length(1);
    });
  }

  it("is known by the sender's own id", async () => {
    const deliver = (id: string, body: string) => {
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      return post("/github", body, { "X-GitHub-Delivery": id, "X-Hub-Signature-256": signature });
    };
    should((await deliver("d1", "{}")).json.status).equal("accepted");
    should((await deliver("d1", "{}")).json.status).equal("duplicate");
    should((await deliver("d2", "{}")).json.status).equal("accepted");
    // GitHub does not sign the id: another content under it is another delivery.
    should((await deliver("d1", "[]")).json.status).equal("accepted");
  });

  it("has a body of its own as the first one had", async () => {
    const [first, second] = [await post("/own", '"x"'), await post("/own", '"x"')];
    for (const { status, headers, body } of [first, second]) {
      should([status, headers["content-type"], body]).eql([202, "text/plain", "thanks"]);
    }
    await nodeRed().until(() => messagesWith("x")[0], "the message");
    messagesWith("x").should.have.length(1);
  });

  it("is none without the key, when it was refused before, or when it is not asked for", async () => {
    for (const [path, body] of [
      ["/by-json", '{"order":{}}'],
      ["/by-header", "{}"],
      ["/off", '{"off":1}'],
    ] as const) {
      for (let time = 0; time < 2; time++) should((await post(path, body)).json.status).equal("accepted");
    }
    const key = { "Idempotency-Key": "k2" };
    (await post("/by-header", "{", key)).status.should.equal(400);
    should((await post("/by-header", "{}", key)).json.status).equal("accepted");
  });

  it("is never the editor's test request", async () => {
    for (let time = 0; time < 2; time++) {
      should((await send(nodeRed().admin("/webhook-trigger/by-body/test"))).json.outcome).equal("accepted");
    }
  });

  describe("that the flow answers", () => {
    it("waits for the answer to the first one, and gets the same", async () => {
      const waiting = tenTimes(() => post("/by-flow", '"good"'));
      await nodeRed().told("held");
      await nodeRed().tell({ release: true }, "released");
      const replies = [...(await waiting), await post("/by-flow", '"good"')];
      const [{ _msgid: id } = { _msgid: "" }, ...more] = messagesWith("good");
      more.should.eql([]);
      for (const { status, headers, body } of replies) {
        should([status, headers["content-type"], body]).eql([201, "text/x-own; charset=utf-8", `done ${id}`]);
      }
    });

    it("starts it again when that was an error", async () => {
      for (let time = 1; time <= 2; time++) {
        const waiting = post("/by-flow", '"bad"');
        await nodeRed().told("held");
        await nodeRed().tell({ release: true }, "released");
        (await waiting).status.should.equal(500);
        messagesWith("bad").should.have.length(time);
      }
    });

    it("starts it again when it was not answered in time", async () => {
      for (let time = 1; time <= 2; time++) (await post("/late", '"never"')).status.should.equal(504);
      messagesWith("never").should.have.length(2);
    });
  });
});
