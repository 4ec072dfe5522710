import fc from "fast-check";
import should from "should";
import { Fields, placeOf } from "../../src/trust/signature/fields";
import { spansAt } from "../../src/trust/signature/spans";
import { seed } from "../harness/property";

describe("for any JSON", () => {
  it("values stand where they are read", () => {
    const name = fc.constantFrom("a", "b", "0", "*", "c[", "ä");
    const leaf = fc.oneof(fc.string({ unit: "grapheme", minLength: 1 }), fc.double({ noNaN: true }), fc.boolean());
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof({ depthSize: "medium" }, leaf, fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(name, tie("value"), { maxKeys: 4 })), // prettier-ignore
    }));
    const path = fc.array(fc.constantFrom("a", "b", "0", "1", "*", "ä"), { minLength: 1, maxLength: 3 });
    const property = fc.property(value, path, fc.nat(2), (json, steps, indent) => {
      const body = Buffer.from(JSON.stringify(json, null, indent));
      const place = placeOf(`json:${steps.join(".")}`);
      const spans = spansAt(place, body).map(([start, end]) => String(body.subarray(start, end)));
      const fields = new Fields({ method: "", rawHeaders: [], search: "" }, () => body);
      const read = fields.valuesAt(place.name).filter((each) => each !== null && each !== "");
      const written = read.map((each) => JSON.stringify(each, null, indent));
      should(spans.map(unindented)).eql(
        written.map((each) => unindented(/^".*"$/.test(each) ? each.slice(1, -1) : each)),
      );
    });
    fc.assert(property, { seed, numRuns: 5000 });
  });
});

/** What stands deeper is indented more. */
function unindented(json: string): string {
  return json.replace(/\n */g, "");
}
