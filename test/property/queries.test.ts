import fc from "fast-check";
import "should";
import { findParameters } from "../../src/request/head";
import { shouldGrowEvenly } from "../harness/cost";
import { seed } from "../harness/property";

describe("a parameter of a query", () => {
  // Few characters, so that names meet: as themselves, as escapes, and as what only looks like one.
  const text = fc.array(fc.constantFrom("a", "b", "%61", "%", "+", "%20", "=", "&", "?", "é", "%c3%a9", "%ff"));

  it("is found as URLSearchParams finds it, however it is written", () => {
    const name = fc.constantFrom("a", "ab", "a b", "b", "é", "aé", "?a", "%", "");
    const search = text.map((parts) => parts.join(""));
    fc.assert(
      fc.property(search, name, (query, each) => {
        findParameters(query, each).should.eql(new URLSearchParams(query).getAll(each));
      }),
      { seed, numRuns: 20_000 },
    );
  });

  it("is found in a time that does not grow with broken escapes", async () => {
    await shouldGrowEvenly((size) => {
      for (const piece of ["%ff&", "%ff%ff=&", "a%ff=&", "&", "=", "%", "state&"])
        findParameters(piece.repeat(size / piece.length), "state");
    }, 16_384);
  });
});
