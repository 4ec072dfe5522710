import should from "should";
import { createHmac } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { putForward, withClock } from "../harness/clock";
import { hostOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { type Call, type Reply, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { type Flow, NodeRed } from "../harness/node-red";

/** How long requests wait for flows in all, in ms, as the contract says; and one more for rounding. */
const maxWaitMs = 10_000 + 1;

const secret = "a secret that is long enough";
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
  const nodeRed = useNodeRed({ flow, settings, env: withClock });
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
});

describe("flows that do not start", () => {
  it("hold what comes for at most 10 s in safe mode, and then nothing until a deploy", async () => {
    const nodeRed = await NodeRed.start({ flow, settings: { safeMode: true }, env: withClock }, false);
    try {
      await nodeRed.logged(/Flows stopped in safe mode/);
      const first = await begin(nodeRed, "first");
      await putForward(nodeRed, maxWaitMs);
      await isRefusedForNow(first.reply);
      // The clock stands still: one that waited would wait for ever.
      await isRefusedForNow((await begin(nodeRed, "second")).reply);
      (await send(nodeRed.node("/hook"), { method: "GET" })).status.should.equal(404);
      await nodeRed.deploy(flow);
      should((await (await begin(nodeRed, "deployed")).reply).status).equal(200);
      (await send(nodeRed.node("/other"), { headers: bearer })).status.should.equal(404);
    } finally {
      await nodeRed.stop();
    }
  });

  it("serve what has waited once they run: by any method, with its body as sent, and behind guards that came with them", async () => {
    const code = `httpNodeMiddleware: (request, response, next) => (request.get("X-Evil") ? response.sendStatus(418) : next())`;
    const env = { ...withClock, HOOK_PATH: "/by-env" };
    const body = '{"zen":"Keep it logically awesome."}';
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const fromGithub = { "Content-Type": "application/json", "X-Hub-Signature-256": signature };
    const nodeRed = await NodeRed.start({ flow: missing, env, code }, false);
    const wait = async (path: string, headers: Record<string, string>, { method = "POST", body = "" }: Call = {}) => {
      const reply = send(nodeRed.node(path), { method, body, headers: { ...headers, "X-Trace": path } });
      await nodeRed.arrived(path);
      return { path, reply };
    };
    try {
      await nodeRed.logged(/Waiting for missing types/);
      const held = [
        await wait("/hook", bearer),
        await wait("/by-env", bearer),
        await wait("/signed", fromGithub, { body }),
        await wait("/read?evil", { ...bearer, "X-Evil": "1" }, { method: "GET" }),
        await wait("/read", bearer, { method: "GET" }),
        await wait("/unknown", bearer),
      ];
      const signed = { sender: "github", verificationMethod: "signature", credentials: { secret } };
      await nodeRed.deploy(
        tab(
          webhook("hook", "/hook"),
          webhook("by-env", "${HOOK_PATH}"),
          webhook("signed", "/signed", signed),
          webhook("read", "/read", { methods: ["GET"] }),
        ),
      );
      const statuses = held.map(async ({ path, reply }) => [path, (await reply).status] as const);
      should(Object.fromEntries(await Promise.all(statuses))).eql({
        "/hook": 200,
        "/by-env": 200,
        "/signed": 200,
        "/read?evil": 418,
        "/read": 200,
        "/unknown": 404,
      });
    } finally {
      await nodeRed.stop();
    }
  });

  it("leave a host application what is its own, and hold what is for a saved node though that would answer it", async () => {
    const host = hostOf("host-beside");
    const settings = { httpAdminRoot: "/admin", httpNodeRoot: "/" };
    const read = webhook("read", "/read", { methods: ["GET"] });
    const nodeRed = await NodeRed.start({ flow: [...missing, read], host, settings, env: withClock }, false);
    try {
      await nodeRed.logged(/Waiting for missing types/);
      await putForward(nodeRed, 0);
      const held = (await begin(nodeRed, "held")).reply;
      for (const path of ["/login", "/shop/buy", "/blog/comment"]) {
        const reply = await Promise.race([send(nodeRed.node(path), { body: path }), noReply(path)]);
        reply.status.should.equal(204);
      }
      (await send(nodeRed.node("/other"), { method: "GET" })).status.should.equal(404);
      const get = send(nodeRed.node("/read"), { method: "GET", headers: { ...bearer, "X-Trace": "get" } });
      await nodeRed.arrived("get");
      await stillWaits(nodeRed, get);
      await putForward(nodeRed, maxWaitMs);
      for (const reply of [held, get]) await isRefusedForNow(reply);
    } finally {
      await nodeRed.stop();
    }
  });
});
