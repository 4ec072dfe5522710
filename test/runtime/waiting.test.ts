import should from "should";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { bearer, tab, webhook, webhookFlow } from "../harness/flow";
import { dial, repliesIn, send } from "../harness/http";
import { layouts } from "../harness/layouts";
import { type Flow, type Measure, NodeRed, type Options } from "../harness/node-red";

const flow: Flow = [
  ...tab(webhook("hook", "/hook", { wires: [["counter"]] }), webhook("other", "/other")),
  { id: "counter", type: "count", z: "tab", x: 0, y: 0, wires: [] },
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
];
const head = (path: string, ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n");

/** So little memory that it ends when bodies wait decoded. */
const options: Options = {
  flow,
  settings: { logging: { console: { level: "info" } }, runtimeState: { enabled: true } },
  plugin: `module.exports = () => process.on("message", async ({ unpack, times }) => {
    if (!unpack) return;
    const gunzip = require("node:util").promisify(require("node:zlib").gunzip);
    for (let time = 0; time < times; time++) JSON.parse(await gunzip(unpack));
    process.send({ trace: "unpacked" });
  });`,
  env: { NODE_OPTIONS: "--max-old-space-size=400 --expose-gc" },
};
let changes = 0;
/** Begins a deploy that takes as long as the test wants. */
const slowDeploy = (nodeRed: NodeRed) =>
  nodeRed.beginDeploy(
    flow.map(({ credentials, ...node }) => (node.id === "slow" ? { ...node, name: `${++changes}` } : node)),
  );
/** Ends a Node-RED, which would wait long for the slow node. */
const end = async (nodeRed: NodeRed) => {
  await (
    await nodeRed.beginDeploy([])
  )();
  await nodeRed.stop();
};

for (const [where, code] of [
  ["", ""],
  [", with guards that look into them", "httpNodeMiddleware: (request, response, next) => next(request.body.evil)"],
] as const) {
  describe(`bodies that wait for a deploy${where}`, () => {
    let nodeRed: NodeRed;
    before(async () => {
      nodeRed = await NodeRed.start({ ...options, code });
    });
    after(() => end(nodeRed));

    const body = gzipSync(`[${"[],".repeat(1_700_000)}0]`);
    const bombs = 8;
    /** Opens connections that send the beginnings of as many bodies. */
    const begin = async (length: number) => {
      const headers = { ...bearer, "Content-Type": "application/json", "Content-Encoding": "gzip", "X-Trace": "bomb" };
      const fields = Object.entries({ ...headers, "Content-Length": body.length, Connection: "close" });
      const sockets = Array.from({ length: bombs }, () => {
        const socket = dial(nodeRed.origin);
        socket.write(head("/hook", ...fields.map(([name, value]) => `${name}: ${value}`)));
        socket.write(body.subarray(0, length));
        return socket;
      });
      await nodeRed.arrived("bomb", bombs);
      return sockets;
    };
    /** What is on the heap when there was the time to unpack some of them, in bytes. */
    const heapInTime = async () => {
      await nodeRed.tell({ unpack: body, times: 5 }, "unpacked");
      return (await nodeRed.measure()).heap;
    };
    const statusesOf = (sockets: Socket[]) =>
      Promise.all(sockets.map(async (socket) => repliesIn(await text(socket)).map(({ status }) => status)));

    it("have little to wait with: 22 kB that unpack to 5 MB of JSON", () => {
      should(body.length).be.below(22_000);
    });

    it("wait as they were sent when they are on their way as it begins", async () => {
      const sockets = await begin(100);
      const before = await nodeRed.measure();
      const finish = await slowDeploy(nodeRed);
      for (const socket of sockets) socket.write(body.subarray(100));
      for (let read = 0; read < bombs; read++) await nodeRed.read("bomb");
      should(await heapInTime()).be.below(before.heap + 30_000_000);
      const statuses = statusesOf(sockets);
      await finish();
      (await statuses).should.eql(sockets.map(() => [200]));
      should(await countedSince(before)).equal(bombs);
    });

    it("wait as they were sent when they come while the flows are stopped", async () => {
      const before = await nodeRed.measure();
      await (
        await beginStop()
      )();
      const sockets = await begin(body.length);
      should(await heapInTime()).be.below(before.heap + 30_000_000);
      const statuses = statusesOf(sockets);
      await nodeRed.setState("start");
      (await statuses).should.eql(sockets.map(() => [200]));
      should(await countedSince(before)).equal(bombs);
    });

    /** How many have become messages, when all that were accepted have. */
    const countedSince = async ({ counted }: Measure) => {
      for (;;) {
        const now = (await nodeRed.measure()).counted - counted;
        if (now >= bombs) return now;
      }
    };
    /** Begins to stop the flows, and waits until the slow node is closing. */
    const beginStop = async () => {
      const stopped = nodeRed.setState("stop");
      await nodeRed.closing();
      return async () => {
        nodeRed.letClose();
        await stopped;
      };
    };
  });
}

describe("guards and deploys", () => {
  const mounts = "app.use(settings.httpAdminRoot, RED.httpAdmin); app.use(settings.httpNodeRoot, RED.httpNode);";

  it("a request that waits for a deploy meets the guard that the deploy brings", async () => {
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

  it("no request gets past a guard while paths are being deployed", async () => {
    const refuse = "app.use(/^\\/api\\/hook.*/i, (req, res) => res.sendStatus(403));";
    const nodeRed = await NodeRed.start({ host: `${refuse} ${mounts}`, settings: layouts["separate roots"], flow: [] });
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

describe("paths", () => {
  const [one, other] = [webhook("one", "/one"), webhook("other", "/other")];
  let nodeRed: NodeRed;
  before(async () => {
    const settings = { runtimeState: { enabled: true } };
    nodeRed = await NodeRed.start({ flow: tab(one, other), settings, env: { HOOK_PATH: "/by-env" } });
  });
  after(() => nodeRed.stop());
  const post = (path: string, trace = "x") =>
    send(nodeRed.node(path), { headers: { ...bearer, "X-Trace": trace }, body: "x" });

  it("can be swapped by two nodes without a warning of either", async () => {
    const swapped = [
      { ...one, relativePath: "/other" },
      { ...other, relativePath: "/one" },
    ];
    for (const kind of ["full", "nodes"] as const) {
      await nodeRed.deploy(tab(...(kind === "full" ? swapped : [one, other])), kind);
      (await post(kind === "full" ? "/one" : "/other")).status.should.equal(200);
    }
    nodeRed.log.should.not.match(/\[warn\] \[webhook-trigger/);
  });

  it("of flows that are deployed while they are stopped are known: requests wait for the start", async () => {
    await nodeRed.setState("stop");
    (await post("/new")).status.should.equal(404);
    const env = [{ name: "TAB_PATH", type: "str", value: "/by-tab" }];
    const [page, ...nodes] = tab(
      webhook("new", "/New"), webhook("by-env", "${HOOK_PATH}"), webhook("by-tab", "${TAB_PATH}"),
      webhook("disabled", "/disabled", { d: true }),
    ); // prettier-ignore
    const response = await fetch(nodeRed.admin("/flows"), {
      method: "POST",
      headers: { "Content-Type": "application/json", "Node-RED-API-Version": "v2" },
      body: JSON.stringify({ flows: [{ ...page, env }, ...nodes] }),
    });
    response.ok.should.be.true();
    (await post("/disabled")).status.should.equal(404);
    const replies = ["/new", "/by-env/", "/by-tab"].map((path) => post(path, "stopped"));
    await nodeRed.arrived("stopped", 3);
    await nodeRed.setState("start");
    for (const reply of replies) (await reply).status.should.equal(200);
    (await post("/disabled")).status.should.equal(404);
  });

  it("are known where the flows never start, as with a missing node", async () => {
    const lame = await NodeRed.start({ flow: tab(one, { id: "missing", type: "no-such-node" }) }, false);
    try {
      await lame.logged(/Waiting for missing types/);
      await lame.putClockForward();
      const { status, headers } = await send(`${lame.origin}/one`, { headers: bearer, body: "x" });
      status.should.equal(503);
      headers.should.have.property("retry-after", "10");
      (await send(`${lame.origin}/two`, { headers: bearer, body: "x" })).status.should.equal(404);
    } finally {
      await lame.stop();
    }
  });
});
