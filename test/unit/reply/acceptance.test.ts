import should from "should";
import { Acceptance, mostShown, notedOf, saidBefore } from "../../../src/reply/acceptance";
import { Secrecy } from "../../../src/trust/secrecy";

const json = { "Content-Type": "application/json" };
const reply = (status: number, body = "", type = "application/json") => ({ by: "now", status, body, type }) as const;

describe("what a caller is told whose delivery is known", () => {
  for (const [what, acceptance, first, repeated] of [
    [
      "our JSON with the id",
      new Acceptance(reply(200), undefined),
      { status: 200, headers: json, body: '{"status":"accepted","id":"1"}' },
      { status: 200, headers: json, body: '{"status":"duplicate","id":"1"}' },
    ],
    [
      "the same with another status",
      new Acceptance(reply(202), undefined),
      { status: 202, headers: json, body: '{"status":"accepted","id":"1"}' },
      { status: 202, headers: json, body: '{"status":"duplicate","id":"1"}' },
    ],
    ["a body of one's own", new Acceptance(reply(201, "ok", "text/plain"), 204), { status: 201, headers: { "Content-Type": "text/plain" }, body: "ok" }],
    ["nothing, where the status forbids it", new Acceptance(reply(204, "ok"), undefined), { status: 204, headers: {}, body: "" }],
    ["nothing, where the status resets", new Acceptance(reply(205, "ok"), undefined), { status: 205, headers: {}, body: "" }],
    ["what the sender wants", new Acceptance(reply(200), 204), { status: 204, headers: {}, body: "" }],
    ["a status of one's own, as empty as the sender wants it", new Acceptance(reply(202), 200), { status: 202, headers: {}, body: "" }],
  ] as const) {
    it(`is ${what}`, () => {
      should(acceptance.first("1")).eql(first);
      should(acceptance.repeated("1")).eql(repeated ?? first);
    });
  }

  it("is what the flow has answered before", () => {
    const body = Buffer.from("x");
    saidBefore({ status: 201, fields: json, body }).should.eql({ status: 201, headers: json, body });
    saidBefore({ status: 201, fields: json, body: undefined }).body.should.have.length(0);
  });
}); // prettier-ignore

describe("what is noted of an answer", () => {
  const secret = "Zyxwvuts-9876543210";
  const noted = (body: string | Buffer) => notedOf(body, new Secrecy([secret])).answer;

  it("has no part of a secret, wherever it is cut", () => {
    for (let part = 1; part <= secret.length; part++) {
      const before = "x".repeat(mostShown - part);
      for (const body of [before + secret, Buffer.from(before + secret)]) should(noted(body)).equal(`${before}…`);
    }
  });

  it("has no part of a secret that is escaped, wherever it is cut", () => {
    const hex = (character: string, digits: number) => character.charCodeAt(0).toString(16).padStart(digits, "0");
    const escaped = (escape: (character: string) => string) => Array.from(secret, escape).join("");
    for (const spelled of [escaped((each) => `%${hex(each, 2)}`), escaped((each) => `\\u${hex(each, 4)}`)]) {
      for (let part = 1; part <= spelled.length; part++) {
        const before = "x".repeat(mostShown - part);
        for (const rest of ["", "y".repeat(mostShown)]) should(noted(before + spelled + rest)).equal(`${before}…`);
      }
    }
  });

  it("is cut also where there is no secret yet", () => {
    const beginning = `${"x".repeat(mostShown)}…`;
    for (const secrecy of [undefined, new Secrecy([""])]) {
      should(notedOf("x".repeat(3 * mostShown), secrecy).answer).equal(beginning);
    }
  });

  it("has as many bytes of text", () => {
    should(noted(Buffer.from("ä".repeat(mostShown)))).equal(`${"ä".repeat(mostShown / 2)}…`);
  });

  it("is all of it, where it is short and has none", () => {
    should(noted(`a ${secret.slice(0, -1)}`)).equal(`a ${secret.slice(0, -1)}`);
    should(noted("to be continued…")).equal("to be continued…");
    should(noted("")).be.undefined();
  });
});
