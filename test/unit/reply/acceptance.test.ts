import should from "should";
import { Acceptance, saidBefore } from "../../../src/reply/acceptance";

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
