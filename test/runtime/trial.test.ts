import should from "should";
import { token, webhook, webhookFlow } from "../harness/flow";
import { type Call, send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";

/** Has the form's button send a test request to a node. */
function tryNode(nodeRed: NodeRed, id: string, call: Call = {}) {
  return send(nodeRed.admin(`/webhook-trigger/${id}/test`), call);
}

const flow = [
  ...webhookFlow(
    { id: "by-header", relativePath: "/by-header" },
    { id: "by-own-header", relativePath: "/by-own-header", headerParameter: "X-Token" },
    { id: "by-query", relativePath: "/by-query", verificationMethod: "query", returnQueryParams: true },
    { id: "tokenless", relativePath: "/tokenless", credentials: {} },
    { id: "nameless", relativePath: "${NO_SUCH_VARIABLE}" },
    { id: "late", relativePath: "/by-header" },
    { id: "disabled", relativePath: "/disabled", d: true },
    { id: "elsewhere", relativePath: "/elsewhere", z: "off" },
  ),
  { id: "off", type: "tab", label: "Off", disabled: true },
];

inEveryLayout("a test request", { flow }, (nodeRed) => {
  for (const id of ["by-header", "by-own-header", "by-query"]) {
    it(`starts the flow of the node ${id}`, async () => {
      const { status, json, body } = await tryNode(nodeRed(), id);
      status.should.equal(200);
      should(json).containEql({ outcome: "accepted", status: 200 });
      const { payload, req } = await nodeRed().message(json.id);
      should(payload).eql(id === "by-query" ? { body: "hello world", query: {} } : "hello world");
      JSON.stringify([body, payload, req]).should.not.containEql(token);
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
    it(`tells ${JSON.stringify(result)} of the node ${id}`, async () => {
      const { status, json } = await tryNode(nodeRed(), id);
      status.should.equal(200);
      json.should.eql(result);
    });
  }

  it("waits for a deploy to end", async () => {
    const withSlow = [...flow, { id: "slow", type: "slow", z: "tab", x: 500, y: 100, wires: [] }];
    await nodeRed().deploy(withSlow);
    const finish = await nodeRed().beginDeploy(withSlow);
    const tried = tryNode(nodeRed(), "by-header", { headers: { "X-Trace": "trial" } });
    await nodeRed().arrived("trial");
    await finish();
    (await tried).json.should.containEql({ outcome: "accepted" });
  });
});

describe("a test request", () => {
  for (const [what, options, id, outcome] of [
    ["that httpNodeAuth refuses", { code: "httpNodeAuth: { user: 'u', pass: 'p' }" }, "webhook0", { outcome: "blocked", status: 401 }],
    ["that a middleware answers", { code: "httpNodeMiddleware: (req, res) => res.sendStatus(403)" }, "webhook0", { outcome: "otherwise", status: 403 }],
    ["that a middleware accepts by itself", { code: "httpNodeMiddleware: (req, res) => res.json({ ok: true })" }, "webhook0", { outcome: "otherwise", status: 200 }],
    ["that a middleware hides", { code: "httpNodeMiddleware: (req, res) => res.sendStatus(404)" }, "webhook0", { outcome: "notFound", status: 404 }],
    ["that a middleware robs of its token", { code: "httpNodeMiddleware: (req, res, next) => { req.rawHeaders.length = 0; next(); }" }, "webhook0", { outcome: "tokenRefused", status: 401 }],
    ["where HTTP nodes are switched off", { settings: { httpNodeRoot: false } }, "webhook0", { outcome: "switchedOff" }],
  ] as [string, Options, string, object][]) {
    it(`${what} tells ${JSON.stringify(outcome)}`, async () => {
      const nodeRed = await NodeRed.start({ ...options, flow: webhookFlow({}) });
      try {
        (await tryNode(nodeRed, id)).json.should.eql(outcome);
      } finally {
        await nodeRed.stop();
      }
    });
  }

  it("needs the permission webhook-trigger.write", async () => {
    for (const [permissions, status] of [["read", 401], ["webhook-trigger.write", 200]] as const) {
      const code = `adminAuth: { type: "credentials", users: [], default: { permissions: "${permissions}" } }`;
      const nodeRed = await NodeRed.start({ code, flow: webhookFlow(webhook("hook", "/hook")) });
      try {
        const reply = await tryNode(nodeRed, "hook");
        reply.status.should.equal(status);
        if (status === 200) await nodeRed.message(reply.json.id);
        else nodeRed.messages.should.have.length(0);
      } finally {
        await nodeRed.stop();
      }
    }
  });
}); // prettier-ignore
