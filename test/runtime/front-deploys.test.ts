import should from "should";
import { scheduler, setTimeout } from "node:timers/promises";
import { putForward, withClock } from "../harness/clock";
import { bearer, tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { behindMiddleware, inEveryLayout, layouts } from "../harness/layouts";
import { Load } from "../harness/load";
import { type Flow, NodeRed, type Options } from "../harness/node-red";

/** How long load and deploys go on, in seconds: `DEPLOY_SECONDS=20 npm test -- --grep "each second"`. */
const seconds = Number(process.env.DEPLOY_SECONDS ?? 6);
/** How long requests wait for flows in all, in ms, as the contract says; and one more for rounding. */
const longestWait = 10_000 + 1;

/** A node that remembers the ids of its messages, over deploys as well. */
const remembering = `module.exports = (RED) => {
  const ids = [];
  RED.nodes.registerType("remember", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", ({ _msgid }) => { ids.push(_msgid); });
  });
  process.on("message", ({ remembered }) => {
    if (remembered) process.send({ trace: "remembered " + ids.join(" ") });
  });
};`;

describe("two load tools while a full deploy comes each second", () => {
  for (const [where, options] of [
    ["default roots", {}],
    ["separate roots behind httpNodeMiddleware", { ...behindMiddleware, settings: layouts["separate roots"] }],
  ] satisfies [string, Options][]) {
    it(`find 200 or 503, and each id of a 200 among the messages, with ${where}`, async () => {
      const flow = tab(webhook("hook", "/hook", { wires: [["remember"]] }), {
        id: "remember",
        type: "remember",
        wires: [],
      });
      const settings = { ...options.settings, logging: { console: { level: "info" } } };
      const nodeRed = await NodeRed.start({ ...options, settings, flow, plugin: remembering, env: { QUIET: "yes" } });
      try {
        const loads = await Promise.all([1, 2].map(() => Load.begin(nodeRed.node("/hook"))));
        for (let second = 0; second < seconds; second++) {
          await Promise.all([nodeRed.deploy(flow), scheduler.wait(1000)]);
        }
        const reports = await Promise.all(loads.map((load) => load.end()));
        const ids = (await nodeRed.ask({ remembered: true }, "remembered ")).split(" ");
        const remembered = new Set(ids);
        for (const { accepted, others } of reports) {
          Object.keys(others)
            .filter((outcome) => outcome !== "503")
            .should.eql([]);
          accepted.length.should.be.above(seconds);
          accepted.filter((id) => !remembered.has(id)).should.eql([]);
        }
      } finally {
        await nodeRed.stop();
      }
    });
  }
});

const flow = tab(webhook("hook", "/hook"));
const missing: Flow = [...flow, { id: "missing", type: "no-such-node", z: "tab", x: 0, y: 0, wires: [] }];

/** Sends a request that may have to wait, and waits until the server has it. */
async function begin(nodeRed: NodeRed, trace: string): Promise<{ reply: Promise<Reply> }> {
  const sent = send(nodeRed.node("/hook"), { headers: { ...bearer, "X-Trace": trace }, body: trace });
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

/** Makes sure that a request has no answer, although others that came later have. */
async function stillWaits(nodeRed: NodeRed, reply: Promise<Reply>): Promise<void> {
  await send(nodeRed.admin("/settings"), { method: "GET" });
  await nodeRed.measure();
  should(await Promise.race([reply, Promise.resolve("no answer")])).equal("no answer");
}

function refusedForNow({ status, headers, body }: Reply): void {
  should(status).equal(503, body);
  headers.should.have.property("retry-after");
}

/** Deploys a flow that does not start. */
async function deployInVain(nodeRed: NodeRed): Promise<void> {
  const response = await fetch(nodeRed.admin("/flows"), {
    method: "POST",
    headers: { "Content-Type": "application/json", "Node-RED-API-Version": "v2" },
    body: JSON.stringify({ flows: missing }),
  });
  response.status.should.equal(200);
  await nodeRed.logged(/Waiting for missing types/);
}

/** Starts the flows, and waits until they run. */
async function startFlows(nodeRed: NodeRed): Promise<void> {
  const { length } = nodeRed.starts;
  await nodeRed.setState("start");
  await nodeRed.until(() => nodeRed.starts[length], "the flows to start");
}

const options = { flow, settings: { runtimeState: { enabled: true } }, env: withClock };

inEveryLayout("where flows do not come back, requests", options, (nodeRed) => {
  for (const [what, end, goOn] of [
    ["a deploy with a node of a missing type", () => deployInVain(nodeRed()), () => nodeRed().deploy(flow)],
    ["Stop flows", () => nodeRed().setState("stop"), () => startFlows(nodeRed())],
  ] as const) {
    describe(`after ${what}`, () => {
      beforeEach(async () => {
        await putForward(nodeRed(), 0);
        await end();
      });
      afterEach(goOn);

      it("wait for 10 s from its beginning, however late they come, and then get 503 with Retry-After", async () => {
        const early = await begin(nodeRed(), "early");
        await stillWaits(nodeRed(), early.reply);
        await putForward(nodeRed(), 6000);
        await stillWaits(nodeRed(), early.reply);
        const late = await begin(nodeRed(), "late");
        await stillWaits(nodeRed(), late.reply);
        await putForward(nodeRed(), longestWait - 6000);
        for (const { reply } of [early, late]) refusedForNow(await reply);
      });

      it("get 503 with Retry-After at once when they come after these 10 s", async () => {
        const waiting = await begin(nodeRed(), "waiting");
        await putForward(nodeRed(), longestWait);
        refusedForNow(await waiting.reply);
        // The clock stands still: one that waited would wait for ever.
        for (const trace of ["second", "third"]) refusedForNow(await (await begin(nodeRed(), trace)).reply);
      });

      it("are accepted once the flows run again", async () => {
        const waiting = await begin(nodeRed(), "waiting");
        await goOn();
        should((await waiting.reply).status).equal(200);
        await end();
        await putForward(nodeRed(), longestWait);
        refusedForNow(await (await begin(nodeRed(), "refused")).reply);
        await goOn();
        const { status, json } = await (await begin(nodeRed(), "accepted")).reply;
        should(status).equal(200);
        should((await nodeRed().message(json.id)).payload).equal("accepted");
      });
    });
  }

  describe("after several deploys with a node of a missing type", () => {
    afterEach(() => nodeRed().deploy(flow));

    it("wait for 10 s in all, and then get 503 with Retry-After", async () => {
      await putForward(nodeRed(), 0);
      await deployInVain(nodeRed());
      const waiting = await begin(nodeRed(), "waiting");
      await putForward(nodeRed(), 6000);
      await deployInVain(nodeRed());
      await stillWaits(nodeRed(), waiting.reply);
      await putForward(nodeRed(), longestWait - 6000);
      refusedForNow(await waiting.reply);
    });
  });
});

for (const [layout, roots] of Object.entries(layouts)) {
  describe(`where Node-RED is started in safe mode, with ${layout}, requests`, () => {
    let nodeRed: NodeRed;
    beforeEach(async () => {
      nodeRed = await NodeRed.start({ flow, settings: { ...roots, safeMode: true }, env: withClock }, false);
      await nodeRed.logged(/Flows stopped in safe mode/);
    });
    afterEach(() => nodeRed.stop());

    it("wait for at most 10 s in all, and then no more, until a deploy ends it", async () => {
      const first = await begin(nodeRed, "first");
      await putForward(nodeRed, longestWait);
      [404, 503].should.containEql((await first.reply).status);
      // The clock stands still: one that waited would wait for ever.
      for (const trace of ["second", "third"]) {
        [404, 503].should.containEql((await (await begin(nodeRed, trace)).reply).status);
      }
      await nodeRed.deploy(flow);
      should((await (await begin(nodeRed, "deployed")).reply).status).equal(200);
    });
  });
}
