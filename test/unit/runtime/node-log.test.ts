import { mock } from "node:test";
import { inspect } from "node:util";
import should from "should";
import type { RefusedRequestFacts } from "../../../src/auth/authenticator";
import { createTokenAuthenticator } from "../../../src/auth/token";
import type { DeliveryRecorder, RefusalExplanation } from "../../../src/deliveries/recorder";
import { problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";
import { Observed, refusedRequest } from "../../harness/observed";
import { authenticatorFor } from "../../harness/verification";

const authenticator = createTokenAuthenticator({ method: "header", name: "Authorization", first: token, callers: [] });

describe("the log", () => {
  let observed: Observed;
  let logs: string[];
  let now: number;

  beforeEach(() => {
    now = 1_000_000;
    mock.method(performance, "now", () => now);
    observed = new Observed();
    observed.deploy();
    logs = observed.log;
  });
  afterEach(() => mock.restoreAll());

  const refuse = (problem = problems.tokenInvalid, cause?: unknown, by = authenticator, request = refusedRequest) =>
    observed.refuse(problem, cause, by, request);

  it("has no token that a sender has made the name of a parameter, and neither has the form", async () => {
    const head = { method: "POST", rawHeaders: [], search: String(new URLSearchParams([[token, token]])) };
    refuse(problems.tokenMissing, undefined, authenticator, { head, at: 0 });
    const told = inspect([logs, await observed.ask(":id/lastRequest")], { depth: 9 });
    told.should.containEql("tokenElsewhere").and.not.containEql(token);
  });

  it("says that the circuit breaker has paused a node, and that it was resumed; who has paused it himself need not be told", () => {
    observed.deploy({ breaker: 3 });
    observed.outcomes.emit("paused", { node: "node", pause: "breaker" });
    observed.outcomes.emit("resumed", { node: "node" });
    observed.outcomes.emit("paused", { node: "node", pause: "manual" });
    logs.should.eql(["warn store.pausedByBreaker 3", "log store.resumed"]);
  });

  it("has refusals at most once a second, and as many errors, which they do not hide", () => {
    for (let count = 0; count < 100; count++) refuse();
    for (let count = 0; count < 100; count++) refuse(problems.unforeseen, "it broke");
    now += 999;
    refuse(problems.tokenMissing);
    logs.should.have.length(2);
    logs[1]?.should.startWith("error refusal refused.unforeseen 500").and.endWith(": it broke");
    now += 1;
    refuse(problems.jsonMalformed);
    logs.map((line) => line.split(/[ .:]/)[3]).should.eql(["tokenInvalid", "unforeseen", "jsonMalformed"]);
  });

  it("names the caller whose request was refused, as the form does, without a secret in the name, and where the flow has not replied", async () => {
    const request = { ...refusedRequest, caller: `=1+1 <b> ${token}` };
    refuse(problems.jsonMalformed, undefined, authenticator, request);
    refuse(problems.unforeseen, "it broke", authenticator, request);
    should(await observed.ask(":id/lastRequest")).match({ lastRefused: { from: "=1+1 <b> [redacted]" } });
    now += 1000;
    observed.outcomes.emit("unanswered", { node: "node", id: "1", caller: "Door 1" });
    logs
      .map((line) => line.split(": ").slice(1).join(": "))
      .should.eql(["=1+1 <b> [redacted]", "=1+1 <b> [redacted]: it broke", "Door 1"]);
  });

  it("has no token that an error quotes, also not one that the node had before a deploy", () => {
    const secret = `"\\${"x".repeat(38)}`;
    const quoted = new Error(`Invalid value ${secret} in ${JSON.stringify({ secret })}`);
    refuse(
      problems.unforeseen,
      quoted,
      createTokenAuthenticator({ method: "header", name: "X", first: secret, callers: [] }),
    );
    logs[0]?.should.match(/Invalid value \[redacted\] in \{"secret":"\[redacted\]"\}/).and.not.match(/x{38}/);
  });

  describe("has whatever may be thrown, and not the token", () => {
    const fails = () => {
      throw new Error(`asked for ${token}`);
    };
    const revoked = Proxy.revocable({ token }, {});
    revoked.revoke();
    for (const [what, cause] of [
      ["a string", `failed at ${token}`],
      ["null", null],
      ["an object without a prototype", Object.assign(Object.create(null) as object, { token })],
      ["an object that refuses to be looked at", { token, [inspect.custom]: fails }],
      ["a proxy that is revoked", revoked.proxy],
      ["an error whose stack is an object", Object.assign(new Error(token), { stack: { token, toString: fails } })],
      ["an error whose stack refuses to be read", Object.defineProperty(new Error(token), "stack", { get: fails })],
    ] as const) {
      it(`such as ${what}`, () => {
        refuse(problems.unforeseen, cause);
        logs.should.have.length(1);
        logs[0]?.should.match(/^error refusal refused\.unforeseen 500: ./).and.not.containEql(token.slice(0, 20));
      });
    }
  }); // prettier-ignore

  it("has no more of an error than can be read, and nothing of a token that is cut", () => {
    const causes = [
      new Error(`Unexpected token in ${"body ".repeat(100_000)}`),
      new Error(`Unexpected token in ${token}${"\\".repeat(500_000)}${token}`),
      { body: `${"x".repeat(500_000)}${token}` },
      ...Array.from({ length: 60 }, (_, index) => ({ body: `${"x".repeat(9_950 + index)}${token}` })),
    ];
    for (const cause of causes) {
      refuse(problems.unforeseen, cause);
      now += 1000;
      const [line = ""] = logs.splice(0);
      line.length.should.be.within(100, 10_100);
      line.should.not.containEql(token.slice(0, 5));
    }
  });

  describe("of twenty nodes in a flood of refused requests", () => {
    const secret = "a secret";
    const signed = authenticatorFor("github", { first: secret });
    const rawHeaders = ["X-Hub-Signature-256", `sha256=${"0".repeat(64)}`];
    const head = { method: "POST", rawHeaders, search: "" };
    let bodies: (Buffer | undefined)[];
    let spent: number;
    let listed: RefusalExplanation[];

    /** Each node gets so many requests in each of ten seconds. @param cost of an explanation, in ms */
    const flood = (cost: number, body: Buffer, each: number) => {
      [bodies, spent, listed] = [[], 0, []];
      const explain = signed.explain.bind(signed);
      mock.method(signed, "explain", (refused: RefusedRequestFacts) => {
        bodies.push(refused.body);
        now += cost;
        spent += cost;
        return explain(refused);
      });
      const recorder = {
        addRefused: (...[, , cause]: Parameters<DeliveryRecorder["addRefused"]>) => void listed.push(cause()),
      };
      const ids = Array.from({ length: 20 }, (_, index) => `node ${index}`);
      for (const id of ids) observed.deploy({ id, recorder });
      logs.splice(0);
      for (let second = 0; second < 10; second++) {
        const end = now + 1000;
        for (let time = 0; time < each; time++)
          for (const id of ids)
            observed.refuse(problems.signatureInvalid, undefined, signed, { head, body, at: 0 }, id);
        now = Math.max(now, end);
      }
    };

    it("takes a tenth of the time for explanations, for itself, the list and the form together", () => {
      const start = now;
      flood(30, Buffer.alloc(65_000, "x"), 5);
      spent.should.be.above(500).and.belowOrEqual((now - start) / 10 + 30);
      listed.should.have.length(1000);
    });

    it("also where one takes much longer than the time that is left", () => {
      const start = now;
      flood(400, Buffer.alloc(65_000, "x"), 5);
      spent.should.be.belowOrEqual((now - start) / 10 + 400);
    });

    it("says what to do where there is no time for an explanation, and the list says that there is none", async () => {
      flood(1000, Buffer.alloc(65_000, "x"), 1);
      const [first = "", second] = logs;
      first.should.equal("warn refusal refused.signatureInvalid 401. whyNot.signatureWrong");
      should(second).equal("warn refusal refused.signatureInvalid 401. fix.signatureInvalid");
      listed.slice(0, 2).map(({ explanation }) => explanation.reasons.length).should.eql([1, 0]);
      should(await observed.ask(":id/lastRequest", "node 1")).match({ lastRefused: { problem: "signatureInvalid", reasons: [] } });
    }); // prettier-ignore

    it("looks at no body beyond 64 kB", () => {
      flood(1, Buffer.alloc(65_536, "x"), 1);
      bodies.every((body) => body?.length === 65_536).should.be.true();
      flood(1, Buffer.alloc(65_537, "x"), 1);
      bodies.every((body) => body === undefined).should.be.true();
      bodies.should.not.be.empty();
    });
  });
});
