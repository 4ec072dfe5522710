import should from "should";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { mostStrangers } from "../../src/waiting";
import { bearer, tab, token, webhook } from "../harness/flow";
import { dial, exchange, repliesIn, send } from "../harness/http";
import { type Flow, type Measure, NodeRed, type Options } from "../harness/node-red";

const flow: Flow = [
  ...tab(webhook("hook", "/hook", { wires: [["counter"]] }), webhook("other", "/other")),
  { id: "counter", type: "count", z: "tab", x: 0, y: 0, wires: [] },
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
];
const head = (path: string, ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n");
const authorised = `Authorization: Bearer ${token}`;

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
/** The most that it has on the heap in some rounds of its event loop, in bytes. */
const highestHeap = async (nodeRed: NodeRed) => {
  let highest = 0;
  for (let round = 0; round < 20; round++) highest = Math.max(highest, (await nodeRed.measure()).heap);
  return highest;
};
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

describe("requests that wait for a deploy", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start(options);
  });
  after(() => end(nodeRed));
  const port = () => Number(new URL(nodeRed.origin).port);

  it("keep their places from strangers, of whom only a few wait", async () => {
    const finish = await slowDeploy(nodeRed);
    const strangers = Array.from({ length: 1200 }, () =>
      exchange(nodeRed.origin, head("/other", "X-Trace: stranger", "Connection: close", "Content-Length: 1"), "x"),
    );
    await nodeRed.arrived("stranger", 1200);
    const reply = send(nodeRed.node("/other"), { headers: { ...bearer, "X-Trace": "right" }, body: "right" });
    await nodeRed.arrived("right");
    await finish();
    (await reply).status.should.equal(200);
    const statuses = (await Promise.all(strangers)).map((received) => repliesIn(received)[0]?.status);
    statuses.filter((status) => status === 401).should.have.length(mostStrangers);
    statuses.filter((status) => status === 503).should.have.length(1200 - mostStrangers);
  });

  for (const [who, fields, status] of [
    ["with the token", [authorised], 200],
    ["without it", [], 503],
  ] as const) {
    it(`hold nobody up when there are 20,000 of them ${who} on one connection`, async () => {
      const count = 20_000;
      const before = await nodeRed.measure();
      const finish = await slowDeploy(nodeRed);
      const socket = connect(port(), "127.0.0.1");
      let received = "";
      socket.on("error", () => undefined);
      socket.setEncoding("latin1").on("data", (text: string) => (received += text));
      socket.write(`${head("/hook", "Content-Length: 1", "X-Trace: first", ...fields)}x`);
      socket.write(`${head("/hook", "Content-Length: 1", ...fields)}x`.repeat(count - 1));
      await nodeRed.arrived("first");
      const beside = send(nodeRed.node("/other"), { headers: { ...bearer, "X-Trace": "beside" }, body: "right" });
      await nodeRed.arrived("beside");
      should(await highestHeap(nodeRed)).be.below(before.heap + 60_000_000);
      await finish();
      (await beside).status.should.equal(200);
      const statuses = () => Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, each]) => Number(each));
      while ((received.match(/HTTP\/1\.1 /g)?.length ?? 0) < count) await once(socket, "data");
      socket.destroy();
      should(statuses()[mostStrangers]).equal(status);
      const { counted } = await nodeRed.measure();
      should(counted - before.counted).equal(status === 200 ? count : 0);
    });
  }
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

describe("a reply that cannot be written", () => {
  it("neither ends Node-RED nor makes a message", async () => {
    const code = `httpNodeMiddleware: (request, response, next) => {
      if (request.headers["x-broken"]) response.setHeader("Trailer", "x");
      next();
    }`;
    const nodeRed = await NodeRed.start({ flow: tab(webhook("other", "/other")), code });
    try {
      const broken = { "X-Broken": "yes" };
      for (const headers of [broken, { ...broken, ...bearer }]) {
        (await send(nodeRed.node("/other"), { headers, body: "x" })).status.should.equal(500);
      }
      await nodeRed.logged(/\[error\] .*ERR_HTTP_TRAILER_INVALID/);
      const { json } = await send(nodeRed.node("/other"), { headers: bearer, body: "right" });
      await nodeRed.message(json.id);
      nodeRed.messages.should.have.length(1);
    } finally {
      await nodeRed.stop();
    }
  });
});
