import type { Node, NodeAPI, NodeMessage } from "node-red";
import should from "should";
import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Completion } from "../../../src/flow/completion";
import { checkInternals, findTemplateId, watchFlows } from "../../../src/flow/node-red-internals";

const knownHooks = ["preRoute", "preDeliver", "onReceive", "postReceive", "onComplete"];

/** Refuses unknown names, as Node-RED does. */
class Hooks {
  readonly #handlers = new Map<string, (event: object) => void>();
  constructor(readonly known: readonly string[]) {}

  get size(): number {
    return this.#handlers.size;
  }
  add(name: string, handler: (event: object) => void): void {
    if (!this.known.includes(name.split(".")[0] ?? "")) throw new Error(`Invalid hook '${name}'`);
    this.#handlers.set(name, handler);
  }
  remove(name: string): void {
    this.#handlers.delete(name);
  }
  trigger(hook: string, event: object): void {
    for (const [name, handler] of this.#handlers) if (name.startsWith(`${hook}.`)) handler(event);
  }
}

/** What a fake Node-RED has otherwise than the real one. */
interface Otherwise {
  hooks?: Hooks | undefined;
  /** Its events to editors have another name. */
  hasOtherEvents?: boolean;
  /** Nodes report errors otherwise. */
  hasOtherErrors?: boolean;
  /** Properties of its nodes. */
  node?: object;
}

class FakeNodeRed {
  readonly lines: string[] = [];
  readonly events = new EventEmitter();
  readonly hooks: Hooks | undefined;
  readonly RED: NodeAPI;
  readonly #prototype: object;
  readonly #running = new Map<string, unknown>();

  constructor(readonly otherwise: Otherwise = {}) {
    this.hooks = "hooks" in otherwise ? otherwise.hooks : new Hooks(knownHooks);
    this.#prototype = otherwise.hasOtherErrors ? {} : { error: () => undefined };
    const log = { warn: (line: string) => this.lines.push(line) };
    const { events, hooks } = this;
    this.RED = { log, events, hooks, settings: {}, _: (key: string) => key } as unknown as NodeAPI;
  }

  start(): void {
    this.events.emit("flows:starting", {});
    this.events.emit("flows:started", {});
    this.events.emit(this.otherwise.hasOtherEvents ? "other-event" : "runtime-event", {});
  }

  makeNode(id: string, flow: object = {}): Node & { error: (error: string, message: object) => void } {
    const node: object = Object.assign(Object.create(Object.create(this.#prototype) as object) as object, {
      id,
      type: "fake",
      _expectedDoneCount: 1,
      _flow: { TYPE: "flow", getNode: (wanted: string) => this.#running.get(wanted), ...flow },
      ...this.otherwise.node,
    });
    this.#running.set(id, node);
    return node as ReturnType<FakeNodeRed["makeNode"]>;
  }
}

/** A message that a node has. */
function deliver({ hooks }: FakeNodeRed, node: Node, id: string): NodeMessage {
  const msg = { _msgid: id };
  hooks?.trigger("preDeliver", { msg, destination: { node } });
  hooks?.trigger("postReceive", { msg, destination: { node } });
  return msg;
}

const options = { redact: (error: string) => error, timeoutMs: 60_000, httpErrorsFail: false };

const missing: [name: string, otherwise: Otherwise, line: string][] = [
  ["hooks", { hooks: undefined }, "internals.completion"],
  ...knownHooks.map((name): [string, Otherwise, string] => [
    `the hook ${name}`,
    { hooks: new Hooks(knownHooks.filter((each) => each !== name)) },
    "internals.completion",
  ]),
  ["Node.prototype.error", { hasOtherErrors: true }, "internals.errors"],
  ["_expectedDoneCount", { node: { _expectedDoneCount: undefined } }, "internals.done"],
  ["_flow", { node: { _flow: undefined } }, "internals.stops"],
  ["_flow.getNode", { node: { _flow: { TYPE: "flow" } } }, "internals.stops"],
  ["runtime-event", { hasOtherEvents: true }, "internals.deploys"],
  ["_alias", { node: { _flow: { TYPE: "subflow", getNode: () => undefined } } }, "internals.subflows"],
];

describe("The internals of Node-RED", () => {
  it("are all there, in a flow and in a subflow, and then nothing is logged, and no hook is left", async () => {
    const nodeRed = new FakeNodeRed();
    const { checkNode, checkStart } = checkInternals(nodeRed.RED);
    watchFlows(nodeRed.RED, { started: checkStart });
    checkNode(nodeRed.makeNode("a"));
    checkNode(Object.assign(nodeRed.makeNode("b", { TYPE: "subflow" }), { _alias: "c" }));
    nodeRed.start();
    await nextTurn();
    nodeRed.lines.should.be.empty();
    should(nodeRed.hooks?.size).equal(0);
  });

  for (const [name, otherwise, line] of missing) {
    it(`are checked at start: without ${name}, one line says what is not done, and deliveries end`, async () => {
      const nodeRed = new FakeNodeRed(otherwise);
      const { checkNode, checkStart } = checkInternals(nodeRed.RED);
      watchFlows(nodeRed.RED, { started: checkStart });
      const completion = new Completion(nodeRed.RED, () => undefined);
      const nodes = [nodeRed.makeNode("a"), nodeRed.makeNode("b")];
      for (const node of nodes) {
        checkNode(node);
        completion.watchErrors(node);
      }
      for (let starts = 0; starts < 2; starts++) nodeRed.start();
      await nextTurn();
      nodeRed.lines.should.eql([line]);

      for (const node of nodes) {
        const ending = completion.follow(`to-${node.id}`, options);
        nodeRed.hooks?.trigger("onComplete", { msg: deliver(nodeRed, node, `to-${node.id}`), node: { node } });
        (await ending).should.eql({ as: "succeeded" });
      }
      completion.size.should.equal(0);
    });
  }
});

describe("A delivery that is followed", () => {
  it("fails with the error that a node reports; without Node.prototype.error, it ends when the node is done", async () => {
    for (const hasOtherErrors of [false, true]) {
      const nodeRed = new FakeNodeRed({ hasOtherErrors });
      const completion = new Completion(nodeRed.RED, () => undefined);
      const node = nodeRed.makeNode("a");
      if (hasOtherErrors) node.error = () => undefined;
      completion.watchErrors(node);
      const ending = completion.follow("id", options);
      const msg = deliver(nodeRed, node, "id");
      node.error("broken", msg);
      nodeRed.hooks?.trigger("onComplete", { msg, node: { node } });
      (await ending).should.eql(hasOtherErrors ? { as: "succeeded" } : { as: "failed", error: "fake: broken" });
    }
  });

  it("is interrupted by a stop where nothing says which nodes run, even where its node is done with it", async () => {
    for (const isDone of [true, false]) {
      const nodeRed = new FakeNodeRed({ node: { _flow: undefined } });
      const completion = new Completion(nodeRed.RED, () => undefined);
      const node = nodeRed.makeNode("a");
      const ending = completion.follow("id", options);
      const msg = deliver(nodeRed, node, "id");
      nodeRed.events.emit("flows:stopping", {});
      if (isDone) nodeRed.hooks?.trigger("onComplete", { msg, node: { node } });
      nodeRed.events.emit("flows:stopped", {});
      (await ending).should.eql({ as: "interrupted" });
    }
  });

  it("has succeeded once a node's handler returns where no node says whether it will be done", async () => {
    const nodeRed = new FakeNodeRed({ node: { _expectedDoneCount: undefined } });
    const completion = new Completion(nodeRed.RED, () => undefined);
    const ending = completion.follow("id", options);
    deliver(nodeRed, nodeRed.makeNode("a"), "id");
    (await ending).should.eql({ as: "succeeded" });
  });
});

describe("A node in a subflow", () => {
  it("has an id in the template of the subflow, and outside of one none", () => {
    const nodeRed = new FakeNodeRed();
    should(findTemplateId(nodeRed.makeNode("a"))).be.undefined();
    should(findTemplateId(Object.assign(nodeRed.makeNode("b"), { _alias: "c" }))).equal("c");
  });
});
