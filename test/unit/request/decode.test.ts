import should from "should";
import { type Body, DecodedBody } from "../../../src/request/decode";
import { Problem } from "../../../src/request/problem";

function read(type: string | undefined, body: Buffer | string): Body {
  const bytes = typeof body === "string" ? Buffer.from(body, "latin1") : body;
  const { content } = DecodedBody.of({ rawHeaders: type === undefined ? [] : ["Content-Type", type] }, bytes);
  if (content === undefined) throw new Error("It is not read at once.");
  return content instanceof Problem ? `${content.name} ${content.status}` : content.value;
}

/** In bytes as Latin-1. */
const [mark, markLE, markBE] = ["\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"];
const utf16 = (text: string) => Buffer.from(text, "utf16le").toString("latin1");
const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16().toString("latin1");
const bytes = (text: string) => Buffer.from(text, "latin1");
const form = "application/x-www-form-urlencoded";

describe("the charset of a text", () => {
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?>';
  const single = "<?xml version='1.0' encoding = 'koi8-r' standalone='yes'?>";
  for (const [name, type, body, expected] of [
    ["is that of its byte-order mark, whatever else is said", "text/plain; charset=gbk", `${mark}\xc3\xbc`, "ü"],
    ["is that of a mark of UTF-16", "text/plain", markLE + utf16("ü"), "ü"],
    ["is that of a mark of UTF-16 in the other order, which the label does not tell", "application/json; charset=utf-16", markBE + bigEndian('"ü"'), "ü"],
    ["is named by one mark, and a second one is text", "text/plain", `${mark}${mark}a`, "\ufeffa"],
    ["is that of the content type, however it is written", 'TEXT/PLAIN;format=flowed; Charset="CP1252" ', "\x80\xff", "€ÿ"],
    ["is UTF-8 where nothing is said", "text/plain", "\xc3\xbc", "ü"],
    ["is that of the content type before the declaration of XML", "text/xml; charset=utf-8", `${declared}\xc3\xbc`, `${declared}ü`],
    ["is that of the mark before the declaration of XML", "text/xml", `${mark}${declared}\xc3\xbc`, `${declared}ü`],
    ["is that of the declaration, in single quotes and with blanks", "application/rss+xml", `${single}\xc1`, `${single}а`],
    ["is UTF-8 for XML without a declaration", "text/xml", "<a>\xc3\xbc</a>", "<a>ü</a>"],
    ["is not that of something like a declaration further on", "text/xml", ` ${declared}\xc3\xbc`, ` ${declared}ü`],
    ["is that of the family for XML in UTF-16 without a mark", "text/xml", utf16('<?xml encoding="utf-8"?>ü'), '<?xml encoding="utf-8"?>ü'],
    ["is that of the family for XML in UTF-16 of the other order", "text/xml", bigEndian("<a>ü</a>"), "<a>ü</a>"],
    ["is no UTF-16 where the declaration is written in bytes", "text/xml", '<?xml version="1.0" encoding="UTF-16"?>\xc3\xbc', '<?xml version="1.0" encoding="UTF-16"?>ü'],
    ["is unknown for XML in UTF-32, which stays bytes", "text/xml", "<\0\0\0a\0\0\0", bytes("<\0\0\0a\0\0\0")],
    ["is unknown where XML declares what nobody knows, which stays bytes", "text/xml", '<?xml version="1.0" encoding="klingon"?>', bytes('<?xml version="1.0" encoding="klingon"?>')],
    ["is not read in HTML or in a text", "text/html", `${declared}\xfc`, bytes(`${declared}\xfc`)],
    ["counts for other types that name one", "application/edifact; charset=latin1", "\xfc", "ü"],
    ["counts for no type that is binary", "application/octet-stream; charset=utf-8", "a", bytes("a")],
    ["is none for a file that is labelled as binary", "application/own; charset=binary", "\xfc", bytes("\xfc")],
    ["that nobody knows is refused", "text/plain; charset=klingon", "a", "charsetUnknown 415"],
    ["is refused if it only exists to be dangerous", "text/plain; charset=hz-gb-2312", "a", "charsetUnknown 415"],
  ] as const) {
    it(name, () => should(read(type, body)).eql(expected));
  } // prettier-ignore
});

describe("bytes that are not in their charset", () => {
  for (const [name, type, body, expected] of [
    ["are kept as a text, with their mark", "text/plain", `${mark}\xff`, bytes(`${mark}\xff`)],
    ["are kept as XML", "text/xml; charset=utf-16", "abc", bytes("abc")],
    ["are kept without a type", undefined, "\xfc", bytes("\xfc")],
    ["are refused as JSON", "application/json", '{"a":"\xfc"}', "jsonMalformed 400"],
    ["are refused as JSON of a type of its own", "application/cloudevents+json", '{"a":"\xfc"}', "jsonMalformed 400"],
    ["are refused as JSON in another charset", "application/json; charset=utf-16", '{"a":1} ', "jsonMalformed 400"],
    ["are kept as a text that is labelled as a form", form, "\xfc", bytes("\xfc")],
    ["are kept as JSON that is labelled as a form", form, '{"a":"\xfc"}', bytes('{"a":"\xfc"}')],
  ] as const) {
    it(name, () => should(read(type, body)).eql(expected));
  }
});

describe("a form", () => {
  for (const [name, type, body, expected] of [
    ["is cut before its bytes are read", `${form}; charset=gbk`, "a=%B2%E2%CA%D4&b=\xb2\xe2", { a: "测试", b: "测" }],
    ["has names in its charset", `${form}; charset=gbk`, "%B2%E2=1&%B2%E2=2", { 测: ["1", "2"] }],
    ["is cut at what is no escape", `${form}; charset=shift_jis`, "a=%82%A0%26%3D&b=%83%5C", { a: "あ&=", b: "ソ" }],
    ["names its charset itself", form, "a=%82%A0&_charset_=Shift_JIS", { a: "あ", _charset_: "Shift_JIS" }],
    ["may say nothing of it", form, "a=%C3%BC&_charset_=", { a: "ü", _charset_: "" }],
    ["is read as the content type says, if that says something", `${form}; charset=utf-8`, "a=%C3%BC&_charset_=latin1", { a: "ü", _charset_: "latin1" }],
    ["is refused if it names what nobody knows", form, "a=1&_charset_=klingon", "charsetUnknown 415"],
    ["is UTF-8 if it can be, whatever its field charset means", form, "a=%C3%BC&charset=gbk", { a: "ü", charset: "gbk" }],
    ["is in the charset of its field charset if it is no UTF-8", form, "a=%B2%E2&charset=GBK", { a: "测", charset: "GBK" }],
    ["has a field charset that may mean something else", form, "a=%FC&charset=none", { a: bytes("\xfc"), charset: "none" }],
    ["has the bytes of a field that is no text, and the texts of all others", form, "a=%FC&b=%C3%BC&a=x", { a: [bytes("\xfc"), "x"], b: "ü" }],
    ["is kept as a whole if a name is no text", form, "%FC=1&b=2", bytes("%FC=1&b=2")],
    ["has what only looks like an escape", form, "a=%&b=%4&c=%zz+%2B&d=%%41", { a: "%", b: "%4", c: "%zz +", d: "%A" }],
    ["has a mark that is escaped, as it is text", form, "a=%EF%BB%BFx", { a: "\ufeffx" }],
    ["has no mark in its first name", form, `${mark}a=1`, { a: "1" }],
    ["is read in UTF-16", `${form}; charset=utf-16le`, utf16("a=ü&b=%C3%BC"), { a: "ü", b: "ü" }],
    ["is JSON in the field payload, in its charset", `${form}; charset=gbk`, "payload=%7B%22a%22%3A%22%B2%E2%22%7D", { a: "测" }],
    ["keeps a field payload that is no text", form, "payload=%7B%22a%22%3A%22%FC%22%7D", { payload: bytes('{"a":"\xfc"}') }],
    ["has no field __proto__, escaped or not", form, "__proto__=1&%5F_proto__=2&a=1", { a: "1" }],
  ] as const) {
    it(name, () => should(read(type, body)).eql(expected));
  } // prettier-ignore
});
