import should from "should";
import { createHmac } from "node:crypto";
import { bearer, tab, token, webhook } from "../harness/flow";
import { command, send } from "../harness/http";
import { onBothWays, roots, useNodeRed } from "../harness/layouts";
import { nodeRedVersion } from "../harness/node-red";
import { until } from "../harness/until";

const secret = "It's a Secret to Everybody";
const verifyToken = "my-verify-token";
const challenge = 'Signature realm="webhook"';

const signedBy = (sender: string, fields: Record<string, unknown> = {}) =>
  webhook(sender, `/${sender}`, {
    sender,
    verificationMethod: "signature",
    credentials: { secret, verifyToken },
    ...fields,
  });

const flow = tab(
  signedBy("github"),
  signedBy("meta"),
  signedBy("cloudevents", { sender: "azure-eventgrid" }),
  signedBy("xero"),
  signedBy("notion", { senderSettings: { arm: true }, credentials: {} }),
  webhook("two", "/two", {
    verificationMethod: "basic",
    credentials: { user: "sensor", password: "old", secondPassword: "new" },
  }),
  webhook("by-token", "/by-token", { sender: "azure-eventgrid" }),
  webhook("by-bearer", "/by-bearer", { sender: "cloudevents" }),
  { id: "page", type: "http in", method: "get", url: "/meta", upload: false, wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
  { id: "slow", type: "slow", wires: [] },
);

const hub = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${verifyToken}`;
const signature = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
const json = { "Content-Type": "application/json" };
const signed = (body: string, key = secret) => ({
  headers: { ...json, "X-GitHub-Event": "push", "X-Hub-Signature-256": signature(body, key) },
  body,
});

const options = { settings: { runtimeState: { enabled: true }, logging: { console: { level: "info" } } } };

onBothWays("a signed webhook", { ...options, flow }, (nodeRed, way) => {
  const post = (path: string, call: Parameters<typeof send>[1] = {}) => send(nodeRed().node(path), call);
  const ask = (path: string, method: string, headers: Record<string, string> = {}) =>
    send(nodeRed().node(path), { method, headers });
  const sendTest = async (id: string) => (await command(nodeRed().admin(`/webhook-trigger/${id}/test`))).json;
  const lastRequest = async (id: string) =>
    (await send(nodeRed().admin(`/webhook-trigger/${id}/lastRequest`), { method: "GET" })).json;

  it("is refused without a signature, with a wrong one, and with a changed body", async () => {
    const count = nodeRed().messages.length;
    const made = { headers: { "X-Webhook-Trigger-Test": token }, body: "{}" };
    for (const call of [{ body: "{}" }, made, signed("{}", "another"), { ...signed("{}"), body: "{ }" }]) {
      const reply = await post("/github", call);
      should([reply.status, reply.headers["www-authenticate"]]).eql([401, challenge]);
    }
    nodeRed().messages.length.should.equal(count);
  });

  it("is refused with the reason for the operator alone", async () => {
    const body = '{"a": 1}';
    const hasReason = async () => {
      await post("/github", { ...signed(body), body: `${body}\n` });
      const { lastRefused } = (await lastRequest("github")) as { lastRefused: { reasons: { key: string }[] } };
      return lastRefused.reasons.map(({ key }) => key).join() === "bodyChanged.trailingNewline";
    };
    // Reasons are looked for once a second.
    await until(hasReason, "the reason");
    await nodeRed().until(() => nodeRed().log.includes("line break at the end of the body") || undefined, "the log");
    nodeRed().log.should.not.containEql(secret);
  });

  it("may have a second credential, and is shown with the one that was used", async () => {
    for (const [own, credential] of [
      ["old", "first"],
      ["new", "second"],
    ] as const) {
      const { json: reply } = await post("/two", {
        headers: { Authorization: `Basic ${btoa(`sensor:${own}`)}` },
        body: "{}",
      });
      (await nodeRed().message(reply.id)).webhook.should.eql({ credential });
    }
    (await lastRequest("two")).should.have.property("credential", "second");
    await nodeRed().status("two", /first password or secret: \d\d:\d\d, of the second: \d\d:\d\d$/);
  });

  it("accepts a test request of the form without a signature, also where the reply has no body", async () => {
    const github = await sendTest("github");
    should(github.outcome).equal("accepted");
    const { payload, req, topic } = await nodeRed().message(github.id);
    should([payload, topic]).eql([{ text: "hello world" }, "test"]);
    Object.keys(req.headers as object).should.not.containEql("x-webhook-trigger-test");
    const xero = await sendTest("xero");
    should(xero.outcome).equal("accepted");
    await nodeRed().message(xero.id);
  });

  it("has no secret in what the sender says of its event", async () => {
    const headers = { ...bearer, "ce-type": token, "ce-id": "1" };
    const { json: reply } = await post("/by-bearer", { headers, body: "{}" });
    const message = await nodeRed().message(reply.id);
    message.webhook.should.eql({ sender: "cloudevents", id: "1", credential: "first" });
    should(message.topic).be.undefined();
  });

  it("answers a handshake by GET, and leaves other GET requests to a page at the same path, or refuses them with 405", async () => {
    const reply = await ask(`/meta?${hub}`, "GET");
    should([reply.status, reply.body]).eql([200, "1158201444"]);
    should(reply.headers["content-type"]).startWith("text/plain");
    const page = await ask("/meta", "GET");
    page.status.should.equal(200);
    page.body.should.not.equal("");
    (await ask(`/meta?${hub}x`, "GET")).body.should.not.equal("1158201444");
    const none = await ask("/github", "GET");
    should([none.status, none.headers.allow]).eql([405, "POST"]);
  });

  it("takes a secret from the sender's handshake, and shows it to the operator once, and not in the log", async () => {
    const secretOfSender = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
    await nodeRed().status("notion", /./);
    const body = JSON.stringify({ verification_token: secretOfSender });
    (await post("/notion", signed("{}"))).status.should.equal(401);
    (await post("/notion", { headers: json, body })).status.should.equal(200);
    (await lastRequest("notion")).should.have.property("hasSecret", true);
    const fetchSecret = () => command(nodeRed().admin("/webhook-trigger/notion/secret"));
    (await fetchSecret()).json.should.eql({ secret: secretOfSender });
    (await fetchSecret()).status.should.equal(404);
    nodeRed().log.should.not.containEql(secretOfSender);
    nodeRed().messages.filter(({ webhook: { sender } }) => sender === "notion").should.be.empty(); // prettier-ignore
  });

  it("answers the handshake of a sender that sends a token only with that token", async () => {
    const [code, type] = ["512d38b6-c7b8-40c8-89fe-f46f9e9622b6", "SubscriptionValidation"];
    const body = JSON.stringify([{ id: "1", eventType: type, data: { validationCode: code } }]);
    const headers = { ...json, "aeg-event-type": type };
    (await post("/by-token", { headers, body })).status.should.equal(401);
    const asked = await post("/by-token", { headers: { ...headers, ...bearer }, body });
    asked.json.should.eql({ validationResponse: code });
    const event = await post("/by-token", { headers: { ...json, ...bearer, "aeg-event-type": "Notification" }, body });
    const { webhook: about } = await nodeRed().message(event.json.id);
    about.should.eql({ sender: "azure-eventgrid", event: type, id: "1", credential: "first" });
  });

  it("answers a handshake by OPTIONS, where nothing of Node-RED's own answers that before", async () => {
    const reply = await ask("/cloudevents", "OPTIONS", { "WebHook-Request-Origin": "eventgrid.azure.net" });
    // Node-RED 4's admin app answers it where it is in front.
    if (nodeRedVersion.startsWith("4.") && way === "ordinary") return;
    should([reply.status, reply.headers["webhook-allowed-origin"]]).eql([200, "eventgrid.azure.net"]);
  });

  it("is served once, and after the deploy, when it arrives during one", async () => {
    const finish = await nodeRed().beginDeploy(flow.map((node) => ({ ...node, name: "again" })));
    const call = signed('{"waited":true}');
    const reply = post("/github", { ...call, headers: { ...call.headers, "X-Trace": "waits" } });
    await nodeRed().arrived("waits");
    await finish();
    should((await nodeRed().message((await reply).json.id)).payload).eql({ waited: true });
  });
});

for (const layout of ["equal", "separate"] as const) {
  describe(`a signed webhook behind a parser as httpNodeMiddleware, with ${layout} roots`, () => {
    const code = "httpNodeMiddleware: require(process.env.EXPRESS).json()";
    const env = { EXPRESS: require.resolve("express") };
    const nodeRed = useNodeRed({ flow, settings: roots[layout], code, env });

    if (layout === "equal") {
      it("is verified over the bytes that were read for the parser", async () => {
        (await send(nodeRed().node("/github"), signed("{}"))).status.should.equal(200);
      });
    } else {
      it("gets 500, and the log says that its bytes were read before", async () => {
        (await send(nodeRed().node("/github"), signed("{}"))).status.should.equal(500);
        await nodeRed().logged(/needs the original bytes/);
        nodeRed().messages.should.be.empty();
      });
    }
  });
}
