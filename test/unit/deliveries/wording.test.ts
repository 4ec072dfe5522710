import "should";
import { describeError, gone, interrupted, formatReason, timedOut } from "../../../src/deliveries/summary";

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
      formatReason({ problem: null, reasons: [], looksLike: null, error }, key).should.equal(text);
    });
  }
});
