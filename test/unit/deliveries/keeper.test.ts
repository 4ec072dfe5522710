import should from "should";
import type { Kept } from "../../../src/deliveries/delivery";
import { Keeper } from "../../../src/deliveries/keeper";
import { backoffAfter, type RetryPolicy } from "../../../src/config/handling";
import type { Ending, Fares, Flow } from "../../../src/deliveries/flow";
import { MemoryStore } from "../../../src/deliveries/memory-store";
import { type Change, StoreError } from "../../../src/deliveries/store";
import { delivered } from "../../harness/stores";
import { until } from "../../harness/until";

/** Fails when it is told to, as often as it is. */
class FaultyStore extends MemoryStore {
  failures = 0;

  override add(...args: Parameters<MemoryStore["add"]>): Promise<void> {
    return this.#fails ? Promise.reject(new StoreError("full")) : super.add(...args);
  }

  override change(id: string, change: Change): Promise<void> {
    return this.#fails ? Promise.reject(new StoreError("unreachable")) : super.change(id, change);
  }

  get #fails(): boolean {
    return this.failures > 0 && this.failures-- > 0;
  }
}

const mostAttempts = 5;
const retryAtOnce: RetryPolicy = { attempts: mostAttempts, backoffFirst: 1, backoffLongest: 1 };

/** A flow whose endings a test decides. */
class Played implements Flow<string> {
  readonly started: [id: string, attempt: number, first: string | undefined][] = [];
  readonly gaveUps: [id: string, attempts: number, error: string][] = [];
  readonly ends: ((ending: Ending) => void)[] = [];
  fares: Fares = { running: 0, waiting: 0, failed: 0 };
  again = 0;
  /** What it ends with at once. */
  constructor(
    readonly ending?: Ending | (() => Ending),
    readonly retry: RetryPolicy = retryAtOnce,
  ) {}

  onStart: (kept: Kept) => void = () => undefined;

  start(kept: Kept, first: string | undefined): Promise<Ending> {
    const { delivery } = kept;
    this.started.push([delivery.id, delivery.attempt, first]);
    this.onStart(kept);
    if (!this.ending) return new Promise((end) => this.ends.push(end));
    return Promise.resolve(typeof this.ending === "function" ? this.ending() : this.ending);
  }

  fared(fares: Fares): void {
    this.fares = fares;
  }

  gaveUp(id: string, attempts: number, error: string): void {
    this.gaveUps.push([id, attempts, error]);
  }

  redelivered(number: number): void {
    this.again += number;
  }
}

const body = Buffer.from("{}");
const keptOf = (id: string, attempt = 1): Kept => {
  const attempts = Array.from({ length: attempt }, () => ({ at: 1 }));
  return { delivery: delivered(id, { state: "running", attempt }), body, attempts };
};
const failed: Ending = { as: "failed", error: "no" };

describe("Keeper", () => {
  let store: FaultyStore;
  let keeper: Keeper<string>;
  const options = { patience: 50, retryAfter: 1 };
  beforeEach(() => {
    store = new FaultyStore();
    keeper = new Keeper<string>(store, true, options);
  });
  afterEach(() => keeper.close());

  const accept = async (id: string) => {
    const kept = keptOf(id);
    await keeper.keep(kept);
    keeper.begin(kept, `first of ${id}`);
  };
  /** Waits for what a flow has given up to be written down. */
  const becomesNot = async (id: string, { gaveUps }: Played) => {
    if (gaveUps.length > 0) await becomes(id, "failed");
  };
  /** A delivery that was under way so often when its process ended. */
  const interrupted = async (id: string, times: number, at = 1) => {
    await store.add(delivered(id, { state: "running", attempt: 0 }), body);
    for (let attempt = 1; attempt <= times; attempt++) await store.change(id, { attempt, run: { at } });
  };
  const stateOf = async (id: string) => (await store.find(id))?.delivery.state;
  const becomes = async (id: string, state: string) => {
    await until(async () => (await stateOf(id)) === state, `${id} to be ${state}`);
  };

  it("starts the flow with what came, and is done when the flow is", async () => {
    const flow = new Played();
    keeper.enter("n", flow);
    await accept("1");
    flow.started.should.eql([["1", 1, "first of 1"]]);
    flow.fares.should.eql({ running: 1, waiting: 0, failed: 0 });
    (await stateOf("1"))?.should.equal("running");
    flow.ends[0]?.({ as: "succeeded" });
    await becomes("1", "succeeded");
    flow.fares.running.should.equal(0);
    const [run] = (await store.find("1"))?.attempts ?? [];
    Number(run?.ended).should.be.above(0);
  });

  it("starts a flow that fails again, and gives up after five attempts", async () => {
    const flow = new Played(failed);
    keeper.enter("n", flow);
    await accept("1");
    await becomes("1", "failed");
    flow.started.map(([, attempt]) => attempt).should.eql([1, 2, 3, 4, 5]);
    // What came with the request is not kept in memory.
    flow.started.map(([, , first]) => first !== undefined).should.eql([true, false, false, false, false]);
    flow.gaveUps.should.eql([["1", 5, "no"]]);
    await until(() => flow.fares.failed === 1, "it to be counted");
    flow.fares.should.eql({ running: 0, waiting: 0, failed: 1 });
    const { attempts = [] } = (await store.find("1")) ?? {};
    attempts.map(({ error }) => error).should.eql(Array.from({ length: mostAttempts }, () => "no"));
  });

  it("doubles the time between two attempts, up to the longest", () => {
    const policy = { attempts: 10, backoffFirst: 10_000, backoffLongest: 3_600_000 };
    const times = Array.from({ length: 9 }, (_, failures) => backoffAfter(policy, failures + 1) / 1000);
    times.should.eql([10, 20, 40, 80, 160, 320, 640, 1280, 2560]);
    backoffAfter(policy, 10).should.equal(3_600_000);
    backoffAfter(policy, 49).should.equal(3_600_000);
  });

  it("waits before the next attempt for as long as its node says", async () => {
    const flow = new Played(failed, { attempts: 3, backoffFirst: 30, backoffLongest: 40 });
    const starts: number[] = [];
    flow.onStart = () => starts.push(performance.now());
    keeper.enter("n", flow);
    await accept("1");
    await becomes("1", "failed");
    const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    pauses.length.should.equal(2);
    // A timer may be early by one.
    should(pauses[0]).be.aboveOrEqual(29);
    should(pauses[1]).be.aboveOrEqual(39);
  });

  it("starts the flow once where one attempt is all, and not again after the end of the process", async () => {
    const flow = new Played(failed, { ...retryAtOnce, attempts: 1 });
    keeper.enter("n", flow);
    await accept("1");
    await becomes("1", "failed");
    flow.started.length.should.equal(1);
    await interrupted("2", 1);
    const next = new Played(undefined, { ...retryAtOnce, attempts: 1 });
    new Keeper<string>(store, true, options).enter("n", next);
    await becomes("2", "failed");
    next.started.should.be.empty();
    next.gaveUps.should.eql([["2", 1, "interrupted"]]);
  });

  it("leaves to the sender what the sender knows of", async () => {
    const flow = new Played({ as: "failed", error: "the sender was answered 500", isTold: true });
    keeper.enter("n", flow);
    await accept("1");
    await becomes("1", "failed");
    flow.started.length.should.equal(1);
    flow.gaveUps.should.be.empty();
  });

  it("knows of those that have failed before", async () => {
    await store.add(delivered("1", { state: "failed" }), body);
    const flow = new Played();
    keeper.enter("n", flow);
    await until(() => flow.fares.failed === 1, "the failed one to be counted");
  });

  it("takes up in their order those that are not finished, and each once", async () => {
    for (let number = 0; number < 250; number++) await store.add(keptOf(`${number}`, number % 2).delivery, body);
    const flow = new Played({ as: "succeeded" });
    keeper.enter("n", flow);
    keeper.resume();
    await until(() => flow.again === 250, "all to be taken up");
    flow.started.should.eql(Array.from({ length: 250 }, (_, number) => [`${number}`, (number % 2) + 1, undefined]));
    await becomes("249", "succeeded");
  });

  it("gives up what was under way five times when its process ended", async () => {
    await interrupted("1", mostAttempts);
    const flow = new Played();
    keeper.enter("n", flow);
    await becomes("1", "failed");
    flow.started.should.be.empty();
    flow.gaveUps.map(([id]) => id).should.eql(["1"]);
  });

  it("starts the flow five times in all, where each time ends the process, the first time included", async () => {
    await store.add(keptOf("1").delivery, body);
    const flows: Played[] = [];
    for (let starts = 0; (await stateOf("1")) === "running" && starts < 2 * mostAttempts; starts++) {
      const flow = new Played();
      flows.push(flow);
      // A process that ends says nothing more.
      new Keeper<string>(store, true, options).enter("n", flow);
      await until(() => flow.started.length + flow.gaveUps.length > 0, "a start, or the end");
      await becomesNot("1", flow);
    }
    flows.flatMap(({ started }) => started.map(([, attempt]) => attempt)).should.eql([2, 3, 4, 5]);
  });

  it("starts alone what was under way twice when its process ended, and gives up none but the last one", async () => {
    keeper = new Keeper<string>(store, true, { ...options, alone: 300 });
    for (const id of ["1", "2", "3"]) await interrupted(id, mostAttempts, Number(id));
    const flow = new Played();
    keeper.enter("n", flow);
    await until(() => flow.started.length === 1, "the first to be started");
    await new Promise(setImmediate);
    flow.started.should.eql([["1", mostAttempts + 1, undefined]]);
    flow.ends[0]?.({ as: "succeeded" });
    await until(() => flow.started.length === 2, "the second to be started");
    flow.gaveUps.map(([id]) => id).should.eql([]);
    await becomes("3", "failed");
    flow.gaveUps.map(([id]) => id).should.eql(["3"]);
    (await stateOf("2"))?.should.equal("running");
  });

  it("does not count what a deploy has ended among the attempts", async () => {
    const flow = new Played();
    keeper.enter("n", flow);
    await accept("1");
    for (let deploys = 1; deploys <= mostAttempts; deploys++) {
      flow.ends.at(-1)?.({ as: "lost" });
      await until(() => flow.started.length === deploys + 1, "the next start");
    }
    flow.ends.at(-1)?.(failed);
    await until(() => flow.started.length === mostAttempts + 2, "another attempt");
    flow.gaveUps.should.be.empty();
  });

  it("gives the flow again what came, whatever that has made of it", async () => {
    const flow = new Played();
    const bodies: string[] = [];
    flow.onStart = (kept) => {
      bodies.push(String(kept.body));
      kept.body.fill("x");
    };
    keeper.enter("n", flow);
    const kept = { ...keptOf("1"), body: Buffer.from("first") };
    await keeper.keep({ ...kept, body: Buffer.from("first") });
    keeper.begin(kept, "first");
    flow.ends[0]?.(failed);
    await until(() => bodies.length === 2, "the next attempt");
    bodies.should.eql(["first", "first"]);
  });

  it("forgets none of thousands that fail while others are still taken up", async () => {
    keeper = new Keeper<string>(store, true, {
      patience: 5,
      retryAfter: 1,
      lookAgainAfter: 40,
    });
    for (let number = 0; number < 3000; number++) await store.add(keptOf(`${number}`, 0).delivery, body);
    let isUp = false;
    setTimeout(() => (isUp = true), 60);
    const flow = new Played(() => (isUp ? { as: "succeeded" } : failed), {
      attempts: 5,
      backoffFirst: 40,
      backoffLongest: 40,
    });
    keeper.enter("n", flow);
    await until(async () => {
      const { queued = 0, running = 0 } = await store.counts("n");
      return queued + running === 0;
    }, "all to be done");
    should((await store.counts("n")).failed).be.undefined();
  });

  it("takes up no more than there is memory for, unless the flow does not come to an end", async () => {
    for (let number = 0; number < 1500; number++) await store.add(keptOf(`${number}`, 0).delivery, body);
    const flow = new Played();
    keeper.enter("n", flow);
    await until(() => flow.started.length >= 1000, "as many as there is room for");
    flow.started.length.should.equal(1000);
    flow.ends[0]?.({ as: "succeeded" });
    await until(() => flow.started.length > 1000, "the next step");
    await until(() => flow.started.length === 1500, "the rest, although nothing ends");
  });

  it("delivers nothing while flows are deployed, and all of it to the flow that comes", async () => {
    const [before, after] = [new Played(), new Played()];
    const leave = keeper.enter("n", before);
    keeper.hold();
    await accept("1");
    leave();
    keeper.enter("n", after);
    after.started.should.be.empty();
    after.fares.waiting.should.equal(1);
    keeper.resume();
    after.started.should.eql([["1", 1, "first of 1"]]);
    before.started.should.be.empty();
  });

  it("delivers again, as a new attempt, what a deploy has ended", async () => {
    const [before, after] = [new Played(), new Played()];
    const leave = keeper.enter("n", before);
    await accept("1");
    keeper.hold();
    leave();
    keeper.enter("n", after);
    before.ends[0]?.({ as: "lost" });
    await until(() => after.fares.waiting === 1, "the delivery to wait");
    keeper.resume();
    await until(() => after.started.length === 1, "the next attempt");
    after.started.should.eql([["1", 2, undefined]]);
  });

  it("forgets what waits for a node that does not come back, which the store still has", async () => {
    const leave = keeper.enter("n", new Played());
    keeper.hold();
    await accept("1");
    leave();
    keeper.resume();
    const flow = new Played();
    keeper.enter("n", flow);
    await until(() => flow.started.length === 1, "the delivery");
    flow.started.should.eql([["1", 2, undefined]]);
  });

  it("promises nothing that the store does not take", async () => {
    keeper.enter("n", new Played());
    store.failures = 1;
    await keeper.keep(keptOf("1")).should.be.rejectedWith(StoreError);
    await accept("1");
    (await stateOf("1"))?.should.equal("running");
  });

  it("writes down as soon as it can what became of a delivery, and starts no attempt before", async () => {
    const flow = new Played(failed);
    keeper.enter("n", flow);
    const kept = keptOf("1");
    await keeper.keep(kept);
    store.failures = 3;
    keeper.begin(kept, "first");
    await becomes("1", "failed");
    flow.started.length.should.equal(mostAttempts);
  });

  it("keeps what is not to start the flow after all from ever doing so", async () => {
    const flow = new Played();
    keeper.enter("n", flow);
    const kept = keptOf("1");
    await keeper.keep(kept);
    keeper.withdraw(kept);
    await becomes("1", "refused");
    keeper.resume();
    await until(async () => (await store.claim("n", 1, new Set())).deliveries.length === 0, "nothing to be left");
    flow.started.should.be.empty();
  });
});
