import { gzipSync } from "node:zlib";

/** A body as a caller sends it, and what becomes of it. */
export interface BodyCase {
  name: string;
  type?: string;
  body: string | Buffer;
  payload: unknown;
}

export interface RefusedBodyCase {
  name: string;
  type?: string;
  coding?: string;
  body: string | Buffer;
  status: number;
}

const bytes = Buffer.from([0x00, 0xff, 0xfe, 0x80]);
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Every row of the contract's table of decodings, in JSON, text, form and binary. */
export const acceptedBodies: BodyCase[] = [
  { name: "an empty body without a type", body: "", payload: "" },
  { name: "an empty body of JSON", type: "application/json", body: "", payload: "" },
  { name: "an empty body of an unknown type", type: "image/png", body: "", payload: "" },

  { name: "a JSON object", type: "application/json", body: '{"a":[1,{"b":null}]}', payload: { a: [1, { b: null }] } },
  { name: "a JSON array", type: "application/json", body: "[1,2]", payload: [1, 2] },
  { name: "a JSON string", type: "application/json", body: '"hi"', payload: "hi" },
  { name: "a JSON number", type: "application/json", body: " 1.5 ", payload: 1.5 },
  { name: "JSON true", type: "application/json", body: "true", payload: true },
  { name: "JSON null", type: "application/json", body: "null", payload: null },
  { name: "JSON with a charset", type: "application/json; charset=utf-8", body: '"ü"', payload: "ü" },
  {
    name: "JSON in Latin-1",
    type: "application/json;charset=ISO-8859-1",
    body: Buffer.from('"ü"', "latin1"),
    payload: "ü",
  },
  {
    name: "JSON in UTF-16",
    type: "application/json; charset=utf-16le",
    body: Buffer.from('"ü"', "utf16le"),
    payload: "ü",
  },
  { name: "JSON in capitals", type: "Application/JSON", body: "[]", payload: [] },
  { name: "JSON after a byte-order mark", type: "application/json", body: "\ufeff{}", payload: {} },
  { name: "a +json type", type: "application/vnd.github.v3+json", body: "{}", payload: {} },
  { name: "a +json type outside application", type: "model/gltf+json", body: "[3]", payload: [3] },
  { name: "JSON of 256 levels", type: "application/json", body: deep(256), payload: JSON.parse(deep(256)) },
  {
    name: "__proto__ in JSON",
    type: "application/json",
    body: '{"a":{"__proto__":{"x":1},"b":2}}',
    payload: { a: { b: 2 } },
  },
  { name: "escaped __proto__ in JSON", type: "application/json", body: '{"\\u005f_proto__":{"x":1}}', payload: {} },
  {
    name: "constructor in JSON",
    type: "application/json",
    body: '{"constructor":{"prototype":{"x":1}}}',
    payload: { constructor: { prototype: { x: 1 } } },
  },

  { name: "plain text", type: "text/plain", body: "hello wörld", payload: "hello wörld" },
  { name: "text that looks like JSON", type: "text/plain", body: "{}", payload: "{}" },
  { name: "text in Latin-1", type: "text/plain; charset=latin1", body: Buffer.from("ü", "latin1"), payload: "ü" },
  {
    name: "text with a quoted charset",
    type: 'text/csv; header=present; charset="UTF-8"',
    body: "a,ü",
    payload: "a,ü",
  },
  { name: "text in Shift JIS", type: "text/plain; charset=shift_jis", body: Buffer.from([0x82, 0xa0]), payload: "あ" },
  {
    name: "big-endian UTF-16, by its byte-order mark",
    type: "text/plain; charset=utf-16",
    body: Buffer.from([0xfe, 0xff, 0x00, 0x68, 0x00, 0xfc]),
    payload: "hü",
  },
  {
    name: "text with bytes that are no UTF-8",
    type: "text/plain",
    body: Buffer.from([0x61, 0xff]),
    payload: "a\ufffd",
  },
  { name: "HTML", type: "text/html", body: "<p>", payload: "<p>" },
  { name: "XML", type: "application/xml", body: "<a/>", payload: "<a/>" },
  { name: "a +xml type", type: "image/svg+xml", body: "<svg/>", payload: "<svg/>" },

  {
    name: "a form",
    type: "application/x-www-form-urlencoded",
    body: "a=1&b=x+y%21&c",
    payload: { a: "1", b: "x y!", c: "" },
  },
  {
    name: "a form with repeated names",
    type: "application/x-www-form-urlencoded",
    body: "a=1&a=2&a=3",
    payload: { a: ["1", "2", "3"] },
  },
  {
    name: "a form whose names have brackets",
    type: "application/x-www-form-urlencoded",
    body: "a[b]=1&a[]=2",
    payload: { "a[b]": "1", "a[]": "2" },
  },
  {
    name: "a form with __proto__",
    type: "application/x-www-form-urlencoded",
    body: "__proto__=1&__proto__[x]=2&b=3",
    payload: { "__proto__[x]": "2", b: "3" },
  },
  {
    name: "a form with broken percent-encoding",
    type: "application/x-www-form-urlencoded",
    body: "a=%&b=%zz",
    payload: { a: "%", b: "%zz" },
  },
  {
    name: "JSON sent as a form",
    type: "application/x-www-form-urlencoded",
    body: '{"a":"b=c"}',
    payload: { a: "b=c" },
  },
  { name: "a JSON array sent as a form", type: "application/x-www-form-urlencoded", body: " [1]", payload: [1] },
  {
    name: "text sent as a form",
    type: "application/x-www-form-urlencoded",
    body: "hello world",
    payload: "hello world",
  },
  {
    name: "text with a plus sent as a form",
    type: "application/x-www-form-urlencoded",
    body: "1+1%20",
    payload: "1+1%20",
  },
  { name: "a JSON scalar sent as a form", type: "application/x-www-form-urlencoded", body: "42", payload: "42" },
  {
    name: "a form that starts like JSON",
    type: "application/x-www-form-urlencoded",
    body: "[a]=1",
    payload: { "[a]": "1" },
  },
  { name: "broken JSON sent as a form", type: "application/x-www-form-urlencoded", body: "{oops", payload: "{oops" },

  { name: "text without a type", body: "grüße", payload: "grüße" },
  { name: "bytes without a type", body: bytes, payload: bytes },
  { name: "an application type with text", type: "application/graphql", body: "{ a }", payload: "{ a }" },
  { name: "an application type with bytes", type: "application/pdf", body: bytes, payload: bytes },
  ...[
    "application/octet-stream", "application/cbor", "application/senml+cbor", "application/protobuf",
    "application/x-protobuf", "application/vnd.google.protobuf", "application/msgpack", "application/x-msgpack",
    "application/vnd.msgpack", "application/zip", "application/x-zip-compressed", "image/png", "audio/mpeg",
    "multipart/mixed; boundary=x", "no type at all", "/", ";charset=utf-8",
  ].map((type) => ({ name: type, type, body: "plain", payload: Buffer.from("plain") })), // prettier-ignore
];

export const refusedBodies: RefusedBodyCase[] = [
  ...["{", "{]", "nul", "{'a':1}", "[1,]", "01", '"\n"', "\u0000", "{}{}"].map((body) => ({
    name: `malformed JSON ${JSON.stringify(body)}`,
    type: "application/json",
    body,
    status: 400,
  })),
  { name: "JSON of 257 levels", type: "application/json", body: deep(257), status: 400 },
  { name: "JSON of 100,000 levels", type: "application/json", body: deep(100_000), status: 400 },
  { name: "too deep JSON sent as a form", type: "application/x-www-form-urlencoded", body: deep(257), status: 400 },
  {
    name: "deep objects in JSON",
    type: "application/json",
    body: '{"a":'.repeat(257) + "1" + "}".repeat(257),
    status: 400,
  },
  { name: "JSON in an unknown charset", type: "application/json; charset=klingon", body: "{}", status: 415 },
  { name: "text in an unknown charset", type: "text/plain; charset=klingon", body: "x", status: 415 },
  {
    name: "a form in an unknown charset",
    type: "application/x-www-form-urlencoded; charset=klingon",
    body: "a=1",
    status: 415,
  },
  { name: "an unknown content coding", type: "text/plain", coding: "compress", body: "x", status: 415 },
  { name: "an unknown content coding of nothing", type: "text/plain", coding: "compress", body: "", status: 415 },
  {
    name: "a known coding over an unknown one",
    type: "text/plain",
    coding: "zstd, gzip",
    body: gzipSync("x"),
    status: 415,
  },
  {
    name: "more codings than anybody needs",
    type: "text/plain",
    coding: "gzip, gzip, gzip, gzip",
    body: "x",
    status: 415,
  },
  { name: "text that is not gzip", type: "text/plain", coding: "gzip", body: "plain", status: 400 },
  {
    name: "gzip that breaks off",
    type: "text/plain",
    coding: "gzip",
    body: gzipSync("plain").subarray(0, 12),
    status: 400,
  },
  { name: "text that is not deflate", type: "text/plain", coding: "deflate", body: "plain", status: 400 },
  { name: "text that is not Brotli", type: "text/plain", coding: "br", body: "plain", status: 400 },
];
