import { mock } from "node:test";
import { inspect } from "node:util";
import "should";
import { TokenAuthenticator } from "../../../src/auth/token";
import { problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";
import { Observed, refusedRequest } from "../../harness/observed";

const authenticator = new TokenAuthenticator({ method: "header", name: "Authorization", token, secondToken: "" });

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

  it("has refusals at most once a second, and as many errors, which they do not hide", () => {
    for (let count = 0; count < 100; count++) refuse();
    for (let count = 0; count < 100; count++) refuse(problems.unforeseen, "it broke");
    now += 999;
    refuse(problems.tokenMissing);
    logs.should.have.length(2);
    logs[1]?.should.startWith("error refused.unforeseen").and.endWith(": it broke");
    now += 1;
    refuse(problems.jsonMalformed);
    logs.map((line) => line.split(/[ .:]/)[2]).should.eql(["tokenInvalid", "unforeseen", "jsonMalformed"]);
  });

  it("has no token that an error quotes, also not one that the node had before a deploy", () => {
    const secret = `"\\${"x".repeat(38)}`;
    const quoted = new Error(`Invalid value ${secret} in ${JSON.stringify({ secret })}`);
    refuse(
      problems.unforeseen,
      quoted,
      new TokenAuthenticator({ method: "header", name: "X", token: secret, secondToken: "" }),
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
        logs[0]?.should.match(/^error refused\.unforeseen: ./).and.not.containEql(token.slice(0, 20));
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
});
