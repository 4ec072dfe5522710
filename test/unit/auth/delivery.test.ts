import should from "should";
import { makeTestRequest } from "../../../src/auth/sample";
import type { Sender } from "../../../src/auth/senders/sender";
import { type SenderId, senderIds, senders } from "../../../src/auth/senders/table";
import { Fields, readSenderDelivery } from "../../../src/auth/signature/fields";
import { DecodedBody } from "../../../src/request/decode";

function fieldsOf(rawHeaders: string[], body: string): Fields {
  const head = { method: "POST", rawHeaders, search: "" };
  return new Fields(head, DecodedBody.of(head, Buffer.from(body)));
}

function told(sender: SenderId, headers: string[], body: unknown) {
  const content = typeof body === "string" ? body : JSON.stringify(body);
  return readSenderDelivery(senders[sender], fieldsOf(headers, content));
}

describe("what a sender tells of a delivery", () => {
  const cases: [string, SenderId, string[], unknown, object][] = [
    ["in fields", "github", ["x-github-event", "push", "X-GitHub-Delivery", "1"], "", { event: "push", id: "1" }],
    ["in the body", "stripe", [], { id: "evt_1", type: "charge.failed" }, { event: "charge.failed", id: "evt_1" }],
    ["behind a byte-order mark", "stripe", [], '\ufeff{"id":"evt_1"}', { id: "evt_1" }],
    ["in the first element", "hubspot", [], [{ subscriptionType: "contact.creation" }], { event: "contact.creation" }],
    [
      "in the only element",
      "adyen",
      [],
      { notificationItems: [{ NotificationRequestItem: { eventCode: "REFUND" } }] },
      { event: "REFUND" },
    ],
    ["as a number", "telegram", [], { update_id: 10_000 }, { id: "10000" }],
    ["as a number that is not whole", "telegram", [], { update_id: 1.5 }, { id: "1.5" }],
    ["as a number that JSON has rounded", "telegram", [], '{"update_id":12345678901234567890}', {}],
    ["as anything else", "stripe", [], { id: { a: 1 }, type: true }, {}],
    ["as an empty text", "stripe", [], { id: "", type: "" }, {}],
    ["at a name of an object's prototype", "slack", [], { event: "text" }, {}],
    ["in a text, by position", "hubspot", [], "text", {}],
    ["in no JSON", "stripe", [], "id=1", {}],
    ["in a field that is repeated", "github", ["X-GitHub-Event", "a", "X-GitHub-Event", "b"], "", {}],
    ["in one of two places", "bitbucket", ["X-Event-Key", "a", "X-Request-Id", "2"], "", { event: "a", id: "2" }],
    ["in both of two places", "bitbucket", ["X-Request-Id", "2", "X-Request-UUID", "1"], "", { id: "1" }],
    ["nowhere", "dropbox", ["X-GitHub-Event", "push"], { id: "1", type: "a" }, {}],
  ];
  for (const [name, sender, headers, body, expected] of cases) {
    it(name, () => should(told(sender, headers, body)).eql(expected));
  }

  it("is at the first place that has a value", () => {
    const events = ["header:X-Event", "json:type", "json:event.type"] as const;
    const eventOf = (headers: string[], body: unknown) =>
      readSenderDelivery({ events }, fieldsOf(headers, JSON.stringify(body))).event;
    should(eventOf(["X-Event", "a"], { type: "b" })).equal("a");
    should(eventOf([], { type: "b", event: { type: "c" } })).equal("b");
    should(eventOf([], { type: "", event: { type: "c" } })).equal("c");
    should(eventOf([], {})).be.undefined();
  });

  it("is no member of a prototype", () => {
    const fields = fieldsOf([], '{"a":[1]}');
    for (const event of ["json:constructor.name", "json:__proto__.constructor.name", "json:a.length"] as const) {
      readSenderDelivery({ events: [event] }, fields).should.eql({});
    }
    for (const path of ["__proto__", "toString", "a.length", "a.-1", "a.1"]) {
      fields.values(`json:${path}`).should.eql([], path);
    }
  });

  it("is in a test request, for every sender", () => {
    for (const id of senderIds) {
      const row: Sender = senders[id];
      const { body, headers } = makeTestRequest(row);
      const { event } = told(id, Object.entries(headers).flat(), body);
      should(event).equal(row.events && "test", id);
    }
    should(makeTestRequest({})).eql({ body: "hello world", headers: { "Content-Type": "text/plain" } });
  });
});
