import should from "should";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { putForward } from "../harness/clock";
import { token } from "../harness/flow";
import { afterReply, bytesOf, dial, hangUp, repliesIn } from "../harness/http";
import { accepted, authorised, besiege, head, last, post, refused, type Siege, withstand } from "../harness/siege";
import { until } from "../harness/until";

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
    // Such a body is cut off: its sender, who is told 400, must not have started a flow.
    { name: "a Content-Length that counts characters, so that the last byte is taken for a request (RFC 9112 §6.3)", sends: [head("POST", "/hook", authorised, "Content-Type: text/plain", "Content-Length: 5"), Buffer.from("zwölf")], statuses: [400] },
    { name: "a request that comes in one piece with garbage (RFC 9112 §6.3)", sends: [head("POST", "/hook", authorised, "Content-Length: 3"), "xxx", "GARBAGE\r\n\r\n"], statuses: [400] },
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

const long = "x".repeat(1_000_000);

/** RFC 9112 §9.3.2: a server sends the responses in the order of the requests. */
besiege("requests that do not wait for replies", (siege) => {
  withstand(siege, [
    {
      name: "100 requests at once, in their order",
      sends: [...Array.from({ length: 99 }, (_, index) => post(`${index}`)).flat(), ...post("99", last)],
      statuses: Array.from({ length: 100 }, () => 200),
      payloads: Array.from({ length: 100 }, (_, index) => `${index}`),
    },
    {
      name: "refused and chunked requests between others",
      sends: [
        ...post("1"),
        ...[head("POST", "/hook", "Content-Length: 1000"), "2".repeat(1000)],
        ...post("{", "Content-Type: application/json"),
        ...[head("PUT", "/hook", "Content-Length: 1"), "x"],
        ...[head("POST", "/other", authorised, "Content-Length: 1"), "x"],
        ...post("6", "Content-Encoding: compress"),
        ...[head("POST", "/hook", authorised, "Transfer-Encoding: chunked"), "1\r\n7\r\n0\r\nX: y\r\n\r\n"],
        ...post("8", last),
      ],
      statuses: [200, 401, 400, 405, 404, 415, 200, 200],
      payloads: ["1", "7", "8"],
    },
    {
      name: "requests after the last one, which are dropped (RFC 9112 §9.6)",
      sends: [...post("1", last), afterReply, ...post("2"), ...post("3")],
      statuses: [200],
      payloads: ["1"],
    },
    {
      name: "requests after a refused one with an unread body, which ends the connection (RFC 9112 §9.6)",
      sends: [...post("1"), head("POST", "/hook", `Content-Length: ${long.length}`), long, ...post("3")],
      statuses: [200, 401],
      payloads: ["1"],
    },
  ]);
});

const megabyte = 1024 * 1024;
/** How long a body may take, in ms, as the contract says. */
const maxReadMs = 30_000;
/** How long a refused sender may go on sending, in ms. */
const lingerMs = 2000;
const strangers = 200;

/** Writes a part and waits until it is on its way. */
async function write(socket: Socket, part: string | Uint8Array): Promise<void> {
  if (!socket.write(bytesOf(part))) await once(socket, "drain");
}

/** Puts the clock forward until something has come of it: the timer may be set a moment later. */
async function outwait<Result>({ nodeRed }: Siege, milliseconds: number, coming: Promise<Result>): Promise<Result> {
  let isOver = false;
  const result = coming.finally(() => (isOver = true));
  await until(async () => {
    await putForward(nodeRed, milliseconds);
    return isOver;
  }, "the end of the connection");
  return result;
}

besiege("senders without haste or manners", (siege) => {
  const declared = head("POST", "/hook", authorised, last, "Content-Length: 10");
  const endless = head("POST", "/hook", authorised, last, "Transfer-Encoding: chunked");
  // Node says 100 in the moment in which the endpoint begins to wait for the body.
  const awaiting = (...fields: string[]) => head("POST", "/hook", authorised, "Expect: 100-continue", ...fields);

  it("are served when the request comes byte by byte", async () => {
    const socket = dial(siege().nodeRed.origin).setNoDelay();
    const received = text(socket);
    const bytes = Buffer.concat(post("slow", last).map((part) => bytesOf(siege().wire(part))));
    for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
    siege().note(await received).map(({ status }) => status).should.eql([200]);
    should(await siege().payloads()).eql(["slow"]);
  }); // prettier-ignore

  it("keep no other sender waiting with heads that never end", async () => {
    const sockets = Array.from({ length: strangers }, () => dial(siege().nodeRed.origin));
    for (const socket of sockets) {
      await once(socket, "connect");
      await write(socket, siege().wire(head("POST", "/hook", authorised).slice(0, -2)));
    }
    await siege().nodeRed.connections(strangers);
    should(await siege().payloads()).eql([]);
    for (const socket of sockets) socket.destroy();
    await siege().nodeRed.connections(0);
  });

  for (const [name, sends] of [
    ["a body of which half comes", [awaiting("Content-Length: 10"), afterReply, "half"]],
    ["a compressed body of which half comes", [awaiting("Content-Encoding: gzip", "Content-Length: 30"), afterReply, gzipSync("x").subarray(0, 9)]],
    ["a chunked body without an end", [awaiting("Transfer-Encoding: chunked"), afterReply, "1\r\nx\r\n"]],
  ] as const) {
    it(`get 408 after 30 s for ${name}, and the connection ends (RFC 9110 §15.5.9)`, async () => {
      const replies = await outwait(siege(), maxReadMs, siege().replies(...sends));
      replies.map(({ status }) => status).should.eql([100, 408]);
      should(replies[1]?.head).match(/^Connection: close\r$/im);
      should(await siege().payloads()).eql([]);
    });
  } // prettier-ignore

  for (const [name, sent] of [
    ["within the head", head("POST", "/hook", authorised).slice(0, -2)],
    ["before the body", declared],
    ["within the body", `${declared}half`],
    ["within a chunk", `${endless}5\r\nhe`],
    ["within the last chunk", `${endless}5\r\nhello\r\n0\r\n`],
    ["within a gzip body", `${head("POST", "/hook", authorised, "Content-Encoding: gzip", "Content-Length: 30")}\u001f\u008b`],
    ["within a body after a refused one", `${head("POST", "/hook", "Content-Length: 1")}x${declared}half`],
  ] as const) {
    it(`leave neither a message nor a connection when they end or reset it ${name}`, async () => {
      for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
        const socket = dial(siege().nodeRed.origin).on("error", () => undefined).resume();
        await new Promise((resolve) => socket.write(bytesOf(siege().wire(sent)), resolve));
        await siege().nodeRed.connections(1);
        leave(socket);
        await siege().nodeRed.connections(0);
      }
      should(await siege().payloads()).eql([]);
    });
  } // prettier-ignore

  // RFC 9112 §9.6: a server that closes too early resets the connection, and the sender never sees the reply.
  const body = Buffer.alloc(5 * megabyte, "x");
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(megabyte, "x"), Buffer.from("\r\n")]);
  const chunks = Buffer.concat(Array.from({ length: 8 }, () => chunk));
  for (const [name, status, parts] of [
    ["5 MB without the token", 401, [head("POST", "/hook", `Content-Length: ${body.length}`), body]],
    ["more than 5 MB", 413, [head("POST", "/hook", authorised, `Content-Length: ${body.length + 1}`), body, "x"]],
    ["8 MB in chunks", 413, [head("POST", "/hook", authorised, "Transfer-Encoding: chunked"), chunks, "0\r\n\r\n"]],
    ["5 MB by another method", 405, [head("PUT", "/hook", `Content-Length: ${body.length}`), body]],
  ] as const) {
    it(`find ${status} for ${name} when they read only after they have sent all`, async () => {
      const socket = dial(siege().nodeRed.origin);
      for (const part of parts) await write(socket, siege().wire(part));
      // A reset would make this fail.
      siege().note(await text(socket)).map((reply) => reply.status).should.eql([status]);
      should(await siege().payloads()).eql([]);
    });
  } // prettier-ignore

  for (const [name, status, field] of [
    ["without the token", 401, "X-None: x"],
    ["of any size", 413, authorised],
  ] as const) {
    it(`lose the connection 2 s after ${status} when they never stop sending chunks ${name}`, async () => {
      const socket = dial(siege().nodeRed.origin).on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      await write(socket, siege().wire(head("POST", "/hook", field, "Transfer-Encoding: chunked")));
      await write(socket, chunks);
      const [reply] = (await once(socket.setEncoding("latin1"), "data")) as [string];
      repliesIn(reply)
        .map((each) => each.status)
        .should.eql([status]);
      await outwait(siege(), lingerMs, closed);
      await siege().nodeRed.connections(0);
      should(await siege().payloads()).eql([]);
    });
  }

  it("get 200 though the flow throws, which is all that the endpoint can know", async () => {
    const [reply] = await siege().replies(head("POST", "/throwing", authorised, last, "Content-Length: 1"), "x");
    should(reply?.status).equal(200);
    await siege().nodeRed.logged(/\[error\] \[function:thrower\].*thrown by the flow/);
    should(await siege().payloads()).eql([]);
  });
});
