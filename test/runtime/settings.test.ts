import should from "should";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { gzipSync } from "node:zlib";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { bearer, tab, token, webhook, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { inEveryLayout, layouts } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";

const query = `state=${encodeURIComponent(token)}`;
const flow = tab(
  webhook("bearer", "/hook"),
  webhook("header", "/by-header", { headerParameter: "X-Token" }),
  webhook("query", "/by-query", { verificationMethod: "query" }),
  webhook("hasty", "/hasty"),
);

inEveryLayout(
  "httpNodeAuth",
  { code: "httpNodeAuth: { user: 'user', pass: require('crypto').createHash('md5').update('pass').digest('hex') }" },
  (nodeRed) => {
    const basic = { Authorization: `Basic ${Buffer.from("user:pass").toString("base64")}` };
    before(() => nodeRed().deploy(flow));

    it("comes before the token", async () => {
      const reply = await send(nodeRed().node("/by-header"), { headers: { "X-Token": token } });
      reply.status.should.equal(401);
      should(reply.headers["www-authenticate"]).startWith("Basic");
      (await send(nodeRed().node("/hook"), { headers: bearer })).headers.should.have.property(
        "www-authenticate",
        reply.headers["www-authenticate"],
      );
    });
    it("does not replace the token", async () => {
      const reply = await send(nodeRed().node("/by-header"), { headers: basic });
      reply.status.should.equal(401);
      should(reply.headers["www-authenticate"]).startWith("Bearer");
    });
    it("goes together with a token in another header or in the query", async () => {
      const headers = { ...basic, "X-Token": token, "Content-Type": "application/json" };
      const reply = await send(nodeRed().node("/by-header"), { headers, body: "[1]" });
      should((await nodeRed().message(reply.json.id)).payload).eql([1]);
      (await send(nodeRed().node(`/by-query?${query}`), { headers: basic })).status.should.equal(200);
    });
  },
);

describe("a guard that looks into forms", () => {
  const guard = `(request, response, next) => (request.body.role === "admin" ? response.sendStatus(403) : next())`;
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start({ code: `httpNodeMiddleware: ${guard}`, flow });
  });
  after(() => nodeRed.stop());
  const post = (body: string) =>
    send(nodeRed.node("/hook"), { headers: { ...bearer, "Content-Type": "application/x-www-form-urlencoded" }, body });

  for (const body of ["role=admin", '{"role":"admin"}', "role[a]=b&role=admin", "role=admin&role[a]=b"]) {
    it(`sees what the flow would get: ${body}`, async () => {
      (await post(body)).status.should.equal(403);
    });
  }

  for (const [body, payload] of [
    ["role=a]=b", { role: "a]=b" }],
    ["a[b]=1&a[]=2", { "a[b]": "1", "a[]": "2" }],
    ['{"role":["admin"]}', { role: ["admin"] }],
    ["[1]", [1]],
    ["role", "role"],
  ] as const) {
    it(`leaves the flow what it gets without one: ${body}`, async () => {
      const { json } = await post(body);
      should((await nodeRed.message(json.id)).payload).eql(payload);
    });
  }
});

inEveryLayout(
  "httpNodeMiddleware",
  {
    code: `httpNodeMiddleware: [
      (req, res, next) => { console.log("middleware saw", req.method, req.path, req.cookies.visitor); next(); },
      (req, res, next) => {
        if (req.query.mood === "no") res.status(403).send("not today");
        else if (req.query.mood === "telling") next(new Error("failed at " + req.url));
        else if (req.query.mood === "broken") next(new Error("the middleware is broken"));
        else if (req.query.mood === "taking") { delete req.headers.authorization; next(); }
        else if (req.query.mood === "greedy") req.resume().on("end", next);
        else if (req.query.mood === "hasty") { next(); res.status(503).send("too slow"); }
        else next();
      },
    ]`,
  },
  (nodeRed) => {
    before(() => nodeRed().deploy(flow));

    it("sees each request, with its cookies, before the token is checked", async () => {
      const reply = await send(nodeRed().node("/hook"), { headers: { Cookie: "visitor=bob" }, body: "x" });
      reply.status.should.equal(401);
      await nodeRed().logged(/middleware saw POST \S*\/hook bob/);
    });
    it("may refuse a request", async () => {
      const reply = await send(nodeRed().node("/hook?mood=no"), { headers: bearer });
      [reply.status, reply.body].should.eql([403, "not today"]);
    });
    it("may take the token away", async () => {
      (await send(nodeRed().node("/hook?mood=taking"), { headers: bearer, body: "x" })).status.should.equal(401);
    });
    it("may fail: the caller gets a 500 that says nothing, the node logs the error", async () => {
      const reply = await send(nodeRed().node("/hook?mood=broken"), { headers: bearer });
      reply.status.should.equal(500);
      reply.headers.should.have.property("content-type", "application/problem+json");
      reply.body.should.not.match(/middleware|broken|\bat /);
      await nodeRed().logged(/\[error\] \[webhook-trigger:bearer\].*the middleware is broken/);
    });
    it("must not read the body: the caller gets a 500, the node says why", async () => {
      const reply = await send(nodeRed().node("/by-header?mood=greedy"), { headers: { "X-Token": token }, body: "x" });
      reply.status.should.equal(500);
      await nodeRed().logged(/\[error\] \[webhook-trigger:header\].*has read the body before/);
    });
    it("may answer by itself after all: then there is no message", async () => {
      const before = nodeRed().messages.length;
      const reply = await send(nodeRed().node("/hasty?mood=hasty"), { headers: bearer, body: "x" });
      [reply.status, reply.body].should.eql([503, "too slow"]);
      await nodeRed().logged(/\[error\] \[webhook-trigger:hasty\].*another middleware replied/);
      nodeRed().messages.length.should.equal(before);
    });
    it("must not put the token into the log with an error of its own", async () => {
      const reply = await send(nodeRed().node(`/by-query?mood=telling&${query}`), { body: "x" });
      reply.status.should.equal(500);
      await nodeRed().logged(/\[error\] \[webhook-trigger:query\].*failed at \S*mood=telling/);
      for (const form of [token, encodeURIComponent(token)]) should(nodeRed().log.includes(form)).be.false();
    });
    it("lets all else pass", async () => {
      const reply = await send(nodeRed().node("/hook"), { headers: bearer, body: "x" });
      should((await nodeRed().message(reply.json.id)).payload).equal("x");
    });
  },
);

for (const [name, settings] of Object.entries({
  "httpNodeCors set": { httpNodeCors: { origin: "https://shop.example", methods: "POST" } },
  "httpNodeCors unset": {},
})) {
  inEveryLayout(name, { settings }, (nodeRed) => {
    const theirs = [
      { id: "theirs", type: "http in", method: "post", url: "/theirs", wires: [["answer"]] },
      { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
    ];
    const accessControl = async (path: string, method: string, headers: Record<string, string>) => {
      const reply = await send(nodeRed().node(path), { method, headers });
      return Object.entries(reply.headers).filter(([field]) => field.startsWith("access-control-"));
    };
    before(() => nodeRed().deploy([...flow, ...tab(...theirs).slice(1, -1)]));

    it("tells nobody that POST is allowed where there is no endpoint", async () => {
      const reply = await send(nodeRed().node("/nobodys"), { method: "OPTIONS" });
      should(reply.headers.allow ?? "").not.match(/POST/);
    });

    // Node-RED 4 lets its admin app mark and answer whatever passes through it.
    it("allows other origins what http in allows them", async () => {
      const origin = { Origin: "https://shop.example" };
      const asked = { ...origin, "Access-Control-Request-Method": "POST" };
      should(await accessControl("/hook", "OPTIONS", asked)).eql(await accessControl("/theirs", "OPTIONS", asked));
      const ours = await accessControl("/hook", "POST", { ...origin, ...bearer });
      should(ours).eql(await accessControl("/theirs", "POST", origin));
      should(await accessControl("/hook", "POST", origin)).eql(ours);
      if ("httpNodeCors" in settings) ours.should.containEql(["access-control-allow-origin", "https://shop.example"]);
    });
  });
}

describe("httpNodeCors", () => {
  it("answers a preflight request even where Node-RED has no http in nodes", async () => {
    const nodeRed = await NodeRed.start({
      flow: webhookFlow({}),
      settings: { ...layouts["separate roots"], httpNodeCors: { methods: "POST" } },
      only: [],
    });
    try {
      const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
      const reply = await send(nodeRed.node("/hook"), { method: "OPTIONS", headers });
      reply.status.should.equal(204);
      reply.headers.should.have.property("access-control-allow-methods", "POST");
    } finally {
      await nodeRed.stop();
    }
  });
});

inEveryLayout(
  "httpNodeMiddleware that is none",
  { settings: { httpNodeMiddleware: { not: "a function" } } },
  (nodeRed) => {
    it("is ignored, as http in leaves it", async () => {
      await nodeRed().deploy(flow);
      (await send(nodeRed().node("/hook"), { headers: bearer })).status.should.equal(200);
    });
  },
);

describe("equal roots below a path of their own", () => {
  it("are no obstacle for bodies, however the path is written", async () => {
    const nodeRed = await NodeRed.start({ flow, settings: { httpAdminRoot: "/red", httpNodeRoot: "/red" } });
    try {
      for (const path of ["/red/hook", "/RED/hook/", "/red//hook"]) {
        const headers = { ...bearer, "Content-Type": "application/json" };
        const reply = await send(nodeRed.origin + path, { headers, body: " 1 " });
        should((await nodeRed.message(reply.json.id)).payload).equal(1);
      }
    } finally {
      await nodeRed.stop();
    }
  });
});

inEveryLayout("apiMaxLength", { flow, settings: { apiMaxLength: "2kb" } }, (nodeRed) => {
  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "image/png"]) {
    it(`limits bodies of type ${type}, declared, counted or inflated`, async () => {
      const status = async (length: number, headers: Record<string, string>, gzip = false) => {
        const body = Buffer.from(`"${"x".repeat(length - 2)}"`);
        const reply = await send(nodeRed().node("/hook"), {
          headers: { ...bearer, "Content-Type": type, ...headers },
          body: gzip ? gzipSync(body) : body,
        });
        return reply.status;
      };
      for (const [length, expected] of [
        [2048, 200],
        [2049, 413],
      ] as const) {
        (await status(length, {})).should.equal(expected);
        (await status(length, { "Transfer-Encoding": "chunked" })).should.equal(expected);
        (await status(length, { "Content-Encoding": "gzip" }, true)).should.equal(expected);
      }
    });
  }
});

inEveryLayout("trust proxy", { settings: { httpServerOptions: { "trust proxy": true } } }, (nodeRed) => {
  it("lets the message have the address that the proxy tells", async () => {
    await nodeRed().deploy(flow);
    const headers = { ...bearer, "X-Forwarded-For": "192.0.2.7" };
    const reply = await send(nodeRed().node("/hook"), { headers });
    (await nodeRed().message(reply.json.id)).req.should.have.property("ip", "192.0.2.7");
  });
});

inEveryLayout("metrics", {}, (nodeRed) => {
  it("are logged as http in logs them", async () => {
    await nodeRed().deploy(flow);
    const reply = await send(nodeRed().node("/hook"), { headers: bearer });
    const metric = (event: string) =>
      new RegExp(`"event":"node.webhook-trigger.${event}","msgid":"${String(reply.json.id)}","value":([\\d.]+)`);
    Number((await nodeRed().logged(metric("response.time.millis")))[1]).should.be.above(0);
    const [, length] = await nodeRed().logged(metric("response.content-length.bytes"));
    should(length).equal(reply.headers["content-length"]);
  });
});

describe("httpNodeRoot: false", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start({ settings: { httpNodeRoot: false } });
    await nodeRed.deploy([
      ...webhookFlow({}),
      { id: "once", type: "inject", z: "tab", x: 9, y: 9, once: true, onceDelay: 0, props: [{ p: "payload" }], payload: "runs", payloadType: "str", repeat: "", crontab: "", wires: [["sink"]] },
    ]); // prettier-ignore
  });
  after(() => nodeRed.stop());

  it("opens nothing, and the status says so", async () => {
    should(await nodeRed.status("webhook0", /./)).eql({ fill: "red", shape: "ring", text: catalog.status.switchedOff });
    (await send(nodeRed.admin("/hook"), { headers: bearer })).status.should.equal(404);
  });
  it("lets the other nodes run", async () => {
    await nodeRed.until(() => nodeRed.messages.find(({ payload }) => payload === "runs"), "the inject node's message");
  });
});

describe("httpAdminRoot: false", () => {
  it("leaves the webhooks at work", async () => {
    const nodeRed = await NodeRed.start({
      flow: webhookFlow({ relativePath: "/flows" }),
      settings: { httpAdminRoot: false },
    });
    try {
      const headers = { ...bearer, "Content-Type": "application/json" };
      const reply = await send(`${nodeRed.origin}/flows`, { headers, body: "[1]" });
      should((await nodeRed.message(reply.json.id)).payload).eql([1]);
    } finally {
      await nodeRed.stop();
    }
  });
});

describe("equal roots", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start();
    await nodeRed.deploy(webhookFlow({ relativePath: "/flows" }, { relativePath: "/Settings/user" }, {}));
  });
  after(() => nodeRed.stop());

  it("leave the paths of the admin API to the editor", async () => {
    for (const id of ["webhook0", "webhook1"]) {
      const text = catalog.rules.relativePath.admin;
      should(await nodeRed.status(id, /./)).eql({ fill: "red", shape: "ring", text });
    }
    // Deploying goes through POST /flows.
    await nodeRed.deploy(webhookFlow({}));
    (await send(nodeRed.node("/hook"), { headers: bearer })).status.should.equal(200);
  });

  it("do not list a 404 of the admin API as a request that missed its endpoint", async () => {
    const shown = new ShownDeliveries(nodeRed);
    (await shown.replay("none")).status.should.equal(404);
    (await send(nodeRed.node("/unknown"))).status.should.equal(404);
    await shown.find(({ path }) => path === "/unknown");
    const { deliveries } = await shown.page();
    deliveries.filter(({ path }) => path.includes("webhook-trigger")).should.eql([]);
  });
});
