import should from "should";
import { posix, win32 } from "node:path";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { maxParts } from "../../src/request/form";
import { accepted, type Attack, besiege, last, post, refused, withstand } from "../harness/siege";

const json = (text: string | Uint8Array) => post(Buffer.from(text), "Content-Type: application/json");
const form = (text: string) => post(Buffer.from(text), "Content-Type: application/x-www-form-urlencoded");
const coded = (coding: string, body: Uint8Array) =>
  post(body, "Content-Type: text/plain", `Content-Encoding: ${coding}`);

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const knownCodings = /^Accept-Encoding: gzip, deflate, br\r$/im;
/** Only a refusal of a content coding says which ones are known. */
const noCodings = /^(?![^]*\nAccept-Encoding:)/i;
/** Four times what an endpoint takes. */
const bomb = Buffer.alloc(20 * 1024 * 1024);
const packedBomb = gzipSync(bomb);
/** The best compression would take a second. */
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const text = Buffer.from("hello world");
/** Behind the name of each level hides what would change every object. */
const nested = (name: string, levels: number) =>
  `{"a":${`{"${name}":{"polluted":1},"a":`.repeat(levels)}1${"}".repeat(levels)}}`;
const harmless = (levels: number): unknown => (levels === 0 ? 1 : { a: harmless(levels - 1) });

/** Each coding with a body, whole and cut off. */
const codings: [string, Buffer][] = [
  ["gzip", gzipSync(text)],
  ["deflate", deflateSync(text)],
  ["br", brotliCompressSync(text)],
];

besiege("requests with a body that is not what it seems", (siege) => {
  const compressed: Attack[] = [
    // RFC 9110 §15.5.14: larger than the server will process. What counts is the size after each coding.
    refused("a bomb in gzip", coded("gzip", packedBomb), 413),
    refused("a bomb in br, in gzip", coded("br, gzip", gzipSync(brotliCompressSync(bomb, fast))), 413),
    refused("a bomb in the second part of gzip", coded("gzip", Buffer.concat([gzipSync(text), packedBomb])), 413),
    ...codings.flatMap(([coding, whole]) => [
      accepted(`${coding}, whole`, coded(coding, whole), "hello world"),
      accepted(`no bytes of ${coding}, which is an empty body`, coded(coding, Buffer.alloc(0)), ""),
      refused(`half of ${coding}`, coded(coding, whole.subarray(0, whole.length / 2)), 400),
      refused(`${coding} without its last byte`, coded(coding, whole.subarray(0, -1)), 400),
      refused(`text that is called ${coding}`, coded(coding, text), 400),
      ...[Buffer.alloc(1), Buffer.from("x"), text].map((tail) =>
        refused(`${coding} with ${tail.length} bytes behind its end (${tail[0]})`, coded(coding, Buffer.concat([whole, tail])), 400),
      ),
    ]),
    refused("gzip with a wrong checksum (RFC 1952 §2.3.1)", coded("gzip", gzipSync(text).map((byte, index) => (index === 22 ? ~byte : byte))), 400),
    refused("deflate without the wrapper that it needs (RFC 9110 §8.4.1.2)", coded("deflate", deflateRawSync(text)), 400),
    refused("gzip that is called gzip twice", coded("gzip, gzip", gzipSync(text)), 400),
    accepted("gzip in parts, which are one (RFC 1952 §2.2)", coded("gzip", Buffer.concat([gzipSync("a"), gzipSync("b")])), "ab"),
    accepted("codings in two fields, which are one list (RFC 9110 §5.3)", post(gzipSync(brotliCompressSync(text)), "Content-Type: text/plain", "Content-Encoding: br", "Content-Encoding: gzip"), "hello world"),
    ...["zstd", "*", "gzip;q=1", "constructor", "compress", "gzip, gzip, gzip, gzip"].map((coding) =>
      refused(`the content coding ${coding} (RFC 9110 §15.5.16)`, coded(coding, text), 415, knownCodings),
    ),
    refused("an unknown content coding of nothing", coded("compress", Buffer.alloc(0)), 415, knownCodings),
    refused("a known content coding over an unknown one", coded("zstd, gzip", gzipSync(text)), 415, knownCodings),
    ...["GZIP", "x-gzip"].map((coding) => accepted(`gzip that is called ${coding}`, coded(coding, gzipSync(text)), "hello world")),
    accepted("a list of codings with empty elements (RFC 9110 §5.6.1)", coded("br , , gzip", gzipSync(brotliCompressSync(text))), "hello world"),
    ...["identity", "", ","].map((coding) =>
      accepted(`the content coding ${JSON.stringify(coding)}, which is none`, coded(coding, text), "hello world"),
    ),
  ]; // prettier-ignore

  const ofJson: Attack[] = [
    ...[
      ...[" ", "{", '{"a":1,}', "[1]]", "1 2", "NaN", "01", '"\t"', "\u0000", "// comment\n1", "\ufeff", "[1]\u2028"],
      ...["{]", "nul", "{'a':1}", "[1,]", '"\n"', "{}{}"],
    ].map((sent) =>
      refused(`${JSON.stringify(sent)}, which is no JSON (RFC 8259 §2)`, json(sent), 400),
    ),
    accepted("an escaped lone surrogate (RFC 8259 §8.2)", json('"\\ud800"'), "\ud800"),
    accepted("a number beyond every double (RFC 8259 §6)", json("[1e999]"), [Infinity]),
    accepted("duplicate names, of which the last counts (RFC 8259 §4)", json('{"a":1,"\\u0061":3}'), { a: 3 }),
    accepted("names that every object has", json('{"toString":1,"hasOwnProperty":2,"":4}'), { toString: 1, hasOwnProperty: 2, "": 4 }),
    accepted("names that messages have", json('{"_msgid":"x","req":1,"res":2}'), { _msgid: "x", req: 1, res: 2 }),
    refused("bytes that are no UTF-8 (RFC 8259 §8.1)", json(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 400),
    accepted("U+FFFD that was sent", json('"\ufffd"'), "\ufffd"),
    ...[deep(257), deep(100_000), `${"[".repeat(256)}{}${"]".repeat(256)}`, objects(257), "[".repeat(1_000_000)].map((sent) =>
      refused(`${sent.length} characters of too many levels`, json(sent), 400),
    ),
    refused("257 levels of JSON that is sent as a form", form(deep(257)), 400),
    ...[1, 100].flatMap((levels) =>
      ["__proto__", "__\\u0070roto__"].map((name) =>
        accepted(`${name} on ${levels} levels, which is dropped`, json(nested(name, levels)), harmless(levels + 1)),
      ),
    ),
    accepted("__proto__ in arrays, which is dropped", json('[{"__proto__":null},[[{"__proto__":{"__proto__":{}}}]]]'), [{}, [[{}]]]),
  ]; // prettier-ignore

  const ofForms = ([
    ["separators only", "&&&=&&", { "": "" }],
    ["__proto__, plain, encoded and with brackets", "__proto__=1&%5F_proto__=2&__proto__[polluted]=3&a=4", { "__proto__[polluted]": "3", a: "4" }],
    ["names that every object has", "toString=1&hasOwnProperty=2&toString=3", { toString: ["1", "3"], hasOwnProperty: "2" }],
    ["__proto__ in the JSON of its field payload", `payload=${encodeURIComponent('{"__proto__":{"polluted":1},"a":1}')}`, { a: 1 }],
    ["1,000 times one name", "a=1&".repeat(999) + "a=1", { a: Array.from({ length: 1000 }, () => "1") }],
    ["brackets of 1,000 levels", `a${"[a]".repeat(1000)}=1`, { [`a${"[a]".repeat(1000)}`]: "1" }],
  ] as [string, string, unknown][]).map(([name, sent, payload]) => accepted(`a form with ${name}`, form(sent), payload)); // prettier-ignore

  const tooManyFields = refused("a form with 100,000 times one name", form("a=1&".repeat(100_000)), 413);

  const plain = Buffer.from("plain");
  const contentTypes: Attack[] = [
    ...["text", "/", "text/plain/plain", "constructor", ";", "multipart/mixed; boundary="].map((type) => ({ type, payload: plain })),
    ...["text/plain;;;", "text/plain; charset=", "TEXT/PLAIN; CHARSET=UTF-8", `text/${"x".repeat(10_000)}`, "application/json-not", "x/x+xml"].map((type) => ({ type, payload: "plain" })),
  ].map(({ type, payload }) => accepted(`Content-Type: ${type.slice(0, 60)}`, post(plain, `Content-Type: ${type}`), payload)); // prettier-ignore
  const unknownTypes = [
    ...["utf-7", "constructor", '""', "x".repeat(10_000)].map((charset) => ({ type: `text/plain; charset=${charset}`, status: 415 })),
    ...["application/json", "application/x-www-form-urlencoded"].map((type) => ({ type: `${type}; charset=klingon`, status: 415 })),
    ...["", "; boundary="].map((end) => ({ type: `multipart/form-data${end}`, status: 400 })),
  ].map(({ type, status }) => refused(`Content-Type: ${type.slice(0, 60)}`, post(plain, `Content-Type: ${type}`), status, noCodings)); // prettier-ignore

  withstand(siege, [...compressed, ...ofJson, ...ofForms, tooManyFields, ...contentTypes, ...unknownTypes]);
});

const boundary = "b0undary";
const contentType = `Content-Type: multipart/form-data; boundary=${boundary}`;
const part = (disposition: string, value = "x", ...fields: string[]) =>
  [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...fields, "", value, ""].join("\r\n");
const formOf = (...parts: string[]) => `${parts.join("")}--${boundary}--\r\n`;
const file = (name: string) => part(`name="f"; filename="${name}"`);
const starred = (name: string) => part(`name="f"; filename*=utf-8''${encodeURIComponent(name)}`);
const fields = (count: number) => formOf(...Array.from({ length: count }, (_, index) => part(`name="n${index}"`)));
const names = ["__proto__", "constructor", "toString", "__proto__[polluted]"];

/** Names that would lead elsewhere for a program that takes them for a path. */
const paths = ["/etc/passwd", "../../etc/passwd", "..", ".", "..\\\\..\\\\boot.ini", "C:\\\\x.dll", "a/..", "a\\\\..", "/", "a/", "..%2f..%2fx", "%2e%2e/x", "a/..%0a", "\u2025/x", "..／x"]; // prettier-ignore

besiege("requests with a form of files", (siege) => {
  const packedFile = gzipSync(formOf(part('name="f"; filename="a"', "x".repeat(6 * 1024 * 1024))));
  const packed = gzipSync(fields(10_000));
  withstand(siege, [
    accepted(`${maxParts} parts`, post(fields(maxParts), contentType), Object.fromEntries(Array.from({ length: maxParts }, (_, index) => [`n${index}`, "x"]))),
    refused(`${maxParts + 1} parts (RFC 9110 §15.5.14)`, post(fields(maxParts + 1), contentType), 413),
    refused("10,000 files", post(formOf(...Array.from({ length: 10_000 }, () => file("a"))), contentType), 413),
    refused("10,000 parts in gzip", post(packed, contentType, "Content-Encoding: gzip"), 413),
    refused("a file of 6 MB in gzip, which counts unpacked (RFC 9110 §8.4)", post(packedFile, contentType, "Content-Encoding: gzip"), 413),
    // The first is no name that a copy of the message would keep.
    accepted("names that every object has", post(formOf(...names.map((name) => part(`name="${name}"`))), contentType), Object.fromEntries(names.slice(1).map((name) => [name, "x"]))),
  ]); // prettier-ignore

  for (const [way, made] of [
    ["filename", file],
    ["filename*", starred],
  ] as const) {
    it(`get names of files without folders, in ${way}`, async () => {
      const [reply] = await siege().replies(...post(Buffer.from(formOf(...paths.map(made))), contentType, last));
      const { id } = JSON.parse(reply?.body ?? "") as { id: string };
      const { req } = await siege().nodeRed.message(id);
      await siege().payloads();
      const files = req.files as { originalname: string }[];
      files.should.have.length(paths.length);
      for (const { originalname } of files) {
        should([posix.basename(originalname), win32.basename(originalname)]).eql([originalname, originalname]);
        [".", ".."].should.not.containEql(originalname);
      }
    });
  }
});
