import { mock } from "node:test";
import should from "should";
import type { SharedUses } from "../../../src/deliveries/queue";
import type { Silence } from "../../../src/flow/outcomes";
import { token } from "../../harness/flow";
import { Observed, settle } from "../../harness/observed";
import { temporaryFolder } from "../../harness/package";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

describe("inactivity alerts", () => {
  let observed: Observed;
  let told: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
    [observed, told] = [new Observed(), []];
    listen();
  });
  afterEach(() => mock.timers.reset());

  function listen(): void {
    const describe = ({ caller, hours, since }: Silence) =>
      `${caller ?? `silent ${hours}`} since ${(since - start) / hour}`;
    observed.outcomes.on("silent", ({ silent }) => told.push(silent.map(describe).join(", ")));
    observed.outcomes.on("heard", ({ caller = "" }) => told.push(`heard ${caller}`.trim()));
  }

  const open = (hours: number, sharedUses?: SharedUses) => observed.deploy({ sharedUses }, hours);

  /** What instances tell each other, and the keys of what this one has told. */
  function share(): { shared: SharedUses; uses: Map<string, number>; noted: string[] } {
    const [uses, noted] = [new Map<string, number>(), [] as string[]];
    return { shared: { note: (_node, key) => noted.push(key), read: () => Promise.resolve(uses) }, uses, noted };
  }

  /** Lets time pass, and what a server was asked be answered. */
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
    await pass(0);
    observed.accept("1", "accepted", start + 100 * hour);
    await pass(1);
    await pass(1);
    told.should.eql(["silent 1 since 1"]);
  });

  it("do not last longer when the clock is set back before the first request", async () => {
    const ahead = mock.method(Date, "now", () => start + 100 * hour);
    open(1);
    ahead.mock.restore();
    await pass(1);
    told.should.eql(["silent 1 since 0"]);
  });

  it("go on through deploys and restarts", async () => {
    const folder = temporaryFolder("silence");
    observed = new Observed(folder);
    open(24);
    await pass(9);
    observed.accept("1", "duplicate");
    open(24);
    await pass(11);
    await observed.observers.uses.write();
    observed = new Observed(folder);
    listen();
    open(24);
    await pass(12.9);
    told.should.eql([]);
    await pass(0.2);
    told.should.eql(["silent 24 since 9"]);
  });

  it("hear of what another instance has accepted", async () => {
    const { shared, uses, noted } = share();
    open(1, shared);
    observed.accept();
    const [key = ""] = noted;
    await pass(0.9);
    uses.set(key, start + 0.8 * hour);
    await pass(0.1);
    told.should.eql([]);
    await pass(0.8);
    told.should.eql(["silent 1 since 0.8"]);
    uses.set(key, start + 1.81 * hour);
    await pass(0.1);
    told.should.eql(["silent 1 since 0.8", "heard"]);
  });

  it("do not come for the time in which there was no alert, though other instances know when there was one", async () => {
    const { shared, uses } = share();
    const noting = { ...shared, note: (_: string, key: string, at: number) => uses.set(key, at) };
    open(1, noting);
    observed.accept();
    open(0, noting);
    await pass(5);
    observed.accept();
    await pass(0.5);
    open(1, noting);
    await pass(0.4);
    told.should.eql([]);
    await pass(0.1);
    told.should.eql(["silent 1 since 5"]);
  });

  it("come from the deploy on where no other instance can be asked", async () => {
    open(24, { ...share().shared, read: () => Promise.reject(new Error()) });
    await pass(24);
    told.should.eql(["silent 24 since 0"]);
  });

  describe("for each caller", () => {
    const deploy = (callers: readonly string[], hours = 24, sharedUses?: SharedUses) => {
      observed.deploy({ callers, sharedUses }, hours);
    };
    /** So that the node itself is not silent. */
    const passWithRequests = async (hours: number) => {
      for (let passed = 0; passed < hours; passed++) {
        observed.accept();
        await pass(1);
      }
    };

    it("come from its last use or its first deploy on, those of some at once together, and end with a use", async () => {
      deploy(["one", "two", "three"]);
      await passWithRequests(4);
      observed.call("one");
      deploy(["one", "two", "three", "late"]);
      await passWithRequests(19);
      told.should.eql([]);
      await passWithRequests(1);
      told.splice(0).should.eql(["two since 0, three since 0"]);
      const { fill, text } = (await observed.status()) ?? {};
      should([fill, text]).match(["yellow", / · status\.silentCallers 2$/]);
      const line = "warn status.callersWentSilent 24 two, three";
      observed.log.should.eql([line]);
      for (const caller of ["two", "two", "one"]) observed.call(caller);
      told.splice(0).should.eql(["heard two"]);
      await passWithRequests(4);
      told.splice(0).should.eql(["late since 4"]);
      const { callers } = (await observed.ask("silent")) as { callers: Silence[] };
      callers.should.eql([
        { node: "node", caller: "three", hours: 24, since: start },
        { node: "node", caller: "late", hours: 24, since: start + 4 * hour },
      ]);
    });

    it("go on through a deploy by another name, and end without a word for one that is gone", async () => {
      deploy([`one ${token}`, "two"]);
      await passWithRequests(24);
      told.splice(0).should.eql(["one [redacted] since 0, two since 0"]);
      deploy([`uno:one ${token}`]);
      await passWithRequests(24);
      told.should.eql([]);
      observed.call("uno");
      told.splice(0).should.eql(["heard uno"]);
      deploy([`uno:one ${token}`], 48);
      await passWithRequests(47);
      told.should.eql([]);
      await passWithRequests(1);
      told.splice(0).should.eql(["uno since 48"]);
    });

    it("come together for a thousand that fall silent within an hour, however far apart", async () => {
      const all = Array.from({ length: 1000 }, (_, index) => `caller ${index}`);
      deploy(all);
      for (const [index, caller] of all.entries()) {
        if (index % 10 === 0) await pass(1 / 100);
        observed.call(caller);
      }
      await passWithRequests(23);
      for (let count = 0; count < 30; count++) {
        observed.accept();
        await pass(0.1);
      }
      told.length.should.be.within(2, 4);
      told.join(", ").split(", ").should.have.length(1000);
      observed.log.should.have.length(told.length);
      observed.log.join().should.match(/ caller 0, .*, \+/);
    });

    it("do not come for one that another instance has heard", async () => {
      const { shared, uses, noted } = share();
      deploy(["one", "two"], 24, shared);
      observed.call("one");
      const [key = ""] = noted;
      await passWithRequests(23);
      uses.set(key, Date.now());
      await passWithRequests(2);
      told.splice(0).should.eql(["two since 0"]);
      await passWithRequests(22);
      told.splice(0).should.eql(["one since 23"]);
    });

    it("go on through a restart, also for one that was never heard", async () => {
      const folder = temporaryFolder("silence");
      observed = new Observed(folder);
      deploy(["one", "two"]);
      mock.timers.tick(hour);
      observed.call("one");
      await observed.observers.uses.write();
      mock.timers.tick(20 * hour);
      observed = new Observed(folder);
      listen();
      deploy(["one", "two"]);
      await passWithRequests(5);
      told.should.eql(["two since 0", "one since 1"]);
    });
  });
});
