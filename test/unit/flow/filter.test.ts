import should from "should";
import { mask } from "../../../src/auth/present";
import { Redactor } from "../../../src/auth/redactor";
import type { Operator } from "../../../src/config/fields";
import { filterRequest, findEvent } from "../../../src/flow/filter";

const payload = JSON.parse(
  '{"action":"opened","draft":false,"n":7,"big":9007199254740993,"huge":1e400,"none":null,"list":["a",1],"deep":[{"x":"y"}],"__proto__":{"own":1}}',
) as unknown;
const rawHeaders = ["X-Kind", " invoice ", "X-Twice", "1", "x-twice", "2", "X-Temp", "-4.5e1", "X-Empty", ""];

function accepts(place: string, operator: Operator, value = "", given: unknown = payload): boolean {
  const config = { events: [], conditions: [{ place, operator, value }] };
  const head = { method: "POST", rawHeaders, search: "a=1&b=2&b=3&c=%C3%A4" };
  const text = () => "ERROR: pump 3";
  return "event" in filterRequest(config, { events: ["push"], head, text, payload: () => given }, new Redactor([]));
}

describe("Conditions of a filter", () => {
  for (const [place, operator, value, expected] of [
    ["json:action", "is", "opened", true],
    ["json:action", "is", "Opened", false],
    ["json:action", "isNot", "closed", true],
    ["json:action", "contains", "pen", true],
    ["json:draft", "is", "false", true],
    ["json:none", "is", "null", true],
    ["json:n", "is", "7", true],
    ["json:n", "above", "6.9", true],
    ["json:n", "below", "7", false],
    ["json:list", "contains", "1", true],
    ["json:list", "contains", "2", false],
    ["json:list.0", "is", "a", true],
    ["json:deep.0.x", "is", "y", true],
    ["header:x-kind", "is", "invoice", true],
    ["header:X-Temp", "below", "-44", true],
    ["query:a", "is", "1", true],
    ["query:c", "is", "ä", true],
    ["event", "is", "push", true],
    ["body", "contains", "ERROR", true],
    ["json:none", "exists", "", true],
    ["json:no", "exists", "", false],
    ["json:no", "missing", "", true],
    ["header:X-Twice", "exists", "", true],
    ["header:X-Empty", "missing", "", false],
    ["header:X-Empty", "isNot", "1", true],
    ["json:toString", "missing", "", true],
    ["json:list.length", "missing", "", true],
    ["json:constructor.name", "missing", "", true],
  ] as const) {
    it(`hold or do not, as they say: ${place} ${operator} ${value}`, () => {
      should(accepts(place, operator, value)).equal(expected);
    });
  }

  const incomparable = [
    ["json:no", "1"],
    ["json:big", "9007199254740992"],
    ["json:huge", "null"],
    ["json:deep", "[object Object]"],
    ["json:deep.0", "x"],
    ["header:X-Twice", "1"],
    ["query:b", "2"],
  ] as const;
  for (const [place, value] of incomparable) {
    it(`do not hold where the value cannot be compared, but for isNot: ${place}`, () => {
      for (const operator of ["is", "contains", "above", "below"] as const) {
        accepts(place, operator, value).should.be.false();
      }
      accepts(place, "isNot", value).should.be.true();
    });
  }

  for (const place of ["json:action", "json:draft", "json:none", "json:list", "header:X-Empty", "body"]) {
    it(`do not compare with a number what is none: ${place}`, () => {
      accepts(place, "above", "-1").should.be.false();
      accepts(place, "below", "1").should.be.false();
    });
  }

  it("read JSON in a payload that is a text or bytes, and find nothing in other texts", () => {
    should(accepts("json:a", "is", "1", '{"a":1}')).equal(true);
    should(accepts("json:a", "is", "1", Buffer.from('{"a":1}'))).equal(true);
    should(accepts("json:a", "missing", "", "a = 1")).equal(true);
    should(accepts("json:a", "missing", "", null)).equal(true);
  });

  it("must all hold", () => {
    const all = (...places: string[]) => {
      const conditions = places.map((place) => ({ place, operator: "is" as const, value: "1" }));
      const head = { method: "GET", rawHeaders: [], search: "a=1&b=2&c=1" };
      return filterRequest({ events: [], conditions }, { events: [], head, text: () => "", payload: () => "" }, new Redactor([])); // prettier-ignore
    };
    const why = (place: string, found: string | null) => ({ why: { place, operator: "is", value: "1", found } });
    should(all("query:a")).eql({ event: undefined });
    should(all("query:a", "query:c")).eql({ event: undefined });
    should(all("query:a", "query:b")).eql(why("query:b", "2"));
    should(all("query:no", "query:b")).eql(why("query:no", null));
  });
});

describe("The reason of a filter", () => {
  const secret = "a secret of the node";
  const find = (place: string, events: readonly string[] = []) => {
    const conditions = [{ place, operator: "is" as const, value: `not ${secret}` }];
    const rawHeaders = ["X-Twice", "1", "x-twice", "2", "X-Api-Key", "another", "X-Own", `its ${secret}`];
    const payload = () => ({ list: [{ a: 1 }, {}, { a: { b: 1 } }, { a: [] }], long: "x".repeat(500), secret, none: null });
    const request = { events, head: { method: "POST", rawHeaders, search: "token=t&a=1" }, text: () => secret, payload };
    const config = place === "listed" ? { events: ["push", "star"], conditions: [] } : { events: [], conditions };
    return filterRequest(config, request, new Redactor([secret]));
  }; // prettier-ignore
  const found = (place: string, events?: readonly string[]) =>
    (find(place, events) as { why: { found: string } }).why.found;

  it("has the condition, and what was found there, without secrets", () => {
    should(find("body")).eql({ why: { place: "body", operator: "is", value: "not [redacted]", found: "[redacted]" } });
    should(found("header:X-Own")).equal("its [redacted]");
    should(found("header:X-API-Key")).equal(mask);
    should(found("query:token")).equal(mask);
    should(found("query:a")).equal("1");
    should(found("json:secret")).equal("[redacted]");
  });

  it("has several values, objects by their kind, and the beginning of a long text", () => {
    should(found("header:x-twice")).equal("1, 2");
    should(found("json:list.*.a")).equal("1, {…}, […]");
    should(found("json:list")).equal("[…]");
    should(found("json:none")).equal("null");
    should(found("json:no")).be.null();
    should(found("json:long")).equal("x".repeat(200));
  });

  it("has the events that are not on the list, or none", () => {
    should(find("listed", ["fork"])).eql({
      why: { place: "event", operator: "listed", value: "push, star", found: "fork" },
    });
    should(found("listed", ["fork", "watch"])).equal("fork, watch");
    should(found("listed")).be.null();
    should(found("event", ["fork"])).equal("fork");
  });
});

describe("A filter with a batch of events", () => {
  const payload = [{ event: "open", n: 1 }, { event: "bounce", n: 5 }, { event: "drop" }];
  type Config = Parameters<typeof filterRequest>[0];
  function judge(
    { events = [], conditions = [] }: Partial<Config>,
    given: readonly string[] = ["open", "bounce", "drop"],
  ) {
    const judged = filterRequest(
      { events, conditions },
      {
        ...{ events: given, text: () => JSON.stringify(payload), payload: () => payload },
        head: { method: "POST", rawHeaders: [], search: "" },
      },
      new Redactor([]),
    );
    return "event" in judged ? judged.event : "filtered";
  }
  const where = (place: string, operator: Operator, value = "") => ({ conditions: [{ place, operator, value }] });

  it("lets it pass where one of them is on the list, which is then its topic", () => {
    should(judge({})).equal("open");
    should(judge({ events: ["bounce"] })).equal("bounce");
    should(judge({ events: ["drop", "bounce"] })).equal("bounce");
    should(judge({ events: ["d*"] })).equal("drop");
    should(judge({ events: ["click"] })).equal("filtered");
    should(judge({ events: ["bounce"] }, [])).equal("filtered");
  });

  it("lets it pass where one event meets the list and each condition on the event", () => {
    should(judge({ events: ["bounce", "drop"], ...where("event", "contains", "o") })).equal("bounce");
    should(judge({ events: ["bounce", "drop"], ...where("event", "isNot", "bounce") })).equal("drop");
    should(judge({ events: ["bounce"], ...where("event", "is", "drop") })).equal("filtered");
    should(judge({ ...where("event", "above", "1") })).equal("filtered");
    const both = [...where("event", "is", "drop").conditions, ...where("json:0.n", "is", "2").conditions];
    should(judge({ conditions: both })).equal("filtered");
    should(judge({ conditions: both.toReversed() })).equal("filtered");
  });

  it("compares each element at a place with an asterisk, of which one is enough", () => {
    should(judge(where("json:*.event", "is", "drop"))).equal("open");
    should(judge(where("json:*.event", "is", "click"))).equal("filtered");
    should(judge(where("json:*.n", "above", "4"))).equal("open");
    should(judge(where("json:*.n", "above", "5"))).equal("filtered");
    should(judge(where("json:*.n", "missing"))).equal("open");
    should(judge(where("json:*.event", "missing"))).equal("filtered");
    should(judge(where("json:*.n", "exists"))).equal("open");
    should(judge(where("json:*.m", "exists"))).equal("filtered");
    should(judge(where("json:*.m", "is", "1"))).equal("filtered");
    should(judge(where("json:*.m", "isNot", "1"))).equal("open");
    should(judge(where("json:*.event", "above", "1"))).equal("filtered");
  });
});

describe("Events of a filter", () => {
  it("are names, or beginnings with an asterisk, of which the first that fits counts", () => {
    const events = ["push", "invoice.*", "invoice.paid", "*"];
    const found = ["push", "invoice.paid", "pushed", "", undefined].map((event) => findEvent(events, event));
    should(found).eql([0, 1, 3, 3, -1]);
    should(findEvent(["push"], "Push")).equal(-1);
  });
});
