import fc from "fast-check";
import should from "should";
import { hooks, log } from "@node-red/util";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Node, NodeAPI, NodeMessage } from "node-red";
import { Completion, roundInterval } from "../../../nodes/runtime/completion";
import type { Ending } from "../../../src/deliveries/flow";
import { mostRounds, Trails } from "../../../nodes/runtime/trails";
import { seed } from "../../harness/property";

const own = ["onSend", "preDeliver", "postReceive", "onComplete"].map((stage) => `${stage}.webhook-trigger-completion`);

/** A node that runs until it is stopped. */
class FakeNode {
  readonly reported: unknown[] = [];
  isRunning = true;
  readonly _flow = { getNode: (id: string) => (this.isRunning && id === this.id ? this : undefined) };
  readonly type = "fake";
  readonly _expectedDoneCount: number;

  constructor(
    readonly id: string,
    isSilent = false,
  ) {
    this._expectedDoneCount = isSilent ? 0 : 1;
  }

  error(error: unknown): void {
    this.reported.push(error);
  }
}

/** A fake as what it stands for. */
function nodeOf(id: string, isSilent = false): FakeNode & Node {
  return new FakeNode(id, isSilent) as unknown as FakeNode & Node;
}

const source = nodeOf("source");
const route = (trails: Trails, msg: NodeMessage, node: Node) =>
  trails.route({ msg, source: { id: source.id, node: source }, destination: { id: node.id, node } }, undefined);
const follow = (trails: Trails, id: string) => {
  const seen: { ending?: Ending } = {};
  void trails.follow({ id, source: source.id, redact: (error) => error }).then((ending) => (seen.ending = ending));
  return seen;
};
const settled = async () => {
  for (let turns = 0; turns < 3; turns++) await turn();
};

/** A node in a made-up flow: how it deals with what it gets, and to which of the nodes after it that is sent. */
interface Part {
  isSilent: boolean;
  /** Whether it is done before its handler has run, and whether it sends before it is done. */
  isAtOnce: boolean;
  fails: boolean;
  wires: number[];
}

const parts = fc.array(
  fc.record({ isSilent: fc.boolean(), isAtOnce: fc.boolean(), fails: fc.boolean(), wires: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }) }),
  { minLength: 1, maxLength: 6 },
); // prettier-ignore

describe("for any flow", () => {
  it("the end comes after the last node is done, whatever comes first, and it does come", async () => {
    const property = fc.asyncProperty(parts, fc.array(fc.nat(), { maxLength: 40 }), async (flow: Part[], order) => {
      const trails = new Trails();
      const seen = follow(trails, "id");
      const nodes = flow.map(({ isSilent }, index) => nodeOf(`${index}`, isSilent));
      const steps: (() => void)[] = [];
      const failures: { error: string }[] = [];
      const deliver = (index: number) => {
        const [part, node] = [flow[index], nodes[index]];
        if (!part || !node) return;
        const msg = { _msgid: "id" };
        const sendOn = () => part.wires.forEach((next) => deliver(index + next));
        const complete = () => {
          if (part.fails) failures.push({ error: "failed" });
          trails.complete(msg, node, part.fails ? failures[0] : undefined);
        };
        route(trails, msg, node);
        steps.push(() => {
          if (part.isSilent || part.isAtOnce) sendOn();
          if (part.isAtOnce && !part.isSilent) complete();
          trails.receive(msg, node);
          if (!part.isAtOnce && !part.isSilent) steps.push(() => (sendOn(), complete()));
        });
      };
      deliver(0);
      for (let step = 0; steps.length > 0; step++) {
        await settled();
        should(seen.ending).equal(undefined);
        steps.splice((order[step] ?? 0) % steps.length, 1)[0]?.();
      }
      await settled();
      should(seen.ending).eql(failures.length > 0 ? { as: "failed", error: "fake: failed" } : { as: "succeeded" });
      should(trails.size).equal(0);
    });
    await fc.assert(property, { seed, numRuns: 200 });
  });
});

describe("Trails", () => {
  it("know a message whose id was changed or taken away before its node is done", async () => {
    const trails = new Trails();
    const [node, seen] = [nodeOf("node"), follow(trails, "id")];
    const msg: { _msgid?: string } = { _msgid: "id" };
    route(trails, msg, node);
    trails.receive(msg, node);
    delete msg._msgid;
    trails.complete(msg, node);
    await settled();
    should(seen.ending).eql({ as: "succeeded" });
  });

  it("end the first of two that have one id as lost, and follow the second by itself", async () => {
    const trails = new Trails();
    const [node, first, msg] = [nodeOf("node"), follow(trails, "id"), { _msgid: "id" }];
    route(trails, msg, node);
    const second = follow(trails, "id");
    const again = { _msgid: "id" };
    route(trails, again, node);
    await settled();
    should(first.ending).eql({ as: "lost" });
    trails.receive(msg, node);
    trails.complete(msg, node);
    await settled();
    should(second.ending).equal(undefined);
    trails.receive(again, node);
    trails.complete(again, node);
    await settled();
    should(second.ending).eql({ as: "succeeded" });
  });

  it("take a message that has not come after ten minutes for done", async () => {
    const trails = new Trails();
    const [node, seen] = [nodeOf("node"), follow(trails, "id")];
    route(trails, { _msgid: "id" }, node);
    for (let round = 0; round < mostRounds; round++) trails.nextRound();
    await settled();
    should(seen.ending).equal(undefined);
    trails.nextRound();
    await settled();
    should(seen.ending).eql({ as: "succeeded" });
  });

  it("take a message on its way to a node that a deploy has stopped for lost", async () => {
    const trails = new Trails();
    const [node, seen] = [nodeOf("node"), follow(trails, "id")];
    route(trails, { _msgid: "id" }, node);
    trails.stop();
    node.isRunning = false;
    trails.start();
    await settled();
    should(seen.ending).eql({ as: "lost" });
  });

  it("follow what a node has for as long as it has it", async () => {
    const trails = new Trails();
    const [node, seen, msg] = [nodeOf("node"), follow(trails, "id"), { _msgid: "id" }];
    route(trails, msg, node);
    trails.receive(msg, node);
    for (let round = 0; round < 10 * mostRounds; round++) trails.nextRound();
    await settled();
    should(seen.ending).equal(undefined);
    should(trails.size).equal(1);
  });
});

describe("Completion", () => {
  let events: EventEmitter;
  let completion: Completion;
  const added = () => own.filter((hook) => hooks.has(hook)).map((hook) => hook.replace(/\..*/, ""));
  const red = (more: object) =>
    ({ hooks, log, events, settings: {}, nodes: { getNode: () => null }, ...more }) as unknown as NodeAPI;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setInterval"] });
    events = new EventEmitter();
    completion = new Completion(red({}));
  });
  afterEach(() => {
    hooks.remove("*.webhook-trigger-completion");
    hooks.remove("*.foreign");
    mock.timers.reset();
  });

  it("has hooks while something is followed, and until nothing was for a round", async () => {
    added().should.eql([]);
    const node = nodeOf("node");
    const ending = completion.follow("id", source);
    const msg = { _msgid: "id" };
    await trigger("preDeliver", { msg, source: { id: "source", node: source }, destination: { id: "node", node } });
    await settled();
    mock.timers.tick(3 * roundInterval);
    added().should.eql(["preDeliver", "postReceive", "onComplete"]);
    await trigger("postReceive", { msg, destination: { id: "node", node } });
    await trigger("onComplete", { msg, node: { id: "node", node } });
    should(await ending).eql({ as: "succeeded" });
    mock.timers.tick(roundInterval);
    added().should.eql(["preDeliver", "postReceive", "onComplete"]);
    mock.timers.tick(roundInterval);
    added().should.eql([]);
    void completion.follow("again", source);
    added().should.eql(["preDeliver", "postReceive", "onComplete"]);
  });

  for (const stage of ["onSend", "preRoute", "preDeliver", "onReceive"]) {
    it(`looks at what is sent as well where a plugin has a hook ${stage}`, () => {
      hooks.add(`${stage}.foreign`, () => undefined);
      void completion.follow("id", source);
      added().should.containEql("onSend");
    });
  }

  it("redacts an error before it shortens it, and passes it on", async () => {
    const node = nodeOf("node");
    const ending = completion.follow("id", source, (error) => error.replaceAll("secret", "…"));
    const msg = { _msgid: "id" };
    await trigger("preDeliver", { msg, source: { id: "source", node: source }, destination: { id: "node", node } });
    const error = `${"x".repeat(191)}secret`;
    node.error(error, msg);
    should(await ending).eql({ as: "failed", error: `fake: ${"x".repeat(191)}…` });
    node.reported.should.eql([error]);
  });

  it("has a flow done once the message is delivered where there are no hooks", async () => {
    const seen: { ending?: Ending } = {};
    const without = new Completion(red({ hooks: undefined }));
    void without.follow("id", source).then((ending) => (seen.ending = ending));
    let isDelivered = false;
    setImmediate(() => (isDelivered = seen.ending === undefined));
    await settled();
    isDelivered.should.be.true();
    should(seen.ending).eql({ as: "succeeded" });
    should(without.size).equal(0);
  });
});

/** What Node-RED does with a message at a stage. */
function trigger(stage: string, event: object): Promise<unknown> {
  return (hooks as unknown as { trigger(stage: string, event: object): Promise<unknown> }).trigger(stage, event);
}
