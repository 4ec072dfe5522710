import fc from "fast-check";
import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { mock } from "node:test";
import should from "should";
import { type AuthResult, byFirst } from "../../../src/auth/authenticator";
import {
  createLimits,
  isLoopback,
  type JudgeHead,
  maxWindows,
  MemoryRateCounter,
  normaliseAddress,
  RateBound,
  type RateCounter,
  windowMs,
} from "../../../src/auth/limits";
import { parseBlocks } from "../../../src/config/blocks";
import { type Problem, problems } from "../../../src/request/problem";
import { seed } from "../../harness/property";

const testCredentials = { isFromUs: () => false };
const socket = new Socket();
const newRequest = () => new IncomingMessage(socket);

function secondsOf(refusal: object | undefined): number {
  should(refusal).have.property("status", 429);
  return Number((refusal as Problem).headers["Retry-After"]);
}

describe("an allow list", () => {
  for (const [list, ip, isAllowed] of [
    ["", "192.0.2.1", true],
    ["", "anything", true],
    ["192.0.2.0/24", "192.0.2.255", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.2.77/24", "192.0.2.1", true],
    ["192.0.2.128/25", "192.0.2.128", true],
    ["192.0.2.128/25", "192.0.2.127", false],
    ["0.0.0.0/1", "127.255.255.255", true],
    ["0.0.0.0/1", "128.0.0.0", false],
    ["2001:db8:8000::/33", "2001:db8:ffff::1", true],
    ["2001:db8:8000::/33", "2001:db8:7fff::1", false],
    ["2001:db8::fffe/127", "2001:db8::ffff", true],
    ["2001:db8::fffe/127", "2001:db8:0:0:0:0:0:fffd", false],
    ["192.0.2.0/24\n2001:db8::/32\r\n,", "2001:DB8:0:0::1", true],
    ["192.0.2.1", "::ffff:192.0.2.1", true],
    ["192.0.2.1", "::FFFF:c000:201", true],
    ["::ffff:192.0.2.0/120", "192.0.2.9", true],
    ["::ffff:c000:200/120", "192.0.3.9", false],
    ["0.0.0.0/0", "::ffff:192.0.2.1", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["::/0", "2001:db8::1", true],
    ["::/0", "::ffff:192.0.2.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["192.0.2.1", "192.0.2.1:51234", true],
    ["2001:db8::1", "[2001:db8::1]:443", true],
    ["2001:db8::1", "[2001:db8::1]", true],
    ["0.0.0.0/0, ::/0", "", false],
    ["0.0.0.0/0, ::/0", "unknown", false],
    ["0.0.0.0/0, ::/0", "_hidden", false],
    ["10.0.0.1", "010.0.0.1", false],
  ] as const) {
    it(`${JSON.stringify(list)} ${isAllowed ? "allows" : "refuses"} the address "${ip}"`, () => {
      const allowFrom = parseBlocks(list) ?? [];
      const limits = createLimits({ allowFrom, rateLimit: 0, rateLimitBy: "address" }, "node", {
        counter: new MemoryRateCounter(),
        testCredentials,
      });
      (limits?.(newRequest(), ip, () => byFirst) ?? byFirst).should.equal(
        isAllowed ? byFirst : problems.addressNotAllowed,
      );
    });
  }
});

describe("a rate limit", () => {
  let now: number;
  let counter: RateCounter;
  /** Sends a request to an endpoint with a limit. */
  const send = (ip: string, rateLimit: number) => judgeBy(rateLimit)(newRequest(), ip, () => byFirst);
  const judgeBy = (rateLimit: number, rateLimitBy: "address" | "caller" = "address"): JudgeHead => {
    const judge = createLimits({ allowFrom: [], rateLimit, rateLimitBy }, "node", { counter, testCredentials });
    assert(judge);
    return judge;
  };
  beforeEach(() => {
    now = 1_000_000.25;
    counter = new MemoryRateCounter();
    // A mock would remember each of very many calls.
    Object.defineProperty(performance, "now", { value: () => now, configurable: true });
  });
  afterEach(() => void Reflect.deleteProperty(performance, "now"));

  it("counts a request once, however often it is judged", () => {
    const judge = judgeBy(1);
    const [first, second] = [newRequest(), newRequest()];
    for (let times = 0; times < 3; times++) judge(first, "::1", () => byFirst).should.equal(byFirst);
    for (let times = 0; times < 3; times++) secondsOf(judge(second, "::1", () => byFirst)).should.equal(60);
    counter.count("0:0:0:0 node").requests.should.equal(3);
  });

  it("counts each caller on its own, whatever its address, and all others by address", () => {
    const judge = judgeBy(1, "caller");
    const send = (caller: string | undefined, ip: string) => {
      const result: AuthResult = caller === undefined ? problems.tokenInvalid : { credential: "first", caller };
      const judged = judge(newRequest(), ip, () => result);
      if (judged !== result) should(judged).have.property("name", caller === undefined ? "rateExceeded" : "callerRateExceeded"); // prettier-ignore
      return judged === result;
    };
    for (const [caller, isPassed] of [
      ["a", true],
      [undefined, true],
      ["b", true],
      ["a", false],
      [undefined, false],
    ] as const) {
      send(caller, "192.0.2.1").should.equal(isPassed, caller);
    }
    send("a", "192.0.2.2").should.be.false();
    send(undefined, "192.0.2.2").should.be.true();
    // The name of a caller may look like an address.
    send("192.0.2.1", "192.0.2.3").should.be.true();
  });

  it("gives Retry-After at least a second, also when the window has just ended elsewhere", () => {
    counter = { count: () => ({ requests: 2, leftMs: 0 }) };
    secondsOf(send("::1", 1)).should.equal(1);
  });

  it("takes bounded memory when very many addresses send, and drops the windows that began first", () => {
    const format = (index: number) => `2001:db8:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::1`;
    const judge = judgeBy(1);
    let passed = 0;
    for (let index = 0; index < 3 * maxWindows; index++) {
      if (judge(newRequest(), format(index), () => byFirst) === byFirst) passed++;
    }
    passed.should.equal(3 * maxWindows);
    secondsOf(send(format(3 * maxWindows - 1), 1)).should.equal(60);
    secondsOf(send(format(2.2 * maxWindows), 1)).should.equal(60);
    send(format(2 * maxWindows - 1), 1).should.equal(byFirst);
  });

  it("does what a list of all requests would do, for any times and senders", () => {
    const steps = fc.array(fc.tuple(fc.nat(25_000), fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1")));
    const property = fc.property(steps, fc.integer({ min: 1, max: 4 }), (times, max) => {
      counter = new MemoryRateCounter();
      const windows = new Map<string, { at: number; requests: number }>();
      for (const [wait, ip] of times) {
        now += wait;
        const last = windows.get(ip);
        const current = last && now - last.at < windowMs ? last : { at: now, requests: 0 };
        windows.set(ip, current);
        current.requests++;
        const refusal = send(ip, max);
        if (current.requests <= max) refusal.should.equal(byFirst);
        else secondsOf(refusal).should.equal(Math.ceil((current.at + windowMs - now) / 1000));
      }
    });
    fc.assert(property, { seed, numRuns: 500 });
  });

  for (const [ip, network] of [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:8080", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:0201", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:1:2::1", "2001:db8:1:2"],
    ["[2001:db8:1:2::1]:443", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["1::4:5:6:7:8", "1:0:0:4"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", "?"],
    ["unknown", "?"],
    ["x".repeat(10_000), "?"],
  ] as const) {
    it(`counts the address "${ip.slice(0, 40)}" as ${network}`, () => {
      const keys: string[] = [];
      counter = { count: (key) => ({ requests: keys.push(key), leftMs: windowMs }) };
      send(ip, 1);
      keys.should.eql([`${network} node`]);
    });
  }
});

describe("an address", () => {
  for (const [ip, shown, isOwn] of [
    ["127.0.0.1", "127.0.0.1", true],
    ["127.255.0.9", "127.255.0.9", true],
    ["::ffff:127.0.0.1", "127.0.0.1", true],
    ["::FFFF:7f00:1", "127.0.0.1", true],
    ["::1", "::1", true],
    ["0:0:0:0:0:0:0:1", "::1", true],
    ["192.0.2.1:80", "192.0.2.1", false],
    ["[2001:DB8:0:0:0::1%eth0]:80", "2001:db8::1", false],
    ["::127.0.0.1", "::7f00:1", false],
    ["0.0.0.0", "0.0.0.0", false],
    ["localhost", undefined, false],
    ["", undefined, false],
    ["::1]@example.com", undefined, false],
  ] as const) {
    it(`"${ip}" is shown as ${shown ?? "nothing"}, ${isOwn ? "this computer's own" : "not this computer's own"}`, () => {
      should(normaliseAddress(ip)).equal(shown);
      isLoopback(ip).should.equal(isOwn);
    });
  }
});

describe("a bound per second", () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    mock.method(performance, "now", () => now);
  });
  afterEach(() => mock.restoreAll());

  it("allows so many in each second", () => {
    const bound = new RateBound(2);
    [bound.take(), bound.take(), bound.take()].should.eql([true, true, false]);
    now = 999;
    bound.take().should.be.false();
    now = 1000;
    bound.take().should.be.true();
  });

  it("allows so much time of work in each second, and lets work that has begun end", () => {
    const bound = new RateBound(100);
    const work = (milliseconds: number) => bound.spend(() => (now += milliseconds));
    [work(60), work(60)].should.eql([60, 120]);
    should(work(1)).be.undefined();
    // What was overspent is missing in the next second.
    now = 1000;
    [work(100), work(1)].should.eql([1100, undefined]);
    now = 2000;
    [work(79), work(1), work(1)].should.eql([2079, 2080, undefined]);
  });
});
