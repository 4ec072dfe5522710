import { createServer } from "node:http";
import { afterReply, hangUp } from "../harness/http";
import { authorised, besiege, head, last, post, withstand } from "../harness/siege";
import { token } from "../harness/flow";

const chunked = (...fields: string[]) =>
  head("POST", "/hook", authorised, last, "Transfer-Encoding: chunked", ...fields);
const absolute = (authority: string) => `POST http://${authority}{root}/hook?a=1 HTTP/1.1\r\nHost: x\r\n${last}\r\n`;

besiege("requests whose framing lies", (siege) => {
  describe("by Content-Length", () =>
    withstand(siege, [
      // RFC 9112 §6.3: an invalid Content-Length, and so repeated ones, are an unrecoverable error: 400, then close.
      ...["-1", "+1", "0x1", "1.0", "1e1", "1 1", "one", "", "1, 1", "99999999999999999999"].map((length) => ({
        name: `a Content-Length of ${JSON.stringify(length)} (RFC 9112 §6.3)`,
        sends: [head("POST", "/hook", authorised, last, `Content-Length: ${length}`), "x"],
        statuses: [400],
      })),
      {
        name: "the same Content-Length twice (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, "Content-Length: 1", "Content-Length: 1"), "x"],
        statuses: [400],
      },
      {
        name: "two Content-Lengths (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, "Content-Length: 1", "Content-Length: 2"), "xx"],
        statuses: [400],
      },
      {
        name: "a Content-Length that no memory could hold, without a byte of the body (RFC 9110 §15.5.14)",
        sends: [head("POST", "/hook", authorised, "Content-Length: 9007199254740993"), afterReply, hangUp],
        statuses: [413],
        says: /^Connection: close\r$/im,
      },
      {
        name: "the same without the token, which comes first",
        sends: [head("POST", "/hook", "Content-Length: 9007199254740993"), afterReply, hangUp],
        statuses: [401],
        says: /^Connection: close\r$/im,
      },
      {
        name: "a body longer than its Content-Length, whose rest is taken for a request (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, "Content-Length: 3"), "xxx", afterReply, "GARBAGE\r\n\r\n"],
        statuses: [200, 400],
        payloads: ["xxx"],
      },
      {
        name: "no length at all, which is no body (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, last)],
        statuses: [200],
        payloads: [""],
      },
    ]));

  describe("by Transfer-Encoding", () =>
    withstand(siege, [
      // RFC 9112 §6.3: such a message might be an attempt at request smuggling and ought to be handled as an error.
      {
        name: "Transfer-Encoding after Content-Length (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, "Content-Length: 5", "Transfer-Encoding: chunked"), "0\r\n\r\n"],
        statuses: [400],
      },
      {
        name: "Content-Length after Transfer-Encoding (RFC 9112 §6.3)",
        sends: [head("POST", "/hook", authorised, "Transfer-Encoding: chunked", "Content-Length: 5"), "0\r\n\r\n"],
        statuses: [400],
      },
      ...["identity", "chunked, gzip", "chunked, identity", "xchunked", "chunked, chunked x"].map((coding) => ({
        name: `Transfer-Encoding: ${coding}, whose end nobody can find (RFC 9112 §6.3)`,
        sends: [head("POST", "/hook", authorised, last, `Transfer-Encoding: ${coding}`), "0\r\n\r\n"],
        statuses: [400],
      })),
      {
        name: "chunked in capitals, with an extension (RFC 9112 §7.1)",
        sends: [
          head("POST", "/hook", authorised, last, "Transfer-Encoding: CHUNKED"),
          "5;a=b;c\r\nhello\r\n0;d\r\n\r\n",
        ],
        statuses: [200],
        payloads: ["hello"],
      },
      {
        name: "chunks of one byte each",
        sends: [chunked(), "1\r\nx\r\n".repeat(2000), "0\r\n\r\n"],
        statuses: [200],
        payloads: ["x".repeat(2000)],
      },
      {
        name: "trailers, which are no part of the message (RFC 9110 §6.5)",
        sends: [
          chunked("Trailer: X-After"),
          "1\r\nx\r\n0\r\nX-After: 1\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n",
        ],
        statuses: [200],
        payloads: ["x"],
      },
      {
        name: "a token in the trailers, which comes too late to count (RFC 9110 §6.5.1)",
        sends: [
          head("POST", "/hook", last, "Transfer-Encoding: chunked", "Trailer: Authorization"),
          `1\r\nx\r\n0\r\n${authorised}\r\n\r\n`,
        ],
        statuses: [401],
        says: /^WWW-Authenticate: Bearer realm="webhook"\r$/im,
      },
      ...["-1", "x", "0x1", " 1", "1 1", "", "ffffffffffffffffff"].map((size) => ({
        name: `a chunk of the size ${JSON.stringify(size)} (RFC 9112 §7.1)`,
        sends: [chunked(), "1\r\nx\r\n", `${size}\r\nx\r\n0\r\n\r\n`],
        statuses: [400],
      })),
      {
        name: "a chunk longer than its size (RFC 9112 §7.1)",
        sends: [chunked(), "1\r\nxx\r\n0\r\n\r\n"],
        statuses: [400],
      },
      {
        name: "a chunk whose extension has no end (RFC 9112 §7.1.1: a recipient ought to limit it)",
        sends: [chunked(), `1;${"x".repeat(20_000)}\r\nx\r\n0\r\n\r\n`],
        statuses: [413],
      },
      {
        name: "trailers beyond Node's limit for heads (RFC 6585 §5)",
        sends: [chunked(), `1\r\nx\r\n0\r\nX-After: ${"x".repeat(20_000)}\r\n\r\n`],
        statuses: [431],
      },
    ]));

  describe("by Expect", () => {
    const expecting = (authorisation: string, expectation = "100-continue") =>
      head("POST", "/hook", authorisation, last, "Content-Length: 2", `Expect: ${expectation}`);
    withstand(siege, [
      {
        name: "Expect: 100-continue with the token (RFC 9110 §10.1.1)",
        sends: [expecting(authorised), afterReply, "ok"],
        statuses: [100, 200],
        payloads: ["ok"],
      },
      {
        name: "Expect: 100-continue with a wrong token and no body yet (RFC 9110 §10.1.1)",
        // Node.js says 100 by itself; some clients never go on without it.
        sends: [expecting("Authorization: Bearer wrong")],
        statuses: [100, 401],
      },
      {
        name: "an expectation that nobody knows (RFC 9110 §10.1.1)",
        sends: [expecting(authorised, "the-moon"), "ok"],
        statuses: [417],
      },
    ]);
  });

  // Older versions of Node.js ask no server whether a wish for another protocol is granted.
  const describeUpgrades = "shouldUpgradeCallback" in createServer() ? describe : undefined;
  describeUpgrades?.("by Upgrade", () => {
    // RFC 9110 §7.8: a server may ignore it, and goes on with the protocol that it has.
    const wishing = (upgrade: string, ...fields: string[]) =>
      head(
        "POST",
        "/hook",
        `Connection: Upgrade, HTTP2-Settings, close`,
        `Upgrade: ${upgrade}`,
        "HTTP2-Settings: AAMA",
        ...fields,
      );
    const another = "POST /hook HTTP/1.1\r\nHost: x\r\n\r\n".padEnd(42);
    withstand(siege, [
      {
        name: "the wish for HTTP/2 that curl and Java have (RFC 9110 §7.8)",
        sends: [wishing("h2c", authorised, "Content-Length: 5"), "hello"],
        statuses: [200],
        payloads: ["hello"],
      },
      {
        name: "a wish for HTTP/2 with a chunked body (RFC 9110 §7.8)",
        sends: [wishing("h2c", authorised, "Transfer-Encoding: chunked"), "5\r\nhello\r\n0\r\n\r\n"],
        statuses: [200],
        payloads: ["hello"],
      },
      {
        name: "a wish for a web socket, with a header that is not ASCII (RFC 6455 §4.1: it would be a GET)",
        sends: [wishing("websocket", authorised, "X-Name: J\u00f6rg", "Content-Length: 5"), "hello"],
        statuses: [200],
        payloads: ["hello"],
      },
      {
        name: "a wish for HTTP/2 behind 1,500 other fields (RFC 9112 §6.3: its length holds all the same)",
        sends: [
          wishing(
            "h2c",
            authorised,
            ...Array.from({ length: 1500 }, (_, index) => `X${index}: 1`),
            "Content-Length: 42",
          ),
          another,
        ],
        // From Node 22 on, so many fields are too many (RFC 6585 §5).
        ...(process.versions.node.startsWith("20.") ? { statuses: [200], payloads: [another] } : { statuses: [431] }),
      },
      {
        name: "a wish for HTTP/2 behind a request that is not answered yet",
        sends: [
          head("POST", "/hook", authorised, "Content-Length: 1"),
          "1",
          wishing("h2c", authorised, "Content-Length: 1"),
          "2",
        ],
        statuses: [200, 200],
        payloads: ["1", "2"],
      },
      {
        name: "GET with a wish for HTTP/2 (RFC 9110 §15.5.6)",
        sends: [head("GET", "/hook", "Connection: Upgrade, close", "Upgrade: h2c")],
        statuses: [405],
      },
      {
        name: "a wish for HTTP/2 without the token",
        sends: [wishing("h2c", "Content-Length: 5"), "hello"],
        statuses: [401],
      },
    ]);
  });

  describe("by the target", () =>
    withstand(siege, [
      {
        name: "an absolute form (RFC 9112 §3.2.2)",
        sends: [`${absolute("elsewhere.example")}${authorised}\r\nContent-Length: 1\r\n\r\n`, "x"],
        statuses: [200],
        payloads: ["x"],
      },
      {
        name: "an absolute form with the token as its user, where no token belongs",
        sends: [`${absolute(`${token.replace(/[^\w]/g, "")}@host`)}Content-Length: 1\r\n\r\n`, "x"],
        statuses: [401],
      },
      {
        name: "an absolute form without the token",
        sends: [`${absolute("[::1]:80")}Content-Length: 1\r\n\r\n`, "x"],
        statuses: [401],
      },
      // RFC 9112 §3.2.4: the asterisk form is for OPTIONS. It names no path, so no endpoint.
      { name: "an asterisk form", sends: [`POST * HTTP/1.1\r\nHost: x\r\n${authorised}\r\n${last}\r\n\r\n`], statuses: [404] },
      // RFC 9112 §3.2.3: the authority form is for CONNECT.
      { name: "an authority form", sends: [`POST x:80 HTTP/1.1\r\nHost: x\r\n${authorised}\r\n${last}\r\n\r\n`], statuses: [400] },
      { name: "no target", sends: [`POST  HTTP/1.1\r\nHost: x\r\n${authorised}\r\n${last}\r\n\r\n`], statuses: [400] },
      { name: "CONNECT, which Node ends without a word where nobody proxies", sends: [`CONNECT x:80 HTTP/1.1\r\nHost: x\r\n${authorised}\r\n\r\n`], statuses: [] },
      ...[
        "/hook//", "//", "/./hook", "/x/../hook", "/hook/.", "/hook/..", "/%2e/hook", "/x/%2e%2e/hook", "/hook%2f",
        "/%2fhook", "/hook%5c", "/hook%00", "/hook%20", "/hook%", "/hook%zz", "/%", "/%ff%fe", "/%c0%afhook", "/hook;a=1",
        "/hook:80", "/hook*", "/ho(o)k", "/(.*)", "/constructor", "/__proto__", "/toString",
      ].map((path) => ({
        name: `the path ${path}, which is no endpoint's`,
        sends: [head("POST", path, authorised, last, "Content-Length: 1"), "x"],
        statuses: [404],
      })),
      {
        name: "a path with encoded letters, which are not decoded, as with http in",
        sends: [head("POST", "/%68%6F%6f%6B", authorised, last, "Content-Length: 1"), "x"],
        statuses: [404],
      },
      ...["/HOOK", "/hook/", "/hook?", "/hook?%", "/hook?a=%zz&&&=", "/hook?a=%ff", "/hook?__proto__=1"].map((path) => ({
        name: `the target ${path} (RFC 3986 §6.2.2)`,
        sends: [head("POST", path, authorised, last, "Content-Length: 1"), "x"],
        statuses: [200],
        payloads: ["x"],
      })),
      {
        name: "a path of bytes that are not ASCII (RFC 3986 §2)",
        sends: [head("POST", "/h\u00f6\u00f6k", authorised, last)],
        statuses: [400],
      },
    ])); // prettier-ignore

  describe("by the head", () =>
    withstand(siege, [
      { name: "no Host (RFC 9112 §3.2)", sends: [`POST {root}/hook HTTP/1.1\r\n${authorised}\r\n\r\n`], statuses: [400] },
      { name: "HTTP/1.0 without Host", sends: [`POST {root}/hook HTTP/1.0\r\n${authorised}\r\nContent-Length: 1\r\n\r\n`, "x"], statuses: [200], payloads: ["x"] },
      { name: "HTTP/2 (RFC 9113 §3.4: its preface is no HTTP/1.1)", sends: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], statuses: [400] },
      { name: "HTTP/9.9", sends: [`POST {root}/hook HTTP/9.9\r\nHost: x\r\n${authorised}\r\n\r\n`], statuses: [400] },
      { name: "no HTTP", sends: ["\u0016\u0003\u0001\u0000\u0000"], statuses: [400] },
      { name: "a method that nobody knows", sends: [head("POSTED", "/hook", authorised, last)], statuses: [400] },
      { name: "a method in lower case (RFC 9110 §9.1)", sends: [head("post", "/hook", authorised, last)], statuses: [400] },
      { name: "a space before a colon (RFC 9112 §5.1)", sends: [head("POST", "/hook", authorised, "Content-Length : 1"), "x"], statuses: [400] },
      { name: "a folded field (RFC 9112 §5.2)", sends: [head("POST", "/hook", `Authorization: Bearer\r\n ${token}`)], statuses: [400] },
      { name: "line ends without a carriage return (RFC 9112 §2.2)", sends: [`POST {root}/hook HTTP/1.1\nHost: x\n${authorised}\n\n`], statuses: [400] },
      { name: "a carriage return alone (RFC 9112 §2.2)", sends: [head("POST", "/hook", `X-A: 1\r${authorised}`)], statuses: [400] },
      { name: "a field name that is none (RFC 9110 §5.1)", sends: [head("POST", "/hook", authorised, "X A: 1")], statuses: [400] },
      { name: "fields named as parts of every object", sends: post("x", "__proto__: x", "constructor: x", "toString: x", "hasOwnProperty: x"), statuses: [200], payloads: ["x"] },
    ])); // prettier-ignore

  describe("by the method", () => {
    // The contract: another method is 405, whatever it carries. What an endpoint never reads, nobody parses before it.
    withstand(
      siege,
      ["PUT", "PATCH", "DELETE"].flatMap((method) =>
        [
          ["malformed JSON", "Content-Type: application/json", "{"],
          ["an unknown content coding", "Content-Encoding: compress", "x"],
          ["a body that is not gzip", "Content-Type: application/json\r\nContent-Encoding: gzip", "x"],
        ].map(([name = "", fields = "", body = ""]) => ({
          name: `${method} with ${name} (RFC 9110 §15.5.6)`,
          sends: [head(method, "/hook", last, fields, `Content-Length: ${body.length}`), body],
          statuses: [405],
          says: /^Allow: POST\r$/im,
        })),
      ),
    );
  });
});
