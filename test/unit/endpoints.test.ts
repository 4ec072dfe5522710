import should from "should";
import { type Claim, Endpoints, mostWaiting } from "../../src/endpoints";

interface Named {
  name: string;
}

describe("Endpoints", () => {
  let endpoints: Endpoints<Named>;
  let events: string[];
  const claim = (owner: string, path: string): Claim =>
    endpoints.claim(path, {
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
    claim("a", "/a");
    claim("b", "/B/c");
    should(holder("/A/")).equal("a");
    should(holder("/b/%43")).equal("b");
    should(holder("/b")).equal(undefined);
  });

  it("gives a path to the first claim, and to the next one when the first goes", () => {
    const [first, second, third] = [claim("1", "/a"), claim("2", "/A/"), claim("3", "/a")];
    events.should.eql(["1 open", "2 waits", "3 waits"]);
    first.release();
    should(holder("/a")).equal("2");
    events.slice(3).should.eql(["2 open"]);
    second.release();
    should(holder("/a")).equal("3");
    third.release();
    should(holder("/a")).equal(undefined);
  });

  it("lets a waiting claim go without a sound", () => {
    const [first, second] = [claim("1", "/a"), claim("2", "/a"), claim("3", "/a")];
    second.release();
    events.should.have.length(3);
    first.release();
    should(holder("/a")).equal("3");
  });

  it("takes a second release of the same claim for nothing", () => {
    const first = claim("1", "/a");
    claim("2", "/a");
    first.release();
    first.release();
    should(holder("/a")).equal("2");
    events.should.eql(["1 open", "2 waits", "2 open"]);
  });

  describe("while flows are being deployed", () => {
    it("lets requests for known paths wait, and others pass", async () => {
      const a = claim("a", "/a");
      endpoints.hold();
      a.release();
      should(holder("/a")).equal("deploying");
      should(holder("/other")).equal(undefined);
      const settled = endpoints.settled();
      claim("a", "/a");
      should(holder("/a")).equal("deploying");
      endpoints.resume();
      should(await settled).be.true();
      should(holder("/a")).equal("a");
    });

    it("lets requests for new paths wait as well: their flows are not complete yet", () => {
      endpoints.hold();
      claim("a", "/a");
      should(holder("/a")).equal("deploying");
      endpoints.resume();
      should(holder("/a")).equal("a");
    });

    it("keeps the order of claims, whoever comes back first", () => {
      const [first, second] = [claim("1", "/a"), claim("2", "/a")];
      endpoints.hold();
      first.release();
      second.release();
      claim("2", "/a");
      claim("1", "/a");
      endpoints.resume();
      should(holder("/a")).equal("1");
      events.slice(2).should.eql(["2 waits", "1 open"]);
    });

    it("gives a path up when its owner does not come back", () => {
      const [first, second] = [claim("1", "/a"), claim("2", "/a")];
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

    it("ignores the release of a claim that a new one has replaced", () => {
      const old = claim("a", "/a");
      endpoints.hold();
      old.release();
      claim("a", "/a");
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
  });
});
