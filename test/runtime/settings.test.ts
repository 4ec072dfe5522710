import should from "should";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { sqliteIsHere } from "../../src/config/stores";
import { settingsOf } from "../harness/fixtures";
import { bearer, tab, token, webhook, webhookFlow } from "../harness/flow";
import { command, send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";
import { temporaryFolder } from "../harness/package";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

const query = `state=${encodeURIComponent(token)}`;
const json = { "Content-Type": "application/json" };
const flow = tab(
  webhook("bearer", "/hook"),
  webhook("header", "/by-header", { headerParameter: "X-Token" }),
  webhook("query", "/by-query", { verificationMethod: "query" }),
  webhook("hasty", "/hasty"),
  ...["other-user", "user"].map((user, index) =>
    webhook(["other-user", "same-user"][index] ?? "", `/${user}`, {
      verificationMethod: "basic",
      credentials: { user, password: "pass" },
    }),
  ),
  { id: "theirs", type: "http in", method: "post", url: "/theirs", wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
);

describe("httpNodeAuth", () => {
  const pass = createHash("md5").update("pass").digest("hex");
  const nodeRed = useNodeRed({
    flow,
    settings: { ...roots.separate, httpNodeAuth: { user: "user", pass } },
  });
  const basic = { Authorization: `Basic ${Buffer.from("user:pass").toString("base64")}` };

  it("is the reason in the status of nodes that it leaves without their credential, and of no others", async () => {
    for (const [id, path] of [
      ["bearer", "/hook"],
      ["other-user", "/other-user"],
    ] as const) {
      const text = catalog.status.guarded.replace("__path__", path);
      should(await nodeRed().status(id, /httpNodeAuth/)).eql({ fill: "red", shape: "ring", text });
    }
    for (const id of ["header", "query", "same-user"]) {
      should(await nodeRed().status(id, /./)).containEql({ fill: "green" });
    }
  });

  it("comes before the token, does not replace it, and goes together with one in another header or in the query", async () => {
    for (const [path, headers, challenge] of [
      ["/by-header", { "X-Token": token }, "Basic"],
      ["/hook", bearer, "Basic"],
      ["/by-header", basic, "Bearer"],
    ] as const) {
      const reply = await send(nodeRed().node(path), { headers });
      reply.status.should.equal(401);
      should(reply.headers["www-authenticate"]).startWith(challenge);
    }
    const headers = { ...basic, "X-Token": token, ...json };
    const reply = await send(nodeRed().node("/by-header"), { headers, body: "[1]" });
    should((await nodeRed().message(reply.json.id)).payload).eql([1]);
    (await send(nodeRed().node(`/by-query?${query}`), { headers: basic })).status.should.equal(200);
  });
});

const invalid = (name: string, examples: string) =>
  catalog.settings.invalid.replace("__name__", name).replace("__examples__", examples);

const shop = "https://shop.example";

/** What Node-RED's `httpNodeCors` says of other origins is the same for `http in` and for the webhook trigger. */
function testOrigins(nodeRed: () => NodeRed, ...expected: [field: string, value: string][]): void {
  const accessControl = async (path: string, method: string, headers: Record<string, string>) => {
    const reply = await send(nodeRed().node(path), { method, headers });
    return Object.entries(reply.headers).filter(([field]) => field.startsWith("access-control-"));
  };

  // Node-RED 4 lets its admin app mark and answer whatever passes through it.
  it("allows other origins what http in allows them, and says of no other path that POST is allowed", async () => {
    const origin = { Origin: shop };
    const asked = { ...origin, "Access-Control-Request-Method": "POST" };
    should(await accessControl("/hook", "OPTIONS", asked)).eql(await accessControl("/theirs", "OPTIONS", asked));
    const ours = await accessControl("/hook", "POST", { ...origin, ...bearer });
    should(ours).eql(await accessControl("/theirs", "POST", origin));
    should(await accessControl("/hook", "POST", origin)).eql(ours);
    for (const field of expected) ours.should.containEql(field);
    const nobodys = await send(nodeRed().node("/nobodys"), { method: "OPTIONS" });
    should(nobodys.headers.allow ?? "").not.match(/POST/);
  });
}

describe("httpNodeMiddleware", () => {
  const guard = `(request.body.role === "admin" || /evil/.test(request.body.payload) ? response.sendStatus(403) : next())`;
  const logUrl = `response.on("finish", () => console.log("finished", request.originalUrl, request.url))`;
  const logBody = `response.on("finish", () => console.log("finished with", JSON.stringify(request.body)))`;
  const read = (body: string) =>
    `request.on("data", () => {}).on("end", () => { request.body = ${body}; request._body = true; next(); })`;
  const byQuery = { verificationMethod: "query", queryParameter: "state", methods: ["POST", "GET"] };
  const filter = { conditions: [{ place: "json:a", operator: "is", value: "2" }] };
  const duplicates = { ignoreDuplicates: true, duplicateKey: "json:a" };
  const nodeRed = useNodeRed({
    flow: tab(
      webhook("form", "/form"),
      webhook("plain", "/plain", byQuery),
      webhook("raw", "/raw", { ...byQuery, rawBody: true }),
      webhook("filtered", "/filtered", { ...byQuery, ...filter }),
      webhook("duplicate", "/duplicate", { ...byQuery, ...duplicates }),
      webhook("hook", "/hook"),
      { ...webhook("changed", "/changed"), wires: [["change"]] },
      { id: "change", type: "function", func: "msg.payload.self = msg; return null;", wires: [] },
    ),
    code: `httpNodeMiddleware: (request, response, next) => {
      if (request.path === "/form") return ${guard};
      if (/hook|changed/.test(request.path)) ${logBody}; else ${logUrl};
      if (request.query.read) ${read('{ by: "middleware" }')}; else if (request.query.eat) ${read("{}")}; else next();
    }`,
  });

  const postForm = (body: string) =>
    send(nodeRed().node("/form"), {
      headers: { ...bearer, "Content-Type": "application/x-www-form-urlencoded" },
      body,
    });

  it("that looks into forms sees what the flow would get, and changes nothing of it", async () => {
    const wrapped = (value: object) => `payload=${encodeURIComponent(JSON.stringify(value))}`;
    const refused = [
      "role=admin",
      '{"role":"admin"}',
      "role[a]=b&role=admin",
      "role=admin&role[a]=b",
      wrapped({ role: "admin" }),
    ];
    for (const body of refused) {
      should([body, (await postForm(body)).status]).eql([body, 403]);
    }
    for (const [body, payload] of [
      ["role=a]=b", { role: "a]=b" }],
      ["a[b]=1&a[]=2", { "a[b]": "1", "a[]": "2" }],
      ['{"role":["admin"]}', { role: ["admin"] }],
      ["role", "role"],
      [wrapped({ role: "user" }), { role: "user" }],
    ] as const) {
      const { json: reply } = await postForm(body);
      should((await nodeRed().message(reply.id)).payload).eql(payload);
    }
  });

  it("that looks into forms sees the field payload of a form as it is, whatever the JSON in it has", async () => {
    const body = `payload=${encodeURIComponent('{"payload":"{}","evil":true}')}`;
    should((await postForm(body)).status).equal(403);
  });

  const sent = encodeURIComponent(token);
  const call = (path: string, body: string, method = "POST", headers: Record<string, string> = json, more = "") =>
    send(nodeRed().node(`${path}?state=${sent}&of=${body.length}${more}`), {
      method,
      headers,
      ...(method === "POST" && { body }),
    });

  it("that logs the URL when the reply was sent finds no token there once the sender was verified, whatever the reply", async () => {
    (await call("/plain", '{"a":1}')).status.should.equal(200);
    (await call("/plain", '{"a":')).status.should.equal(400);
    (await call("/plain", "", "HEAD")).status.should.equal(204);
    (
      await call("/plain", "x", "POST", { "Content-Type": "text/plain", "Content-Encoding": "zstd" })
    ).status.should.equal(415);
    (await call("/raw", "{}", "POST", { "Content-Type": "text/plain" }, "&eat=1")).status.should.equal(500);
    should((await call("/filtered", '{"a":1}')).json).eql({ status: "filtered" });
    for (const status of ["accepted", "duplicate"])
      should((await call("/duplicate", '{"a":1}')).json.status).equal(status);
    await nodeRed().until(() => nodeRed().log.match(/finished .*of=/g)?.length === 8 || undefined, "eight requests");
    for (const each of [token, sent]) nodeRed().log.should.not.containEql(each);
  });

  const post = (path: string, headers: Record<string, string>) =>
    send(nodeRed().node(path), { headers: { ...bearer, ...headers }, body: '{"a":1}' });

  it("that looks at the body when the reply was sent finds what it has parsed itself", async () => {
    (await post("/hook?read=1", { "Content-Type": "text/plain" })).status.should.equal(200);
    await nodeRed().logged(/finished with {"by":"middleware"}/);
  });

  it("that looks at the body when the reply was sent finds what was sent, whatever the flow has done to it", async () => {
    (await post("/changed", json)).status.should.equal(200);
    await nodeRed().logged(/finished with {"a":1}/);
  });
});

describe("httpNodeMiddleware beside httpNodeCors", () => {
  const settings = { httpNodeCors: { origin: shop, methods: "POST" } };
  const nodeRed = useNodeRed({ flow, code: settingsOf("moody-middleware"), settings });
  testOrigins(nodeRed, ["access-control-allow-origin", shop]);

  const post = (path: string, headers: Record<string, string> = bearer) =>
    send(nodeRed().node(path), { headers, body: "x" });

  it("sees each request with its cookies before the token is checked, and lets it pass", async () => {
    (await post("/hook", { Cookie: "visitor=bob" })).status.should.equal(401);
    await nodeRed().logged(/middleware saw POST \S*\/hook bob/);
    const reply = await post("/hook");
    should((await nodeRed().message(reply.json.id)).payload).equal("x");
  });

  it("may refuse a request, and take its token away", async () => {
    const reply = await post("/hook?mood=no");
    should([reply.status, reply.body]).eql([403, "not today"]);
    (await post("/hook?mood=taking")).status.should.equal(401);
  });

  it("may fail, which is a 500 that says nothing, and a line in the log without the token", async () => {
    const reply = await post("/hook?mood=broken");
    should([reply.status, reply.headers["content-type"]]).eql([500, "application/problem+json"]);
    reply.body.should.not.match(/middleware|broken|\bat /);
    await nodeRed().logged(/\[error\] \[webhook-trigger:bearer\].*the middleware is broken/);
    (await post(`/by-query?mood=telling&${query}`, {})).status.should.equal(500);
    await nodeRed().logged(/\[error\] \[webhook-trigger:query\].*failed at \S*mood=telling/);
    for (const form of [token, encodeURIComponent(token)]) should(nodeRed().log.includes(form)).be.false();
  });

  it("must not read the body, which is a 500 whose reason is in the log", async () => {
    (await post("/by-header?mood=greedy", { "X-Token": token })).status.should.equal(500);
    await nodeRed().logged(/\[error\] \[webhook-trigger:header\].*has read the body before/);
  });

  it("may answer after it has called the next one, which makes no message", async () => {
    const before = nodeRed().messages.length;
    const reply = await post("/hasty?mood=hasty");
    should([reply.status, reply.body]).eql([503, "too slow"]);
    await nodeRed().logged(/\[error\] \[webhook-trigger:hasty\].*another middleware replied/);
    nodeRed().messages.length.should.equal(before);
  });
});

describe("httpNodeCors where Node-RED has no http in nodes", () => {
  const settings = { ...roots.separate, httpNodeCors: { methods: "POST" } };
  const nodeRed = useNodeRed({ flow: webhookFlow({}), settings, only: [] });

  it("answers a preflight request", async () => {
    const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
    const reply = await send(nodeRed().node("/hook"), { method: "OPTIONS", headers });
    should([reply.status, reply.headers["access-control-allow-methods"]]).eql([204, "POST"]);
  });
});

describe("apiMaxLength without httpNodeCors, beside settings from the environment,", () => {
  const folder = temporaryFolder("store");
  const env = {
    WEBHOOK_TRIGGER_STORE: `sqlite://${folder}`,
    WEBHOOK_TRIGGER_BASE_URL: "https://hooks.example",
    WEBHOOK_TRIGGER_DELIVERIES: '{"keep":5}',
    WEBHOOK_TRIGGER_MEMORY: "1mb",
  };
  const logging = { console: { level: "debug", metrics: true } };
  const settings = { ...roots.separate, disableEditor: false, apiMaxLength: "2kb", logging };
  const nodeRed = useNodeRed({ flow, settings, env });
  testOrigins(nodeRed);

  it("has settings from the environment in force, shown to the editor, and in the log at the start", async () => {
    (await send(nodeRed().node("/hook"), { headers: bearer, body: "x" })).status.should.equal(200);
    await until(
      () => readdirSync(folder).length > 0 === sqliteIsHere(),
      "the file of the store, where there can be one",
    );
    const { json: settings } = await send(nodeRed().admin("/settings"), { method: "GET" });
    settings.should.have.properties({
      webhookTriggerBaseUrl: "https://hooks.example",
      webhookTriggerRoots: { admin: "/admin/", node: "/api/" },
      webhookTriggerDeliveries: { keep: 5, bodies: true },
      webhookTriggerGuaranteed: sqliteIsHere() ? "file" : "none",
    });
    const given = [
      `WEBHOOK_TRIGGER_STORE={"type":"sqlite","folder":"${folder}"}`,
      "WEBHOOK_TRIGGER_BASE_URL=https://hooks.example",
      'WEBHOOK_TRIGGER_DELIVERIES={"keep":5}',
      "WEBHOOK_TRIGGER_MEMORY=1mb",
    ];
    should(settings.webhookTriggerGiven).eql(given);
    nodeRed().log.should.containEql(catalog.settings.given.replace("__settings__", given.join(", ")));
  });

  it("limits bodies, declared, counted or inflated", async () => {
    const post = async (more: Record<string, string>, body: Buffer) =>
      (await send(nodeRed().node("/hook"), { headers: { ...bearer, ...json, ...more }, body })).status;
    for (const [length, status] of [[2048, 200], [2049, 413]] as const) {
      const body = Buffer.from(`"${"x".repeat(length - 2)}"`);
      (await post({}, body)).should.equal(status);
      (await post({ "Transfer-Encoding": "chunked" }, body)).should.equal(status);
      (await post({ "Content-Encoding": "gzip" }, gzipSync(body))).should.equal(status);
    } // prettier-ignore
  });

  it("leaves metrics in the log as http in writes them", async () => {
    const reply = await send(nodeRed().node("/hook"), { headers: bearer });
    const metric = (event: string) =>
      new RegExp(`"event":"node.webhook-trigger.${event}","msgid":"${String(reply.json.id)}","value":([\\d.]+)`);
    Number((await nodeRed().logged(metric("response.time.millis")))[1]).should.be.above(0);
    const [, length] = await nodeRed().logged(metric("response.content-length.bytes"));
    should(length).equal(reply.headers["content-length"]);
  });
});

describe("httpNodeRoot that is false", () => {
  const once = { id: "once", type: "inject", once: true, onceDelay: 0, props: [{ p: "payload" }], payload: "runs", payloadType: "str" };
  const nodeRed = useNodeRed({ flow: tab(webhook("hook", "/hook"), once), settings: { httpNodeRoot: false } });

  it("keeps webhook triggers closed, which their status says, and runs the other nodes", async () => {
    should(await nodeRed().status("hook", /./)).eql({ fill: "red", shape: "ring", text: catalog.status.switchedOff });
    (await send(nodeRed().admin("/hook"), { headers: bearer })).status.should.equal(404);
    await nodeRed().until(() => nodeRed().messages.find(({ payload }) => payload === "runs"), "the inject node's message");
    (await command(nodeRed().admin("/webhook-trigger/hook/test"))).json.should.eql({ outcome: "switchedOff" });
  });
}); // prettier-ignore

describe("equal roots", () => {
  const nodeRed = useNodeRed({
    flow: tab(
      ...[webhook("flows", "/flows"), webhook("settings", "/Settings/user"), webhook("hook", "/hook")],
      webhook("kept", "/kept", { guaranteed: true }),
    ),
    settings: { httpAdminRoot: "/red", httpNodeRoot: "/red", webhookTriggerBaseUrl: "hooks.example.com" },
    env: { WEBHOOK_TRIGGER_STORE: "nonsense", WEBHOOK_TRIGGER_MEMORY: "32" },
  });

  it("have settings from the environment that are not valid in the log by the name that the user has set, with valid examples, and are not shown as in force", async () => {
    const examples = "sqlite:///data, redis://host:6379, rediss://host:6379";
    nodeRed().log.should.containEql(invalid("WEBHOOK_TRIGGER_STORE", examples));
    nodeRed().log.should.containEql(invalid("WEBHOOK_TRIGGER_MEMORY", "32mb"));
    nodeRed().log.should.not.containEql("nonsense");
    const { json: settings } = await send(nodeRed().admin("/settings"), { method: "GET" });
    should(settings.webhookTriggerGiven).eql([]);
    const text = catalog.rules.storeInvalid.replace("__value__", "WEBHOOK_TRIGGER_STORE");
    should(await nodeRed().status("kept", /./)).eql({ fill: "red", shape: "ring", text });
    (await send(nodeRed().node("/hook"), { headers: bearer })).status.should.equal(200);
  });

  it("have a webhookTriggerBaseUrl in the log that is no URL", () => {
    nodeRed().log.should.containEql(invalid("webhookTriggerBaseUrl", '"https://hooks.example.com"'));
  });

  it("leave the paths of the admin API to the editor", async () => {
    for (const id of ["flows", "settings"]) {
      const text = catalog.rules.relativePath.admin;
      should(await nodeRed().status(id, /./)).eql({ fill: "red", shape: "ring", text });
    }
    // Deploying goes through POST /flows.
    await nodeRed().deploy(webhookFlow({}));
  });

  it("below a path of their own take a body at the path, however it is written", async () => {
    for (const path of ["/red/hook", "/RED/hook/", "/red//hook"]) {
      const reply = await send(nodeRed().origin + path, { headers: { ...bearer, ...json }, body: " 1 " });
      should((await nodeRed().message(reply.json.id)).payload).equal(1);
    }
  });

  it("list a 404 at an unknown path as a refused request, but none of the admin API", async () => {
    const shown = new ShownDeliveries(nodeRed());
    (await shown.replay("none")).status.should.equal(404);
    (await send(nodeRed().node("/unknown"))).status.should.equal(404);
    await shown.find(({ path }) => path === "/red/unknown");
    const { deliveries } = await shown.page();
    deliveries.filter(({ path }) => path.includes("webhook-trigger")).should.eql([]);
  });
});
