import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { type TestStore, type StoreKind, storeKinds } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { NodeRed, type Options, type Received } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { until } from "../harness/until";

type Worked = Received & { running: number; at: number };

const paced = (id: string, fields: Record<string, unknown>, work: Record<string, unknown> = {}) => [
  webhook(id, `/${id}`, { guaranteed: true, wires: [[`work-${id}`]], ...fields }),
  { id: `work-${id}`, type: "work", takes: 1, failing: false, wires: [[]], ...work },
];

const flow = tab(
  ...paced("one", { concurrency: 1 }),
  ...paced("rate", { ratePerMinute: 600 }),
  ...paced("stuck", { concurrency: 1, attempts: 1, attemptTimeout: 1 }, { type: "swallow" }),
  ...paced("away", { backoffFirst: 1, backoffLongest: 1, attempts: 50, concurrency: 5 }, { failing: true }),
  ...paced("asked", { backoffFirst: 3600, attempts: 2 }, { failing: true }),
  ...paced("paused", { concurrency: 1 }),
  ...paced("breaker", { breaker: 3, backoffFirst: 1, backoffLongest: 1, attempts: 50 }, { failing: true }),
  webhook("replies", "/replies", { guaranteed: true, reply: "flow", breaker: 2, wires: [["answer"]] }),
  { id: "answer", type: "answer", status: 500, wires: [] },
  webhook("usual", "/usual"),
);

// What the engines do with a pace is the same: `test/unit/deliveries/queue.test.ts` asks each of them.
const kind = storeKinds.find(({ isHere }) => isHere);
if (kind) describe("the pace of guaranteed delivery", () => testPace(kind));

function testPace(kind: StoreKind): void {
  let store: TestStore;
  let options: Options;
  let nodeRed: NodeRed;
  before(async () => {
    store = await kind.begin();
    options = { ...store.options, flow, plugin: moduleOf("work") };
    nodeRed = await NodeRed.start(options);
  });
  after(async () => {
    await nodeRed.stop();
    await store.end();
  });

  const post = async (path: string, number: number) => {
    const headers = { ...bearer, "Content-Type": "application/json" };
    const { status, json } = await send(nodeRed.node(`/${path}`), { headers, body: `${number}` });
    status.should.equal(200);
    return String(json.id);
  };
  const postAll = (path: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => post(path, index)));
  const instruct = (id: string, work: object) => nodeRed.tell({ work: { id, ...work } }, `${id} obeys`);
  const control = async (path: string) => (await command(nodeRed.admin(`/webhook-trigger/${path}`))).status;
  const messagesOf = (id: string) => nodeRed.messages.filter(({ sink }) => sink === `work-${id}`) as Worked[];
  const starts = async (id: string, count: number) => {
    await nodeRed.until(() => messagesOf(id).length >= count || undefined, `${count} starts of ${id}`);
    return messagesOf(id);
  };
  const states = async (id: string) => {
    const { deliveries } = await new ShownDeliveries(nodeRed).page(`node=${id}&limit=500`);
    return deliveries.map(({ state }) => state);
  };
  const allSucceed = (id: string) =>
    until(async () => (await states(id)).every((state) => state === "succeeded"), `all of ${id} to succeed`);
  const findQueue = async (id: string) => {
    const { json } = await send(nodeRed.admin("/webhook-trigger/queues"), { method: "GET" });
    return (json.queues as { node: string; pause: string | null; queued: number }[]).find(({ node }) => node === id);
  };
  const isPausedBy = (id: string, pause: string | null | undefined) =>
    until(async () => (await findQueue(id))?.pause === pause, `the pause of ${id} to be ${String(pause)}`);

  it("starts a burst in order of arrival and one by one with concurrency 1", async () => {
    const sent = Array.from({ length: 100 }, (_, index) => index);
    // One after the other, so that the order of arrival is known.
    for (const number of sent) await post("one", number);
    const started = await starts("one", sent.length);
    started.map(({ payload }) => payload).should.eql(sent);
    Math.max(...started.map(({ running }) => running)).should.equal(1);
  });

  it("spreads starts evenly with a rate", async () => {
    // No start is before this, however late a test hears of the first.
    const begun = Date.now();
    await postAll("rate", 12);
    const started = await starts("rate", 12);
    // 600 a minute are one in 100 ms; clocks and timers are rounded.
    (Number(started.at(-1)?.at) - begun).should.be.above(11 * 100 - 20);
  });

  it("frees the place of a flow without an end after the attempt timeout, as a failed attempt", async () => {
    await post("stuck", 1);
    await post("stuck", 2);
    (await starts("stuck", 2)).map(({ payload }) => payload).should.eql([1, 2]);
    await until(async () => (await states("stuck")).join() === "failed,failed", "both to have failed");
  });

  it("fails nothing for good while an API is away, and succeeds with all when it is back", async () => {
    await postAll("away", 10);
    await starts("away", 15);
    (await states("away")).filter((state) => state === "failed").should.eql([]);
    await instruct("work-away", { failing: false });
    await allSucceed("away");
  });

  it("retries when the flow says so by msg.webhook.retryAfter, instead of after the backoff", async () => {
    await instruct("work-asked", { retryAfter: 1 });
    const id = await post("asked", 1);
    await starts("asked", 2);
    await until(async () => (await states("asked")).join() === "failed", "both attempts");
    const { attempts, attempt } = await new ShownDeliveries(nodeRed).detail(id);
    should([attempt, attempts.map(({ error }) => error)]).eql([2, ["work: HTTP 503", "work: HTTP 503"]]);
  });

  it("says of a delivery that is to be retried that its node is paused, and retries it when it is resumed", async () => {
    await instruct("work-away", { failing: true });
    const id = await post("away", 11);
    const shown = new ShownDeliveries(nodeRed);
    await shown.find((each) => each.id === id && each.state === "retrying" && each.pause === null);
    (await control("away/pause")).should.equal(204);
    const { fix } = await shown.find((each) => each.id === id && each.state === "retrying");
    should(fix).equal(catalog.lastRequest.sentence.replace("__sentence__", catalog.fix.retryingPaused));
    should(await shown.find((each) => each.id !== id, "node=away")).have.property("pause", null);
    await instruct("work-away", { failing: false });
    (await control("away/resume")).should.equal(204);
    await shown.find((each) => each.id === id && each.state === "succeeded" && each.pause === null);
  });

  it("pauses by itself after failures in a row, and runs all when it is resumed", async () => {
    for (const number of [1, 2, 3, 4, 5]) await post("breaker", number);
    await isPausedBy("breaker", "breaker");
    await until(async () => !(await states("breaker")).includes("running"), "what runs to end");
    await post("breaker", 6);
    await instruct("work-breaker", { failing: false });
    const resumedAt = Date.now();
    (await control("breaker/resume")).should.equal(204);
    await allSucceed("breaker");
    messagesOf("breaker").filter(({ at }) => at >= resumedAt).should.have.length(6); // prettier-ignore
  });

  const reply = async () => (await send(nodeRed.node("/replies"), { headers: bearer, body: "1" })).status;

  it("refuses all but one request a minute where the flow replies with failures, until it is resumed", async () => {
    should([await reply(), await reply()]).eql([500, 500]);
    await isPausedBy("replies", "breaker");
    should([await reply(), await reply()]).eql([500, 503]);
    // The end of an attempt is written after its reply: it is to count before the node is resumed.
    await until(async () => (await states("replies")).filter((state) => state === "failed").length === 3, "its end");
    (await control("replies/resume")).should.equal(204);
    should([await reply(), await reply()]).eql([500, 500]);
    await isPausedBy("replies", "breaker");
  });

  it("stores requests and starts nothing while it is paused, and has its pauses over a restart", async () => {
    should([await control("paused/pause"), await control("paused/pause")]).eql([204, 204]);
    for (const number of [1, 2, 3]) await post("paused", number);
    await nodeRed.status("paused", /3/);
    await nodeRed.stop();
    nodeRed = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
    await post("paused", 4);
    await nodeRed.status("paused", /4/);
    should(await findQueue("paused")).have.properties({ pause: "manual", queued: 4 });
    messagesOf("paused").should.eql([]);
    (await control("paused/resume")).should.equal(204);
    (await starts("paused", 4)).map(({ payload }) => payload).should.eql([1, 2, 3, 4]);

    await isPausedBy("replies", "breaker");
    await instruct("answer", { status: 201 });
    (await reply()).should.equal(201);
    await isPausedBy("replies", null);
    (await reply()).should.equal(201);
  });

  it("cannot be paused without guaranteed delivery, or where there is no node", async () => {
    should([await control("usual/pause"), await control("nobody/pause")]).eql([409, 404]);
  });

  it("holds what was stored while guaranteed delivery was on, until it is resumed", async () => {
    const { length } = messagesOf("paused");
    (await control("paused/pause")).should.equal(204);
    await post("paused", 5);
    await nodeRed.deploy(flow.map((node) => (node.id === "paused" ? { ...node, guaranteed: false } : node)));
    await isPausedBy("paused", "manual");
    (await control("paused/resume")).should.equal(204);
    should((await starts("paused", length + 1)).at(-1)).have.property("payload", 5);
    await isPausedBy("paused", undefined);
  });
}
