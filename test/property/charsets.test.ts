import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { type Body, DecodedBody } from "../../src/request/decode";
import { Problem } from "../../src/request/problem";
import { formOf, typeOf } from "../harness/forms";
import { root } from "../harness/package";
import { seed } from "../harness/property";

/** Letters of each charset of the Encoding Standard, as Chromium reads them. */
const samples = JSON.parse(readFileSync(join(root, "test", "data", "charsets.json"), "utf8")) as readonly {
  readonly charset: string;
  /** In base64. */
  readonly bytes: string;
  readonly text: string;
}[];

function decode(type: string, body: Buffer): Body | Problem {
  const { content } = DecodedBody.of({ rawHeaders: ["Content-Type", type] }, body);
  if (content === undefined) throw new Error("It is not read at once.");
  return content instanceof Problem ? content : content.value;
}

/** ASCII in a charset. */
function write(charset: string, text: string): Buffer {
  if (!charset.startsWith("utf-16")) return Buffer.from(text, "latin1");
  const bytes = Buffer.from(text, "utf16le");
  return charset === "utf-16be" ? bytes.swap16() : bytes;
}

const wrap = (charset: string, before: string, bytes: Buffer, after: string) =>
  Buffer.concat([write(charset, before), bytes, write(charset, after)]);
const escape = (bytes: Buffer) => bytes.toString("hex").replace(/../g, "%$&");
const form = "application/x-www-form-urlencoded";
const part = (charset: string, content: Buffer) => ({
  disposition: '; name="a"',
  headers: [`Content-Type: text/plain; charset=${charset}`],
  content,
});

describe("each charset of the Encoding Standard", () => {
  for (const { charset, bytes: base64, text } of samples) {
    const bytes = Buffer.from(base64, "base64");
    it(`is read as a browser reads it, in each type that is text: ${charset}`, () => {
      const read: [string, string, Buffer, unknown][] = [
        ["a text", `text/plain; charset=${charset}`, bytes, text],
        ["a text of another type", `application/x-own; charset="${charset.toUpperCase()}"`, bytes, text],
        ["JSON", `application/json; charset=${charset}`, wrap(charset, '{"a":"', bytes, '"}'), { a: text }],
        ["XML", `text/xml; charset=${charset}`, wrap(charset, "<a>", bytes, "</a>"), `<a>${text}</a>`],
        ["a form", `${form}; charset=${charset}`, wrap(charset, "a=", bytes, "&b=1"), { a: text, b: "1" }],
        ["a form as a text", `${form}; charset=${charset}`, bytes, text],
        ["JSON as a form", `${form}; charset=${charset}`, wrap(charset, '{"a":"', bytes, '"}'), { a: text }],
        ["a part", typeOf(), formOf([part(charset, bytes)]), { a: text }],
        ["a name", `${form}; charset=${charset}`, Buffer.from(`${escape(bytes)}=`), { [text]: "" }],
      ];
      const name = escape(write(charset, "a"));
      read.push(["an escaped form", `${form}; charset=${charset}`, Buffer.from(`${name}=${escape(bytes)}`), { a: text }]);
      const declared = `<?xml version="1.0" encoding="${charset}"?>`;
      // Without a mark, UTF-16 is known by its first bytes, and what it declares says no more.
      for (const type of ["application/xml", "text/xml", "image/svg+xml"]) {
        read.push(["declared XML", type, wrap(charset, `${declared}<a>`, bytes, "</a>"), `${declared}<a>${text}</a>`]);
      }
      if (!charset.startsWith("utf-16")) {
        const named = Buffer.from(`a=${escape(bytes)}&_charset_=${charset}`);
        read.push(["a form that names it", form, named, { a: text, _charset_: charset }]);
        const parts = [{ disposition: '; name="_charset_"', content: charset }, { disposition: '; name="a"', content: bytes }];
        read.push(["parts of a form that names it", typeOf(), formOf(parts), { _charset_: charset, a: text }]);
      }
      for (const [what, type, body, expected] of read) should(decode(type, body)).eql(expected, what);
    }); // prettier-ignore
  }

  it("is each that Node.js knows", () => {
    const known = new Set(samples.map(({ charset }) => charset));
    // The standard's labels, which Node.js has, too.
    for (const label of ["latin1", "cp1252", "UTF8", "ms932", "windows-31j", "ks_c_5601-1987", "windows-949", "gb2312"]) {
      known.has(new TextDecoder(label).encoding).should.be.true(label);
      should(decode(`text/plain; charset=${label}`, Buffer.from("a"))).equal("a");
    }
  }); // prettier-ignore
});

/** Where U+FFFD is written otherwise than in UTF-8. */
const withReplacement = /^utf-16|^gb18030/;

describe("bytes that are no text", () => {
  const labels = samples.map(({ charset }) => charset);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each)),
    fc
      .tuple(fc.constantFrom(...samples), fc.nat(300), fc.nat(40))
      .map(([{ bytes }, from, length]) => Buffer.from(bytes, "base64").subarray(from, from + length)),
  );
  const request = fc.record({
    charset: fc.option(fc.constantFrom(...labels), { nil: undefined }),
    essence: fc.constantFrom("text/plain", "application/xml", "application/json", form, "escaped", "multipart", "application/x", ""),
    bytes,
  }); // prettier-ignore

  it("are refused in JSON, and kept as they are in all else: nothing is replaced", () => {
    const counts = { text: 0, kept: 0, refused: 0 };
    const property = fc.property(request, ({ charset, essence, bytes }) => {
      const parameter = charset === undefined ? "" : `; charset=${charset}`;
      const isForm = essence === "escaped";
      const [type, body] =
        essence === "multipart"
          ? [typeOf(), formOf([{ disposition: '; name="a"', headers: charset ? [`Content-Type: text/plain${parameter}`] : [], content: bytes }])]
          : [`${isForm ? form : essence}${essence === "" ? "" : parameter}`, isForm ? Buffer.from(`a=${escape(bytes)}`) : bytes];
      const value = decode(type, body);
      if (value instanceof Problem) {
        ["jsonMalformed", "formMalformed"].should.containEql(value.name);
        (essence === "application/json" || essence === "multipart").should.be.true();
        counts.refused++;
        return;
      }
      const own = isForm || essence === "multipart" ? (value as { a?: unknown }).a : value;
      if (Buffer.isBuffer(own)) {
        own.equals(isForm || essence === "multipart" ? bytes : body).should.be.true();
        counts.kept++;
      } else counts.text++;
      const isSent = withReplacement.test(charset ?? "") || /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1")) || bytes.includes("\ufffd");
      if (!isSent) JSON.stringify(value).should.not.containEql("\ufffd");
    }); // prettier-ignore
    fc.assert(property, { seed, numRuns: 10_000 });
    for (const count of Object.values(counts)) count.should.be.above(500);
  });
});
