import fc from "fast-check";
import { createHmac } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import should from "should";
import { DecodedBody } from "../../src/request/decode";
import { Problem } from "../../src/request/problem";
import { seed } from "../harness/property";
import { authenticatorFor } from "../harness/verification";

/** What a stranger knows: one request whose values are signed. They are no text of anything that is forged. */
const id = "7";
const amount = "5";
const sig = createHmac("sha256", "secret").update(`${id}|${amount}`).digest("hex");
const genuine = { id, amount, sig };
const inForm = String(new URLSearchParams(genuine));
const inJson = JSON.stringify(genuine);
const forgedInForm = inForm.replace("id=7", "id=666").replace("amount=5", "amount=999");
const forgedInJson = JSON.stringify({ id: "666", amount: "999", sig });

const schemeOf = (kind: "form" | "json") => ({
  alg: "hmac-sha256",
  sig: { headers: [], source: `${kind}:sig`, enc: "hex" },
  content: [`${kind}:id`, "lit:|", `${kind}:amount`],
});
const authenticators = {
  form: authenticatorFor("custom", { scheme: schemeOf("form") }),
  json: authenticatorFor("custom", { scheme: schemeOf("json") }),
};

const part = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const multipart = (fields: object) => `${Object.entries(fields).map(([name, value]) => part(name, String(value))).join("")}--b--\r\n`; // prettier-ignore
const quoted = (text: string) => JSON.stringify(text);

/** Texts that are genuine for one reader, and forged for another. */
const text = fc.oneof(
  fc.constantFrom(inForm, inJson, multipart(genuine), `payload=${encodeURIComponent(inJson)}`, `payload=${inJson}`),
  fc.constantFrom(
    `{"id":"666","amount":"999","sig":"${sig}","x":${quoted(`&${inForm}&`)}}`,
    `${forgedInForm}&x=${inJson}`,
    `${inForm}&payload=${encodeURIComponent(forgedInJson)}`,
    `payload=${encodeURIComponent(forgedInJson)}&${inForm}`,
    multipart({ id: "666", amount: "999", x: `&${inForm}&` }),
    `${inJson.slice(0, -1)},"id":"666"}`,
    `${forgedInJson.slice(0, -1)},"id":"7","amount":"5"}`,
    `{"__proto__":${inJson},"id":"666","amount":"999","sig":"${sig}"}`,
    `{"__proto__":${forgedInJson},${inJson.slice(1)}`,
    `[${inJson},${forgedInJson}]`,
    quoted(inJson),
    quoted(inForm),
    `\ufeff${inJson}`,
    `\ufeff${inForm}`,
    `${inForm}&id=666`,
    `id=666&${inForm}`,
    `${inForm}&i%64=666`,
    `${inForm}&__proto__=1&constructor=2`,
    // In Shift_JIS and GBK, the second byte of a character may be a backslash.
    `{"a":"\x81\\","id":"666","b":"\x81\\",${inJson.slice(1)}`,
    `{"a":"\x81\\\\",${inJson.slice(1, -1)},"id":"666","b":"x"}`,
  ),
  fc.array(
    fc.constantFrom(inForm, inJson, forgedInForm, forgedInJson, "&", "=", "{", "}", '"', ":", ",", "x", "+", "\x81\\", "\u0000"),
    { maxLength: 8 },
  ).map((pieces) => pieces.join("")),
); // prettier-ignore

const toBytes: Readonly<Record<string, (text: string) => Buffer>> = {
  utf8: (each) => Buffer.from(each),
  latin1: (each) => Buffer.from(each, "latin1"),
  utf16le: (each) => Buffer.from(each, "utf16le"),
  utf16be: (each) => Buffer.from(`\ufeff${each}`, "utf16le").swap16(),
};
const codings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  "": (bytes) => bytes,
  identity: (bytes) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
};
const essences = ["application/json", "application/vnd.api+json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/plain", "application/xml", "application/octet-stream", "image/png", "nonsense", ""]; // prettier-ignore
const charsets = ["", "utf-8", "latin1", "utf-16le", "utf-16be", "shift_jis", "gbk", "iso-2022-jp", "klingon"];

const request = fc.record({
  kind: fc.constantFrom("form" as const, "json" as const),
  text,
  bytes: fc.constantFrom(...Object.keys(toBytes)),
  coding: fc.constantFrom(...Object.keys(codings)),
  /** What the header says, which is mostly so. */
  label: fc.option(fc.constantFrom(...Object.keys(codings)), { nil: undefined, freq: 3 }),
  essence: fc.oneof(
    fc.constantFrom(...essences),
    fc.constantFrom("application/json", "application/x-www-form-urlencoded"),
  ),
  charset: fc.oneof({ weight: 2, arbitrary: fc.constant("") }, fc.constantFrom(...charsets)),
});

describe("signed values of a body", () => {
  it("are those that the flow gets, whatever the body is and whatever its header fields say", async () => {
    const accepted = { form: 0, json: 0 };
    const property = fc.asyncProperty(request, async ({ kind, text, bytes, coding, label, essence, charset }) => {
      const body = (codings[coding] ?? ((each) => each))((toBytes[bytes] ?? ((each: string) => Buffer.from(each)))(text));
      const type = charset === "" ? essence : `${essence}; charset=${charset}`;
      const said = label ?? coding;
      const rawHeaders = [...(type === "" ? [] : ["Content-Type", type]), ...(said === "" ? [] : ["Content-Encoding", said])];
      const head = { method: "POST", rawHeaders, search: "" };
      const result = authenticators[kind].checkHead(head, Date.now());
      if (!("verify" in result)) throw new Error("no verification by the body");
      const decoded = DecodedBody.of(head, body);
      const verdict = result.verify(decoded);
      if (!("credential" in verdict)) return;
      const content = await decoded.decode(1024 * 1024);
      if (content instanceof Problem) throw new Error(content.name);
      accepted[kind]++;
      // Text and bytes are as the flow would parse them.
      const { value } = content;
      const payload: unknown =
        typeof value === "string" || Buffer.isBuffer(value) ? JSON.parse(value.toString()) : value;
      should(payload).containEql({ id, amount });
    }); // prettier-ignore
    await fc.assert(property, { seed, numRuns: 10_000 });
    accepted.form.should.be.above(20);
    accepted.json.should.be.above(20);
  });
});

describe("signed bytes", () => {
  const signed = (type: string, body: Buffer) => {
    const headers = { "content-type": type };
    return new DecodedBody({ request: { headers }, isSigned: true }, body).content;
  };
  const charset = fc.constantFrom("gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-2022-jp", "latin1", "windows-1251", "utf-16le", "utf-16be", "koi8-u", "x-user-defined", "utf-8", "UTF8"); // prettier-ignore
  const essence = fc.constantFrom(
    ...[
      "application/json",
      "application/x-www-form-urlencoded",
      "text/plain",
      "text/xml",
      "application/x",
      "image/png",
    ],
  );
  const awkward = fc.array(
    fc.constantFrom("{", "}", '"', "\\", "&", "=", "あ", "é", "\u2028", "a", "%E3%81%82", "%5C", "%22", "\x1b$B", "\x1b(B", " "),
    { maxLength: 12 },
  ); // prettier-ignore
  const value = awkward.map((pieces) => pieces.join(""));
  const body = fc.oneof(
    value.map((each) => JSON.stringify({ a: each, b: `${each}あ" &action=deleted&x=` })),
    value.map((each) => `payload=${encodeURIComponent(JSON.stringify({ a: each }))}`),
    value.map((each) => String(new URLSearchParams({ a: each, b: "あ" }))),
    value.map((each) => `{"a":"${each}`),
    value,
  );

  it("that are UTF-8 are read as UTF-8, or refused, whatever charset a header field names", () => {
    const counts = { same: 0, refused: 0 };
    const property = fc.property(body, essence, charset, (text, type, label) => {
      const bytes = Buffer.from(text);
      const content = signed(`${type}; charset=${label}`, bytes);
      if (content instanceof Problem) {
        counts.refused++;
        return;
      }
      const plain = signed(type, bytes);
      if (plain === undefined || plain instanceof Problem) throw new Error("In UTF-8, it is refused.");
      should(content?.value).eql(plain.value);
      counts.same++;
    });
    fc.assert(property, { seed, numRuns: 10_000 });
    counts.same.should.be.above(1000);
    counts.refused.should.be.above(1000);
  });

  it("may name their charset themselves, or be no UTF-8", () => {
    const form = "application/x-www-form-urlencoded";
    const utf16 = Buffer.from('\ufeff{"a":"あ"}', "utf16le");
    for (const [type, bytes, expected] of [
      ["application/json; charset=utf-16le", utf16.subarray(2), { a: "あ" }],
      ["application/json; charset=gbk", utf16, { a: "あ" }],
      ["text/xml", Buffer.from('<?xml version="1.0" encoding="latin1"?>é', "latin1"), '<?xml version="1.0" encoding="latin1"?>é'],
      [form, Buffer.from("a=%82%a0&_charset_=shift_jis"), { a: "あ", _charset_: "shift_jis" }],
      [`${form}; charset=shift_jis`, Buffer.from("a=%82%a0"), { a: "あ" }],
      [`${form}; charset=shift_jis`, Buffer.from("a=\x82\xa0", "latin1"), { a: "あ" }],
      ["text/plain; charset=latin1", Buffer.from("é", "latin1"), "é"],
    ] as const) {
      should(signed(type, bytes)).have.property("value", expected);
    }
  }); // prettier-ignore
});
