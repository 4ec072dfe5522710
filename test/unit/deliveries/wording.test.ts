import "should";
import { describeError, formatReason } from "../../../src/admin/summary";
import { gone, interrupted, lateReply, statusError, timedOut } from "../../../src/deliveries/states";
import { problems } from "../../../src/request/problem";

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
