import should from "should";
import { once } from "node:events";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterReply, bytesOf, dial, repliesIn } from "../harness/http";
import { authorised, besiege, hastyTimers, head, last, post, type Siege } from "../harness/siege";

const megabyte = 1024 * 1024;
/** How long a body may take, in ms, as the contract says. */
const longestRead = 30_000;
/** How long a refused caller may go on sending, in ms. */
const lingerTime = 2000;
/** And how long before, for the caller to notice its refusal, in ms. */
const noticeTime = 500;

/** Lets the time go by in which a refused caller may go on sending. */
function tire({ nodeRed }: Siege): void {
  for (const milliseconds of [noticeTime, lingerTime]) nodeRed.expire(milliseconds);
}
const strangers = 200;

/** Writes a part and waits until it is on its way. */
async function write(socket: Socket, part: string | Uint8Array): Promise<void> {
  if (!socket.write(bytesOf(part))) await once(socket, "drain");
}

/** Opens many connections, the only ones, and writes the same to each. */
async function crowd(siege: Siege, part: string): Promise<Socket[]> {
  const sockets = Array.from({ length: strangers }, () => dial(siege.nodeRed.origin));
  for (const socket of sockets) {
    socket.on("error", () => undefined);
    await once(socket, "connect");
    await write(socket, siege.wire(part));
  }
  await siege.nodeRed.connections(strangers);
  return sockets;
}

besiege(
  "callers without haste or manners",
  (siege) => {
    describe("who are slow", () => {
      it("are served when the request comes byte by byte", async () => {
        const socket = dial(siege().nodeRed.origin).setNoDelay();
        const received = text(socket);
        const bytes = Buffer.concat(post("slow", "X-Slow: yes").map((part) => bytesOf(siege().wire(part))));
        for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
        siege().note(await received).map(({ status }) => status).should.eql([200]);
        should(await siege().payloads()).eql(["slow"]);
      });

      it("keep nobody waiting with heads that never end", async () => {
        const sockets = await crowd(siege(), head("POST", "/hook", authorised).slice(0, -2));
        should(await siege().payloads()).eql([]);
        for (const socket of sockets) socket.destroy();
        await siege().nodeRed.connections(0);
      });

      // Node says 100 in the moment in which the endpoint begins to wait for the body.
      const expecting = ["Expect: 100-continue"];
      for (const [name, sends] of [
        ["a body of which nothing comes", [head("POST", "/hook", authorised, ...expecting, "Content-Length: 10"), afterReply]],
        ["a body of which half comes", [head("POST", "/hook", authorised, ...expecting, "Content-Length: 10"), afterReply, "half"]],
        ["a compressed body", [head("POST", "/hook", authorised, ...expecting, "Content-Encoding: gzip", "Content-Length: 30"), afterReply, gzipSync("x").subarray(0, 9)]],
      ] as const) {
        it(`get 408 after 30 s for ${name}, and the connection ends (RFC 9110 §15.5.9)`, async () => {
          const replies = await siege().replies(...sends, () => siege().nodeRed.expire(longestRead));
          replies.map(({ status }) => status).should.eql([100, 408]);
          should(replies[1]?.head).match(/^Connection: close\r$/im);
          should(await siege().payloads()).eql([]);
        });
      }

      it("get 408 for a chunked body without an end, and 2 s later the connection ends (RFC 9112 §9.6)", async () => {
        const replies = await siege().replies(
          head("POST", "/hook", authorised, ...expecting, "Transfer-Encoding: chunked"), afterReply,
          "1\r\nx\r\n", () => siege().nodeRed.expire(longestRead), afterReply,
          () => tire(siege()),
        );
        replies.map(({ status }) => status).should.eql([100, 408]);
        should(await siege().payloads()).eql([]);
      });

      for (const [name, fields] of [
        ["a declared", "Content-Length: 5000000"],
        ["an endless", "Transfer-Encoding: chunked"],
      ] as const) {
        it(`lose the connection 2 s after their refusal with ${name} body on its way (RFC 9112 §9.6)`, async () => {
          const replies = await siege().replies(head("POST", "/hook", fields), afterReply, () => tire(siege()));
          replies.map(({ status }) => status).should.eql([401]);
          should(replies[0]?.head).match(/^Connection: close\r$/im);
        });
      }
    });

    describe("who break off", () => {
      const declared = head("POST", "/hook", authorised, last, "Content-Length: 10");
      const chunked = head("POST", "/hook", authorised, last, "Transfer-Encoding: chunked");
      for (const [name, sent] of [
        ["within the head", head("POST", "/hook", authorised).slice(0, -2)],
        ["before the body", declared],
        ["within the body", `${declared}half`],
        ["within the size of a chunk", `${chunked}5`],
        ["within a chunk", `${chunked}5\r\nhe`],
        ["before the last chunk", `${chunked}5\r\nhello\r\n`],
        ["within the last chunk", `${chunked}5\r\nhello\r\n0\r\n`],
        ["within the trailers", `${chunked}5\r\nhello\r\n0\r\nX-After: `],
        ["within a gzip body", `${head("POST", "/hook", authorised, "Content-Encoding: gzip", "Content-Length: 30")}\u001f\u008b`],
        ["within a body after an accepted one", `${head("POST", "/hook", "Content-Length: 1")}x${declared}half`],
      ] as const) {
        for (const [way, leave] of [
          ["say goodbye", (socket: Socket) => socket.end()],
          ["just go", (socket: Socket) => socket.resetAndDestroy()],
        ] as const) {
          it(`${name} and ${way} leave neither a message nor a connection`, async () => {
            const socket = dial(siege().nodeRed.origin).on("error", () => undefined).resume();
            await new Promise((resolve) => socket.write(bytesOf(siege().wire(sent)), resolve));
            await siege().nodeRed.connections(1);
            leave(socket);
            await siege().nodeRed.connections(0);
            should(await siege().payloads()).eql([]);
          });
        }
      }

      it("in crowds leave neither a message nor a connection", async () => {
        for (const part of ["", `${declared}half`, head("POST", "/hook", authorised).slice(0, 30)]) {
          for (const socket of await crowd(siege(), part)) socket.resetAndDestroy();
          await siege().nodeRed.connections(0);
        }
        should(await siege().payloads()).eql([]);
      });
    });

    // RFC 9112 §9.6: a server that closes too early resets the connection, and the caller never sees the reply.
    describe("who send everything before they read", () => {
      const body = Buffer.alloc(5 * megabyte, "x");
      const chunks = Buffer.concat(Array.from({ length: 8 }, () => Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(megabyte, "x"), Buffer.from("\r\n")])));
      for (const [name, status, parts] of [
        ["5 MB without the token", 401, [head("POST", "/hook", `Content-Length: ${body.length}`), body]],
        ["more than 5 MB", 413, [head("POST", "/hook", authorised, `Content-Length: ${body.length + 1}`), body, "x"]],
        ["8 MB in chunks without the token", 401, [head("POST", "/hook", "Transfer-Encoding: chunked"), chunks, "0\r\n\r\n"]],
        ["8 MB in chunks", 413, [head("POST", "/hook", authorised, "Transfer-Encoding: chunked"), chunks, "0\r\n\r\n"]],
        ["5 MB by another method", 405, [head("PUT", "/hook", `Content-Length: ${body.length}`), body]],
      ] as const) {
        it(`find ${status} for ${name}, and a connection that ends well`, async () => {
          const socket = dial(siege().nodeRed.origin);
          for (const part of parts) await write(socket, siege().wire(part));
          // A reset would make this fail.
          siege().note(await text(socket)).map((reply) => reply.status).should.eql([status]);
          should(await siege().payloads()).eql([]);
        });
      }
      for (const [name, status, field] of [
        ["without the token", 401, "X-None: x"],
        ["of any size", 413, authorised],
      ] as const) {
        it(`and never stop find ${status} for chunks ${name}; 2 s later the connection ends`, async () => {
          const socket = dial(siege().nodeRed.origin);
          const closed = new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve));
          await write(socket, siege().wire(head("POST", "/hook", field, "Transfer-Encoding: chunked")));
          await write(socket, chunks);
          const [reply] = (await once(socket.setEncoding("latin1"), "data")) as [string];
          repliesIn(reply).map((each) => each.status).should.eql([status]);
          tire(siege());
          await closed;
          await siege().nodeRed.connections(0);
          should(await siege().payloads()).eql([]);
        });
      }
    });

    describe("beside a flow that throws", () => {
      it("are told that they are accepted, which is all that the endpoint can know", async () => {
        const [reply] = await siege().replies(head("POST", "/throwing", authorised, last, "Content-Length: 1"), "x");
        should(reply?.status).equal(200);
        await siege().nodeRed.logged(/\[error\] \[function:thrower\].*thrown by the flow/);
        should(await siege().payloads()).eql([]);
      });
    });
  },
  hastyTimers,
); // prettier-ignore
