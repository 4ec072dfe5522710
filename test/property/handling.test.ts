import fc from "fast-check";
import { handlingDefaults } from "../../src/config/fields";
import { parseHandling } from "../../src/config/parse";
import { seed } from "../harness/property";

const value = fc.oneof(
  fc.anything(),
  fc.string(),
  fc.integer({ min: -1, max: 1000 }),
  fc.integer({ min: -1, max: 1000 }).map(String),
  fc.constantFrom("now", "flow", "true", true, "", "${NAME}", "header:X-Id", "json:a.b", "192.0.2.1,::1", "text/plain"),
);
const kept = Object.entries(handlingDefaults);
const fields = fc.record(
  Object.fromEntries(
    kept.map(([name, usual]) => [name, fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, value)]),
  ),
  { requiredKeys: [] },
);

describe("for any fields that say what becomes of requests", () => {
  it("what is accepted keeps every rule, and what is not is named", () => {
    fc.assert(
      fc.property(fields, (saved) => {
        const handling = parseHandling(saved);
        if ("rule" in handling) return void handling.rule.should.be.a.String();
        const { reply, duplicates, rateLimit, alertWhenSilent, rawBody, guaranteed, pace, attemptTimeoutMs } = handling;
        if (reply.by === "flow") {
          reply.timeout.should.be.within(1000, 300_000);
        } else {
          reply.status.should.be.within(200, 299);
          reply.body.should.be.a.String();
          reply.type.should.match(/^[\x21-\x7e]+\/[\t\x20-\x7e]+$/);
        }
        if (duplicates) duplicates.keptFor.should.be.within(3_600_000, 720 * 3_600_000);
        Number.isInteger(rateLimit).should.be.true();
        rateLimit.should.be.aboveOrEqual(0);
        alertWhenSilent.should.be.within(0, 8760);
        rawBody.should.be.a.Boolean();
        guaranteed.should.be.a.Boolean();
        pace.attempts.should.be.within(1, 50);
        pace.concurrency.should.be.within(0, 1000);
        pace.ratePerMinute.should.be.within(0, 6000);
        pace.breaker.should.be.within(0, 1000);
        attemptTimeoutMs.should.be.within(1000, 86_400_000);
      }),
      { seed, numRuns: 3000 },
    );
  });
});
