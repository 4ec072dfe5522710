import should from "should";
import type { NodeAPI } from "node-red";
import { EventEmitter } from "node:events";
import { mock } from "node:test";
import { type Silent, Silences, type Watch } from "../../../nodes/runtime/silence";
import type { State } from "../../../src/deliveries/delivery";
import type { Query, Store } from "../../../src/deliveries/store";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

describe("Silences", () => {
  let there: Set<string>;
  let events: EventEmitter;
  let silences: Silences;
  let answer: () => unknown;
  let told: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
    [there, events, told] = [new Set(["node"]), new EventEmitter(), []];
    const RED = {
      httpAdmin: {
        get: (_path: string, permission: string, handler: (request: unknown, response: unknown) => void) => {
          permission.should.equal("webhook-trigger.read");
          answer = () => answerOf(handler);
        },
      },
      auth: { needsPermission: (permission: string) => permission },
      events,
      nodes: { getNode: (id: string) => (there.has(id) ? { id } : null) },
    };
    silences = new Silences(RED as unknown as NodeAPI);
  });
  afterEach(() => mock.timers.reset());

  /** What the route answers. */
  function answerOf(handler: (request: unknown, response: unknown) => void): unknown {
    let said: unknown;
    const response = {
      set(name: string, value: string) {
        [name, value].should.eql(["Cache-Control", "no-store"]);
        return response;
      },
      json: (value: unknown) => (said = value),
    };
    handler({}, response);
    return said;
  }

  const listener = {
    wentSilent: ({ hours, since }: Silent) => told.push(`silent ${hours} since ${(since - start) / hour}`),
    heardAgain: () => told.push("heard"),
  };

  function open(hours: number, store?: Store): Watch {
    const watch = silences.watch("node", { hours, store });
    watch.begin(listener);
    return watch;
  }

  /** Lets time pass, and what a store was asked be answered. */
  async function pass(hours: number): Promise<void> {
    await settled();
    mock.timers.tick(hours * hour);
    await settled();
  }

  it("tell once of a silence, from when the node was opened, and once of its end", async () => {
    const watch = open(1);
    await pass(0.999);
    told.should.eql([]);
    await pass(0.001);
    told.should.eql(["silent 1 since 0"]);
    should(answer()).eql({ nodes: [{ node: "node", hours: 1, since: start }] });
    await pass(5);
    told.should.have.length(1);
    watch.heard(Date.now());
    told.splice(0).should.eql(["silent 1 since 0", "heard"]);
    should(answer()).eql({ nodes: [] });
    await pass(1);
    told.should.eql(["silent 1 since 6"]);
  });

  it("count from the last sign of life, whenever that came", async () => {
    const watch = open(1);
    for (let count = 0; count < 9; count++) {
      await pass(0.9);
      watch.heard(Date.now());
    }
    await pass(0.99);
    told.should.eql([]);
    await pass(0.01);
    told.should.eql(["silent 1 since 8.1"]);
  });

  it("wait for longer than a timer can", async () => {
    open(8760);
    await pass(8759.9);
    told.should.eql([]);
    await pass(0.2);
    told.should.have.length(1);
  });

  it("take any time for none where nothing is expected", async () => {
    open(0);
    await pass(100_000);
    told.should.eql([]);
    should(answer()).eql({ nodes: [] });
  });

  it("do not begin anew with a deploy, and do not tell of the same silence again", async () => {
    const first = open(2);
    await pass(1.5);
    first.end();
    events.emit("flows:started");
    const second = open(2);
    await pass(0.5);
    told.should.eql(["silent 2 since 0"]);
    second.end();
    should(answer()).eql({ nodes: [] });
    const third = open(2);
    await pass(0);
    should(answer()).eql({ nodes: [{ node: "node", hours: 2, since: start }] });
    told.should.have.length(1);
    third.heard(Date.now());
    told.should.have.length(2);
  });

  it("go by what is expected after a deploy", async () => {
    const first = open(1);
    await pass(1);
    first.end();
    const second = open(3);
    await pass(0);
    should(answer()).eql({ nodes: [] });
    await pass(2);
    told.should.eql(["silent 1 since 0", "silent 3 since 0"]);
    second.end();
    open(0);
    await pass(9);
    should(answer()).eql({ nodes: [] });
  });

  it("know of what was accepted before anything was expected", async () => {
    const first = open(0);
    await pass(5);
    first.heard(Date.now());
    first.end();
    await pass(0.5);
    open(1);
    await pass(0.5);
    told.should.eql(["silent 1 since 5"]);
  });

  it("forget a node that is no more", async () => {
    open(2).end();
    there.clear();
    events.emit("flows:started");
    await pass(5);
    there.add("node");
    open(2);
    await pass(1);
    told.should.eql([]);
  });

  it("are over when the node is closed", async () => {
    const watch = open(1);
    watch.end();
    await pass(9);
    watch.heard(Date.now());
    told.should.eql([]);
  });

  it("do not last longer when the clock is set back", async () => {
    const watch = open(1);
    watch.heard(start + 100 * hour);
    await pass(1);
    await pass(1);
    told.should.eql(["silent 1 since 1"]);
  });

  describe("with a store that outlives the process", () => {
    /** A store in which the last delivery of each state has come so many hours after the start. */
    function storeOf(last: Partial<Record<State, number>>, isShared = false, others: State[] = []): Store {
      const page = ({ node, state = "handshake" }: Query) => {
        should(node).equal("node");
        const at = last[state];
        const found = at === undefined ? [] : [{ at: start + at * hour }];
        const now = others.includes(state) ? [{ at: Date.now(), replayOf: "other" }, { at: Date.now(), isTrial: true }] : []; // prettier-ignore
        return Promise.resolve({ deliveries: [...now, ...found] });
      };
      return { isShared, page } as unknown as Store;
    }

    it("count from what was accepted before the process began", async () => {
      const watch = open(24, storeOf({ succeeded: -30, running: -25, queued: -27, refused: -1, handshake: -1 }));
      await pass(0);
      told.should.eql(["silent 24 since -25"]);
      watch.heard(Date.now());
      told.should.have.length(2);
    });

    it("do not count from a replay, or from a test request of the editor", async () => {
      open(24, storeOf({ succeeded: -30 }, false, ["succeeded", "failed"]));
      await pass(0);
      told.should.eql(["silent 24 since -30"]);
    });

    it("count from a repeat, and from what the flow has failed with", async () => {
      open(24, storeOf({ succeeded: -30, duplicate: -20 })).end();
      await pass(0);
      there.clear();
      events.emit("flows:started");
      open(24, storeOf({ failed: -20 }));
      await pass(3.9);
      told.should.eql([]);
      await pass(0.2);
      told.should.eql(["silent 24 since -20"]);
    });

    it("count from when the node was opened where the store is in trouble, or knows of nothing", async () => {
      const troubled = { isShared: false, page: () => Promise.reject(new Error()) } as unknown as Store;
      for (const store of [troubled, storeOf({ refused: -30 })]) {
        const watch = open(24, store);
        const opened = Date.now();
        await pass(23);
        told.should.eql([]);
        await pass(1);
        told.splice(0).should.eql([`silent 24 since ${(opened - start) / hour}`]);
        watch.end();
        there.clear();
        events.emit("flows:started");
      }
    });

    it("ask once what was before, where no other process writes into the store: it has test requests as well", async () => {
      const last: Partial<Record<State, number>> = {};
      open(1, storeOf(last));
      await pass(0.5);
      last.succeeded = 0.5;
      await pass(0.5);
      told.should.eql(["silent 1 since 0"]);
    });

    it("hear of what another instance has accepted", async () => {
      const last: Partial<Record<State, number>> = {};
      open(1, storeOf(last, true));
      await pass(0.9);
      last.succeeded = 0.8;
      await pass(0.1);
      told.should.eql([]);
      await pass(0.8);
      told.should.eql(["silent 1 since 0.8"]);
      last.succeeded = 1.81;
      await pass(0.1);
      told.should.eql(["silent 1 since 0.8", "heard"]);
    });
  });
});

/** Has what promises lead to done. */
async function settled(): Promise<void> {
  for (let count = 0; count < 5; count++) await new Promise<void>((resolve) => setImmediate(resolve));
}
