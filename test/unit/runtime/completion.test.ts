import { hooks } from "@node-red/util";
import fc from "fast-check";
import type { Node, NodeAPI } from "node-red";
import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import should from "should";
import type { AttemptResult } from "../../../src/deliveries/queue";
import { Completion } from "../../../src/flow/completion";
import { seed } from "../../harness/property";

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

/** What Node-RED does with a message. */
const trigger = (stage: string, event: object): void => {
  void (hooks as unknown as { trigger(stage: string, event: object): Promise<unknown> }).trigger(stage, event);
};
const send = (msg: object, node: Node) => trigger("preDeliver", { msg, destination: { id: node.id, node } });
const handled = (msg: object, node: Node) => trigger("postReceive", { msg, destination: { id: node.id, node } });
const complete = (msg: object, node: Node) => trigger("onComplete", { msg, node: { id: node.id, node } });
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

describe("Completion", () => {
  let events: EventEmitter;
  let completion: Completion;
  const options = { redact: (error: string) => error, timeoutMs: 60_000 };
  let heard: string[];
  const red = (more: object) => ({ hooks, events, ...more }) as unknown as NodeAPI;
  const follow = (id: string) => {
    const seen: { result?: AttemptResult } = {};
    void completion.follow(id, options).then((result) => (seen.result = result));
    return seen;
  };

  beforeEach(() => {
    events = new EventEmitter();
    const errors: string[] = [];
    heard = errors;
    completion = new Completion(red({}), (id, error) => errors.push(`${id} ${String(error).length}`));
    completion.watchErrors(nodeOf("any"));
  });
  afterEach(() => {
    hooks.remove("*.webhook-trigger-completion");
  });

  it("has an end after the last node has completed, whatever comes first, in any flow", async () => {
    const property = fc.asyncProperty(parts, fc.array(fc.nat(), { maxLength: 40 }), async (flow: Part[], order) => {
      const seen = follow("id");
      const nodes = flow.map(({ isSilent }, index) => nodeOf(`${index}`, isSilent));
      const steps: (() => void)[] = [];
      let failures = 0;
      const deliver = (index: number) => {
        const [part, node] = [flow[index], nodes[index]];
        if (!part || !node) return;
        const msg = { _msgid: "id" };
        const sendOn = () => part.wires.forEach((next) => deliver(index + next));
        const end = () => {
          if (part.fails) node.error("failed", msg);
          if (part.fails) failures++;
          complete(msg, node);
        };
        send(msg, node);
        steps.push(() => {
          if (part.isSilent || part.isAtOnce) sendOn();
          if (part.isAtOnce && !part.isSilent) end();
          handled(msg, node);
          if (!part.isAtOnce && !part.isSilent) steps.push(() => (sendOn(), end()));
        });
      };
      deliver(0);
      for (let step = 0; steps.length > 0; step++) {
        await settled();
        should(seen.result).equal(undefined);
        steps.splice((order[step] ?? 0) % steps.length, 1)[0]?.();
      }
      await settled();
      should(seen.result).eql(failures > 0 ? { as: "failed", error: "fake: failed" } : { as: "succeeded" });
      should(completion.size).equal(0);
    });
    await fc.assert(property, { seed, numRuns: 200 });
  });

  it("knows a message whose id was taken away before its node completes", async () => {
    const [node, seen] = [nodeOf("node"), follow("id")];
    const msg: { _msgid?: string } = { _msgid: "id" };
    send(msg, node);
    handled(msg, node);
    delete msg._msgid;
    complete(msg, node);
    await settled();
    should(seen.result).eql({ as: "succeeded" });
  });

  it("redacts an error before it shortens it, and passes it on", async () => {
    const node = nodeOf("node");
    const redact = (error: string) => error.replaceAll("secret", "…");
    const result = completion.follow("id", { ...options, redact });
    const msg = { _msgid: "id" };
    send(msg, node);
    const error = `${"x".repeat(191)}secret`;
    node.error(error, msg);
    should(await result).eql({ as: "failed", error: `fake: ${"x".repeat(191)}…` });
    node.reported.should.eql([error]);
    heard.should.eql(["id 197"]);
  });

  it("has a flow succeed once the message is delivered where there are no hooks", async () => {
    completion = new Completion(red({ hooks: undefined }), () => undefined);
    const seen = follow("id");
    let isDelivered = false;
    setImmediate(() => (isDelivered = seen.result === undefined));
    await settled();
    isDelivered.should.be.true();
    should(seen.result).eql({ as: "succeeded" });
  });
});
