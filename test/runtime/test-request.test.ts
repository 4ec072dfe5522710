import should from "should";
import { present } from "../../src/auth/present";
import { hostOf, settingsOf } from "../harness/fixtures";
import { tab, token, webhook } from "../harness/flow";
import { type Call, send } from "../harness/http";
import { layouts, useNodeRed } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";

/** Has the form's button send a test request to a node. */
function sendTest(nodeRed: NodeRed, id: string, call: Call = {}) {
  return send(nodeRed.admin(`/webhook-trigger/${id}/test`), call);
}

const placed = [
  webhook("by-header", "/by-header"),
  webhook("by-own-header", "/by-own-header", { headerParameter: "X-Token" }),
  webhook("by-query", "/by-query", { verificationMethod: "query", returnQueryParams: true }),
];
const placements = {
  "by-header": { method: "header", name: "Authorization" },
  "by-own-header": { method: "header", name: "X-Token" },
  "by-query": { method: "query", name: "state" },
} as const;

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
      { id: "answer", type: "http response", statusCode: "201", headers: {}, wires: [] },
      { id: "slow", type: "slow", wires: [] },
    ),
    { id: "off", type: "tab", label: "Off", disabled: true },
  ];
  const nodeRed = useNodeRed({ flow, settings: layouts["separate roots"] });

  for (const [id, outcome, status] of [
    ["by-header", "accepted", 200],
    ["by-own-header", "accepted", 200],
    ["by-query", "accepted", 200],
    ["own-body", "accepted", 200],
    ["answered", "answered", 201],
    ["unanswered", "unanswered", 504],
  ] as const) {
    it(`starts the flow of the node ${id} without its token, and is reported as ${outcome}`, async () => {
      const { json, body } = await sendTest(nodeRed(), id);
      should(json).containEql({ outcome, status });
      const { payload, req } = await nodeRed().message(json.id);
      should(payload).eql(id === "by-query" ? { body: "hello world", query: {} } : "hello world");
      JSON.stringify([body, payload, req]).should.not.containEql(token);
      // Nor is what was in its place: 40 characters.
      JSON.stringify([payload, req]).should.not.match(/[\w-]{40}/);
    });
  }

  for (const [id, result] of [
    ["nobody", { outcome: "notDeployed" }],
    ["sink", { outcome: "notDeployed" }],
    ["disabled", { outcome: "notDeployed" }],
    ["elsewhere", { outcome: "notDeployed" }],
    ["tokenless", { outcome: "closed", rule: "token.required", value: "" }],
    ["nameless", { outcome: "closed", rule: "environment", value: "${NO_SUCH_VARIABLE}" }],
    ["late", { outcome: "taken" }],
  ] as const) {
    it(`is not sent to the node ${id}, and reported as ${result.outcome}`, async () => {
      should((await sendTest(nodeRed(), id)).json).eql(result);
    });
  }

  it("may be sent twice at once, and waits for a deploy to end", async () => {
    const results = await Promise.all(["by-header", "by-header"].map((id) => sendTest(nodeRed(), id)));
    for (const { json } of results) json.should.containEql({ outcome: "accepted" });
    const finish = await nodeRed().beginDeploy(flow);
    const waiting = sendTest(nodeRed(), "by-header", { headers: { "X-Trace": "waiting" } });
    await nodeRed().arrived("waiting");
    await finish();
    (await waiting).json.should.containEql({ outcome: "accepted" });
  });
});

describe("a test request behind middleware", () => {
  const paths = ["refused", "answered-in-front", "hidden", "robbed", "held"];
  const flow = tab(...paths.map((id) => webhook(id, `/${id}`)));
  const nodeRed = useNodeRed({ flow, code: settingsOf("judging-middleware") });

  for (const [id, what, result] of [
    ["refused", "refuses it", { outcome: "otherwise", status: 403 }],
    ["answered-in-front", "answers it", { outcome: "otherwise", status: 200 }],
    ["hidden", "hides the endpoint", { outcome: "notFound", status: 404 }],
    ["robbed", "takes its token away", { outcome: "tokenRefused", status: 401 }],
  ] as const) {
    it(`that ${what} is reported as ${result.outcome}`, async () => {
      should((await sendTest(nodeRed(), id)).json).eql(result);
    });
  }

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

describe("a test request behind httpNodeAuth", () => {
  const nodeRed = useNodeRed({ flow: tab(webhook("hook", "/hook")), settings: { httpNodeAuth: { user: "u", pass: "p" } } });

  it("is reported as blocked", async () => {
    should((await sendTest(nodeRed(), "hook")).json).eql({ outcome: "blocked", status: 401 });
  });
}); // prettier-ignore

describe("a test request where another app answers for other host names", () => {
  const nodeRed = useNodeRed({ host: hostOf("beside-another-app"), flow: tab(...placed) });

  for (const [id, placement] of Object.entries(placements)) {
    it(`is sent ${id} to the host name by which the editor was found, and has no token that another app could use`, async () => {
      const { json } = await sendTest(nodeRed(), id, { headers: { Host: "nodered.example" } });
      json.should.containEql({ outcome: "accepted" });
      await nodeRed().message(json.id);
      nodeRed().log.should.not.containEql("the other app got");

      (await sendTest(nodeRed(), id)).json.should.eql({ outcome: "otherwise", status: 200 });
      const [, seen = ""] = await nodeRed().logged(/the other app got (.*)/);
      nodeRed().log = "";
      should(decodeURIComponent(seen)).not.containEql(token);
      const [testToken = ""] = /[\w-]{40}/.exec(seen) ?? [];
      testToken.should.not.equal("");
      const { headers, search } = present(placement, testToken);
      const call = { headers: { Host: "nodered.example", ...headers } };
      (await send(nodeRed().node(`/${id}${search}`), call)).status.should.equal(401);
    });
  }
});

describe("a test request where a router has Node-RED below a path of its own", () => {
  for (const [layout, settings] of Object.entries(layouts)) {
    it(`is sent to where the editor was found, with ${layout}`, async () => {
      const all = { httpAdminRoot: "/", httpNodeRoot: "/", ...settings };
      const nodeRed = await NodeRed.start({ host: hostOf("router-host"), settings: all, flow: tab(...placed) });
      try {
        const admin = all.httpAdminRoot.replace(/\/$/, "");
        const { json } = await send(`${nodeRed.origin}/red${admin}/webhook-trigger/by-header/test`);
        json.should.containEql({ outcome: "accepted" });
        await nodeRed.message(json.id);
      } finally {
        await nodeRed.stop();
      }
    });
  }
});
