import should from "should";
import { Following } from "./following";
import type { Flow } from "../harness/node-red";

type Nodes = Record<string, Record<string, unknown>>;

const handling = (by: string, ...wires: string[]) => ({ type: "handling", by, wires: [wires] });
const from = (...wires: string[]) => ({ type: "from", wires: [wires] });
const fn = (func: string, ...wires: string[]) => ({
  type: "function",
  func,
  outputs: 1,
  initialize: "",
  finalize: "",
  libs: [],
  wires: [wires],
});

/** A tab of nodes by their ids; one of the kind `keeps` with the id `kept` stands at the end of many. */
function flowOf(nodes: Nodes, tab = "tab"): Flow {
  const placed = Object.entries(nodes).map(([id, node]) => ({ id, z: tab, x: 0, y: 0, wires: [], ...node }));
  return [{ id: tab, type: "tab", label: tab }, ...placed];
}

const done = { as: "succeeded" };
const failed = (error: string) => ({ as: "failed", error });

/** Nodes in front of a node that keeps the message: the flow ends when that one is done. */
const ways: Record<string, Nodes> = {
  "a function": { a: fn("return msg;", "kept") },
  "a function that sends after it is done, in the same turn": { a: fn("node.done(); node.send(msg);", "kept") },
  "an asynchronous function": { a: fn("await new Promise((resolve) => setTimeout(resolve, 5)); return msg;", "kept") },
  "a node that is done before it sends": { a: handling("passesFirst", "kept") },
  "a node that never says that it is done": { a: handling("isSilent", "kept") },
  "a node that is done twice": { a: handling("isDoneTwice", "kept") },
  "a junction": { a: { type: "junction", wires: [["kept"]] } },
  "delay": { a: { type: "delay", pauseType: "delay", timeout: "5", timeoutUnits: "milliseconds", outputs: 1, wires: [["kept"]] } },
  "link out and link in": { a: { type: "link out", mode: "link", links: ["in"], wires: [["in"]] }, in: { type: "link in", links: ["a"], wires: [["kept"]] } },
  "link call": {
    a: { type: "link call", links: ["in"], linkType: "static", timeout: "30", wires: [[]] },
    in: { type: "link in", links: [], wires: [["kept"]] },
    kept: handling("keeps", "return"),
    return: { type: "link out", mode: "return", links: [] },
  },
  "what link call gives back": {
    a: { type: "link call", links: ["in"], linkType: "static", timeout: "30", wires: [["kept"]] },
    in: { type: "link in", links: [], wires: [["b"]] },
    b: fn("return msg;", "return"),
    return: { type: "link out", mode: "return", links: [] },
  },
  "complete": { a: fn("return null;"), seen: { type: "complete", scope: ["a"], wires: [["kept"]] } },
  "a loop": { a: fn("msg.count = (msg.count ?? 0) + 1; return msg.count < 5 ? [msg, null] : [null, msg];"), b: fn("return msg;", "a") },
  "a disabled node beside": { from: from("a", "off", "nowhere"), a: fn("return msg;", "kept"), off: { ...fn("return msg;"), d: true } },
}; // prettier-ignore
Object.assign(ways["a loop"]?.a ?? {}, { outputs: 2, wires: [["b"], ["kept"]] });

const subflow: Flow = [
  { id: "sub", type: "subflow", name: "sub", in: [{ wires: [{ id: "inner" }] }], out: [{ wires: [{ id: "inner", port: 0 }] }] },
  { id: "inner", z: "sub", x: 0, y: 0, ...fn("return msg;") },
]; // prettier-ignore
const subflowOfKeeps: Flow = [
  { id: "deep", type: "subflow", name: "deep", in: [{ wires: [{ id: "within" }] }], out: [] },
  { id: "within", z: "deep", x: 0, y: 0, ...handling("keeps") },
];

describe("a followed flow", () => {
  let following: Following;
  before(async () => {
    following = await Following.start(flowOf({ from: from() }), { runtimeState: { enabled: true, ui: false } });
  });
  after(() => following.nodeRed.stop());
  afterEach(async () => should(await following.size()).equal(0));

  const deploy = async (nodes: Nodes, more: Flow = []) => following.nodeRed.deploy([...flowOf(nodes), ...more]);

  for (const [what, nodes] of Object.entries(ways)) {
    it(`has succeeded when the last node is done, behind ${what}`, async () => {
      await deploy({ from: from("a"), kept: handling("keeps"), ...nodes });
      const id = following.send("from");
      await following.has("kept");
      should(await following.size()).equal(1);
      await following.go("kept", what === "link call" ? ["send", "done"] : ["done"]);
      should(await following.ending(id)).eql(done);
    });
  }

  it("has succeeded when the last node is done, behind a subflow and inside one", async () => {
    await deploy(
      { from: from("a"), a: { type: "subflow:sub", wires: [["kept", "c"]] }, kept: handling("keeps"), c: { type: "subflow:deep" } },
      [...subflow, ...subflowOfKeeps],
    ); // prettier-ignore
    const id = following.send("from");
    await following.has("kept");
    await following.has("c-within");
    await following.go("kept", ["done"]);
    should(await following.size()).equal(1);
    await following.go("c-within", ["done"]);
    should(await following.ending(id)).eql(done);
  });

  it("has succeeded at once where no wire leads to a node that is enabled", async () => {
    await deploy({
      from: from(),
      astray: from("nowhere", "off"),
      off: { ...handling("keeps"), d: true },
    });
    should(await following.endingFrom("from")).eql(done);
    should(await following.endingFrom("astray")).eql(done);
  });

  it("ends when the nodes at all wires are done, also where two lead to one node", async () => {
    await deploy({ from: from("a", "a", "one", "one", "two"), a: fn("return msg;", "one"), one: fn("return msg;"), two: handling("keeps") }); // prettier-ignore
    const id = following.send("from");
    await following.has("two");
    should(await following.size()).equal(1);
    await following.go("two", ["done"]);
    should(await following.ending(id)).eql(done);
  });

  it("ends for each of several messages by itself", async () => {
    await deploy({ from: from("kept"), kept: handling("keeps") });
    const ids = ["one", "two", "three"].map((payload) => following.send("from", payload));
    for (const payload of ["one", "two", "three"]) await following.has("kept", payload);
    await following.go("kept", ["done"], "two");
    should(await following.ending(ids[1] ?? "")).eql(done);
    should(await following.size()).equal(2);
    await following.go("kept", ["fail"], "one");
    await following.go("kept", ["done"], "three");
    should(await following.ending(ids[0] ?? "")).eql(failed("handling: failed"));
    should(await following.ending(ids[2] ?? "")).eql(done);
  });

  it("ends without messages that have other ids", async () => {
    await deploy({ from: from("a", "b"), a: { type: "split", splt: "\\n", spltType: "str", wires: [["kept"]] }, b: handling("isDoneAnew", "kept"), kept: handling("keeps") }); // prettier-ignore
    should(await following.endingFrom("from")).eql(done);
    for (const payload of ["message", "other"]) await following.has("kept", payload);
  });

  it("includes a message that a function makes, as it has the same id", async () => {
    await deploy({ from: from("a"), a: fn("return { payload: 'made' };", "kept"), kept: handling("keeps") });
    const id = following.send("from");
    await following.has("kept", "made");
    should(await following.size()).equal(1);
    await following.go("kept", ["done"], "made");
    should(await following.ending(id)).eql(done);
  });

  const failing: [string, Nodes, string][] = [
    ["a function that throws", { a: fn("throw new Error('thrown')") }, "thrown"],
    ["a function that rejects", { a: fn("await Promise.reject(new Error('rejected'))") }, "rejected"],
    ["a function that reports an error", { a: fn("node.error('reported', msg); return msg;", "b"), b: fn("return msg;") }, "reported"],
    ["a handler that throws", { a: handling("throwsAtOnce") }, "thrown, and never done"],
    ["a report without done", { a: handling("reports") }, "reported"],
    ["a report with done", { a: handling("reportsAndIsDone") }, "reported, and done"],
    ["link call that waits in vain", { a: { type: "link call", links: ["in"], linkType: "static", timeout: "0.01", wires: [[]] }, in: { type: "link in", links: [] } }, "timeout"],
    ["a long error", { a: handling("failsAtLength") }, "x".repeat(190)],
    ["an error that throws when it is read", { a: handling("failsStrangely") }, "object"],
  ]; // prettier-ignore
  for (const [what, nodes, error] of failing) {
    it(`has failed with the error of ${what}, caught or not`, async () => {
      await deploy({ from: from("a"), ...nodes });
      should(await following.endingFrom("from")).match({ as: "failed" });
      const caught = { catch: { type: "catch", scope: null, wires: [["kept"]] }, kept: handling("keeps") };
      await deploy({ from: from("a"), ...nodes, ...caught });
      const id = following.send("from");
      await following.has("kept");
      should(await following.size()).equal(1);
      await following.go("kept", ["done"]);
      should(await following.ending(id))
        .match({ as: "failed" })
        .and.have.property("error")
        .which.containEql(`${nodes.a?.type as string}: ${error}`);
    });
  }

  it("has not failed where a node reports an error without a message", async () => {
    await deploy({ from: from("a"), a: handling("reportsOfItself") });
    should(await following.endingFrom("from")).eql(done);
  });

  describe("during a deploy", () => {
    let changes = 0;
    /** The nodes, of which these are changed. */
    const changed = (nodes: Nodes, ...ids: string[]): Nodes =>
      Object.fromEntries(
        Object.entries(nodes).map(([id, node]) => [id, ids.includes(id) ? { ...node, name: `${++changes}` } : node]),
      );
    const nodes: Nodes = {
      from: from("a", "b"),
      a: handling("keeps", "last"),
      b: handling("keeps"),
      last: handling("keeps"),
    };

    for (const [type, ids] of [
      ["full", []],
      ["flows", ["last"]],
      ["nodes", ["a"]],
      ["reload", []],
    ] as const) {
      it(`is interrupted by a deploy of the kind ${type} that stops a node which has its message`, async () => {
        // As core's delay, this one is done with what it drops then.
        const before = { ...nodes, a: { ...nodes.a, drops: true } };
        await deploy(before);
        const id = following.send("from");
        await following.has("a");
        await following.has("b");
        await following.go("b", ["done"]);
        await following.nodeRed.deploy(flowOf(changed(before, ...ids)), type);
        should(await following.ending(id)).eql({ as: "interrupted" });
        await following.go("a", ["done"]);
      });
    }

    for (const type of ["flows", "nodes"] as const) {
      it(`goes on where a deploy of the kind ${type} does not stop the nodes that have its message`, async () => {
        await deploy(nodes, flowOf({ elsewhere: handling("keeps") }, "two"));
        const id = following.send("from");
        await following.has("a");
        await following.has("b");
        const rest = type === "nodes" ? changed(nodes, "from", "last") : nodes;
        const elsewhere = flowOf(changed({ elsewhere: handling("keeps") }, "elsewhere"), "two");
        await following.nodeRed.deploy([...flowOf(rest), ...elsewhere], type);
        await following.go("b", ["done"]);
        should(await following.size()).equal(1);
        await following.go("a", ["send", "done"]);
        await following.has("last");
        should(await following.size()).equal(1);
        await following.go("last", ["done"]);
        should(await following.ending(id)).eql(done);
      });
    }

    it("is interrupted in a subflow, and in a core node that drops its message", async () => {
      const delay = { type: "delay", pauseType: "delay", timeout: "1", timeoutUnits: "hours", outputs: 1, wires: [["last"]] }; // prettier-ignore
      const inSubflow = { from: from("c"), c: { type: "subflow:deep" } };
      await deploy(inSubflow, subflowOfKeeps);
      const first = following.send("from");
      await following.has("c-within");
      await deploy(inSubflow, subflowOfKeeps);
      should(await following.ending(first)).eql({ as: "interrupted" });
      const delayed = { from: from("a", "last"), a: delay, last: handling("keeps") };
      await deploy(delayed);
      const second = following.send("from");
      await following.has("last");
      await following.go("last", ["done"]);
      await following.nodeRed.deploy(flowOf(changed(delayed, "a")), "nodes");
      should(await following.ending(second)).eql({ as: "interrupted" });
    });

    it("is interrupted where its message was on its way to a node", async () => {
      const passing = { from: from("a"), a: handling("passes", "kept"), kept: handling("keeps") };
      await deploy(passing);
      const { nodeRed } = following;
      const { length } = nodeRed.starts;
      await nodeRed.interruptNextDelivery();
      const first = following.send("from");
      should(await following.ending(first)).eql({ as: "interrupted" });
      // Otherwise the deploy would take this start for its own.
      await nodeRed.until(() => nodeRed.starts[length], "the flows to start again");
      const keeping = { from: from("a"), a: handling("keeps", "kept"), kept: handling("keeps") };
      await deploy(keeping);
      const second = following.send("from");
      await following.has("a");
      const { length: before } = nodeRed.starts;
      await nodeRed.interruptNextDelivery();
      await following.go("a", ["send", "done"]);
      should(await following.ending(second)).eql({ as: "interrupted" });
      await nodeRed.until(() => nodeRed.starts[before], "the flows to start once more");
    });

    it("is interrupted where a node that goes on sends its message to one that has stopped", async () => {
      const passing = { ...nodes, slow: { type: "slow" } };
      await deploy(passing);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.go("b", ["done"]);
      const letGo = await following.nodeRed.beginDeploy(flowOf(changed(passing, "last", "slow")), "nodes");
      await following.go("a", ["send", "done"]);
      await letGo();
      should(await following.ending(id)).eql({ as: "interrupted" });
    });

    it("goes on where a node sends its message to one that runs, or to none, while others stop", async () => {
      const passing = { ...nodes, a: { ...nodes.a, wires: [["last"]] }, slow: { type: "slow" } };
      await deploy(passing);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.go("b", ["done"]);
      const letGo = await following.nodeRed.beginDeploy(flowOf(changed(passing, "slow")), "nodes");
      await following.go("a", ["send", "done"]);
      await following.has("last");
      await letGo();
      await following.go("last", ["done"]);
      should(await following.ending(id)).eql(done);
    });

    it("is interrupted, and has not failed, where a node that stops reports an error", async () => {
      const before = { ...nodes, a: { ...nodes.a, complains: true } };
      await deploy(before);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.go("b", ["done"]);
      await following.nodeRed.deploy(flowOf(changed(before)), "full");
      should(await following.ending(id)).eql({ as: "interrupted" });
    });

    it("has failed where a node had reported an error before it was stopped", async () => {
      await deploy(nodes);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.go("b", ["fail"]);
      await following.nodeRed.deploy(flowOf(changed(nodes)), "full");
      should(await following.ending(id)).eql(failed("handling: failed"));
    });

    it("is interrupted by Stop flows as soon as they have stopped", async () => {
      await deploy(nodes);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.nodeRed.setState("stop");
      should(await following.ending(id)).eql({ as: "interrupted" });
      await following.nodeRed.setState("start");
    });

    it("is interrupted by Stop flows, whatever its nodes say then", async () => {
      await deploy(nodes);
      const id = following.send("from");
      await following.has("a");
      await following.has("b");
      await following.nodeRed.setState("stop");
      await following.go("a", ["send", "done"]);
      await following.go("b", ["done"]);
      await following.nodeRed.setState("start");
      should(await following.ending(id)).eql({ as: "interrupted" });
    });
  });

  it("has failed when it has no end in time, and a late end is ignored", async () => {
    await deploy({ from: from("a", "join"), a: handling("keeps"), join: { type: "join", mode: "custom", build: "array", count: "2", timeout: "", wires: [[]] } }); // prettier-ignore
    const id = following.send("from", "message", {}, 50);
    should(await following.ending(id)).eql({ as: "failed", error: "timedOut" });
    await following.go("a", ["done"]);
  });

  it("says when to retry where msg.webhook.retryAfter has a valid number of seconds", async () => {
    const asking = fn('msg.webhook = { retryAfter: msg.payload }; node.error("away", msg);');
    await deploy({ from: from("a"), a: asking });
    for (const [retryAfter, retryAfterMs] of [
      [30, 30_000],
      ["1.5", 1500],
      [0.03049, 31],
      [1e12, 30 * 24 * 3_600_000],
      [0, 0],
      [-1, undefined],
      ["soon", undefined],
      [null, undefined],
    ] as const) {
      const result = { ...failed("function: away"), ...(retryAfterMs !== undefined && { retryAfterMs }) };
      should(await following.endingFrom("from", retryAfter)).eql(result);
    }
  });
});
