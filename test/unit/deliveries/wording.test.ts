import should from "should";
import { describeError, explain, formatReason } from "../../../src/admin/summary";
import { gone, interrupted, lateReply, statusError, timedOut } from "../../../src/deliveries/states";
import type { FilterReason } from "../../../src/deliveries/delivery";
import { problems } from "../../../src/request/problem";
import { catalogText } from "../../harness/browser";
import { done, failed } from "../../harness/one-delivery";

describe("the error of an attempt", () => {
  const key = (name: string) => name;

  for (const [error, text] of [
    [interrupted, "store.interrupted"],
    [timedOut, "store.timedOut"],
    [gone, "failed.gone"],
    ["HTTP 500", "HTTP 500"],
  ] as const) {
    it(`is told in words: ${error}`, () => {
      describeError(error, key).should.equal(text);
      formatReason({ problem: null, reasons: [], looksLike: null, error }, null, key).should.equal(text);
    });
  }

  it("is that of a flow without a reply in time where the reply had the status of that", () => {
    lateReply.should.equal(statusError(problems.flowLate.status));
  });
});

describe("what became of a delivery", () => {
  const failure = (error: string) => ({ ...failed, cause: { problem: null, reasons: [], looksLike: null, error } });
  const filtered = (why: FilterReason) => ({ ...done, state: "filtered" as const, why });
  const above = { place: "json:total", operator: "above", value: "100" } as const;
  const named = { place: "event", operator: "isNot", value: "push" } as const;
  const listed = { place: "event", operator: "listed", value: "push" } as const;
  const there = { place: "query:a", operator: "exists", value: "", found: null } as const;
  const operator = (name: string) => catalogText(`filter.operators.${name}`);
  const why = (key: string, values: Record<string, string> = {}) => catalogText(`filter.why.${key}`, values);
  const condition = `json:total ${operator("above")} 100`;

  for (const [name, delivery, reason, fix] of [
    ["an error of the flow", failure("TypeError: no <b>id</b>"), "TypeError: no <b>id</b>", "flow"],
    ["an interruption", failure(interrupted), catalogText("store.interrupted"), "flow"],
    ["a reply that was late", failure(lateReply), catalogText("refused.flowLate"), "flowLate"],
    ["a value", filtered({ ...above, found: "20" }), why("condition", { condition, found: "20" }), "filtered"],
    ["a value that is missing", filtered({ ...above, found: null }), why("missing", { condition }), "filtered"],
    ["a value that is to be there", filtered(there), why("missing", { condition: `query:a ${operator("exists")}` }), "filtered"],
    ["the event as a value", filtered({ ...named, found: "push" }), why("condition", { condition: `${catalogText("filter.event")} ${operator("isNot")} push`, found: "push" }), "filtered"],
    ["an event", filtered({ ...listed, found: "star" }), why("event", { event: "star" }), "filtered"],
    ["an event that is missing", filtered({ ...listed, found: null }), why("noEvent"), "filtered"],
  ] as const) {
    it(`is told in sentences, with what to do: ${name}`, () => {
      const told = explain(delivery, (key, values) => catalogText(key, values as Record<string, string>));
      should(told).eql({ reason, fix: `${catalogText(`fix.${fix}`)}.` });
    });
  }
}); // prettier-ignore
