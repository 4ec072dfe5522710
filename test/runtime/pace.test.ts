import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { type KeepKind, keeps } from "../harness/guaranteed";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed, type Options, type Received } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

/** Takes a message for a time, says how many it has then, and fails while it is told to. */
const working = `
module.exports = (RED) => {
  RED.nodes.registerType("work", function (config) {
    RED.nodes.createNode(this, config);
    let running = 0;
    this.failing = config.failing;
    const hear = (message) => {
      if (message.work !== this.id) return;
      Object.assign(this, message);
      process.send({ trace: this.id + " heard" });
    };
    process.on("message", hear);
    this.on("close", () => process.off("message", hear));
    this.on("input", (msg, send, done) => {
      const { _msgid, payload, webhook } = msg;
      process.send({ message: { sink: this.id, keys: [], _msgid, payload, webhook, running: ++running, at: Date.now() } });
      setTimeout(() => {
        running--;
        if (!this.failing) return done();
        if (this.retryAfter !== undefined) msg.webhook.retryAfter = this.retryAfter;
        this.error("HTTP 503", msg);
        done();
      }, config.takes);
    });
  });
  // Answers with what it is told.
  RED.nodes.registerType("answer", function (config) {
    RED.nodes.createNode(this, config);
    this.status = config.status;
    process.on("message", (message) => {
      if (message.work !== this.id) return;
      this.status = message.status;
      process.send({ trace: this.id + " heard" });
    });
    this.on("input", (msg) => msg.res.status(this.status).end());
  });
  // As a join does whose group never fills.
  RED.nodes.registerType("swallow", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", ({ _msgid, payload, webhook }, send, done) => {
      process.send({ message: { sink: this.id, keys: [], _msgid, payload, webhook, running: 1, at: Date.now() } });
    });
  });
};`;

type Worked = Received & { running: number; at: number };

const paced = (id: string, fields: Record<string, unknown>, work: Record<string, unknown> = {}) => [
  webhook(id, `/${id}`, { guaranteed: true, wires: [[`work-${id}`]], ...fields }),
  { id: `work-${id}`, type: "work", takes: 1, failing: false, wires: [[]], ...work },
];

const flow = tab(
  ...paced("one", { concurrency: 1 }),
  ...paced("three", { concurrency: 3 }, { takes: 20 }),
  ...paced("rate", { ratePerMinute: 600 }),
  ...paced("stuck", { concurrency: 1, attempts: 1, attemptTimeout: 1 }, { type: "swallow" }),
  ...paced("away", { backoffFirst: 1, backoffLongest: 1, attempts: 50, concurrency: 5 }, { failing: true }),
  ...paced("told", { backoffFirst: 3600, attempts: 2 }, { failing: true }),
  ...paced("paused", { concurrency: 1 }),
  ...paced("breaker", { breaker: 3, backoffFirst: 1, backoffLongest: 1, attempts: 50 }, { failing: true }),
  webhook("replies", "/replies", { guaranteed: true, reply: "flow", breaker: 2, wires: [["answer"]] }),
  { id: "answer", type: "answer", status: 500, wires: [] },
  webhook("usual", "/usual"),
);

for (const kind of keeps.filter(({ isHere }) => isHere)) testPace(kind);

function testPace(kind: KeepKind): void {
  describe(`the pace of guaranteed delivery, with deliveries in ${kind.name}`, () => {
    let keep: Awaited<ReturnType<KeepKind["begin"]>>;
    let options: Options;
    let nodeRed: NodeRed;
    before(async () => {
      keep = await kind.begin();
      options = { ...keep.options, flow, plugin: working };
      nodeRed = await NodeRed.start(options);
    });
    after(async () => {
      await nodeRed.stop();
      await keep.end();
    });

    const post = async (path: string, number: number) => {
      const headers = { ...bearer, "Content-Type": "application/json" };
      const { status, json } = await send(nodeRed.node(`/${path}`), { headers, body: `${number}` });
      status.should.equal(200);
      return String(json.id);
    };
    const tell = (work: string, what: object) => nodeRed.tell({ work, ...what }, `${work} heard`);
    const admin = (path: string) => send(nodeRed.admin(`/webhook-trigger/${path}`), { headers: {}, body: "" });
    const cameTo = (id: string) => nodeRed.messages.filter(({ sink }) => sink === `work-${id}`) as Worked[];
    const come = async (id: string, count: number) => {
      await until(() => cameTo(id).length >= count, `${count} starts of ${id}`);
      return cameTo(id);
    };
    const states = async (id: string) => {
      const { deliveries } = await new ShownDeliveries(nodeRed).page(`node=${id}&limit=500`);
      return deliveries.map(({ state }) => state);
    };
    const waiting = async (id: string) => {
      const { body } = await send(nodeRed.admin("/webhook-trigger/queues"), { method: "GET" });
      const { queues } = JSON.parse(body) as {
        queues: { node: string; pause: string | null; queued: number; running: number }[];
      };
      return queues.find(({ node }) => node === id);
    };

    it("with concurrency 1, a burst comes in order of arrival, and never two at once", async () => {
      const sent = Array.from({ length: 1000 }, (_, index) => index);
      // One after the other, so that the order of arrival is known.
      for (const number of sent) await post("one", number);
      const came = await come("one", sent.length);
      came.map(({ payload }) => payload).should.eql(sent);
      Math.max(...came.map(({ running }) => running)).should.equal(1);
    });

    it("with concurrency 3, as many run at once, and never more", async () => {
      await Promise.all(Array.from({ length: 60 }, (_, index) => post("three", index)));
      const came = await come("three", 60);
      Math.max(...came.map(({ running }) => running)).should.equal(3);
    });

    it("with a rate, starts are spread evenly", async () => {
      // No start is before this, however late a test hears of the first.
      const begun = Date.now();
      await Promise.all(Array.from({ length: 12 }, (_, index) => post("rate", index)));
      const came = await come("rate", 12);
      // 600 a minute are one in 100 ms; clocks and timers are rounded.
      (Number(came.at(-1)?.at) - begun).should.be.above(11 * 100 - 20);
    });

    it("a flow without an end frees its place after the attempt timeout, and has failed", async () => {
      await post("stuck", 1);
      await post("stuck", 2);
      (await come("stuck", 2)).map(({ payload }) => payload).should.eql([1, 2]);
      await until(async () => (await states("stuck")).join() === "failed,failed", "both to have failed");
    });

    it("nothing fails for good while an API is away, and all succeeds when it is back", async () => {
      await Promise.all(Array.from({ length: 10 }, (_, index) => post("away", index)));
      await come("away", 15);
      (await states("away")).filter((state) => state === "failed").should.eql([]);
      await tell("work-away", { failing: false });
      await until(async () => (await states("away")).every((state) => state === "succeeded"), "all to succeed");
    });

    it("is tried again when the flow says so, and until then says when", async () => {
      await tell("work-told", { retryAfter: 1 });
      const id = await post("told", 1);
      await come("told", 2);
      await until(async () => (await states("told")).join() === "failed", "both attempts");
      const { attempts, attempt } = await new ShownDeliveries(nodeRed).detail(id);
      should([attempt, attempts.map(({ error }) => error)]).eql([2, ["work: HTTP 503", "work: HTTP 503"]]);
    });

    it("while it is paused, stores what comes and starts nothing, also after a restart", async () => {
      (await admin("paused/pause")).status.should.equal(204);
      (await admin("paused/pause")).status.should.equal(204);
      for (const number of [1, 2, 3]) await post("paused", number);
      await nodeRed.status("paused", /3/);
      await nodeRed.stop();
      nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
      await post("paused", 4);
      await nodeRed.status("paused", /4/);
      should(await waiting("paused")).have.properties({ pause: "manual", queued: 4 });
      cameTo("paused").should.eql([]);
      (await admin("paused/resume")).status.should.equal(204);
      (await come("paused", 4)).map(({ payload }) => payload).should.eql([1, 2, 3, 4]);
    });

    it("a delivery that has failed waits for its node to be resumed, and says so", async () => {
      await tell("work-away", { failing: true });
      const id = await post("away", 11);
      const shown = new ShownDeliveries(nodeRed);
      await shown.find((each) => each.id === id && each.state === "retrying" && each.pause === null);
      (await admin("away/pause")).status.should.equal(204);
      const { fix } = await shown.find((each) => each.id === id && each.state === "retrying");
      should(fix).equal(catalog.standing.sentence.replace("__sentence__", catalog.fix.retryingPaused));
      should(await shown.find((each) => each.id !== id, "node=away")).have.property("pause", null);
      await tell("work-away", { failing: false });
      (await admin("away/resume")).status.should.equal(204);
      await shown.find((each) => each.id === id && each.state === "succeeded" && each.pause === null);
    });

    it("after failures in a row it pauses by itself, and goes on by hand", async () => {
      for (const number of [1, 2, 3, 4, 5]) await post("breaker", number);
      await until(async () => (await waiting("breaker"))?.pause === "breaker", "the breaker to open");
      await until(async () => !(await states("breaker")).includes("running"), "what runs to end");
      await post("breaker", 6);
      await tell("work-breaker", { failing: false });
      const resumedAt = Date.now();
      (await admin("breaker/resume")).status.should.equal(204);
      await until(async () => (await states("breaker")).every((state) => state === "succeeded"), "all to succeed");
      cameTo("breaker")
        .filter(({ at }) => at >= resumedAt)
        .should.have.length(6);
    });

    it("where the flow replies, a circuit breaker refuses but for one request a minute, and closes when that succeeds", async () => {
      const reply = async () => (await send(nodeRed.node("/replies"), { headers: bearer, body: "1" })).status;
      should([await reply(), await reply()]).eql([500, 500]);
      await until(async () => (await waiting("replies"))?.pause === "breaker", "the breaker to open");
      should([await reply(), await reply()]).eql([500, 503]);
      // The end of an attempt is written after its reply: it is to count before the node is resumed.
      await until(async () => (await states("replies")).filter((state) => state === "failed").length === 3, "its end");
      (await admin("replies/resume")).status.should.equal(204);
      should([await reply(), await reply()]).eql([500, 500]);
      await until(async () => (await waiting("replies"))?.pause === "breaker", "the breaker to open again");
      await nodeRed.stop();
      nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
      await tell("answer", { status: 201 });
      (await reply()).should.equal(201);
      await until(async () => (await waiting("replies"))?.pause === null, "the breaker to close");
      (await reply()).should.equal(201);
    });

    it("cannot be paused without guaranteed delivery, or where there is no node", async () => {
      (await admin("usual/pause")).status.should.equal(409);
      (await admin("nobody/pause")).status.should.equal(404);
    });
  });
}
