import should from "should";
import { Redactor } from "../../../src/auth/redactor";
import type { Endpoint } from "../../../src/flow/endpoint";
import { composeEarlier, composeSuccess, maxNotedBytes, noteAnswer } from "../../../src/flow/reply";

const json = { "Content-Type": "application/json" };
const endpoint = (reply: Endpoint["reply"], emptyStatus: number | undefined) =>
  ({ reply, sender: emptyStatus === undefined ? undefined : { row: { emptyReply: { status: emptyStatus } } } }) as unknown as Endpoint; // prettier-ignore
const reply = (status: number, body = "", type = "application/json") => ({ by: "now", status, body, type }) as const;

describe("what a caller is told whose delivery is known", () => {
  for (const [what, acceptance, first, repeated] of [
    [
      "our JSON with the id",
      endpoint(reply(200), undefined),
      { status: 200, headers: json, body: '{"status":"accepted","id":"1"}' },
      { status: 200, headers: json, body: '{"status":"duplicate","id":"1"}' },
    ],
    [
      "the same with another status",
      endpoint(reply(202), undefined),
      { status: 202, headers: json, body: '{"status":"accepted","id":"1"}' },
      { status: 202, headers: json, body: '{"status":"duplicate","id":"1"}' },
    ],
    ["a body of one's own", endpoint(reply(201, "ok", "text/plain"), 204), { status: 201, headers: { "Content-Type": "text/plain" }, body: "ok" }],
    ["nothing, where the status forbids it", endpoint(reply(204, "ok"), undefined), { status: 204, headers: {}, body: "" }],
    ["nothing, where the status resets", endpoint(reply(205, "ok"), undefined), { status: 205, headers: {}, body: "" }],
    ["what the sender wants", endpoint(reply(200), 204), { status: 204, headers: {}, body: "" }],
    ["a status of one's own, as empty as the sender wants it", endpoint(reply(202), 200), { status: 202, headers: {}, body: "" }],
  ] as const) {
    it(`is ${what}`, () => {
      should(composeSuccess(acceptance, false, { status: "accepted", id: "1" })).eql(first);
      should(composeSuccess(acceptance, false, { status: "duplicate", id: "1" })).eql(repeated ?? first);
    });
  }

  it("is what the flow has answered before", () => {
    const body = Buffer.from("x");
    composeEarlier({ status: 201, fields: json, body }).should.eql({ status: 201, headers: json, body });
    composeEarlier({ status: 201, fields: json, body: undefined }).body.should.have.length(0);
  });
}); // prettier-ignore

describe("what is noted of an answer", () => {
  const secret = "Zyxwvuts-9876543210";
  const noted = (body: string | Buffer) => noteAnswer(body, new Redactor([secret])).answer;

  it("has no part of a secret, wherever it is cut", () => {
    for (let part = 1; part <= secret.length; part++) {
      const before = "x".repeat(maxNotedBytes - part);
      const shown = `${before}[redacted]`.slice(0, maxNotedBytes);
      for (const body of [before + secret, Buffer.from(before + secret)]) {
        should(noted(body)).equal(part < "[redacted]".length ? `${shown}…` : shown);
      }
    }
  });

  it("has no part of a secret where many of them make it short before it is cut", () => {
    for (const rest of ["", "y", "y".repeat(10)]) {
      const answer = noted(rest + `${secret} `.repeat(500)) ?? "";
      answer.should.match(/^y*(\[redacted\] )+(\[redacted\]?|\[r?e?d?a?c?t?e?d?)?…$/);
    }
  });

  it("is cut also where there is no secret yet", () => {
    const beginning = `${"x".repeat(maxNotedBytes)}…`;
    for (const redactor of [undefined, new Redactor([""])]) {
      should(noteAnswer("x".repeat(3 * maxNotedBytes), redactor).answer).equal(beginning);
    }
  });

  it("has as many bytes of text", () => {
    should(noted(Buffer.from("ä".repeat(maxNotedBytes)))).equal(`${"ä".repeat(maxNotedBytes / 2)}…`);
  });

  it("is all of it, where it is short and has none", () => {
    should(noted(`a ${secret.slice(0, -1)}`)).equal(`a ${secret.slice(0, -1)}`);
    should(noted("to be continued…")).equal("to be continued…");
    should(noted("")).be.undefined();
  });
});
