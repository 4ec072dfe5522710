import should from "should";
import { setTimeout } from "node:timers/promises";
import { putForward, withClock } from "../harness/clock";
import { bearer, tab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { type Flow, NodeRed } from "../harness/node-red";

/** How long requests wait for flows in all, in ms, as the contract says; and one more for rounding. */
const maxWaitMs = 10_000 + 1;

const flow = tab(webhook("hook", "/hook"));
const missing: Flow = [...flow, { id: "missing", type: "no-such-node", z: "tab", x: 0, y: 0, wires: [] }];

/** Sends a request that may have to wait, and waits until the server has it. */
async function begin(nodeRed: NodeRed, trace: string, path = "/hook"): Promise<{ reply: Promise<Reply> }> {
  const sent = send(nodeRed.node(path), { headers: { ...bearer, "X-Trace": trace }, body: trace });
  const reply = Promise.race([sent, noReply(trace)]);
  // A test that has failed before waits for it no more.
  reply.catch(() => undefined);
  await nodeRed.arrived(trace);
  return { reply };
}

/** Fails when a request can have no reply any more, as the clock of its Node-RED stands still. */
async function noReply(trace: string): Promise<never> {
  await setTimeout(60_000, undefined, { ref: false });
  throw new Error(`waited in vain for the reply to "${trace}"`);
}

/** Makes sure that a request has no reply, although others that arrived later have. */
async function stillWaits(nodeRed: NodeRed, reply: Promise<Reply>): Promise<void> {
  await send(nodeRed.admin("/settings"), { method: "GET" });
  await nodeRed.measure();
  should(await Promise.race([reply, Promise.resolve("no reply")])).equal("no reply");
}

async function isRefusedForNow(reply: Promise<Reply>): Promise<void> {
  const { status, headers } = await reply;
  should([status, headers["retry-after"]]).eql([503, "10"]);
}

/** Deploys a flow that does not start. */
async function deployInVain(nodeRed: NodeRed): Promise<void> {
  await nodeRed.sendFlows(missing);
  await nodeRed.logged(/Waiting for missing types/);
}

describe("flows that do not come back", () => {
  const settings = { runtimeState: { enabled: true } };
  const nodeRed = useNodeRed({ flow, settings, env: { ...withClock, HOOK_PATH: "/by-env" } });
  beforeEach(() => putForward(nodeRed(), 0));
  afterEach(() => nodeRed().deploy(flow));

  for (const [what, end, goOn] of [
    ["a deploy with a node of a missing type", () => deployInVain(nodeRed()), () => nodeRed().deploy(flow)],
    ["Stop flows", () => nodeRed().setState("stop"), () => nodeRed().startFlows()],
  ] as const) {
    it(`holds requests for 10 s in all after ${what}, answers 503 with Retry-After then, and accepts once the flows run`, async () => {
      await end();
      const early = await begin(nodeRed(), "early");
      await putForward(nodeRed(), 6000);
      await stillWaits(nodeRed(), early.reply);
      const late = await begin(nodeRed(), "late");
      await putForward(nodeRed(), maxWaitMs - 6000);
      for (const { reply } of [early, late]) await isRefusedForNow(reply);
      // The clock stands still: one that waited would wait for ever.
      await isRefusedForNow((await begin(nodeRed(), "after the wait")).reply);
      await goOn();
      should((await (await begin(nodeRed(), "accepted")).reply).status).equal(200);
    });

    it(`serves what has waited since ${what} once the flows run`, async () => {
      await end();
      const { reply } = await begin(nodeRed(), "waiting");
      await goOn();
      const { status, json } = await reply;
      should(status).equal(200);
      should((await nodeRed().message(json.id)).payload).equal("waiting");
    });
  }

  it("holds requests for 10 s in all over several deploys with a node of a missing type", async () => {
    await deployInVain(nodeRed());
    const { reply } = await begin(nodeRed(), "waiting");
    await putForward(nodeRed(), 6000);
    await deployInVain(nodeRed());
    await stillWaits(nodeRed(), reply);
    await putForward(nodeRed(), maxWaitMs - 6000);
    await isRefusedForNow(reply);
  });

  it("holds requests for paths that are deployed while the flows are stopped", async () => {
    await nodeRed().setState("stop");
    (await send(nodeRed().node("/new"), { headers: bearer })).status.should.equal(404);
    const [page, ...nodes] = tab(
      webhook("new", "/New"),
      webhook("by-env", "${HOOK_PATH}"),
      webhook("by-tab", "${TAB_PATH}"),
      webhook("disabled", "/disabled", { d: true }),
    );
    await nodeRed().sendFlows([{ ...page, env: [{ name: "TAB_PATH", type: "str", value: "/by-tab" }] }, ...nodes]);
    (await send(nodeRed().node("/disabled"), { headers: bearer })).status.should.equal(404);
    const replies: Promise<Reply>[] = [];
    for (const path of ["/new", "/by-env/", "/by-tab"]) replies.push((await begin(nodeRed(), path, path)).reply);
    await nodeRed().startFlows();
    for (const reply of replies) (await reply).status.should.equal(200);
  });
});

describe("flows that never start", () => {
  it("hold requests for at most 10 s in safe mode, and then none until a deploy", async () => {
    const nodeRed = await NodeRed.start({ flow, settings: { safeMode: true }, env: withClock }, false);
    try {
      await nodeRed.logged(/Flows stopped in safe mode/);
      const first = await begin(nodeRed, "first");
      await putForward(nodeRed, maxWaitMs);
      should((await first.reply).status).equal(503);
      // The clock stands still: one that waited would wait for ever.
      should((await (await begin(nodeRed, "second")).reply).status).equal(503);
      (await send(nodeRed.node("/other"), { headers: { Authorization: token } })).status.should.equal(404);
      await nodeRed.deploy(flow);
      should((await (await begin(nodeRed, "deployed")).reply).status).equal(200);
    } finally {
      await nodeRed.stop();
    }
  });
});

describe("a request by GET that waits for a node which the deploy adds", () => {
  const slow = { id: "slow", type: "slow", wires: [] };
  const code = `httpNodeMiddleware: (request, response, next) => (request.get("X-Evil") ? response.sendStatus(418) : next())`;
  const nodeRed = useNodeRed({ flow: tab(slow), code });

  it("meets the guards that stand in front of that node", async () => {
    const end = await nodeRed().beginDeploy(tab(slow, webhook("hook", "/hook", { methods: ["GET"] })));
    const get = async (trace: string, more: Record<string, string>) => {
      const reply = send(nodeRed().node("/hook"), { method: "GET", headers: { ...bearer, ...more, "X-Trace": trace } });
      await nodeRed().arrived(trace);
      return { reply };
    };
    const [evil, good] = [await get("evil", { "X-Evil": "1" }), await get("good", {})];
    await end();
    should([(await evil.reply).status, (await good.reply).status]).eql([418, 200]);
  });
});
