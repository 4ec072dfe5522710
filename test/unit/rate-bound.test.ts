import { mock } from "node:test";
import should from "should";
import { RateBound, TimeBudget } from "../../src/auth/limits";

describe("in each second", () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    mock.method(performance, "now", () => now);
  });
  afterEach(() => mock.restoreAll());

  it("a ration is so many", () => {
    const ration = new RateBound(2);
    [ration.take(), ration.take(), ration.take()].should.eql([true, true, false]);
    now = 999;
    ration.take().should.be.false();
    now = 1000;
    ration.take().should.be.true();
  });

  it("so much time is spent, and what was begun is ended", () => {
    const spending = new TimeBudget(100);
    const work = (milliseconds: number) => spending.spend(() => (now += milliseconds));
    should(work(60)).equal(60);
    should(work(60)).equal(120);
    should(work(1)).be.undefined();
    now = 1000;
    should(work(1)).equal(1001);
  });
});
