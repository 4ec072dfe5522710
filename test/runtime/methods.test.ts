import { createHmac } from "node:crypto";
import should from "should";
import { callers, presentations } from "../harness/callers";
import { bearer, tab, token, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";

const byQuery = { verificationMethod: "query", queryParameter: "key" };
const replyWires = { wires: [["sink", "answer"]] };
const flow = tab(
  { id: "page", type: "http in", method: "get", url: "/mixed", upload: false, wires: [["answer"]] },
  webhook("mixed", "/mixed", {
    methods: ["POST", "GET"],
    sender: "github",
    verificationMethod: "signature",
    credentials: { secret: "key" },
  }),
  webhook("all", "/all", {
    methods: ["GET", "PUT", "PATCH", "DELETE", "POST"],
    credentials: { token, ...callers("door") },
  }),
  webhook("device", "/device", { ...byQuery, methods: ["GET"] }),
  webhook("both", "/both", { methods: ["GET"], returnQueryParams: true }),
  webhook("signed", "/signed", {
    methods: ["GET"],
    sender: "github",
    verificationMethod: "signature",
    credentials: { secret: "key" },
  }),
  webhook("asking", "/asking", { methods: ["GET"], reply: "flow", ...replyWires }),
  webhook("kept", "/kept", { methods: ["GET", "DELETE"], guaranteed: true }),
  webhook("later", "/later"),
  webhook("once", "/once", { methods: ["GET", "PUT"], ignoreDuplicates: true, duplicateKey: "query:id" }),
  { id: "slow", type: "slow", wires: [] },
  { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
);

const json = { ...bearer, "Content-Type": "application/json" };

onBothWays("a webhook by another method than POST", { flow }, (nodeRed) => {
  const call = (method: string, path: string, more: Parameters<typeof send>[1] = {}) =>
    send(nodeRed().node(path), { method, headers: bearer, ...more });
  const payloadOf = async ({ json: { id } }: Awaited<ReturnType<typeof send>>) => {
    const { payload, req } = await nodeRed().message(id);
    return [req.method, payload];
  };

  for (const method of ["PUT", "PATCH", "DELETE", "POST"]) {
    it(`starts the flow by ${method} with its body, and not without the token`, async () => {
      // Node.js's client does not say by itself how long the body of a DELETE is.
      const reply = await call(method, "/all", { headers: { ...json, "Content-Length": "7" }, body: '{"a":1}' });
      should(await payloadOf(reply)).eql([method, { a: 1 }]);
      should((await call(method, "/all", { headers: {}, body: "" })).status).equal(401);
    });
  }

  it("starts the flow by GET with the query as an object, without the credential", async () => {
    const header = await call("GET", "/all?a=1&b=2&b=3&c=");
    should(await payloadOf(header)).eql(["GET", { a: "1", b: ["2", "3"], c: "" }]);
    const query = await call("GET", `/device?temp=21.5&key=${encodeURIComponent(token)}`, { headers: {} });
    should(await payloadOf(query)).eql(["GET", { temp: "21.5" }]);
    should(await payloadOf(await call("GET", "/all"))).eql(["GET", {}]);
    const both = await call("GET", "/both?a=1");
    should(await payloadOf(both)).match(["GET", { query: { a: "1" } }]);
  });

  it("has the body that is signed as its payload, and not the query, which is not", async () => {
    const signature = createHmac("sha256", "key").update("{}").digest("hex");
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": "2",
      "X-Hub-Signature-256": `sha256=${signature}`,
    };
    should(await payloadOf(await call("GET", "/signed?forged=1", { headers, body: "{}" }))).eql(["GET", {}]);
    should((await call("GET", "/signed?forged=1", { headers: {} })).status).equal(401);
  });

  it("is for another node that had the path and the method before, and no other method is", async () => {
    const headers = {
      "Content-Type": "application/json",
      "X-Hub-Signature-256": `sha256=${createHmac("sha256", "key").update("{}").digest("hex")}`,
    };
    should(await payloadOf(await call("POST", "/mixed", { headers, body: "{}" }))).eql(["POST", {}]);
    for (const method of ["GET", "HEAD"]) should((await call(method, "/mixed", { headers: {} })).status).equal(202);
  });

  it("is refused by GET without the credential, and by what the node does not accept", async () => {
    should((await call("GET", "/device?temp=1", { headers: {} })).status).equal(401);
    should((await call("GET", `/device?key=${token.slice(1)}x`, { headers: {} })).status).equal(401);
    const { status, headers } = await call("PUT", "/kept");
    should([status, headers.allow]).eql([405, "GET, DELETE, HEAD"]);
    const post = await call("POST", "/device");
    should([post.status, post.headers.allow, post.json.detail]).eql([405, "GET, HEAD", "This endpoint takes GET requests only."]);
  }); // prettier-ignore

  it("is answered and starts nothing by HEAD, and when a browser fetches ahead", async () => {
    const count = nodeRed().messages.length;
    for (const more of [{ method: "HEAD" }, { headers: { "Sec-Purpose": "prefetch;prerender" } }, { headers: { Purpose: "prefetch" } }]) {
      const { method = "GET", headers = {} } = more as { method?: string; headers?: Record<string, string> };
      for (const known of [bearer, presentations.header("door").headers]) {
        should((await call(method, "/all", { headers: { ...known, ...headers } })).status).equal(204);
      }
      should((await call(method, "/all", { headers })).status).equal(401);
    }
    const { status, headers } = await call("HEAD", "/later");
    should([status, headers.allow]).eql([405, "POST"]);
    await nodeRed().measure();
    nodeRed().messages.length.should.equal(count);
  }); // prettier-ignore

  it("is known as a duplicate by a query parameter", async () => {
    for (const [method, id] of [["GET", "1"], ["PUT", "2"]] as const) {
      const replies = [await call(method, `/once?id=${id}`, { body: "" }), await call(method, `/once?id=${id}`, { body: "" })];
      should(replies.map(({ json: { status } }) => status)).eql(["accepted", "duplicate"]);
    }
  }); // prettier-ignore

  it("is answered by its flow", async () => {
    should((await call("GET", "/asking?a=1")).status).equal(202);
  });

  it("is kept with guaranteed delivery, and replayed as it was", async () => {
    const reply = await call("GET", "/kept?door=open");
    should(await payloadOf(reply)).eql(["GET", { door: "open" }]);
    const { json: replayed } = await command(nodeRed().admin(`/webhook-trigger/deliveries/${String(reply.json.id)}/replay`));
    should((await nodeRed().message(replayed.id)).payload).eql({ door: "open" });
  }); // prettier-ignore

  it("is sent as a test request by the first method", async () => {
    const sendTest = async (id: string) => (await command(nodeRed().admin(`/webhook-trigger/${id}/test`))).json;
    for (const [id, method, payload] of [["device", "GET", { text: "hello world" }], ["all", "GET", { text: "hello world" }], ["later", "POST", "hello world"]] as const) {
      const { outcome, id: message } = await sendTest(id);
      should(outcome).equal("accepted");
      const { req, payload: got } = await nodeRed().message(message);
      should([req.method, got]).eql([method, payload]);
    }
  }); // prettier-ignore
});
