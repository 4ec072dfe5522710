import should from "should";
import { once } from "node:events";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { putForward } from "../harness/clock";
import { afterReply, bytesOf, dial, repliesIn } from "../harness/http";
import { authorised, besiege, head, last, post, type Siege } from "../harness/siege";
import { until } from "../harness/until";

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
  const chunked = head("POST", "/hook", authorised, last, "Transfer-Encoding: chunked");
  // Node says 100 in the moment in which the endpoint begins to wait for the body.
  const expecting = (...fields: string[]) => head("POST", "/hook", authorised, "Expect: 100-continue", ...fields);

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
    ["a body of which half comes", [expecting("Content-Length: 10"), afterReply, "half"]],
    ["a compressed body of which half comes", [expecting("Content-Encoding: gzip", "Content-Length: 30"), afterReply, gzipSync("x").subarray(0, 9)]],
    ["a chunked body without an end", [expecting("Transfer-Encoding: chunked"), afterReply, "1\r\nx\r\n"]],
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
    ["within a chunk", `${chunked}5\r\nhe`],
    ["within the last chunk", `${chunked}5\r\nhello\r\n0\r\n`],
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
