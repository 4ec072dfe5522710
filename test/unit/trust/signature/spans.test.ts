import should from "should";
import { placeOf } from "../../../../src/trust/signature/fields";
import { spansAt } from "../../../../src/trust/signature/spans";
import type { Source } from "../../../../src/trust/senders/record";

describe("where a value stands in a body", () => {
  for (const [source, body, ...values] of [
    ["json:sig", '{"sig":"abc"}', "abc"],
    ["json:sig", ' {\n "a" : [1, "sig", {"sig": 1}], "sig" : "a\\"b\\\\" }', 'a\\"b\\\\'],
    ["json:sig", '\uFEFF{"ä":"ö","sig":"ü"}', "ü"],
    ["json:sig", '{"sig":12.5,"a":null}', "12.5"],
    ["json:sig", '{"sig":{"a":["}"]},"sig":"b"}', '{"a":["}"]}', "b"],
    ["json:sig", '{"s\\u0069g":"abc"}', "abc"],
    ["json:größe.sig", '{"größe":{"sig":"abc"}}', "abc"],
    ["json:a.1.sig", '{"a":[{"sig":"x"},{"sig":"y"}]}', "y"],
    ["json:a.*.sig", '{"a":[{"sig":"x"},[],3,{"b":{},"sig":"y"}]}', "x", "y"],
    ["json:*.sig", '[{"sig":"x"}]', "x"],
    ["json:sig", '{"sig":"","a":"b"}'],
    ["json:sig", '{"other":{"sig":"abc"}}'],
    ["json:sig", "sig"],
    ["json:sig", ""],
    ["json:sig", '{"a":"b'],
    ["json:sig", '{"a":[{"sig":"b"},'],
    ["json:sig", '{"a":1 "sig":"b"}'],
    ["json:sig", '{"sig":"abc', "abc"],
    ["json:a.*.sig", '{"a":[,,}'],
    ["json:sig", "[".repeat(1_000_000)],
    ["form:sig", "a=b&sig=abc&c", "abc"],
    ["form:sig", "s%69g=a%2Fb+c", "a%2Fb+c"],
    ["form:ä ö", "sig=abc&%C3%A4+ö=ü", "ü"],
    ["form:sig", "sig=&sig&a=sig"],
    ["form:sig", "sig=abc" + "&a=b".repeat(1000)],
    ["header:sig", '{"sig":"abc"}'],
    ["body", "abc"],
  ] as const satisfies [Source, string, ...string[]][]) {
    it(`${source} in ${body.slice(0, 50)}: ${values.length === 0 ? "nowhere" : values.join(", ")}`, () => {
      const bytes = Buffer.from(body);
      const found = spansAt(placeOf(source), bytes).map(([start, end]) => String(bytes.subarray(start, end)));
      should(found).eql(values);
    });
  }
});
