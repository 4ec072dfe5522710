import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { authorised, besiege, head, last, withstand } from "../harness/siege";

/** A POST whose message is copied on its way, as Node-RED copies it for every further wire. */
const copied = (body: string | Uint8Array, ...fields: string[]): (string | Uint8Array)[] => [
  head("POST", "/copied", authorised, last, ...fields, `Content-Length: ${body.length}`),
  body,
];
const json = (text: string) => copied(Buffer.from(text), "Content-Type: application/json");
const form = (text: string) => copied(Buffer.from(text), "Content-Type: application/x-www-form-urlencoded");
const coded = (coding: string, body: Uint8Array) =>
  copied(body, "Content-Type: text/plain", `Content-Encoding: ${coding}`);

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const deepObject = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
/** Four times what an endpoint takes. */
const bomb = Buffer.alloc(20 * 1024 * 1024);
const text = Buffer.from("hello world");
/** Behind the name of each level hides what would change every object. */
const evil = { polluted: 1 };
const nested = (name: string, levels: number) =>
  `{"a":${`{"${name}":{"polluted":1},"a":`.repeat(levels)}1${"}".repeat(levels)}}`;
const harmless = (levels: number): unknown => (levels === 0 ? 1 : { a: harmless(levels - 1) });

besiege("bodies that are not what they seem", (siege) => {
  describe("compressed", () =>
    withstand(siege, [
      // RFC 9110 §15.5.14: larger than the server will process. What counts is the size after each coding.
      ...([
        ["gzip", gzipSync(bomb)],
        ["deflate", deflateSync(bomb)],
        ["br", brotliCompressSync(bomb)],
        ["gzip, gzip", gzipSync(gzipSync(bomb))],
        ["br, gzip", gzipSync(brotliCompressSync(bomb))],
        ["br, deflate, gzip", gzipSync(deflateSync(brotliCompressSync(bomb)))],
        ["gzip", Buffer.concat([gzipSync(text), gzipSync(bomb)])],
      ] as const).map(([coding, sent]) => ({
        name: `a bomb of ${sent.length} bytes in ${coding} (RFC 9110 §15.5.14)`,
        sends: coded(coding, sent),
        statuses: [413],
      })),
      ...([
        ["gzip", gzipSync(text)],
        ["deflate", deflateSync(text)],
        ["br", brotliCompressSync(text)],
      ] as const).flatMap(([coding, whole]) => [
        ...[1, 2, Math.floor(whole.length / 2), whole.length - 1].map((length) => ({
          name: `the first ${length} bytes of ${coding}`,
          sends: coded(coding, whole.subarray(0, length)),
          statuses: [400],
        })),
        { name: `${coding}, whole`, sends: coded(coding, whole), statuses: [200], payloads: ["hello world"] },
        { name: `no bytes of ${coding}, which is an empty body`, sends: coded(coding, Buffer.alloc(0)), statuses: [200], payloads: [""] },
      ]),
      { name: "gzip with a wrong checksum (RFC 1952 §2.3.1)", sends: coded("gzip", gzipSync(text).map((byte, index) => (index === 22 ? ~byte : byte))), statuses: [400] },
      { name: "deflate without the wrapper that it needs (RFC 9110 §8.4.1.2)", sends: coded("deflate", deflateRawSync(text)), statuses: [400] },
      { name: "gzip that is called deflate", sends: coded("deflate", gzipSync(text)), statuses: [400] },
      { name: "gzip that is called gzip twice", sends: coded("gzip, gzip", gzipSync(text)), statuses: [400] },
      { name: "gzip in parts, which are one (RFC 1952 §2.2)", sends: coded("gzip", Buffer.concat([gzipSync("a"), gzipSync("b")])), statuses: [200], payloads: ["ab"] },
      { name: "codings in two fields, which are one list (RFC 9110 §5.3)", sends: copied(gzipSync(brotliCompressSync(text)), "Content-Type: text/plain", "Content-Encoding: br", "Content-Encoding: gzip"), statuses: [200], payloads: ["hello world"] },
      ...["compress", "zstd", "*", "gzip;q=1", "gzip gzip", "\u00e4", "constructor", "__proto__", "gzip, gzip, gzip, gzip", "gzip,".repeat(2000)].map((coding) => ({
        name: `the content coding ${coding.slice(0, 30)} (RFC 9110 §15.5.16)`,
        sends: coded(coding, text),
        statuses: [415],
        says: /^Accept-Encoding: gzip, deflate, br\r$/im,
      })),
      ...["identity", "", ",", ", ,identity,"].map((coding) => ({
        name: `the content coding ${JSON.stringify(coding)}, which is none`,
        sends: coded(coding, text),
        statuses: [200],
        payloads: ["hello world"],
      })),
    ]));

  describe("of JSON", () =>
    withstand(siege, [
      ...[
        " ", "{", "}", "[", "]", "{]", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", "{'a':1}", "[1,]", "[,1]", "[1 2]", "[1]]", "1 2",
        "nul", "NaN", "Infinity", "-Infinity", "undefined", "True", "+1", "01", ".5", "5.", "1e", "0x10", "1_000", '"', '"\\x41"', '"\\u12"',
        '"\t"', '"\n"', "\u0000", '{"a":1}\u0000', "// comment\n1", "/**/1", "1;", "\u00a01", "\ufeff", "\ufeff\ufeff1", "{}{}", "[1]\u2028",
      ].map((sent) => ({
        name: `${JSON.stringify(sent)} (RFC 8259 §2)`,
        sends: json(sent),
        statuses: [400],
      })),
      ...([
        ["256 levels of arrays", deep(256), JSON.parse(deep(256))],
        ["256 levels of objects", deepObject(256), JSON.parse(deepObject(256))],
        ["many values on few levels", `[${"[],".repeat(100_000)}[]]`, Array.from({ length: 100_001 }, () => [])],
        ["an escaped lone surrogate (RFC 8259 §8.2)", '"\\ud800"', "\ud800"],
        ["escaped surrogates in the wrong order (RFC 8259 §8.2)", '"\\udc00\\ud800"', "\udc00\ud800"],
        ["an escaped NUL", '"\\u0000"', "\u0000"],
        ["a number beyond every double (RFC 8259 §6)", "[1e999,-1e999]", [Infinity, -Infinity]],
        ["a number between two doubles (RFC 8259 §6)", "9007199254740993", 9007199254740992],
        ["a number of 100,000 digits", "1".repeat(100_000), Infinity],
        ["a number next to nothing", "1e-999", 0],
        ["duplicate names, of which the last counts (RFC 8259 §4)", '{"a":1,"a":2,"\\u0061":3}', { a: 3 }],
        ["names that every object has", '{"toString":1,"hasOwnProperty":2,"valueOf":3,"":4}', { toString: 1, hasOwnProperty: 2, valueOf: 3, "": 4 }],
        ["names that arrays and messages have", '{"length":-1,"_msgid":"x","req":1,"res":2}', { length: -1, _msgid: "x", req: 1, res: 2 }],
      ] as [string, string, unknown][]).map(([name, sent, payload]) => ({ name, sends: json(sent), statuses: [200], payloads: [payload] })),
      { name: "bytes that are no UTF-8 (the Encoding Standard: U+FFFD)", sends: copied(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "Content-Type: application/json"), statuses: [200], payloads: ["\ufffd\ufffd\ufffd"] },
      ...[deep(257), deepObject(257), `${"[".repeat(256)}{}${"]".repeat(256)}`, deep(1_000_000), `[${"[1],".repeat(1000)}${deep(256)}]`].map((sent) => ({
        name: `${sent.length} characters of too many levels`,
        sends: json(sent),
        statuses: [400],
      })),
      { name: "1,000,000 levels that never close", sends: json("[".repeat(1_000_000)), statuses: [400] },
      ...[1, 2, 100].flatMap((levels) => [
        { name: `__proto__ on ${levels} levels, which is dropped`, sends: json(nested("__proto__", levels)), statuses: [200], payloads: [harmless(levels + 1)] },
        { name: `an escaped __proto__ on ${levels} levels, which is dropped`, sends: json(nested("__\\u0070roto__", levels)), statuses: [200], payloads: [harmless(levels + 1)] },
      ]),
      { name: "__proto__ in arrays and with every value", sends: json('[{"__proto__":null},{"__proto__":[]},{"__proto__":1},[[{"__proto__":{"__proto__":{}}}]]]'), statuses: [200], payloads: [[{}, {}, {}, [[{}]]]] },
      { name: "constructor.prototype, which is a name like any other", sends: json(nested("constructor", 1).replace('{"polluted":1}', '{"prototype":{"polluted":1}}')), statuses: [200], payloads: [{ a: { constructor: { prototype: evil }, a: 1 } }] },
    ]));

  describe("of forms", () =>
    withstand(
      siege,
      ([
        ["invalid percent-encoding (the URL Standard: as it stands)", "a=%&b=%zz&%=1&c=%e4", { a: "%", b: "%zz", "%": "1", c: "\ufffd" }],
        ["separators only", "&&&=&&", { "": "" }],
        ["equals signs only", "====", { "": "===" }],
        ["__proto__, plain, encoded and with brackets", "__proto__=1&%5F_proto__=2&__proto__[polluted]=3&a=4", { "__proto__[polluted]": "3", a: "4" }],
        ["constructor.prototype", "constructor.prototype.polluted=1&constructor[prototype][polluted]=2", { "constructor.prototype.polluted": "1", "constructor[prototype][polluted]": "2" }],
        ["names that every object has", "toString=1&hasOwnProperty=2&toString=3", { toString: ["1", "3"], hasOwnProperty: "2" }],
        ["100,000 times one name", "a=1&".repeat(100_000), { a: Array.from({ length: 100_000 }, () => "1") }],
        ["a NUL", "a%00=%00", { "a\u0000": "\u0000" }],
        ["brackets of 1,000 levels", `a${"[a]".repeat(1000)}=1`, { [`a${"[a]".repeat(1000)}`]: "1" }],
        ["__proto__ in JSON", '{"__proto__":{"polluted":1},"a":1}', { a: 1 }],
      ] as [string, string, unknown][]).map(([name, sent, payload]) => ({ name, sends: form(sent), statuses: [200], payloads: [payload] })),
    ));

  describe("of a strange content type", () => {
    const plain = Buffer.from("plain");
    // Without a payload where the charset is not known, and null where there is no form.
    const types: [string, unknown][] = [
      ["text", plain], ["text/", plain], ["/plain", plain], ["/", plain], ["*/*", plain], ["text/plain/plain", plain],
      ["text plain", plain], ["text/pl\u00e4in", plain], ["constructor", plain], ["__proto__", plain], [",", plain], [";", plain],
      ["text/plain;", "plain"], ["text/plain;;;;", "plain"], ["text/plain; charset", "plain"], ["text/plain; charset=", "plain"],
      ["text/plain; charset=\"\"", undefined], ["text/plain; charset=\"utf-8", "plain"], ["text/plain; charset=utf-8; charset=klingon", "plain"],
      ["TEXT/PLAIN; CHARSET=UTF-8", "plain"], ["text/plain;charset=' utf-8 '", undefined], ["text/plain; charset=utf-7", undefined],
      ["text/plain; charset=constructor", undefined], [`text/plain; charset=${"x".repeat(10_000)}`, undefined],
      [`text/plain${"; a=b".repeat(2000)}`, "plain"], [`text/${"x".repeat(10_000)}`, "plain"], [`text/plain;${" ".repeat(10_000)}x`, "plain"],
      ["multipart/form-data", null], ["multipart/form-data; boundary=", null], ["multipart/mixed; boundary=", plain], ["message/rfc822", plain], ["application/xhtml+xml", "plain"],
      ["application/x-www-form-urlencoded-not", "plain"], ["application/json-not", "plain"], ["application/jsonp", "plain"], ["x/x+xml", "plain"],
    ];
    withstand(siege, types.map(([type, payload]) => ({
      name: `Content-Type: ${type.slice(0, 60)}`,
      sends: copied(plain, `Content-Type: ${type}`),
      statuses: [payload === undefined ? 415 : payload === null ? 400 : 200],
      payloads: payload === undefined || payload === null ? [] : [payload],
    })));
  });
}); // prettier-ignore
