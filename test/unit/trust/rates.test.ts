import fc from "fast-check";
import should from "should";
import type { Problem } from "../../../src/problem";
import { type Count, MemoryRateCounter, minute, mostMinutes, networkOf, RateLimit } from "../../../src/trust/rates";
import { seed } from "../../harness/property";

class Clock {
  now = 1_000_000.25;
  readonly read = () => this.now;
}

function secondsOf(refusal: Problem | undefined): number {
  should(refusal).have.property("status", 429);
  return Number(refusal?.headers["Retry-After"]);
}

describe("RateLimit", () => {
  let clock: Clock;
  let counter: MemoryRateCounter;
  beforeEach(() => {
    clock = new Clock();
    counter = new MemoryRateCounter(clock.read);
  });

  it("refuses what is beyond the limit, and says truly when the next request is taken", () => {
    const limit = new RateLimit(3, "node", counter);
    for (let sent = 0; sent < 3; sent++) {
      should(limit.take("192.0.2.1")).be.undefined();
      clock.now += 7_300;
    }
    const seconds = secondsOf(limit.take("192.0.2.1"));
    seconds.should.equal(Math.ceil((minute - 3 * 7_300) / 1000));
    clock.now += (seconds - 1) * 1000;
    secondsOf(limit.take("192.0.2.1")).should.equal(1);
    clock.now += 1000;
    should(limit.take("192.0.2.1")).be.undefined();
  });

  it("takes the next request when its minute is over, and not before", () => {
    const limit = new RateLimit(1, "node", counter);
    should(limit.take("192.0.2.1")).be.undefined();
    clock.now += minute - 0.25;
    secondsOf(limit.take("192.0.2.1")).should.equal(1);
    clock.now += 0.25;
    should(limit.take("192.0.2.1")).be.undefined();
  });

  it("counts each endpoint and each address by itself", () => {
    const [one, other] = [new RateLimit(1, "one", counter), new RateLimit(1, "other", counter)];
    should(one.take("192.0.2.1")).be.undefined();
    should(one.take("192.0.2.2")).be.undefined();
    should(other.take("192.0.2.1")).be.undefined();
    secondsOf(one.take("192.0.2.1")).should.equal(60);
  });

  it("goes on counting after a deploy, also with another limit", () => {
    for (let sent = 0; sent < 5; sent++) should(new RateLimit(5, "node", counter).take("::1")).be.undefined();
    secondsOf(new RateLimit(5, "node", counter).take("::1")).should.equal(60);
    should(new RateLimit(7, "node", counter).take("::1")).be.undefined();
  });

  it("counts nothing without a limit", () => {
    for (let sent = 0; sent < 100; sent++) should(new RateLimit(0, "node", counter).take("::1")).be.undefined();
    counter.size.should.equal(0);
  });

  it("can count elsewhere", () => {
    const counts: Count[] = [
      { requests: 1, left: 60_000 },
      { requests: 2, left: 59_001 },
      { requests: 3, left: 0 },
      { requests: 4, left: 1e9 },
    ];
    const elsewhere = { count: () => counts.shift() ?? { requests: 0, left: 0 } };
    const limit = new RateLimit(1, "node", elsewhere);
    should(limit.take("::1")).be.undefined();
    secondsOf(limit.take("::1")).should.equal(60);
    // Another clock than ours must not make a caller come back at once, or too late.
    secondsOf(limit.take("::1")).should.equal(1);
    secondsOf(limit.take("::1")).should.equal(60);
  });

  it("takes a bounded memory under a flood of made-up addresses, and forgets who came first", () => {
    const limit = new RateLimit(1, "node", counter);
    const made = (index: number) => `2001:db8:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::1`;
    for (let index = 0; index < 3 * mostMinutes; index++) {
      should(limit.take(made(index))).be.undefined();
      counter.size.should.be.belowOrEqual(mostMinutes);
    }
    secondsOf(limit.take(made(3 * mostMinutes - 1))).should.equal(60);
    should(limit.take(made(0))).be.undefined();
  });

  it("forgets minutes that are over", () => {
    for (let index = 0; index < 1000; index++) counter.count(String(index));
    clock.now += minute;
    counter.count("a");
    clock.now += minute;
    counter.count("b");
    counter.size.should.equal(2);
  });

  it("does as a list of all requests would, for any times and senders", () => {
    const steps = fc.array(fc.tuple(fc.nat(25_000), fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1")));
    const property = fc.property(steps, fc.integer({ min: 1, max: 4 }), (times, most) => {
      const limit = new RateLimit(most, "node", new MemoryRateCounter(clock.read));
      const begun = new Map<string, { at: number; requests: number }>();
      for (const [wait, ip] of times) {
        clock.now += wait;
        const last = begun.get(ip);
        const current = last && clock.now - last.at < minute ? last : { at: clock.now, requests: 0 };
        begun.set(ip, current);
        current.requests++;
        const refusal = limit.take(ip);
        if (current.requests <= most) should(refusal).be.undefined();
        else secondsOf(refusal).should.equal(Math.ceil((current.at + minute - clock.now) / 1000));
      }
    });
    fc.assert(property, { seed, numRuns: 500 });
  });
});

describe("networkOf", () => {
  for (const [ip, network] of [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:8080", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:0201", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:1:2::1", "2001:db8:1:2"],
    ["[2001:db8:1:2::1]:443", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", "?"],
    ["unknown", "?"],
    ["x".repeat(10_000), "?"],
  ] as const) {
    it(`counts ${ip.slice(0, 40) || "nobody"} as ${network}`, () => {
      networkOf(ip).should.equal(network);
      networkOf(ip).should.equal(network);
    });
  }
});
