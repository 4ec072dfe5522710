import should from "should";
import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { mostStrangers } from "../../src/waiting";
import { bearer, tab, token, webhook } from "../harness/flow";
import { exchange, repliesIn, send } from "../harness/http";
import { type Flow, NodeRed } from "../harness/node-red";

const flow: Flow = [
  ...tab(webhook("hook", "/hook", { wires: [["counter"]] }), webhook("other", "/other")),
  { id: "counter", type: "count", z: "tab", x: 0, y: 0, wires: [] },
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
];
const head = (path: string, ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n");
const authorised = `Authorization: Bearer ${token}`;

describe("requests that wait for a deploy", () => {
  let nodeRed: NodeRed;
  before(async () => {
    // So little memory that it ends when bodies wait decoded.
    const settings = { logging: { console: { level: "info" } } };
    nodeRed = await NodeRed.start({ flow, settings, env: { NODE_OPTIONS: "--max-old-space-size=400 --expose-gc" } });
  });
  after(async () => {
    // It would wait long for the slow node.
    await (
      await nodeRed.beginDeploy([])
    )();
    await nodeRed.stop();
  });
  const port = () => Number(new URL(nodeRed.origin).port);
  /** The most that it has on the heap in some rounds of its event loop, in bytes. */
  const highestHeap = async () => {
    let highest = 0;
    for (let round = 0; round < 20; round++) highest = Math.max(highest, (await nodeRed.measure()).heap);
    return highest;
  };
  let changes = 0;
  const slowDeploy = () =>
    nodeRed.beginDeploy(
      flow.map(({ credentials, ...node }) => (node.id === "slow" ? { ...node, name: `${++changes}` } : node)),
    );

  it("wait as they were sent: twenty bodies of 22 kB that unpack to 5 MB of JSON", async () => {
    const body = gzipSync(`[${"[],".repeat(1_700_000)}0]`);
    should(body.length).be.below(22_000);
    const headers = { ...bearer, "Content-Type": "application/json", "Content-Encoding": "gzip", "X-Trace": "bomb" };
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(port(), "127.0.0.1");
      const fields = Object.entries({ ...headers, "Content-Length": body.length, Connection: "close" });
      socket.write(head("/hook", ...fields.map(([name, value]) => `${name}: ${value}`)));
      socket.write(body.subarray(0, 100));
      return socket;
    });
    await nodeRed.arrived("bomb", 20);
    const { heap } = await nodeRed.measure();
    const finish = await slowDeploy();
    const replies = sockets.map(async (socket) => {
      socket.write(body.subarray(100));
      let received = "";
      socket.setEncoding("latin1").on("data", (text: string) => (received += text));
      await once(socket, "close");
      return repliesIn(received).map(({ status }) => status);
    });
    for (let read = 0; read < 20; read++) await nodeRed.read("bomb");
    should(await highestHeap()).be.below(heap + 30_000_000);
    await finish();
    (await Promise.all(replies)).should.matchEach((status: unknown) => should(status).eql([200]));
    should((await nodeRed.measure()).counted).equal(20);
  });

  it("keep their places from strangers, of whom only a few wait", async () => {
    const finish = await slowDeploy();
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
      const finish = await slowDeploy();
      const socket = connect(port(), "127.0.0.1");
      let received = "";
      socket.on("error", () => undefined);
      socket.setEncoding("latin1").on("data", (text: string) => (received += text));
      socket.write(`${head("/hook", "Content-Length: 1", "X-Trace: first", ...fields)}x`);
      socket.write(`${head("/hook", "Content-Length: 1", ...fields)}x`.repeat(count - 1));
      await nodeRed.arrived("first");
      const beside = send(nodeRed.node("/other"), { headers: { ...bearer, "X-Trace": "beside" }, body: "right" });
      await nodeRed.arrived("beside");
      should(await highestHeap()).be.below(before.heap + 60_000_000);
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
