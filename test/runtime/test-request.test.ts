import { createHmac } from "node:crypto";
import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { hostOf, settingsOf } from "../harness/fixtures";
import { tab, token, webhook } from "../harness/flow";
import { type Call, command, send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";

/** Has the form's button send a test request to a node. */
function sendTest(nodeRed: NodeRed, id: string, { headers, ...call }: Call = {}) {
  const fields = { "Content-Type": "application/json", ...(headers as Record<string, string>) };
  return send(nodeRed.admin(`/webhook-trigger/${id}/test`), { ...call, headers: fields });
}

const placed = [
  webhook("by-header", "/by-header"),
  webhook("by-own-header", "/by-own-header", { headerParameter: "X-Token" }),
  webhook("by-query", "/by-query", { verificationMethod: "query", returnQueryParams: true }),
];

describe("a test request", () => {
  const flow = [
    ...tab(
      ...placed,
      webhook("tokenless", "/tokenless", { credentials: {} }),
      webhook("nameless", "${NO_SUCH_VARIABLE}"),
      webhook("late", "/by-header"),
      webhook("disabled", "/disabled", { d: true }),
      webhook("answered", "/answered", { reply: "flow", wires: [["answer", "sink"]] }),
      webhook("unanswered", "/unanswered", { reply: "flow", replyTimeout: 1 }),
      webhook("own-body", "/own-body", { replyStatus: 202, replyBody: "thanks", replyType: "text/plain" }),
      webhook("elsewhere", "/elsewhere", { z: "off" }),
      webhook("by-event", "/by-event", {
        ...{ sender: "github", verificationMethod: "signature", credentials: { secret: "key" } },
        ...{ events: ["issue*", "push"], outputPerEvent: true, outputs: 2, wires: [["sink"], ["sink"]] },
        conditions: [{ place: "header:X-Kind", operator: "is", value: "new" }],
      }),
      webhook("limited", "/limited", {
        ignoreDuplicates: true,
        duplicateKey: "body",
        rateLimit: 1,
        allowFrom: "192.0.2.1",
      }),
      webhook("paused", "/paused", { guaranteed: true, reply: "flow" }),
      webhook("storing", "/storing", { guaranteed: true }),
      { id: "answer", type: "http response", statusCode: "201", headers: {}, wires: [] },
      { id: "slow", type: "slow", wires: [] },
    ),
    { id: "off", type: "tab", label: "Off", disabled: true },
  ];
  const nodeRed = useNodeRed({ flow, settings: roots.separate });

  it("has the event of the delivery whose body it sends, and what the conditions look at, and says which output that is", async () => {
    const signature = createHmac("sha256", "key").update("{}").digest("hex");
    const headers = { "X-Hub-Signature-256": `sha256=${signature}`, "X-GitHub-Event": "push", "X-Kind": "new" };
    const { json: sent } = await send(nodeRed().node("/by-event"), { headers, body: "{}" });
    const call = { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ delivery: sent.id }) };
    const { json } = await sendTest(nodeRed(), "by-event", call);
    json.should.containEql({ outcome: "accepted", output: 2, event: "push" });
  });

  it("starts the flow of a node without its token, and says how that was answered", async () => {
    for (const [id, outcome, status] of [
      ["by-header", "accepted", 200],
      ["by-own-header", "accepted", 200],
      ["by-query", "accepted", 200],
      ["own-body", "accepted", 200],
      ["answered", "answered", 201],
      ["unanswered", "unanswered", 504],
    ] as const) {
      const { json, body } = await sendTest(nodeRed(), id);
      should(json).containEql({ outcome, status });
      const { payload, req } = await nodeRed().message(json.id);
      should(payload).eql(id === "by-query" ? { body: "hello world", query: {} } : "hello world");
      JSON.stringify([body, payload, req]).should.not.containEql(token);
      // Nor is what was in its place: 40 characters.
      JSON.stringify([payload, req]).should.not.match(/[\w-]{40}/);
    }
  });

  it("is not sent to a node that is not deployed, closed, or not the first at its path, and says so", async () => {
    for (const [id, result] of [
      ["missing", { outcome: "notDeployed" }],
      ["sink", { outcome: "notDeployed" }],
      ["disabled", { outcome: "notDeployed" }],
      ["elsewhere", { outcome: "notDeployed" }],
      ["tokenless", { outcome: "closed", rule: "token.required", value: "" }],
      ["nameless", { outcome: "closed", rule: "environment", value: "${NO_SUCH_VARIABLE}" }],
      ["late", { outcome: "taken" }],
    ] as const) {
      should((await sendTest(nodeRed(), id)).json).eql(result);
    }
  });

  if (sqliteIsHere()) {
    it("that the node itself refuses is told by its problem, whatever else has the same status", async () => {
      (await command(nodeRed().admin("/webhook-trigger/paused/pause"))).status.should.equal(204);
      should((await sendTest(nodeRed(), "paused")).json).containEql({
        outcome: "refused",
        status: 503,
        problem: "paused",
      });
    });

    it("of a paused node is stored, and says that the flow has not started", async () => {
      const storing = async () => (await sendTest(nodeRed(), "storing")).json as { outcome: string };
      (await storing()).outcome.should.equal("accepted");
      (await command(nodeRed().admin("/webhook-trigger/storing/pause"))).status.should.equal(204);
      (await storing()).outcome.should.equal("stored");
      (await command(nodeRed().admin("/webhook-trigger/storing/resume"))).status.should.equal(204);
      (await storing()).outcome.should.equal("accepted");
    });
  }

  it("may be sent twice at once, whatever the node limits or ignores, and waits for a deploy to end", async () => {
    const results = await Promise.all(["limited", "limited"].map((id) => sendTest(nodeRed(), id)));
    for (const { json } of results) json.should.containEql({ outcome: "accepted" });
    const finish = await nodeRed().beginDeploy(flow);
    const waiting = sendTest(nodeRed(), "by-header", { headers: { "X-Trace": "waiting" } });
    await nodeRed().arrived("waiting");
    await finish();
    (await waiting).json.should.containEql({ outcome: "accepted" });
  });
});

describe("a test request that is asked for by another spelling of its address", () => {
  const nodeRed = useNodeRed({
    flow: tab(...placed, webhook("webhook-trigger", "/same-name")),
    settings: roots.equal,
  });

  it("goes to the endpoint of its node", async () => {
    for (const path of [
      "/webhook-trigger/by-header/test?x=/webhook-trigger/",
      "/webhook-trigger/by-header/test?x=/webhook-trigger/by-header/test",
      "/WEBHOOK-TRIGGER/by-header/TEST/",
      "/webhook-trigger/webhook-trigger/test",
    ]) {
      const { json } = await command(nodeRed().admin(path));
      should([path, json]).have.propertyByPath("1", "outcome").equal("accepted");
    }
  });
});

describe("a test request behind middleware", () => {
  const paths = ["guarded", "refused", "answered-in-front", "hidden", "robbed", "held"];
  const flow = tab(...paths.map((id) => webhook(id, `/${id}`)));
  const nodeRed = useNodeRed({ flow, code: settingsOf("judging-middleware") });

  it("says that something refused, answered or hid it, or took its token away", async () => {
    for (const [id, result] of [
      ["guarded", { outcome: "blocked", status: 401 }],
      ["refused", { outcome: "otherwise", status: 403 }],
      ["answered-in-front", { outcome: "otherwise", status: 200 }],
      ["hidden", { outcome: "notFound", status: 404 }],
      ["robbed", { outcome: "tokenRefused", status: 401 }],
    ] as const) {
      should((await sendTest(nodeRed(), id)).json).containEql(result);
    }
  });

  it("is served by a node that is deployed meanwhile, and its token is good for one request", async () => {
    const sent = sendTest(nodeRed(), "held");
    const testToken = await nodeRed().ask({}, "held ");
    await nodeRed().deploy(flow);
    await nodeRed().tell({ release: true }, "released");
    (await sent).json.should.containEql({ outcome: "accepted" });
    const headers = { Authorization: `Bearer ${testToken}`, "X-Pass": "" };
    (await send(nodeRed().node("/held"), { headers })).status.should.equal(401);
  });
});

describe("a test request where another app answers for other host names", () => {
  const nodeRed = useNodeRed({ host: hostOf("beside-another-app"), flow: tab(...placed) });

  it("is sent to the host name by which the editor was found, and has no token that another app could use", async () => {
    const { json } = await sendTest(nodeRed(), "by-header", { headers: { Host: "nodered.example" } });
    json.should.containEql({ outcome: "accepted" });
    await nodeRed().message(json.id);
    nodeRed().log.should.not.containEql("the other app got");

    (await sendTest(nodeRed(), "by-header")).json.should.containEql({ outcome: "otherwise", status: 200 });
    const [, seen = ""] = await nodeRed().logged(/the other app got (.*)/);
    should(decodeURIComponent(seen)).not.containEql(token);
    const [testToken = ""] = /[\w-]{40}/.exec(seen) ?? [];
    testToken.should.not.equal("");
    const headers = { Host: "nodered.example", Authorization: `Bearer ${testToken}` };
    (await send(nodeRed().node("/by-header"), { headers })).status.should.equal(401);
  });
});

describe("a test request where a router has Node-RED below a path of its own", () => {
  const settings = roots.separate;
  const nodeRed = useNodeRed({ host: hostOf("router-host"), settings, flow: tab(...placed) });

  it("is sent to where the editor was found", async () => {
    const { json } = await command(`${nodeRed().origin}/red${settings.httpAdminRoot}/webhook-trigger/by-header/test`);
    json.should.containEql({ outcome: "accepted" });
    await nodeRed().message(json.id);
  });
});
