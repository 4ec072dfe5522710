import { Agent } from "node:http";
import { text } from "node:stream/consumers";
import should from "should";
import { gzipSync } from "node:zlib";
import { maxHeld } from "../../src/flow/deploy-gate";
import { putForward, withClock } from "../harness/clock";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { dial, repliesIn, type Reply, send } from "../harness/http";
import { onBothWays, useNodeRed } from "../harness/layouts";
import type { Flow } from "../harness/node-red";
import { headOf, Upload } from "../harness/upload";

const kinds = ["full", "flows", "nodes", "reload"] as const;

const settings = { runtimeState: { enabled: true }, logging: { console: { level: "info" } } };

const flow: Flow = [
  ...tab(webhook("hook", "/hook"), webhook("rival", "/HOOK/", { wires: [["rival-sink"]] }), {
    id: "rival-sink",
    type: "sink",
    wires: [],
  }),
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "bystander", type: "sink", z: "elsewhere", x: 0, y: 0, wires: [] },
];
/** The same, and a node that takes long to close. */
const slowFlow: Flow = [...flow, { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] }];

let changes = 0;
/** A flow in which the nodes with these ids have changed, and no others; to Node-RED, credentials are a change. */
function changed(flow: Flow, ...ids: unknown[]): Flow {
  changes++;
  return flow.map(({ credentials, ...node }) => (ids.includes(node.id) ? { ...node, name: `${changes}` } : node));
}

onBothWays("a deploy", { settings, flow: slowFlow, env: withClock }, (nodeRed) => {
  // No time passes, however slow the machine is: what waits does not wait too long.
  before(() => putForward(nodeRed(), 0));

  const post = (body: string, { path = "/hook", headers = {} }: { path?: string; headers?: object } = {}) =>
    send(nodeRed().node(path), {
      headers: { ...bearer, "X-Trace": body, "Content-Type": "text/plain", ...headers },
      body,
    });
  const served = async (reply: Promise<Reply>) => {
    const { status, body, json } = await reply;
    should(status).equal(200, body);
    return nodeRed().message(json.id);
  };
  let since: number;
  beforeEach(() => {
    since = nodeRed().messages.length;
  });
  /** The messages of a test, those included that a duplicate would have made. */
  const payloads = async () => {
    await served(post("marker"));
    const all = nodeRed().messages.slice(since);
    return all.map(({ payload }) => payload).filter((payload) => payload !== "marker");
  };

  for (const kind of kinds) {
    it(`serves each request once that arrives or is on its way during a slow deploy of the kind ${kind}`, async () => {
      const startsBefore = nodeRed().starts.length;
      const upload = await Upload.begin(nodeRed(), "on its way");
      const pieces = await Upload.begin(nodeRed(), "piece by piece");
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", "hook", "sink"), kind);
      pieces.more();
      const reply = post("arriving");
      await nodeRed().arrived("arriving");
      upload.finish();
      await nodeRed().read("on its way");
      await finish();
      pieces.finish();
      should(await served(reply)).match({ sink: "sink", starts: startsBefore + 1 });
      for (const each of [upload, pieces]) (await each.statuses()).should.eql([200]);
      (await payloads()).sort().should.eql(["arriving", "on its way", "piece by piece"]);
    });
  }

  it("makes no message of a request whose sender hangs up while it waits for a deploy", async () => {
    const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
    const upload = await Upload.begin(nodeRed(), "hung up");
    upload.hangUp();
    await nodeRed().left("hung up");
    await finish();
    (await payloads()).should.eql([]);
  });

  it("refuses and counts a wrong token after a deploy, and passes on at once what is for no endpoint", async () => {
    const { text: before } = await nodeRed().status("hook", /accepted/);
    const refused = Number(/(\d+) refused/.exec(before)?.[1] ?? 0);
    const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
    (await post("nobody's", { path: "/nobody" })).status.should.equal(404);
    const reply = post("stranger", { headers: { Authorization: "Bearer stranger" } });
    await nodeRed().arrived("stranger");
    await finish();
    (await reply).status.should.equal(401);
    await nodeRed().status("hook", new RegExp(`\\b${refused + 1} refused`));
    (await payloads()).should.eql([]);
  });

  it("answers 404 to a request that waits for a deploy, and to one whose body is on its way, where the deploy removes the node", async () => {
    const upload = await Upload.begin(nodeRed(), "on its way");
    const finish = await nodeRed().beginDeploy(slowFlow.filter(({ id }) => id !== "hook" && id !== "rival"));
    const reply = post("during");
    await nodeRed().arrived("during");
    upload.finish();
    await finish();
    (await reply).status.should.equal(404);
    (await upload.statuses()).should.eql([404]);
    await nodeRed().deploy(slowFlow);
    (await payloads()).should.eql([]);
  });

  it("holds 1,000 requests during a deploy, and answers 503 with Retry-After to one more", async () => {
    const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
    const waiting = Array.from({ length: maxHeld }, (_, index) => post(`${index}`, { headers: { "X-Trace": "many" } }));
    await nodeRed().arrived("many", maxHeld);
    const refused = await post("one more");
    should([refused.status, refused.headers["retry-after"]]).eql([503, "10"]);
    await finish();
    (await Promise.all(waiting)).map(({ status }) => status).should.matchEach(200);
    const seen = (await payloads()).map(Number).sort((one, other) => one - other);
    seen.should.eql(Array.from({ length: maxHeld }, (_, index) => index));
  });

  it("sends a message again, and replies only then, where the flows stop between its sending and its delivery", async () => {
    const starts = nodeRed().starts.length;
    await nodeRed().closeSlowly();
    await nodeRed().interruptNextDelivery();
    const reply = post("interrupted");
    await nodeRed().closing();
    nodeRed().letClose();
    await served(reply);
    nodeRed().starts.length.should.equal(starts + 1);
    (await payloads()).should.eql(["interrupted"]);
  });

  it("leaves a path to the first of two nodes over deploys, whichever of them is deployed", async () => {
    await nodeRed().deploy(flow);
    for (const ids of [["hook"], ["rival"], ["hook", "rival"], ["sink"]]) {
      await nodeRed().deploy(changed(flow, ...ids), "nodes");
      (await served(post("to the first"))).sink.should.equal("sink");
    }
  });

  it("serves every request once and in order over 30 deploys of all kinds under load", async () => {
    let deploying = true;
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ids: unknown[] = [];
      while (deploying) {
        const { status, body, json } = await send(nodeRed().node("/hook"), {
          headers: { ...bearer, "Content-Type": "application/json" },
          body: JSON.stringify({ sender, number: ids.length }),
          agent,
        });
        should(status).equal(200, body);
        ids.push(json.id);
      }
      agent.destroy();
      return ids;
    });
    const all = flow.filter(({ type }) => type !== "tab").map(({ id }) => id);
    const targets = [["hook"], ["sink"], ["bystander"], all, ["hook", "sink"]];
    try {
      for (let index = 0; index < 30; index++) {
        await nodeRed().deploy(changed(flow, ...(targets[index % 5] ?? [])), kinds[index % 4]);
      }
    } finally {
      deploying = false;
    }
    const accepted = await Promise.all(senders);
    (await payloads()).should.have.length(accepted.flat().length);
    // The ids in the replies on one connection are those of its messages, in their order: none is lost or doubled.
    for (const [sender, ids] of accepted.entries()) {
      ids.length.should.be.above(10);
      const own = nodeRed().messages.slice(since).filter(({ payload }) => (payload as { sender?: number }).sender === sender); // prettier-ignore
      own.map(({ _msgid }) => _msgid).should.eql(ids);
    }
  });
});

describe("a deploy behind a guard that looks into bodies", () => {
  const slow: Flow = [
    { id: "elsewhere", type: "tab", label: "Elsewhere" },
    { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
  ];
  const counted = [
    ...tab(webhook("hook", "/hook", { wires: [["counter"]] }), { id: "counter", type: "count", wires: [] }),
    ...slow,
  ];
  const nodeRed = useNodeRed({
    flow: counted,
    settings,
    code: "httpNodeMiddleware: (request, response, next) => next(request.body.evil)",
    plugin: moduleOf("guarding"),
    env: { ...withClock, NODE_OPTIONS: `${withClock.NODE_OPTIONS} --expose-gc` },
  });
  before(() => putForward(nodeRed(), 0));

  it("keeps bodies packed that wait for the deploy: 1 kB which unpacks to 1.2 MB of JSON", async () => {
    const body = gzipSync(`[${"[],".repeat(400_000)}0]`);
    should(body.length).be.below(2_000);
    const bombs = 8;
    const fields = { ...bearer, "Content-Type": "application/json", "Content-Encoding": "gzip", "X-Trace": "bomb" };
    const sockets = Array.from({ length: bombs }, () => {
      const socket = dial(nodeRed().origin);
      socket.write(headOf("/hook", { ...fields, "Content-Length": body.length, Connection: "close" }));
      socket.write(body.subarray(0, 100));
      return socket;
    });
    await nodeRed().arrived("bomb", bombs);
    const before = await nodeRed().measure();
    const finish = await nodeRed().beginDeploy(changed(counted, "slow"));
    for (const socket of sockets) socket.write(body.subarray(100));
    for (let read = 0; read < bombs; read++) await nodeRed().read("bomb");
    // Whatever unpacks them has had the time for some by then.
    await nodeRed().tell({ unpack: body }, "unpacked");
    should((await nodeRed().measure()).heap).be.below(before.heap + 10_000_000);
    const replies = Promise.all(sockets.map(async (socket) => repliesIn(await text(socket))));
    await finish();
    (await replies).flat().map(({ status }) => status).should.eql(Array(bombs).fill(200)); // prettier-ignore
    while ((await nodeRed().measure()).counted < bombs);
    should((await nodeRed().measure()).counted).equal(bombs);
  });

  it("passes what has waited for it through a guard that a node of the new flow adds", async () => {
    const guarded = tab({ id: "guarding", type: "guarding", wires: [] }, webhook("hook", "/hook"));
    const finish = await nodeRed().beginDeploy(guarded);
    const replies = [{ "X-Evil": "yes" }, {}].map((headers) =>
      send(nodeRed().node("/hook"), { headers: { ...bearer, ...headers, "X-Trace": "waiting" } }),
    );
    await nodeRed().arrived("waiting", 2);
    await finish();
    (await Promise.all(replies)).map(({ status }) => status).should.eql([403, 200]);
  });
});
