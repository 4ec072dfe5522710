import { createServer } from "node:http";
import { token } from "../harness/flow";
import { afterReply, hangUp } from "../harness/http";
import { accepted, authorised, besiege, head, last, post, refused, withstand } from "../harness/siege";

const chunked = (...fields: string[]) => head("POST", "/hook", authorised, "Transfer-Encoding: chunked", ...fields);
const absolute = (authority: string) => `POST http://${authority}{root}/hook?a=1 HTTP/1.1\r\nHost: x\r\n`;
const to = (path: string) => [head("POST", path, authorised, "Content-Length: 1"), "x"];
const expecting = (authorisation: string, expectation = "100-continue") =>
  head("POST", "/hook", authorisation, last, "Content-Length: 2", `Expect: ${expectation}`);
const closes = /^Connection: close\r$/im;

besiege("requests whose framing lies", (siege) => {
  withstand(siege, [
    // RFC 9112 §6.3: such messages might be an attempt at request smuggling.
    ...["-1", "0x1", "", "1, 1"].map((length) =>
      refused(`a Content-Length of ${JSON.stringify(length)} (RFC 9112 §6.3)`, [head("POST", "/hook", authorised, `Content-Length: ${length}`), "x"], 400),
    ),
    refused("two Content-Lengths (RFC 9112 §6.3)", [head("POST", "/hook", authorised, "Content-Length: 1", "Content-Length: 2"), "xx"], 400),
    refused("Transfer-Encoding after Content-Length (RFC 9112 §6.3)", [head("POST", "/hook", authorised, "Content-Length: 5", "Transfer-Encoding: chunked"), "0\r\n\r\n"], 400),
    refused("Content-Length after Transfer-Encoding (RFC 9112 §6.3)", [head("POST", "/hook", authorised, "Transfer-Encoding: chunked", "Content-Length: 5"), "0\r\n\r\n"], 400),
    refused("Transfer-Encoding: chunked, gzip, whose end nobody can find (RFC 9112 §6.3)", [head("POST", "/hook", authorised, "Transfer-Encoding: chunked, gzip"), "0\r\n\r\n"], 400),
    refused("a Content-Length that no memory could hold, without a byte of the body (RFC 9110 §15.5.14)", [head("POST", "/hook", authorised, "Content-Length: 9007199254740993")], 413, closes),
    refused("the same without the token, which comes first", [head("POST", "/hook", "Content-Length: 9007199254740993")], 401, closes),
    {
      name: "a body longer than its Content-Length, whose rest is taken for a request (RFC 9112 §6.3)",
      sends: [head("POST", "/hook", authorised, "Content-Length: 3"), "xxx", afterReply, "GARBAGE\r\n\r\n"],
      statuses: [200, 400],
      payloads: ["xxx"],
    },
    accepted("no length at all, which is no body (RFC 9112 §6.3)", [head("POST", "/hook", authorised)], ""),
    accepted("chunked in capitals, with an extension (RFC 9112 §7.1)", [head("POST", "/hook", authorised, "Transfer-Encoding: CHUNKED"), "5;a=b;c\r\nhello\r\n0;d\r\n\r\n"], "hello"),
    accepted("2,000 chunks of one byte each", [chunked(), "1\r\nx\r\n".repeat(2000), "0\r\n\r\n"], "x".repeat(2000)),
    accepted("trailers, which are no part of the message (RFC 9110 §6.5)", [chunked("Trailer: X-After"), "1\r\nx\r\n0\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"], "x"),
    refused("a token in the trailers, which comes too late to count (RFC 9110 §6.5.1)", [head("POST", "/hook", "Transfer-Encoding: chunked", "Trailer: Authorization"), `1\r\nx\r\n0\r\n${authorised}\r\n\r\n`], 401),
    ...["-1", "x", "ffffffffffffffffff"].map((size) =>
      refused(`a chunk of the size ${size} (RFC 9112 §7.1)`, [chunked(), "1\r\nx\r\n", `${size}\r\nx\r\n0\r\n\r\n`], 400),
    ),
    refused("a chunk longer than its size (RFC 9112 §7.1)", [chunked(), "1\r\nxx\r\n0\r\n\r\n"], 400),
    refused("trailers beyond Node's limit for heads (RFC 6585 §5)", [chunked(), `1\r\nx\r\n0\r\nX-After: ${"x".repeat(20_000)}\r\n\r\n`], 431),
    { name: "Expect: 100-continue with the token (RFC 9110 §10.1.1)", sends: [expecting(authorised), afterReply, "ok"], statuses: [100, 200], payloads: ["ok"] },
    // Node.js says 100 by itself; some clients never go on without it.
    { name: "Expect: 100-continue with a wrong token and no body yet (RFC 9110 §10.1.1)", sends: [expecting("Authorization: Bearer wrong")], statuses: [100, 401] },
    { name: "an unknown expectation (RFC 9110 §10.1.1)", sends: [expecting(authorised, "the-moon"), "ok"], statuses: [417] },
  ]); // prettier-ignore
});

// Older versions of Node.js ask no server whether to change the protocol.
if ("shouldUpgradeCallback" in createServer()) {
  // RFC 9110 §7.8: a server may ignore it, and goes on with the protocol that it has.
  const wishing = (upgrade: string, ...fields: string[]) =>
    head("POST", "/hook", "Connection: Upgrade, HTTP2-Settings, close", `Upgrade: ${upgrade}`, "HTTP2-Settings: AAMA", ...fields); // prettier-ignore
  besiege("requests that ask for another protocol", (siege) => {
    withstand(siege, [
      { name: "Upgrade: h2c, as curl and Java send it (RFC 9110 §7.8)", sends: [wishing("h2c", authorised, "Content-Length: 5"), "hello"], statuses: [200], payloads: ["hello"] },
      { name: "Upgrade: h2c with a chunked body (RFC 9110 §7.8)", sends: [wishing("h2c", authorised, "Transfer-Encoding: chunked"), "5\r\nhello\r\n0\r\n\r\n"], statuses: [200], payloads: ["hello"] },
      { name: "Upgrade: websocket, with a header that is not ASCII (RFC 6455 §4.1: it would be a GET)", sends: [wishing("websocket", authorised, "X-Name: J\u00f6rg", "Content-Length: 5"), "hello"], statuses: [200], payloads: ["hello"] },
      {
        name: "Upgrade: h2c behind a request that is not answered yet",
        sends: [head("POST", "/hook", authorised, "Content-Length: 1"), "1", wishing("h2c", authorised, "Content-Length: 1"), "2"],
        statuses: [200, 200],
        payloads: ["1", "2"],
      },
      { name: "GET with Upgrade: h2c (RFC 9110 §15.5.6)", sends: [head("GET", "/hook", "Connection: Upgrade, close", "Upgrade: h2c")], statuses: [405] },
      { name: "Upgrade: h2c without the token", sends: [wishing("h2c", "Content-Length: 5"), "hello"], statuses: [401] },
    ]); // prettier-ignore
  });
}

const unreadable = ["http://[", "//x@[/hook", "/\\x@[/comms"];

besiege("requests for a web socket whose target Node's url.parse throws for", (siege) => {
  const fields = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]; // prettier-ignore
  withstand(
    siege,
    unreadable.map((target) => ({
      name: `${target} (RFC 9110 §15.5.1)`,
      sends: [[`GET ${target} HTTP/1.1`, "Host: x", ...fields, "", ""].join("\r\n"), afterReply, hangUp],
      statuses: [400],
    })),
  );
});

besiege("requests with a strange target, head or method", (siege) => {
  withstand(siege, [
    accepted("an absolute form (RFC 9112 §3.2.2)", [`${absolute("elsewhere.example")}${authorised}\r\nContent-Length: 1\r\n\r\n`, "x"], "x"),
    refused("an absolute form with the token as its user, where no token belongs", [`${absolute(`${token.replace(/[^\w]/g, "")}@host`)}Content-Length: 1\r\n\r\n`, "x"], 401),
    // RFC 9112 §3.2.4: the asterisk form is for OPTIONS. It names no path, so no endpoint.
    refused("an asterisk form", [`POST * HTTP/1.1\r\nHost: x\r\n${authorised}\r\n\r\n`], 404),
    { name: "CONNECT, which Node ends without an answer", sends: [`CONNECT x:80 HTTP/1.1\r\nHost: x\r\n${authorised}\r\n\r\n`], statuses: [] },
    ...["/hook//", "//", "/./hook", "/x/../hook", "/%2e/hook", "/hook%2f", "/hook%5c", "/hook%00", "/hook%", "/%ff%fe", "/hook;a=1", "/ho(o)k", "/(.*)", "/constructor", "/__proto__"].map((path) =>
      refused(`the path ${path}, which is no endpoint's`, to(path), 404),
    ),
    refused("a path with encoded letters, which are not decoded, as with http in", to("/%68%6F%6f%6B"), 404),
    ...["/HOOK", "/hook/", "/hook?", "/hook?a=%zz&&&=", "/hook?a=%ff", "/hook?__proto__=1"].map((path) =>
      accepted(`the target ${path} (RFC 3986 §6.2.2)`, to(path), "x"),
    ),
    refused("no Host (RFC 9112 §3.2)", [`POST {root}/hook HTTP/1.1\r\n${authorised}\r\n\r\n`], 400),
    accepted("HTTP/1.0 without Host", [`POST {root}/hook HTTP/1.0\r\n${authorised}\r\nContent-Length: 1\r\n\r\n`, "x"], "x"),
    refused("no HTTP", ["\u0016\u0003\u0001\u0000\u0000"], 400),
    refused("an unknown method", [head("POSTED", "/hook", authorised)], 400),
    refused("a folded field (RFC 9112 §5.2)", [head("POST", "/hook", `Authorization: Bearer\r\n ${token}`)], 400),
    accepted("fields named as parts of every object", post("x", "__proto__: x", "constructor: x", "toString: x"), "x"),
    // Another method is 405, whatever it carries: what an endpoint never reads, nothing parses before it.
    ...([
      ["malformed JSON", "Content-Type: application/json", "{"],
      ["an unknown content coding", "Content-Encoding: compress", "x"],
      ["a body that is not gzip", "Content-Type: application/json\r\nContent-Encoding: gzip", "x"],
    ] as const).map(([name, fields, body]) =>
      refused(`PUT with ${name} (RFC 9110 §15.5.6)`, [head("PUT", "/hook", fields, `Content-Length: ${body.length}`), body], 405, /^Allow: POST\r$/im),
    ),
  ]); // prettier-ignore
});
