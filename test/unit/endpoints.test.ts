import should from "should";
import { mock } from "node:test";
import { Endpoints, type Place } from "../../src/endpoints";
import { longestHold, mostClaimants, mostStrangers, mostWaiting } from "../../src/waiting";

interface Named {
  name: string;
}

describe("Endpoints", () => {
  let endpoints: Endpoints<Named>;
  let events: string[];
  const enter = (owner: string, path: string): Place =>
    endpoints.enter(path, {
      owner,
      endpoint: { name: owner },
      onTurn: () => events.push(`${owner} open`),
      onWait: () => events.push(`${owner} waits`),
    });
  const holder = (path: string) => {
    const found = endpoints.find(path);
    return typeof found === "object" ? found.name : found;
  };
  beforeEach(() => {
    endpoints = new Endpoints();
    events = [];
  });

  it("finds the endpoint of a path in any letter case, with or without a trailing slash", () => {
    enter("a", "/a");
    enter("b", "/B/c");
    should(holder("/A/")).equal("a");
    should(holder("/b/%43")).equal("b");
    should(holder("/b")).equal(undefined);
  });

  it("gives a path to the first that asks, and to the next one when the first goes", () => {
    const [first, second, third] = [enter("1", "/a"), enter("2", "/A/"), enter("3", "/a")];
    events.should.eql(["1 open", "2 waits", "3 waits"]);
    first.release();
    should(holder("/a")).equal("2");
    events.slice(3).should.eql(["2 open"]);
    second.release();
    should(holder("/a")).equal("3");
    third.release();
    should(holder("/a")).equal(undefined);
  });

  it("lets one that waits go without a sound", () => {
    const [first, second] = [enter("1", "/a"), enter("2", "/a"), enter("3", "/a")];
    second.release();
    events.should.have.length(3);
    first.release();
    should(holder("/a")).equal("3");
  });

  it("takes a second release of the same place for nothing", () => {
    const first = enter("1", "/a");
    enter("2", "/a");
    first.release();
    first.release();
    should(holder("/a")).equal("2");
    events.should.eql(["1 open", "2 waits", "2 open"]);
  });

  describe("while flows are being deployed", () => {
    it("lets requests for known paths wait, and others pass", async () => {
      const a = enter("a", "/a");
      endpoints.hold();
      a.release();
      should(holder("/a")).equal("deploying");
      should(holder("/other")).equal(undefined);
      const settled = endpoints.settled();
      enter("a", "/a");
      should(holder("/a")).equal("deploying");
      endpoints.resume();
      should(await settled).be.true();
      should(holder("/a")).equal("a");
    });

    it("lets requests for new paths wait as well: their flows are not complete yet", () => {
      endpoints.hold();
      enter("a", "/a");
      should(holder("/a")).equal("deploying");
      endpoints.resume();
      should(holder("/a")).equal("a");
    });

    it("keeps the order of places, whoever comes back first", () => {
      const [first, second] = [enter("1", "/a"), enter("2", "/a")];
      endpoints.hold();
      first.release();
      second.release();
      enter("2", "/a");
      enter("1", "/a");
      endpoints.resume();
      should(holder("/a")).equal("1");
      events.slice(2).should.eql(["1 open", "2 waits"]);
    });

    it("gives a path up when its owner does not come back", () => {
      const [first, second] = [enter("1", "/a"), enter("2", "/a")];
      endpoints.hold();
      first.release();
      endpoints.resume();
      should(holder("/a")).equal("2");
      events.slice(2).should.eql(["2 open"]);
      endpoints.hold();
      second.release();
      endpoints.resume();
      should(holder("/a")).equal(undefined);
    });

    it("ignores the release of a place that its owner has taken again", () => {
      const old = enter("a", "/a");
      endpoints.hold();
      old.release();
      enter("a", "/a");
      old.release();
      endpoints.resume();
      should(holder("/a")).equal("a");
    });

    it("lets at most 1,000 requests wait", async () => {
      endpoints.hold();
      const waiting = Array.from({ length: mostWaiting }, () => endpoints.settled());
      should(await endpoints.settled()).be.false();
      endpoints.resume();
      (await Promise.all(waiting)).should.matchEach(true);
      should(await endpoints.settled()).be.true();
    });

    for (const [as, most] of [
      ["stranger", mostStrangers],
      ["claimant", mostClaimants],
    ] as const) {
      it(`lets at most ${most} wait as a ${as}, who take the places of nobody else`, async () => {
        endpoints.hold();
        const waiter = { caller: { destroyed: false }, bytes: 0 };
        const waiting = Array.from({ length: most }, () => endpoints.settled(waiter, as));
        should(await endpoints.settled(waiter, as)).be.false();
        const others = (["guest", "claimant", "stranger"] as const).filter((other) => other !== as);
        waiting.push(...others.map((other) => endpoints.settled(waiter, other)));
        endpoints.resume();
        (await Promise.all(waiting)).should.matchEach(true);
      });
    }

    describe("for long", () => {
      let now: number;
      beforeEach(() => {
        now = 0;
        mock.method(performance, "now", () => now);
        mock.timers.enable({ apis: ["setTimeout"] });
      });
      afterEach(() => mock.reset());
      const pass = (milliseconds: number) => {
        now += milliseconds;
        mock.timers.tick(milliseconds);
      };
      /** What became of a wait, once everything that is due has run. */
      const outcomeOf = (settled: Promise<boolean>) =>
        Promise.race([settled, new Promise<string>((resolve) => setImmediate(() => resolve("waiting")))]);

      it("lets a request wait for 10 seconds after the start of the deploy, and no longer", async () => {
        longestHold.should.equal(10_000);
        endpoints.hold();
        const first = endpoints.settled();
        pass(4000);
        const second = endpoints.settled();
        pass(5999);
        should(await outcomeOf(first)).equal("waiting");
        should(await outcomeOf(second)).equal("waiting");
        pass(1);
        should(await outcomeOf(first)).be.false();
        should(await outcomeOf(second)).be.false();
      });

      it("lets nobody wait any more after that, until the flows run", async () => {
        enter("a", "/a");
        endpoints.hold();
        pass(longestHold);
        should(await outcomeOf(endpoints.settled())).be.false();
        should(holder("/a")).equal("deploying");
        endpoints.resume();
        should(await outcomeOf(endpoints.settled())).be.true();
        should(holder("/a")).equal("a");
      });

      it("counts the 10 seconds of the next deploy from its own start", async () => {
        endpoints.hold();
        pass(9000);
        endpoints.resume();
        endpoints.hold();
        const settled = endpoints.settled();
        pass(9999);
        should(await outcomeOf(settled)).equal("waiting");
        pass(1);
        should(await outcomeOf(settled)).be.false();
      });

      it("makes room for others when requests give up", async () => {
        endpoints.hold();
        const waiting = Array.from({ length: mostWaiting }, () => endpoints.settled());
        pass(longestHold);
        (await Promise.all(waiting)).should.matchEach(false);
        endpoints.hold();
        const settled = endpoints.settled();
        endpoints.resume();
        should(await outcomeOf(settled)).be.true();
      });
    });
  });
});
