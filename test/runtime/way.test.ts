import "should";
import { text } from "node:stream/consumers";
import { bearer, tab, token, webhook, webhookFlow } from "../harness/flow";
import { afterReply, dial, exchange, repliesIn, send } from "../harness/http";
import { behindGuards, layouts } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";

const goes = (way: string, why: string) => new RegExp(`webhook-trigger meets requests ${way}: .*${why}`);
const fast = goes("before Express", "nothing stands in front of it");
const ordinary = (why: string) => goes("among the HTTP nodes", why);

const separate = { settings: layouts["separate roots"] };
const guard = "function guard(req, res, next) { next(); }";
const account = "{ type: 'credentials', users: [], default: { permissions: '*' } }";
const mounts = "app.use(settings.httpAdminRoot, RED.httpAdmin); app.use(settings.httpNodeRoot, RED.httpNode);";
const inHost = (host: string): Options => ({ host, settings: { httpAdminRoot: "/", httpNodeRoot: "/" } });

/** Which way requests go is told at debug level, with what decides it. */
describe("the door", () => {
  const cases: [string, Options, RegExp][] = [
    ["equal roots", {}, fast],
    ["separate roots", separate, fast],
    ["HTTP nodes below the editor", { settings: { httpNodeRoot: "/endpoint" } }, fast],
    ["the editor below HTTP nodes", { settings: { httpAdminRoot: "/admin" } }, fast],
    ["users of the editor", { code: `adminAuth: ${account}` }, fast],
    ["no editor", { settings: { disableEditor: true } }, fast],
    ["httpNodeCors", { settings: { httpNodeCors: {} } }, fast],
    ["httpNodeAuth as a user and password", { ...separate, code: "httpNodeAuth: { user: 'u', pass: 'p' }" }, ordinary("httpNodeAuth")],
    ["httpNodeAuth as middleware", { ...separate, code: `httpNodeAuth: ${guard}` }, ordinary("httpNodeAuth")],
    ["httpNodeMiddleware", { code: `httpNodeMiddleware: ${guard}` }, ordinary("httpNodeMiddleware")],
    ["httpStatic", { code: "httpStatic: __dirname" }, ordinary("httpStatic")],
    ["requireHttps with separate roots", { settings: { ...separate.settings, requireHttps: true } }, fast],
    ["requireHttps with equal roots", { settings: { requireHttps: true } }, ordinary("requireHttps")],
    ["httpAdminMiddleware with equal roots", { code: `httpAdminMiddleware: ${guard}` }, ordinary("httpAdminMiddleware")],
    ["httpAdminMiddleware with separate roots", { ...separate, code: `httpAdminMiddleware: ${guard}` }, fast],
    ["a host application that does nothing else", inHost(mounts), fast],
    ["a guard in a host application", inHost(`app.use(${guard}); ${mounts}`), ordinary("guard stands in front of it")],
    ["a guard in the admin app", inHost(`RED.httpAdmin.use(${guard}); ${mounts}`), ordinary("guard stands in the admin app")],
    ["a guard among the nodes", inHost(`RED.httpNode.use(${guard}); ${mounts}`), ordinary("guard stands among the HTTP nodes")],
    ["another app in a host application", inHost(`app.use("/other", express()); ${mounts}`), ordinary("other apps")],
    ["another listener of the server", inHost(`server.on("request", () => {}); ${mounts}`), ordinary("not served by Node-RED alone")],
    ["a router that hides Node-RED", inHost(`const router = express.Router(); app.use(router); { const app = router; ${mounts} }`), ordinary("cannot be seen")],
  ]; // prettier-ignore

  for (const [name, options, way] of cases) {
    it(`with ${name}: ${way.source}`, async () => {
      const nodeRed = await NodeRed.start({ ...options, flow: webhookFlow({}) });
      try {
        await nodeRed.logged(way);
      } finally {
        await nodeRed.stop();
      }
    });
  }

  for (const [name, code, passes] of [
    ["past the admin app, when that is a plain one", "", false],
    ["through the admin app, when something in it may be a guard", `httpAdminMiddleware: ${guard},`, true],
  ] as const) {
    it(`leads requests that do not go the fast way ${name}`, async () => {
      const guards = `httpNodeAuth: ${guard}, httpNodeMiddleware: ${guard}`;
      const nodeRed = await NodeRed.start({ code: `${code} ${guards}`, flow: webhookFlow({}) });
      try {
        await nodeRed.logged(ordinary(""));
        await nodeRed.watchAdmin();
        (await send(nodeRed.node("/hook"), { headers: bearer })).status.should.equal(200);
        await send(nodeRed.admin("/settings"), { method: "GET" });
        (await nodeRed.passedAdmin("/settings")).includes("/hook").should.equal(passes);
      } finally {
        await nodeRed.stop();
      }
    });
  }

  it("looks again when something has changed", async () => {
    const nodeRed = await NodeRed.start({ ...separate, flow: webhookFlow({}) });
    try {
      await nodeRed.logged(fast);
      await nodeRed.addGuard();
      await nodeRed.deploy(webhookFlow({ relativePath: "/other" }));
      await nodeRed.logged(ordinary("guard"));
      (await send(nodeRed.node("/other?guarded"), { headers: bearer })).status.should.equal(403);
      (await send(nodeRed.node("/other"), { headers: bearer })).status.should.equal(200);
    } finally {
      await nodeRed.stop();
    }
  });

  it("has a request that waits for a deploy meet the guard that the deploy brings", async () => {
    const plugin = `module.exports = (RED) => RED.nodes.registerType("guarding", function (config) {
      RED.nodes.createNode(this, config);
      RED.httpNode.use((request, response, next) => ("x-evil" in request.headers ? response.sendStatus(403) : next()));
    });`;
    const slow = [{ id: "slow", type: "slow", wires: [] }, webhook("hook", "/hook", { wires: [["slow"]] })];
    const nodeRed = await NodeRed.start({ plugin, flow: tab(...slow) });
    try {
      const finish = await nodeRed.beginDeploy(tab({ id: "guarding", type: "guarding", wires: [] }, ...slow));
      const replies = [{ "X-Evil": "yes" }, {}].map((headers) =>
        send(nodeRed.node("/hook"), { headers: { ...bearer, ...headers, "X-Trace": "waiting" } }),
      );
      await nodeRed.arrived("waiting", 2);
      await finish();
      (await Promise.all(replies)).map(({ status }) => status).should.eql([403, 200]);
    } finally {
      await nodeRed.stop();
    }
  });

  const bringing = `module.exports = (RED) => RED.nodes.registerType("bringing", function ({ place }) {
    RED.nodes.createNode(this, {});
    const refuse = (response) => Object.assign(response, { statusCode: 403 }).end();
    const guard = (request, response, next) => ("x-evil" in request.headers ? refuse(response) : next());
    let on = RED[place] ?? RED.httpNode;
    while (!RED[place] && place !== "httpNode" && on.parent) on = on.parent;
    if (place === "exchanged") {
      const layer = on._router.stack.find(({ name }) => name === "query");
      const { handle } = layer;
      layer.handle = (request, response, next) => guard(request, response, () => handle(request, response, next));
    } else if (place === "server") {
      const [listener] = RED.server.listeners("request");
      RED.server.removeListener("request", listener);
      RED.server.on("request", (request, response) => guard(request, response, () => listener(request, response)));
    } else {
      on.use(guard);
    }
    if (place === "front") on._router.stack.unshift(on._router.stack.pop());
  });`;
  for (const [name, options, type] of [
    ["fast way", {}, "text/plain"],
    ["ordinary way", behindGuards, "text/plain"],
    ["ordinary way, where bodies are read for guards", behindGuards, "application/json"],
  ] as const) {
    describe(`on the ${name}, with a deploy that brings a guard`, () => {
      for (const [place, where] of [
        ["httpNode", "among the HTTP nodes"],
        ["httpAdmin", "in the admin app"],
        ["front", "in front of all"],
        ["exchanged", "for what a layer in front of all did"],
      ] as const) {
        it(`${where}, refuses a request whose body is on its way: it has not passed that guard`, async () => {
          const hook = webhook("hook", "/hook");
          const nodeRed = await NodeRed.start({ ...options, plugin: bringing, flow: tab(hook) });
          try {
            const socket = dial(nodeRed.origin);
            const received = text(socket);
            const fields = [
              `Authorization: Bearer ${token}`,
              "X-Trace: upload",
              "X-Evil: yes",
              `Content-Type: ${type}`,
            ];
            const head = ["POST /hook HTTP/1.1", "Host: x", "Connection: close", "Content-Length: 2", ...fields];
            socket.write([...head, "", "4"].join("\r\n"));
            await nodeRed.arrived("upload");
            await nodeRed.deploy(tab({ id: "bringing", type: "bringing", place, wires: [] }, hook));
            socket.write("2");
            const replies = repliesIn(await received).map(({ status }) => status);
            const headers = { ...bearer, "X-Evil": "yes" };
            (await send(nodeRed.node("/hook"), { headers, body: "evil" })).status.should.equal(403);
            const { json } = await send(nodeRed.node("/hook"), { headers: bearer, body: "next" });
            await nodeRed.message(json.id);
            nodeRed.messages.map(({ payload }) => payload).should.eql(["next"]);
            // What was read for guards goes on to those that come after that.
            replies.should.eql([type === "application/json" && place === "httpNode" ? 403 : 503]);
          } finally {
            await nodeRed.stop();
          }
        });
      }
    });
  }

  /** A guard that comes while a request waits, which goes on from where that is. */
  for (const [name, options, headers] of [
    ["among the HTTP nodes", {}, {}],
    ["in front of the body parsers", { code: "httpNodeMiddleware: (request, response, next) => next()" }, { "Content-Type": "application/json" }],
    ["among the HTTP nodes of separate roots", separate, {}],
  ] as const) {
    for (const [what, place] of [
      ["puts in front of all", "front"],
      ["exchanges for what a layer in front of all did", "exchanged"],
      ["puts into the server", "server"],
    ] as const) {
      it(`has a request that waits ${name} pass by no guard that a deploy ${what}`, async () => {
        const slow = [{ id: "slow", type: "slow", wires: [] }, webhook("hook", "/hook", { wires: [["slow"]] })];
        const nodeRed = await NodeRed.start({ ...options, plugin: bringing, flow: tab(...slow) });
        try {
          const finish = await nodeRed.beginDeploy(tab({ id: "bringing", type: "bringing", place, wires: [] }, ...slow));
          const fields = { ...bearer, ...headers, "X-Evil": "yes", "X-Trace": "waiting" };
          const reply = send(nodeRed.node("/hook"), { headers: fields, body: '"evil"' });
          await nodeRed.arrived("waiting");
          await finish();
          (await reply).status.should.equal(503);
          (await send(nodeRed.node("/hook"), { headers: fields })).status.should.equal(403);
          const { json } = await send(nodeRed.node("/hook"), { headers: bearer, body: "next" });
          await nodeRed.message(json.id);
          nodeRed.messages.map(({ payload }) => payload).should.eql(["next"]);
        } finally {
          await nodeRed.stop();
        }
      });
    }
  } // prettier-ignore

  it("lets no request that has waited for its turn on a connection pass by a guard that has come meanwhile", async () => {
    const plugin = `${bringing}
      const bring = module.exports;
      module.exports = (RED) => {
        bring(RED);
        let held;
        RED.httpNode.get("/slow", (request, response) => { held = response; process.send({ trace: "held" }); });
        RED.httpNode.get("/release", (request, response) => { held.end(); response.end(); });
      };`;
    const hook = webhook("hook", "/hook");
    const nodeRed = await NodeRed.start({ plugin, flow: tab(hook) });
    try {
      const socket = dial(nodeRed.origin);
      const received = text(socket);
      const fields = [`Authorization: Bearer ${token}`, "X-Trace: second", "X-Evil: yes", "Content-Length: 2"];
      socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
      socket.write(["POST /hook HTTP/1.1", "Host: x", "Connection: close", ...fields, "", "ok"].join("\r\n"));
      await nodeRed.told("held");
      await nodeRed.arrived("second");
      await nodeRed.deploy(tab({ id: "bringing", type: "bringing", place: "httpNode", wires: [] }, hook));
      await send(nodeRed.node("/release"), { method: "GET" });
      repliesIn(await received)
        .map(({ status }) => status)
        .should.eql([200, 503]);
      const { json } = await send(nodeRed.node("/hook"), { headers: bearer, body: "next" });
      await nodeRed.message(json.id);
      nodeRed.messages.map(({ payload }) => payload).should.eql(["next"]);
    } finally {
      await nodeRed.stop();
    }
  });

  describe("where something stands between the server and its listener", () => {
    const between = `{ const { emit } = server; server.emit = function (event, request, response) {
      const goOn = () => emit.apply(this, arguments);
      if (event !== "request") return goOn();
      const ways = {
        redirects: () => { request.url = "/elsewhere"; goOn(); },
        hesitates: () => setImmediate(goOn),
        takes: () => request.resume().on("end", () => response.end("taken")),
        refuses: () => Object.assign(response, { statusCode: 403 }).end(),
      };
      (ways[request.headers["x-between"]] ?? goOn)();
      return true;
    }; }`;
    const elsewhere = { id: "elsewhere", type: "http in", method: "post", url: "/elsewhere", wires: [["answer"]] };
    const answer = { id: "answer", type: "http response", statusCode: "202", headers: {}, wires: [] };
    let nodeRed: NodeRed;
    before(async () => {
      const flow = tab(elsewhere, webhook("hook", "/hook"), answer);
      nodeRed = await NodeRed.start({ ...inHost(`${mounts} ${between}`), flow });
      await nodeRed.logged(fast);
    });
    after(() => nodeRed.stop());

    // Who is told has to send its body before it gets an answer.
    for (const [way, statuses, fields] of [
      ["passes on", [100, 200], [`Authorization: Bearer ${token}`]],
      ["passes on", [401], []],
      ["redirects", [100, 202], []],
      ["hesitates", [100, 200], [`Authorization: Bearer ${token}`]],
      ["takes", [100, 200], []],
      ["refuses", [403], []],
    ] as const) {
      it(`and ${way}: a caller that waits to be told to send its body finds ${statuses.join(", ")}`, async () => {
        const all = ["Connection: close", "Expect: 100-continue", "Content-Length: 2", `X-Between: ${way}`, ...fields];
        const head = ["POST /hook HTTP/1.1", "Host: x", ...all, "", ""].join("\r\n");
        const received = await exchange(nodeRed.origin, head, afterReply, "ok");
        repliesIn(received).map(({ status }) => status).should.eql(statuses); // prettier-ignore
      });
    }
  });

  it("lets no request pass a guard while paths are being deployed", async () => {
    const refuse = "app.use(/^\\/api\\/hook.*/i, (req, res) => res.sendStatus(403));";
    const nodeRed = await NodeRed.start({ host: `${refuse} ${mounts}`, settings: separate.settings, flow: [] });
    try {
      for (let count = 0; count < 20; count++) {
        const deployed = nodeRed.deploy(webhookFlow({ relativePath: `/hook${count}` }));
        const [reply] = await Promise.all([send(nodeRed.node(`/hook${count}`), { headers: bearer }), deployed]);
        reply.status.should.equal(403);
      }
      nodeRed.messages.should.have.length(0);
    } finally {
      await nodeRed.stop();
    }
  });
});
