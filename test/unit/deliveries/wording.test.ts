import "should";
import {
  type Cause,
  describeError,
  formatFix,
  gone,
  interrupted,
  formatReason,
  timedOut,
} from "../../../src/deliveries/summary";

describe("what to do about a delivery whose flow has failed", () => {
  const cause: Cause = { problem: null, reasons: [], looksLike: null, error: "HTTP 500" };
  const translate = (key: string, { sentence }: Record<string, string | number> = {}) =>
    key === "lastRequest.sentence" ? `${sentence}.` : key;

  for (const [state, pause, told] of [
    ["retrying", null, "fix.retrying."],
    ["retrying", "breaker", "fix.retrying."],
    ["retrying", "manual", "fix.retryingPaused."],
    ["failed", null, "fix.flow."],
    ["failed", "breaker", "fix.flow."],
    ["failed", "manual", "fix.flow. fix.paused."],
  ] as const) {
    it(`is told where it is ${state}, and its node ${pause === null ? "not paused" : `paused (${pause})`}`, () => {
      formatFix({ cause, state, pause }, translate).should.equal(told);
    });
  }
});

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
