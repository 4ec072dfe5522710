const json = "application/json";
const form = "application/x-www-form-urlencoded";
const bytes = Buffer.from([0x00, 0xff, 0xfe, 0x80]);
const latin1 = (text: string) => Buffer.from(text, "latin1");
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

const accepted: [name: string, type: string | undefined, body: string | Buffer, payload: unknown][] = [
  ["an empty body without a type", undefined, "", ""],
  ["an empty body of JSON", json, "", ""],
  ["an empty body of an unknown type", "image/png", "", ""],

  ["a JSON object", json, '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
  ["a JSON array", json, "[1,2]", [1, 2]],
  ["a JSON string", json, '"hi"', "hi"],
  ["a JSON number", json, " 1.5 ", 1.5],
  ["JSON true", json, "true", true],
  ["JSON null", json, "null", null],
  ["JSON with a charset", `${json}; charset=utf-8`, '"ü"', "ü"],
  ["JSON in Latin-1", `${json};charset=ISO-8859-1`, latin1('"ü"'), "ü"],
  ["JSON in UTF-16", `${json}; charset=utf-16le`, Buffer.from('"ü"', "utf16le"), "ü"],
  ["JSON with its type in capitals", "Application/JSON", "[]", []],
  ["JSON after a byte-order mark", json, "\ufeff{}", {}],
  ["a +json type", "application/vnd.github.v3+json", "{}", {}],
  ["a +json type outside application", "model/gltf+json", "[3]", [3]],
  ["JSON of 256 levels", json, deep(256), JSON.parse(deep(256))],
  ["__proto__ in JSON", json, '{"a":{"__proto__":{"x":1},"b":2}}', { a: { b: 2 } }],
  ["escaped __proto__ in JSON", json, '{"\\u005f_proto__":{"x":1}}', {}],
  ["constructor in JSON", json, '{"constructor":{"prototype":{"x":1}}}', { constructor: { prototype: { x: 1 } } }],

  ["plain text", "text/plain", "hello wörld", "hello wörld"],
  ["text that looks like JSON", "text/plain", "{}", "{}"],
  ["text in Latin-1", "text/plain; charset=latin1", latin1("ü"), "ü"],
  ["text with a quoted charset", 'text/csv; header=present; charset="UTF-8"', "a,ü", "a,ü"],
  ["text in Shift JIS", "text/plain; charset=shift_jis", Buffer.from([0x82, 0xa0]), "あ"],
  ["UTF-16 with a byte-order mark", "text/plain; charset=utf-16", Buffer.from([0xfe, 0xff, 0, 0x68, 0, 0xfc]), "hü"],
  ["text with bytes that are no UTF-8", "text/plain", Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xff])],
  ["HTML", "text/html", "<p>", "<p>"],
  ["XML", "application/xml", "<a/>", "<a/>"],
  ["a +xml type", "image/svg+xml", "<svg/>", "<svg/>"],

  ["a form", form, "a=1&b=x+y%21&c", { a: "1", b: "x y!", c: "" }],
  ["a form with repeated names", form, "a=1&a=2&a=3", { a: ["1", "2", "3"] }],
  ["a form whose names have brackets", form, "a[b]=1&a[]=2", { "a[b]": "1", "a[]": "2" }],
  ["a form with __proto__", form, "__proto__=1&__proto__[x]=2&b=3", { "__proto__[x]": "2", b: "3" }],
  ["a form with broken percent-encoding", form, "a=%&b=%zz", { a: "%", b: "%zz" }],
  ["JSON sent as a form", form, '{"a":"b=c"}', { a: "b=c" }],
  ["a JSON array sent as a form", form, " [1]", [1]],
  ["JSON as the only field payload of a form", form, "payload=%7B%22a%22%3A%5B1%5D%7D", { a: [1] }],
  ["JSON as the field payload beside another", form, "payload=%7B%7D&b=1", { payload: "{}", b: "1" }],
  ["text as the only field payload of a form", form, "payload=%7Bno+JSON", { payload: "{no JSON" }],
  ["text sent as a form", form, "hello world", "hello world"],
  ["text with a plus sent as a form", form, "1+1%20", "1+1%20"],
  ["a JSON scalar sent as a form", form, "42", "42"],
  ["a form that starts like JSON", form, "[a]=1", { "[a]": "1" }],
  ["broken JSON sent as a form", form, "{oops", "{oops"],

  ["text without a type", undefined, "grüße", "grüße"],
  ["bytes without a type", undefined, bytes, bytes],
  ["an application type with text", "application/graphql", "{ a }", "{ a }"],
  ["an application type with bytes", "application/pdf", bytes, bytes],
];

const binary = [
  ...["application/octet-stream", "application/cbor", "application/senml+cbor", "application/protobuf", "image/png"],
  ...["application/x-protobuf", "application/vnd.google.protobuf", "application/msgpack", "application/x-msgpack"],
  ...["application/vnd.msgpack", "application/zip", "application/x-zip-compressed", "audio/mpeg"],
  ...["multipart/mixed; boundary=x", "no type at all", "/", ";charset=utf-8"],
];

/** Every row of the contract's table of decodings, in JSON, text, form and binary: bodies as senders send them. */
export const acceptedBodies = [
  ...accepted.map(([name, type, body, payload]) => ({ name, type, body, payload })),
  ...binary.map((type) => ({ name: `the type ${type}`, type, body: "plain", payload: Buffer.from("plain") })),
];
