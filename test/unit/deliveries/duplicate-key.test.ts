import should from "should";
import { senders } from "../../../src/auth/senders/table";
import type { DuplicateKey } from "../../../src/config/fields";
import { composeDuplicateKey, isIdLoose, type DeliveryFacts } from "../../../src/deliveries/duplicates";
import { DecodedBody } from "../../../src/request/decode";

function known({ headers = [], search = "", body = "", ...rest }: Partial<Omit<DeliveryFacts, "body">> & { headers?: string[]; search?: string; body?: string }): DeliveryFacts {
  const head = { method: "POST", rawHeaders: headers, search };
  return { head, body: DecodedBody.of(head, Buffer.from(body)), id: undefined, isIdLoose: false, ...rest };
} // prettier-ignore

type Given = Parameters<typeof known>[0];

describe("duplicateKeyOf", () => {
  describe("is the same for", () => {
    const same: [string, DuplicateKey, Given, Given][] = [
      ["the same id, whatever the body is", "", { id: "1", body: "a" }, { id: "1", body: "b" }],
      ["the same id that is not signed with the same body", "", { id: "1", body: "a", isIdLoose: true }, { id: "1", body: "a", isIdLoose: true }],
      ["the same field, whatever case its name has", "header:X-Id", { headers: ["x-id", " 1 "] }, { headers: ["X-ID", "1"] }],
      ["the same parameter", "query:id", { search: "a=1&id=%31" }, { search: "id=1" }],
      ["a number and the same text in JSON", "json:a.b", { body: '{"a":{"b":42}}' }, { body: '{"c":1,"a":{"b":"42"}}' }],
      ["an element of a list", "json:0.id", { body: '[{"id":"x"}]' }, { body: '[{"id":"x"},{"id":"y"}]' }],
      ["the same elements of a list in another order", "json:*.id", { body: '[{"id":"x"},{"id":"y"},{"id":"x"}]' }, { body: '[{"id":"y"},{"id":"x"}]' }],
      ["the same bytes", "body", { body: "ab" }, { body: "ab" }],
    ]; // prettier-ignore
    for (const [name, kind, one, other] of same) {
      it(name, () => {
        const key = composeDuplicateKey(kind, known(one));
        should(key).match(/^[\w-]{43}$/);
        should(composeDuplicateKey(kind, known(other))).equal(key);
      });
    }
  });

  describe("is another for", () => {
    const others: [string, DuplicateKey, Given, Given][] = [
      ["another id", "", { id: "1" }, { id: "2" }],
      ["an id that is not signed, with another body", "", { id: "1", body: "a", isIdLoose: true }, { id: "1", body: "b", isIdLoose: true }],
      ["another id that is not signed, with the same body", "", { id: "1", body: "a", isIdLoose: true }, { id: "2", body: "a", isIdLoose: true }],
      ["another field", "header:X-Id", { headers: ["X-Id", "1"] }, { headers: ["X-Id", "2"] }],
      ["another text in JSON", "json:a", { body: '{"a":"1"}' }, { body: '{"a":"1 "}' }],
      ["a list with one more element", "json:*.id", { body: '[{"id":"x"}]' }, { body: '[{"id":"x"},{"id":"y"}]' }],
      ["a list whose elements are cut elsewhere", "json:*", { body: '["a,b"]' }, { body: '["a","b"]' }],
      ["another caller", "", { id: "1", caller: "door 1" }, { id: "1", caller: "door 2" }],
      ["a request without a caller", "body", { body: "a", caller: "door" }, { body: "a" }],
      ["a path whose parameter looks like a caller", "body", { body: "a", caller: "door" }, { body: "a", params: { caller: "door" } }],
      ["the same JSON in other bytes", "body", { body: '{"a":1}' }, { body: '{"a": 1}' }],
    ]; // prettier-ignore
    for (const [name, kind, one, other] of others) {
      it(name, () => should(composeDuplicateKey(kind, known(one))).not.equal(composeDuplicateKey(kind, known(other))));
    }

    it("the same text by another kind of key", () => {
      const delivery = known({ headers: ["X-Id", "1"], search: "X-Id=1", body: '{"X-Id":1}', id: "1" });
      const keys = (["", "header:X-Id", "query:X-Id", "json:X-Id", "body"] as const).map((kind) =>
        composeDuplicateKey(kind, delivery),
      );
      new Set(keys).size.should.equal(5);
    });
  });

  describe("is none for", () => {
    const none: [string, DuplicateKey, Given][] = [
      ["a sender that tells no id", "", {}],
      ["a field that is not there", "header:X-Id", { headers: ["X-Other", "1"] }],
      ["a field that is empty", "header:X-Id", { headers: ["X-Id", " "] }],
      ["a field that is repeated", "header:X-Id", { headers: ["X-Id", "1", "X-Id", "1"] }],
      ["a parameter that is not there", "query:id", { search: "ID=1" }],
      ["a parameter that is repeated", "query:id", { search: "id=1&id=2" }],
      ["a body that is no JSON", "json:a", { body: "a=1" }],
      ["a member that is not there", "json:a.b", { body: '{"a":{}}' }],
      ["a member that is no text", "json:a", { body: '{"a":{"b":1}}' }],
      ["a member that all objects have", "json:constructor.name", { body: "{}" }],
      ["a number that JSON cannot hold", "json:a", { body: '{"a":9007199254740993}' }],
      ["a list of which one element has none", "json:*.id", { body: '[{"id":"x"},{}]' }],
      ["a list that is empty", "json:*.id", { body: "[]" }],
      ["a body that is empty", "body", {}],
    ];
    for (const [name, kind, delivery] of none) {
      it(name, () => should(composeDuplicateKey(kind, known(delivery))).be.undefined());
    }
  });
});

describe("isIdLoose", () => {
  it("where the signature covers the body alone, but not where a token lets requests in or there is no id", () => {
    isIdLoose(senders.github, senders.github.scheme).should.be.true();
    isIdLoose(senders.stripe, senders.stripe.scheme).should.be.false();
    isIdLoose(senders["standard-webhooks"], senders["standard-webhooks"].scheme).should.be.false();
    isIdLoose(senders.twilio, senders.twilio.scheme).should.be.true();
    isIdLoose(senders.github, undefined).should.be.false();
    isIdLoose(senders.qstash, undefined, senders.qstash.jwt?.bodyDigest).should.be.true();
    isIdLoose(senders.livekit, undefined, senders.livekit.jwt?.bodyDigest).should.be.false();
    isIdLoose(senders.cloudevents, senders.cloudevents.scheme).should.be.false();
    isIdLoose(senders.custom, senders.github.scheme).should.be.false();
  });
});
