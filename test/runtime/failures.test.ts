import { scheduler } from "node:timers/promises";
import should from "should";
import type { GroupReplay } from "../../src/admin/summary";
import type { FailureGroup, FailureGroups } from "../../src/deliveries/failures";
import { bearer, tab, webhook } from "../harness/flow";
import { type StoreKind, storeKinds, type TestStore } from "../harness/guaranteed";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

const check = (func: string) => ({ id: "check", type: "function", name: "check", func, wires: [["sink"]] });
const flowWith = (func: string, ...others: Record<string, unknown>[]) =>
  tab(webhook("orders", "/orders", { wires: [["check"]] }), check(func), ...others);
/** Its messages go on, so that they can be seen. */
const failing = 'node.send(msg); node.error(msg.payload.late ? "late " + msg.payload.order : "no total", msg);';
const json = { "Content-Type": "application/json" };

/** More than one call replays. */
const count = 120;

describe("failures, grouped by their cause", () => {
  describe("in memory", () => testFailures());
  for (const kind of storeKinds) if (kind.isHere) describe(`in ${kind.name}`, () => testFailures(kind));
});

function testFailures(kind?: StoreKind): void {
  let store: TestStore | undefined;
  let nodeRed: NodeRed;
  before(async () => {
    store = await kind?.begin();
    const settings = { webhookTriggerDeliveries: { keep: 1000 }, ...store?.options.settings };
    nodeRed = await NodeRed.start({ ...store?.options, settings, flow: flowWith(failing) });
  });
  after(async () => {
    await nodeRed.stop();
    await store?.end();
  });

  const groups = async (query = "") => {
    const { json } = await send(nodeRed.admin(`/webhook-trigger/failures${query}`), { method: "GET" });
    return json as unknown as FailureGroups;
  };
  const groupsOf = async (failures: number) => {
    for (;;) {
      const found = await groups();
      if (found.failures === failures) return found;
      await scheduler.wait(20);
    }
  };
  const post = (path: string, body: object) =>
    send(path, { headers: { ...bearer, ...json }, body: JSON.stringify(body) });
  const order = (body: object) => post(nodeRed.node("/orders"), body);
  /** Calls until nothing is left. */
  const replay = async ({ node, error, last }: Pick<FailureGroup, "node" | "error" | "last">) => {
    const answers: GroupReplay[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const { status, json } = await post(nodeRed.admin("/webhook-trigger/failures/replay"), {
        node,
        error,
        last,
        after,
      });
      status.should.equal(200);
      const answer = json as unknown as GroupReplay;
      answers.push(answer);
      after = answer.next;
    }
    return answers;
  };

  it("says how many have failed by which node and error, and when the last one came", async () => {
    await order({ order: 2, late: true });
    for (let number = 0; number < count; number++) {
      // Those of one millisecond have no order.
      for (const now = Date.now(); Date.now() === now;);
      await order({ order: number });
    }
    for (const number of [1, 2]) await order({ order: number, late: true });
    const found = await groupsOf(count + 3);
    found.should.match({ causes: 3, hasMore: false });
    const [first, second, third] = found.groups;
    should(first).match({ node: "orders", error: "check: no total", count });
    should(second).match({ error: "check: late 2", count: 2 });
    should(third).match({ error: "check: late 1", count: 1 });
    (await groups("?node=other")).should.eql({ groups: [], causes: 0, failures: 0, hasMore: false });
    const query = new URLSearchParams({ error: "check: late 2" });
    const list = await send(nodeRed.admin(`/webhook-trigger/deliveries?${String(query)}`), { method: "GET" });
    const [{ at = 0 } = {}, ...others] = list.json.deliveries as { at?: number }[];
    others.should.have.length(1);
    at.should.equal(second?.last);
  });

  const replayLargest = async () => {
    const [group] = (await groups()).groups;
    if (!group) throw new Error("nothing has failed");
    const answers = await replay(group);
    for (const { replayed, left } of answers) {
      replayed.should.be.within(0, 100);
      left.should.eql([]);
    }
    answers.length.should.be.above(1);
    answers.reduce((total, { replayed }) => total + replayed, 0).should.equal(count);
    return group;
  };

  it("replays all of a cause, the oldest first, at most a hundred in one call, and once what fails again", async () => {
    const group = await replayLargest();
    const { groups: found } = await groupsOf(count + 3);
    should(found[0]).match({ error: group.error, count });
    should(found[0]?.last).be.above(group.last);
    const replays = nodeRed.messages.filter(({ webhook }) => webhook.replay);
    const orders = replays.map(({ payload }) => (payload as { order: number }).order);
    orders.should.eql(Array.from({ length: count }, (_, number) => number));
  });

  it("replays nothing of another cause", async () => {
    await nodeRed.deploy(flowWith("return msg;"), "nodes");
    await replayLargest();
    (await groups()).should.match({ causes: 2, failures: 3 });
  });

  it("ends at a node that is closed, says so, and refuses what is no group", async () => {
    await nodeRed.deploy(tab());
    const [group] = (await groups()).groups;
    if (!group) throw new Error("nothing has failed");
    const [answer] = await replay(group);
    should(answer).match({ replayed: 0, left: [{ code: "notOpen", count: 1 }], next: null });
    should(answer?.left[0]?.message).be.a.String();
    for (const body of [{}, { ...group, last: "now" }, { ...group, after: "%" }]) {
      (await post(nodeRed.admin("/webhook-trigger/failures/replay"), body)).status.should.equal(400);
    }
  });
}
