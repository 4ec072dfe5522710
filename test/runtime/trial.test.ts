import should from "should";
import { present } from "../../src/auth/present";
import { token, webhookFlow } from "../harness/flow";
import { type Call, send } from "../harness/http";
import { inEveryLayout, layouts } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";

/** Has the form's button send a test request to a node. */
function tryNode(nodeRed: NodeRed, id: string, call: Call = {}) {
  return send(nodeRed.admin(`/webhook-trigger/${id}/test`), call);
}

/** A web server whose other app has all names but one, and tells what it gets; the editor is found by each. */
const besideAnotherApp = `
  app.use((request, response, next) => {
    if (request.headers.host === "nodered.example" || request.url.startsWith("/webhook-trigger/")) return next();
    let body = "";
    request.on("data", (chunk) => (body += chunk)).on("end", () => {
      console.log("the other app got " + JSON.stringify([request.url, request.rawHeaders, body]));
      response.json({ ok: true });
    });
  });
  app.use("/", RED.httpAdmin);
  app.use("/", RED.httpNode);
`;

/** Holds requests until the test lets them go, and tells the token. */
const holdingMiddleware = `
  httpNodeMiddleware: (request, response, next) => {
    if ("x-pass" in request.headers) return next();
    console.log("held " + request.headers.authorization.slice(7));
    process.send({ trace: "held" });
    process.on("message", ({ release }) => {
      if (!release) return;
      next();
      process.send({ trace: "let go" });
    });
  }
`;

function placementOf({ headerParameter = "Authorization", verificationMethod = "header" }: Record<string, string>) {
  return verificationMethod === "query"
    ? ({ method: "query", name: "state" } as const)
    : ({ method: "header", name: headerParameter } as const);
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
    { id: "answered", relativePath: "/answered", reply: "flow", wires: [["answer", "sink"]] },
    { id: "unanswered", relativePath: "/unanswered", reply: "flow", replyTimeout: 1 },
    { id: "own-body", relativePath: "/own-body", replyStatus: 202, replyBody: "thanks", replyType: "text/plain" },
    { id: "elsewhere", relativePath: "/elsewhere", z: "off" },
  ),
  { id: "off", type: "tab", label: "Off", disabled: true },
  { id: "answer", z: "tab", type: "http response", statusCode: "201", headers: {}, wires: [] },
];

inEveryLayout("a test request", { flow }, (nodeRed) => {
  for (const [id, outcome, status] of [
    ["answered", "answered", 201],
    ["unanswered", "unanswered", 504],
    ["own-body", "accepted", 200],
  ] as const) {
    it(`tells what the flow has answered, where it answers: ${id}`, async () => {
      const { json } = await tryNode(nodeRed(), id);
      should(json).containEql({ outcome, status });
      should((await nodeRed().message(json.id)).payload).equal("hello world");
    });
  }

  for (const id of ["by-header", "by-own-header", "by-query"]) {
    it(`starts the flow of the node ${id}`, async () => {
      const { status, json, body } = await tryNode(nodeRed(), id);
      status.should.equal(200);
      should(json).containEql({ outcome: "accepted", status: 200 });
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
    it(`tells ${JSON.stringify(result)} of the node ${id}`, async () => {
      const { status, json } = await tryNode(nodeRed(), id);
      status.should.equal(200);
      json.should.eql(result);
    });
  }

  it("comes twice at once, and both start the flow", async () => {
    const results = await Promise.all(["by-header", "by-header"].map((id) => tryNode(nodeRed(), id)));
    for (const { json } of results) json.should.containEql({ outcome: "accepted" });
  });

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
    ["that a middleware robs of its token", { code: "httpNodeMiddleware: (req, res, next) => { delete req.headers.authorization; next(); }" }, "webhook0", { outcome: "tokenRefused", status: 401 }],
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

  for (const fields of [{}, { headerParameter: "X-Token" }, { verificationMethod: "query" }]) {
    it(`that another app answers has no token for it: ${JSON.stringify(fields)}`, async () => {
      const nodeRed = await NodeRed.start({ host: besideAnotherApp, flow: webhookFlow(fields) });
      try {
        const { json } = await tryNode(nodeRed, "webhook0");
        json.should.eql({ outcome: "otherwise", status: 200 });
        const [, seen = ""] = await nodeRed.logged(/the other app got (.*)/);
        should(decodeURIComponent(seen)).not.containEql(token);
        // What it has got is worth nothing.
        const [testCredential = ""] = /[\w-]{40}/.exec(seen) ?? [];
        testCredential.should.not.equal("");
        const { headers, search } = present(placementOf(fields), testCredential);
        const late = await send(nodeRed.node(`/hook${search}`), { headers: { Host: "nodered.example", ...headers } });
        late.status.should.equal(401);
        nodeRed.messages.should.have.length(0);
      } finally {
        await nodeRed.stop();
      }
    });

    it(`comes to the host by whose name the editor was found: ${JSON.stringify(fields)}`, async () => {
      const nodeRed = await NodeRed.start({ host: besideAnotherApp, flow: webhookFlow(fields) });
      try {
        const { json } = await tryNode(nodeRed, "webhook0", { headers: { Host: "nodered.example" } });
        json.should.containEql({ outcome: "accepted" });
        await nodeRed.message(json.id);
        nodeRed.log.should.not.containEql("the other app got");
      } finally {
        await nodeRed.stop();
      }
    });
  }

  it("comes behind a router to where the editor was found", async () => {
    const host = `
      const router = express.Router();
      router.use(settings.httpAdminRoot, RED.httpAdmin);
      router.use(settings.httpNodeRoot, RED.httpNode);
      app.use("/red", router);
    `;
    for (const settings of Object.values(layouts)) {
      const roots = { httpAdminRoot: "/", httpNodeRoot: "/", ...settings };
      const nodeRed = await NodeRed.start({ host, settings: roots, flow: webhookFlow({}) });
      try {
        const admin = roots.httpAdminRoot.replace(/\/$/, "");
        const { json } = await send(`${nodeRed.origin}/red${admin}/webhook-trigger/webhook0/test`);
        json.should.containEql({ outcome: "accepted" });
        await nodeRed.message(json.id);
      } finally {
        await nodeRed.stop();
      }
    }
  });

  it("is served by the node that a deploy puts in the place of the one it was sent to, and its stand-in by one request", async () => {
    const nodeRed = await NodeRed.start({ code: holdingMiddleware, flow: webhookFlow({}) });
    try {
      const tried = tryNode(nodeRed, "webhook0");
      await nodeRed.told("held");
      await nodeRed.deploy(webhookFlow({}));
      const [, testCredential = ""] = await nodeRed.logged(/held (\S{40})/);
      await nodeRed.tell({ release: true }, "let go");
      (await tried).json.should.containEql({ outcome: "accepted" });
      const second = await send(nodeRed.node("/hook"), { headers: { Authorization: `Bearer ${testCredential}`, "X-Pass": "" } });
      second.status.should.equal(401);
    } finally {
      await nodeRed.stop();
    }
  });
}); // prettier-ignore
