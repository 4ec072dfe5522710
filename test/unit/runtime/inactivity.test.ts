import { mock } from "node:test";
import should from "should";
import type { StoredDeliveries } from "../../../src/admin/inactivity";
import type { Delivery, State } from "../../../src/deliveries/delivery";
import type { Query } from "../../../src/deliveries/queue";
import { Observed, settle } from "../../harness/observed";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

describe("inactivity alerts", () => {
  let observed: Observed;
  let told: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
    [observed, told] = [new Observed(), []];
    observed.outcomes.on("silent", ({ hours, since }) => told.push(`silent ${hours} since ${(since - start) / hour}`));
    observed.outcomes.on("heard", () => told.push("heard"));
  });
  afterEach(() => mock.timers.reset());

  const open = (hours: number, store?: StoredDeliveries) => observed.deploy({}, hours, store);

  /** Lets time pass, and what a store was asked be answered. */
  async function pass(hours: number): Promise<void> {
    await settle();
    mock.timers.tick(hours * hour);
    await settle();
  }

  it("count from the last sign of life, whenever that came", async () => {
    open(1);
    for (let count = 0; count < 9; count++) {
      await pass(0.9);
      observed.accept();
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

  it("do not last longer when the clock is set back", async () => {
    open(1);
    observed.accept("1", "accepted", start + 100 * hour);
    await pass(1);
    await pass(1);
    told.should.eql(["silent 1 since 1"]);
  });

  describe("with a store that outlives the process", () => {
    /** A store in which the last delivery of each state has come so many hours after the start. */
    function storeOf(last: Partial<Record<State, number>>, isShared = false, others: State[] = []): StoredDeliveries {
      const list = ({ node, state = "handshake" }: Query) => {
        should(node).equal("node");
        const at = last[state];
        const found = at === undefined ? [] : [{ at: start + at * hour }];
        const now = others.includes(state) ? [{ at: Date.now(), replayOf: "other" }, { at: Date.now(), isTest: true }] : []; // prettier-ignore
        return Promise.resolve([...now, ...found] as Delivery[]);
      };
      return { isShared, list };
    }

    it("do not count from a replay, or from a test request of the editor", async () => {
      open(24, storeOf({ succeeded: -30 }, false, ["succeeded", "failed"]));
      await pass(0);
      told.should.eql(["silent 24 since -30"]);
    });

    it("count from a repeat, and from what the flow has failed with", async () => {
      open(24, storeOf({ succeeded: -30, duplicate: -20 }));
      await pass(0);
      observed.delete();
      open(24, storeOf({ failed: -20 }));
      await pass(3.9);
      told.should.eql([]);
      await pass(0.2);
      told.should.eql(["silent 24 since -20"]);
    });

    it("count from when the node was opened where the store is in trouble, or knows of nothing", async () => {
      const troubled = { isShared: false, list: () => Promise.reject(new Error()) };
      for (const store of [troubled, storeOf({ refused: -30 })]) {
        open(24, store);
        const opened = Date.now();
        await pass(23);
        told.should.eql([]);
        await pass(1);
        told.splice(0).should.eql([`silent 24 since ${(opened - start) / hour}`]);
        observed.delete();
      }
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
