import { createHmac } from "node:crypto";
import should from "should";
import { bearer, tab, token, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { until } from "../harness/until";

const flow = tab(
  { id: "page", type: "http in", method: "post", url: "/any/page", upload: false, wires: [["sink", "answer"]] },
  { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] },
  webhook("device", "/devices/:id/state", { methods: ["POST", "GET"] }),
  webhook("hall", "/devices/hall/state"),
  webhook("twin", "/devices/:name/state"),
  webhook("any", "/:first/:second", { methods: ["POST", "GET"], rateLimit: 2 }),
  webhook("one", "/:only", { methods: ["POST", "GET"] }),
  webhook("kept", "/kept/:id", { guaranteed: true }),
  webhook("once", "/once/:id/x", { ignoreDuplicates: true, duplicateKey: "body" }),
  webhook("signed", "/signed/:id/x", {
    sender: "github",
    verificationMethod: "signature",
    credentials: { secret: "key" },
  }),
  webhook("tokens", "/tools/:id", {
    verificationMethod: "jwt",
    keySource: "secret",
    issuer: "us",
    audience: "them",
    credentials: { secret: "key" },
  }),
  webhook("twice", "/:a/x/:a"),
  { id: "slow", type: "slow", wires: [] },
);
/** What another node adds to the admin app. */
const plugin = `module.exports = (RED) => { RED.httpAdmin.use("/tools/own", (request, response) => response.json(request.body)); };`;
const json = { ...bearer, "Content-Type": "application/json" };

onBothWays("a path with parameters", { flow, plugin, settings: { disableEditor: false } }, (nodeRed) => {
  const post = (path: string, more: Parameters<typeof send>[1] = {}) =>
    send(nodeRed().node(path), { headers: json, body: '{"a":1}', ...more });
  const paramsOf = async (reply: ReturnType<typeof post>) => {
    const { req, payload } = await nodeRed().message((await reply).json.id);
    return [payload, req.params];
  };

  it("gives the message the values, decoded", async () => {
    should(await paramsOf(post("/devices/7/state"))).eql([{ a: 1 }, { id: "7" }]);
    should(await paramsOf(post("/Devices/a%20b/STATE/"))).eql([{ a: 1 }, { id: "a b" }]);
    should(await paramsOf(post("/devices/7/state?x=1", { method: "GET", body: "" }))).eql([{ x: "1" }, { id: "7" }]);
  });

  it("gives way to an exact path, and to one with more literal parts", async () => {
    should(await paramsOf(post("/devices/hall/state"))).eql([{ a: 1 }, undefined]);
    should(await paramsOf(post("/devices/7"))).eql([{ a: 1 }, { first: "devices", second: "7" }]);
    should(await paramsOf(post("/kept/7"))).eql([{ a: 1 }, { id: "7" }]);
  });

  it("is refused without the token, with a broken escape, and where no node has it", async () => {
    should((await post("/devices/7/state", { headers: {} })).status).equal(401);
    const broken = await post("/devices/%E4/state");
    should([broken.status, broken.json.detail]).eql([400, "The path of the request has a broken escape."]);
    for (const path of ["/devices/7/8/state", "/devices//state"]) should((await post(path)).status).equal(404);
  });

  it("is reported where another node has the same, and where a name comes twice", async () => {
    await nodeRed().status("twin", /:name/);
    await nodeRed().status("twice", /name of its own/);
  });

  it("takes the same body for another device as another delivery", async () => {
    const came = [await post("/once/1/x"), await post("/once/2/x"), await post("/once/1/x")];
    should(came.map((reply) => reply.json.status)).eql(["accepted", "accepted", "duplicate"]);
  });

  it("verifies the body as it was sent", async () => {
    const body = '{ "a": 1.0 }';
    const signature = `sha256=${createHmac("sha256", "key").update(body).digest("hex")}`;
    const signed = { "Content-Type": "application/json", "X-Hub-Signature-256": signature };
    should(await paramsOf(post("/signed/7/x", { headers: signed, body }))).eql([{ a: 1 }, { id: "7" }]);
    should((await post("/signed/7/x", { headers: signed, body: "{}" })).status).equal(401);
  });

  it("leaves the body of another node's path to that node, with and without the token", async () => {
    for (const headers of [json, { "Content-Type": "application/json" }, json, json]) {
      const reply = await post("/any/page", { headers });
      should([reply.status, reply.json]).eql([202, { a: 1 }]);
    }
    const ofTool = await send(nodeRed().admin("/tools/own"), { headers: json, body: '{"a":1}' });
    should([ofTool.status, ofTool.json]).eql([200, { a: 1 }]);
    // They do not count as requests of this node.
    should((await post("/devices/8")).status).equal(200);
  });

  it("shows the token nowhere, though it is a value", async () => {
    const everyByte = Array.from(token, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
    for (const path of [`/kept/${token}`, `/kept/${everyByte}?a=1`]) {
      const { req } = await nodeRed().message((await post(path)).json.id);
      should(req.params).eql({ id: "[redacted]" });
      for (const text of [token, everyByte]) JSON.stringify(req).should.not.containEql(text);
    }
  });

  it("is replayed with its values", async () => {
    const { json: accepted } = await post("/kept/7");
    const url = nodeRed().admin(`/webhook-trigger/deliveries/${String(accepted.id)}/replay`);
    const replay = async () => send(url, { headers: json, body: "{}" });
    // Where it is guaranteed, its first attempt has to end before.
    let reply = await replay();
    await until(async () => reply.status === 200 || (reply = await replay()).status === 200, "the replay");
    should(await paramsOf(Promise.resolve(reply))).eql([{ a: 1 }, { id: "7" }]);
  });

  it("never hides Node-RED's own paths and its editor, also during a deploy", async () => {
    for (const path of ["/red/red.min.js", "/vendor/vendor.js", "/favicon.ico"]) {
      (await send(nodeRed().admin(path), { method: "GET" })).status.should.equal(200, path);
    }
    const settings = nodeRed().admin("/settings");
    (await send(settings, { method: "GET" })).status.should.equal(200);
    const end = await nodeRed().beginDeploy(flow);
    (await send(settings, { method: "GET" })).status.should.equal(200);
    (await send(nodeRed().admin("/flows"), { method: "GET" })).status.should.equal(200);
    await end();
    (await command(nodeRed().admin("/webhook-trigger/device/test"))).json.should.have.property("outcome", "accepted");
  });
});
