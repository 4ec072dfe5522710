import "should";
import type { Node } from "node-red";
import { mock } from "node:test";
import { Report } from "../../../nodes/runtime/report";
import { Credentials } from "../../../src/trust/token";
import { problems } from "../../../src/problem";
import { token } from "../../harness/flow";

const credentials = new Credentials({ placement: { method: "header", name: "Authorization" }, token });

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
    report = new Report(node as unknown as Node, (key, { accepted, refused } = {}) => `${key} ${accepted}/${refused}`);
    report.open("/hook");
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  const accept = () => report.accepted({ id: "1", milliseconds: 1, contentLength: 45 });

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
    report.refused(problems.tokenInvalid, undefined, credentials);
    statuses.should.eql(["status.open 0/0", "status.openRefusing 0/1"]);
  });

  it("logs refusals at most once a second", () => {
    for (let count = 0; count < 100; count++) report.refused(problems.tokenInvalid, undefined, credentials);
    now += 999;
    report.refused(problems.tokenMissing, undefined, credentials);
    logs.should.have.length(1);
    now += 1;
    report.refused(problems.jsonMalformed, undefined, credentials);
    logs
      .map((line) => line.split(" ").slice(0, 2).join(" "))
      .should.eql(["warn refused.tokenInvalid", "warn refused.jsonMalformed"]);
  });

  it("does not let refusals hide an error, and limits errors as well", () => {
    report.refused(problems.tokenInvalid, undefined, credentials);
    for (let count = 0; count < 100; count++) report.refused(problems.unforeseen, "it broke", credentials);
    logs.should.have.length(2);
    logs[1]?.should.startWith("error refused.unforeseen").and.endWith(": it broke");
  });

  it("logs no token that an error quotes", () => {
    const secret = `"\\${"x".repeat(38)}`;
    const quoted = new Error(
      `Invalid value ${JSON.stringify(secret)} in ${JSON.stringify(JSON.stringify({ secret }))}`,
    );
    const own = new Credentials({ placement: { method: "header", name: "X-Token" }, token: secret });
    report.refused(problems.unforeseen, quoted, own);
    logs[0]?.should.match(/Invalid value "…" in "\{\\"secret\\":\\"…\\"\}"/).and.not.match(/x{38}/);
  });

  it("shows nothing more once it is stopped", () => {
    accept();
    report.stop();
    mock.timers.tick(5000);
    accept();
    statuses.should.eql(["status.open 0/0"]);
  });
});
