import "should";
import type { Node } from "node-red";
import { mock } from "node:test";
import { inspect } from "node:util";
import type { Translate } from "../../../src/deliveries/wording";
import { Inquiry, type Refusal } from "../../../nodes/runtime/explained";
import { Counts } from "../../../nodes/runtime/counts";
import { Report } from "../../../nodes/runtime/report";
import { TokenGate } from "../../../src/trust/token";
import { problems } from "../../../src/problem";
import { token } from "../../harness/flow";

const gate = new TokenGate({ method: "header", name: "Authorization", token, secondToken: "" });

const translate: Translate = (key, { accepted, refused } = {}) => `${key} ${accepted}/${refused}`;

describe("Report", () => {
  let statuses: string[];
  let logs: string[];
  let report: Report;
  let now: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    now = 1_000_000;
    mock.method(performance, "now", () => now);
    [statuses, logs] = [[], []];
    const node = {
      status: ({ text }: { text: string }) => statuses.push(text),
      warn: (text: string) => logs.push(`warn ${text}`),
      error: (text: string) => logs.push(`error ${text}`),
      metric: () => false,
    };
    report = new Report(node as unknown as Node, translate, new Counts());
    report.open("/hook");
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  const refuse = (refusal: Refusal, by = gate) => {
    report.refused(refusal, new Inquiry(refusal, by, translate));
  };
  const accept = () => report.accepted({ id: "1", admission: { credential: "first" }, ip: "192.0.2.1" });

  it("keeps the first secret that is brought, and warns of it once, however often strangers bring another", () => {
    for (const secret of ["the sender's", "a stranger's", "a stranger's"]) report.greeted(secret);
    String(report.takeSecret()).should.equal("the sender's");
    logs.should.have.length(1);
  });

  it("tells no token that a caller has made the name of a parameter", () => {
    const head = { method: "POST", rawHeaders: [], search: String(new URLSearchParams([[token, token]])) };
    refuse({ problem: problems.tokenMissing, request: { head, at: 0 }, cause: undefined });
    inspect(report.standing, { depth: 9 }).should.not.containEql(token);
    inspect(report.standing, { depth: 9 }).should.containEql("tokenElsewhere");
  });

  it("renews the status at most twice a second, and ends with the last count", () => {
    for (let count = 0; count < 100; count++) accept();
    statuses.should.eql(["status.open 0/0"]);
    mock.timers.tick(499);
    statuses.should.have.length(1);
    mock.timers.tick(1);
    statuses.should.eql(["status.open 0/0", "status.open 100/0"]);
    accept();
    mock.timers.tick(500);
    mock.timers.tick(5000);
    statuses.slice(2).should.eql(["status.open 101/0"]);
  });

  it("shows a change at once after a quiet time", () => {
    mock.timers.tick(500);
    refuse({ problem: problems.tokenInvalid, request: undefined, cause: undefined });
    statuses.should.eql(["status.open 0/0", "status.openRefusing 0/1"]);
  });

  it("logs refusals at most once a second", () => {
    for (let count = 0; count < 100; count++)
      refuse({ problem: problems.tokenInvalid, request: undefined, cause: undefined });
    now += 999;
    refuse({ problem: problems.tokenMissing, request: undefined, cause: undefined });
    logs.should.have.length(1);
    now += 1;
    refuse({ problem: problems.jsonMalformed, request: undefined, cause: undefined });
    logs
      .map((line) => line.split(" ").slice(0, 2).join(" "))
      .should.eql(["warn refused.tokenInvalid", "warn refused.jsonMalformed"]);
  });

  it("does not let refusals hide an error, and limits errors as well", () => {
    refuse({ problem: problems.tokenInvalid, request: undefined, cause: undefined });
    for (let count = 0; count < 100; count++)
      refuse({ problem: problems.unforeseen, request: undefined, cause: "it broke" });
    logs.should.have.length(2);
    logs[1]?.should.startWith("error refused.unforeseen").and.endWith(": it broke");
  });

  it("logs no token that an error quotes", () => {
    const secret = `"\\${"x".repeat(38)}`;
    const quoted = new Error(`Invalid value ${secret} in ${JSON.stringify({ secret })}`);
    const own = new TokenGate({ method: "header", name: "X-Token", token: secret, secondToken: "" });
    refuse({ problem: problems.unforeseen, request: undefined, cause: quoted }, own);
    logs[0]?.should.match(/Invalid value \[redacted\] in \{"secret":"\[redacted\]"\}/).and.not.match(/x{38}/);
  });

  describe("logs whatever may be thrown, and not the token", () => {
    const fails = () => {
      throw new Error(`asked for ${token}`);
    };
    const circular: Record<string, unknown> = { token };
    circular.self = circular;
    const traps = ["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"] as const;
    const revoked = Proxy.revocable({ token }, {});
    revoked.revoke();
    for (const [what, cause] of [
      ["a string", `failed at ${token}`],
      ["null", null],
      ["a number", 42n],
      ["a symbol", Symbol(token)],
      ["a function", Object.assign(() => undefined, { token })],
      ["an object without a prototype", Object.assign(Object.create(null) as object, { token })],
      ["an object in itself", circular],
      ["an object that refuses to be looked at", { token, [inspect.custom]: fails }],
      ["an object that refuses to be a text", { token, toString: fails, [Symbol.toPrimitive]: fails }],
      ["a proxy that refuses everything", new Proxy({ token }, Object.fromEntries(traps.map((trap) => [trap, fails])))],
      ["a proxy that is revoked", revoked.proxy],
      ["an error whose stack is a number", Object.assign(new Error(token), { stack: 42 })],
      ["an error whose stack is an object", Object.assign(new Error(token), { stack: { token } })],
      ["an error whose stack refuses to be a text", Object.assign(new Error(token), { stack: { token, toString: fails } })],
      ["an error without a stack", Object.assign(new Error(token), { stack: undefined })],
      ["an error whose stack refuses to be read", Object.defineProperty(new Error(token), "stack", { get: fails })],
      ["a text that is cut where the token is", { url: `${"x".repeat(9_980)}${token}` }],
    ] as const) {
      it(`such as ${what}`, () => {
        refuse({ problem: problems.unforeseen, request: undefined, cause: cause });
        logs.should.have.length(1);
        logs[0]?.should.match(/^error refused\.unforeseen [^]*: ./).and.not.containEql(token.slice(0, 20));
      });
    }
  }); // prettier-ignore

  describe("logs no more of an error than can be read, and nothing of a token that is cut", () => {
    const backslashes = "\\".repeat(500_000);
    for (const [what, cause] of [
      ["an error that quotes a long body", new Error(`Unexpected token in ${"body ".repeat(100_000)}`)],
      ["an error that quotes rows of escapes", new Error(`Unexpected token in ${backslashes}${token}`)],
      ["an error with a token in rows of escapes", new Error(`Unexpected token in ${token}${backslashes}${token}`)],
      ["a long text", `${"x".repeat(500_000)}${token}`],
      ["a long text of escapes", backslashes],
      ["an object with a long text", { body: `${"x".repeat(500_000)}${token}` }],
      ...Array.from({ length: 60 }, (_, index) => [
        `an object with a token ${9_950 + index} characters from its beginning`,
        { body: `${"x".repeat(9_950 + index)}${token}` },
      ] as const),
    ] as const) {
      it(`such as ${what}`, () => {
        refuse({ problem: problems.unforeseen, request: undefined, cause: cause });
        logs.should.have.length(1);
        logs[0]?.length.should.be.belowOrEqual(10_100);
        logs[0]?.should.not.containEql(token.slice(0, 5));
      });
    }
  }); // prettier-ignore

  it("shows nothing more once it is stopped", () => {
    accept();
    report.stop();
    mock.timers.tick(5000);
    accept();
    statuses.should.eql(["status.open 0/0"]);
  });
});
