import should from "should";
import { createHmac } from "node:crypto";
import { bearer, tab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { layouts, onBothWays } from "../harness/layouts";
import { NodeRed, nodeRedVersion } from "../harness/node-red";

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
const armed = (sender: string) => signedBy(sender, { senderSettings: { arm: true }, credentials: {} });

const flow = tab(
  signedBy("github"),
  signedBy("meta"),
  signedBy("cloudevents", { sender: "azure-eventgrid" }),
  signedBy("xero"),
  armed("notion"),
  webhook("two", "/two", { credentials: { token, secondToken: token.toUpperCase() } }),
  webhook("by-token", "/by-token", { sender: "azure-eventgrid" }),
  webhook("by-bearer", "/by-bearer", { sender: "cloudevents" }),
  { id: "page", type: "http in", method: "get", url: "/meta", upload: false, wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
  { id: "slow", type: "slow", wires: [] },
);

const hub = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${verifyToken}`;
const signature = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
const signed = (body: string, key = secret) => ({
  headers: {
    "Content-Type": "application/json",
    "X-GitHub-Event": "push",
    "X-Hub-Signature-256": signature(body, key),
  },
  body,
});

const options = { settings: { runtimeState: { enabled: true }, logging: { console: { level: "info" } } } };

onBothWays("a signed webhook", { ...options, flow }, (nodeRed, way) => {
  const post = (path: string, call: Parameters<typeof send>[1] = {}) => send(nodeRed().node(path), call);
  const standing = async (id: string) =>
    (await send(nodeRed().admin(`/webhook-trigger/${id}/standing`), { method: "GET" })).json;

  it("starts the flow with the type of the event as its topic", async () => {
    const { status, json } = await post("/github", signed('{"ref":"main"}'));
    status.should.equal(200);
    const message = await nodeRed().message(json.id);
    should(message.topic).equal("push");
    should(message.payload).eql({ ref: "main" });
    message.webhook.should.eql({ sender: "github", event: "push", credential: "first" });
  });

  it("refuses by the head alone what has no signature, and by its body what has a wrong one", async () => {
    const count = nodeRed().messages.length;
    for (const call of [{ body: "{}" }, signed("{}", "another"), { ...signed("{}"), body: "{ }" }]) {
      const reply = await post("/github", call);
      reply.status.should.equal(401);
      should(reply.headers["www-authenticate"]).equal(challenge);
    }
    nodeRed().messages.length.should.equal(count);
  });

  it("tells the operator why, and the caller nothing", async () => {
    const body = '{"a": 1}';
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await post("/github", { ...signed(body), body: `${body}\n` });
    const { lastRefused } = (await standing("github")) as { lastRefused: { reasons: { key: string }[] } };
    lastRefused.reasons.map(({ key }) => key).should.eql(["bodyChanged.trailingNewline"]);
    nodeRed().log.should.containEql("line break at the end of the body").and.not.containEql(secret);
  });

  it("accepts by a second token, and tells which it was", async () => {
    for (const [own, credential] of [
      [token, "first"],
      [token.toUpperCase(), "second"],
    ] as const) {
      const { json } = await post("/two", { headers: { Authorization: `Bearer ${own}` }, body: "{}" });
      (await nodeRed().message(json.id)).webhook.should.eql({ credential });
    }
    (await standing("two")).should.have.property("credential", "second");
    await nodeRed().status("two", /first secret or token: \d\d:\d\d, of the second: \d\d:\d\d$/);
  });

  it("lets the editor's test request in without a signature", async () => {
    const { json } = await send(nodeRed().admin("/webhook-trigger/github/test"));
    should(json.outcome).equal("accepted");
    const message = await nodeRed().message(json.id);
    should(message.payload).equal("hello world");
    Object.keys(message.req.headers as object).should.not.containEql("x-webhook-trigger-test");
  });

  it("tells the form of a test request's message, also where the sender gets no body", async () => {
    const { json } = await send(nodeRed().admin("/webhook-trigger/xero/test"));
    should(json.outcome).equal("accepted");
    await nodeRed().message(json.id);
  });

  it("leaves a secret out of what a sender tells of its event", async () => {
    const headers = { ...bearer, "ce-type": token, "ce-id": "1" };
    const { json } = await post("/by-bearer", { headers, body: "{}" });
    const message = await nodeRed().message(json.id);
    message.webhook.should.eql({ sender: "cloudevents", id: "1", credential: "first" });
    should(message.topic).be.undefined();
  });

  it("refuses a field of test requests that somebody has made up", async () => {
    const { status } = await post("/github", { headers: { "X-Webhook-Trigger-Test": token }, body: "{}" });
    status.should.equal(401);
  });

  describe("answers the handshake", () => {
    const ask = (path: string, method: string, headers: Record<string, string> = {}): Promise<Reply> =>
      send(nodeRed().node(path), { method, headers });

    it("by GET, and leaves other requests by GET to the page at the same path", async () => {
      const reply = await ask(`/meta?${hub}`, "GET");
      [reply.status, reply.body].should.eql([200, "1158201444"]);
      should(reply.headers["content-type"]).startWith("text/plain");
      const page = await ask("/meta", "GET");
      page.status.should.equal(200);
      page.body.should.not.equal("");
      (await ask(`/meta?${hub}x`, "GET")).body.should.not.equal("1158201444");
    });

    it("by GET with 405 where there is none", async () => {
      const reply = await ask("/github", "GET");
      reply.status.should.equal(405);
      should(reply.headers.allow).equal("POST");
    });

    it("that brings the secret, which is shown to the operator once, and not in the log", async () => {
      const brought = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
      await nodeRed().status("notion", /./);
      const body = JSON.stringify({ verification_token: brought });
      (await post("/notion", signed("{}"))).status.should.equal(401);
      (await post("/notion", { headers: { "Content-Type": "application/json" }, body })).status.should.equal(200);
      (await standing("notion")).should.have.property("hasSecret", true);
      const fetched = await send(nodeRed().admin("/webhook-trigger/notion/secret"));
      fetched.json.should.eql({ secret: brought });
      (await send(nodeRed().admin("/webhook-trigger/notion/secret"))).status.should.equal(404);
      nodeRed().log.should.not.containEql(brought);
      nodeRed()
        .messages.filter(({ webhook: { sender } }) => sender === "notion")
        .should.be.empty();
    });

    it("of a sender that sends a token, as it answers its events", async () => {
      const [code, type] = ["512d38b6-c7b8-40c8-89fe-f46f9e9622b6", "SubscriptionValidation"];
      const body = JSON.stringify([{ id: "1", eventType: type, data: { validationCode: code } }]);
      const headers = { "Content-Type": "application/json", "aeg-event-type": type };
      (await post("/by-token", { headers, body })).status.should.equal(401);
      const asked = await post("/by-token", { headers: { ...headers, ...bearer }, body });
      asked.json.should.eql({ validationResponse: code });
      const event = { headers: { ...headers, ...bearer, "aeg-event-type": "Notification" }, body };
      const { json } = await post("/by-token", event);
      should((await nodeRed().message(json.id)).webhook).eql({
        sender: "azure-eventgrid",
        event: type,
        id: "1",
        credential: "first",
      });
    });

    it("by OPTIONS, where nothing of Node-RED's own answers that before", async () => {
      const reply = await ask("/cloudevents", "OPTIONS", { "WebHook-Request-Origin": "eventgrid.azure.net" });
      const isCores =
        nodeRedVersion.startsWith("4.") && way === "ordinary" && nodeRed().node("") === nodeRed().admin("");
      if (isCores) return;
      reply.status.should.equal(200);
      should(reply.headers["webhook-allowed-origin"]).equal("eventgrid.azure.net");
    });
  });

  it("answers as the sender wants it: with nothing in the body", async () => {
    const body = '{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"x"}';
    const mac = (key: string) => createHmac("sha256", key).update(body).digest("base64");
    const fields = (key: string) => ({ "Content-Type": "application/json", "X-Xero-Signature": mac(key) });
    const replies = [
      await post("/xero", { headers: fields(secret), body }),
      await post("/xero", { headers: fields("x"), body }),
    ];
    replies
      .map(({ status, body: said }) => [status, said])
      .should.eql([
        [200, ""],
        [401, ""],
      ]);
  });

  it("waits through a deploy, and is one message", async () => {
    const finish = await nodeRed().beginDeploy(flow.map((node) => ({ ...node, name: "again" })));
    const call = signed('{"waited":true}');
    const reply = post("/github", { ...call, headers: { ...call.headers, "X-Trace": "waits" } });
    await nodeRed().arrived("waits");
    await finish();
    const { status, json } = await reply;
    status.should.equal(200);
    should((await nodeRed().message(json.id)).payload).eql({ waited: true });
  });
});

describe("a signed webhook behind others", () => {
  for (const [layout, roots] of Object.entries(layouts)) {
    describe(`with ${layout}`, () => {
      const isKept = layout === "equal roots";
      it(
        isKept
          ? "verifies the bytes that it has read for a parser"
          : "tells why it cannot verify what a parser has read",
        async () => {
          const parsing = "httpNodeMiddleware: require(process.env.EXPRESS).json()";
          const nodeRed = await NodeRed.start({
            flow,
            settings: roots,
            code: parsing,
            env: { EXPRESS: require.resolve("express") },
          });
          try {
            const { status } = await send(nodeRed.node("/github"), signed("{}"));
            status.should.equal(isKept ? 200 : 500);
            if (isKept) return;
            await nodeRed.until(() => (nodeRed.log.includes("needs the original bytes") ? true : undefined), "the log");
            nodeRed.messages.should.be.empty();
          } finally {
            await nodeRed.stop();
          }
        },
      );

      it("answers no handshake past httpNodeAuth", async () => {
        const guard =
          'httpNodeAuth: { user: "u", pass: "$2b$08$abcdefghijklmnopqrstuuK6GFO0GJHRUXaNZpJ4vZDWJm0XHYlK2" }';
        const nodeRed = await NodeRed.start({ flow, settings: roots, code: guard });
        try {
          const asked = await send(nodeRed.node(`/meta?${hub}`), { method: "GET" });
          asked.status.should.equal(401);
          should(asked.headers["www-authenticate"]).startWith("Basic");
          (await send(nodeRed.node("/github"), signed("{}"))).status.should.equal(401);
        } finally {
          await nodeRed.stop();
        }
      });
    });
  }
});
