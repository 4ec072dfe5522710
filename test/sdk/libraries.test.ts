import fc from "fast-check";
import should from "should";
import { seed } from "../harness/property";
import { ages, type Change, changes, flipped, harmless, inProof, inTime, withBit } from "./changes";
import { Comparison, now } from "./comparison";
import { libraries } from "./libraries";
import type { Library, Sent } from "./library";

const runs = { seed, numRuns: 30 };
const both = { library: true, ours: true };
const neither = { library: false, ours: false };

function bodiesFor({ takesBytes }: Library): fc.Arbitrary<Buffer> {
  if (takesBytes) return fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  return fc.json({ stringUnit: "binary" }).map((text) => Buffer.from(text));
}

/** What comes of a request when one bit of its body, its signature or its time is another one. */
function broken(comparison: Comparison, sent: Sent, bytes: Buffer, bit: number): Sent[] {
  const { scheme } = comparison.setup;
  // The lowest bit of a digit makes another digit of it.
  const time = inTime(sent, scheme, (digits) => flipped(Buffer.from(digits), bit * 8).toString());
  const signature = inProof(sent, scheme, (text) => withBit(text, scheme, bit));
  const body = { ...sent, body: comparison.bodyOf(flipped(bytes, bit)) };
  return time ? [body, signature, time] : [body, signature];
}

/** Requests that were changed, by what was changed. */
function changed(comparison: Comparison): [Change, Sent][] {
  const { setup, signer } = comparison;
  const example = comparison.example();
  const altered = Object.entries(changes).map(([name, alter]) => [name, alter(example, setup.scheme)]);
  const { window } = signer;
  const aged = window === undefined ? [] : Object.entries(ages);
  const signed = aged.map(([name, age]) => [name, comparison.example(now - age(window ?? 0))]);
  return [...altered, ...signed].filter((pair): pair is [Change, Sent] => pair[1] !== undefined);
}

/** A clock that stands still, as most libraries have no other way to be told the time. */
function stopped(clock: DateConstructor): DateConstructor {
  const at = now * 1000;
  return new Proxy(clock, {
    construct: (target, [time = at]: number[]) => new target(time),
    get: (target, name): unknown => (name === "now" ? () => at : Reflect.get(target, name)),
  });
}

describe("a sender's own library", () => {
  const clock = Date;
  before(() => (globalThis.Date = stopped(clock)));
  after(() => (globalThis.Date = clock));

  for (const library of libraries) {
    const comparison = new Comparison(library);
    const bodies = bodiesFor(library);

    describe(library.name, () => {
      it(`takes what ${library.sender} signs in these tests, and so do we`, async () => {
        const holds = async (bytes: Buffer) => {
          should(await comparison.verdicts(comparison.sent(bytes))).eql(both);
        };
        await fc.assert(fc.asyncProperty(bodies, holds), runs);
      });

      if (library.sign) {
        it("signs what we take", async () => {
          const holds = async (bytes: Buffer) => {
            should(await comparison.verdicts(await comparison.signed(bytes))).eql(both);
          };
          await fc.assert(fc.asyncProperty(bodies, holds), runs);
        });
      }

      it("refuses another bit in the body, the signature or the time, and so do we", async () => {
        const holds = async (bytes: Buffer, bit: number) => {
          const sent = await comparison.signed(bytes);
          for (const each of broken(comparison, sent, bytes, bit)) {
            should(each).not.eql(sent);
            should(await comparison.verdicts(each)).eql(neither);
          }
        };
        await fc.assert(fc.asyncProperty(bodies, fc.nat(10_000), holds), runs);
      });

      it("takes no other account's, and neither do we", async () => {
        should(await comparison.verdicts(comparison.sent(Buffer.from("{}"), now, 1))).eql(neither);
      });

      for (const [change, sent] of changed(comparison)) {
        const ours = harmless.includes(change);
        const agrees = library.unlike?.[change] === undefined;
        it(`${ours === agrees ? "takes" : "refuses"}${agrees ? "" : ", other than we,"} ${change}`, async () => {
          should(await comparison.verdicts(sent)).eql({ library: ours === agrees, ours });
        });
      }
    });
  }
});
