import { createHmac } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import "should";
import { bodyMemory, maxSmallBytes } from "../../src/request/memory";
import { dial, repliesIn } from "../harness/http";
import { Reception } from "../harness/reception";
import { until } from "../harness/until";
import { authenticatorFor } from "../harness/verification";

const secret = "It's a Secret to Everybody";
const megabyte = 1024 * 1024;
const body = Buffer.alloc(5 * megabyte, "x");
const { unverified } = bodyMemory;
const share = unverified.max / 4;

function head(signature: string, length = body.length): string {
  const fields = ["Host: x", `X-Hub-Signature-256: sha256=${signature}`, `Content-Length: ${length}`, "Connection: close"];
  return ["POST /hook HTTP/1.1", ...fields, "", ""].join("\r\n");
} // prettier-ignore

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const forged = (length?: number) => head("0".repeat(64), length);

/** Collects what is answered on a connection. */
function answersOn(socket: Socket): () => string {
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  socket.on("error", () => undefined);
  return () => received;
}

describe("a flood of bodies whose signature is not verified yet", () => {
  let reception: Reception;
  let sockets: Socket[] = [];
  beforeEach(async () => {
    reception = await Reception.open();
    reception.open(authenticatorFor("github", { first: secret }), "github", body.length);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(() => unverified.getUsed() === 0, "the memory to be free");
    reception.close();
  });
  const dialMany = (count: number) => {
    sockets = Array.from({ length: count }, () => dial(reception.origin));
    return sockets.map(answersOn);
  };
  const refused = (answers: (() => string)[]) =>
    answers.filter((received) => received().startsWith("HTTP/1.1 503")).length;

  it("takes no more than the part of its address, and gets 503 with Retry-After beyond it", async () => {
    const answers = dialMany(30);
    // All but the last byte: nobody can be verified yet.
    for (const socket of sockets) {
      socket.write(forged());
      socket.write(body.subarray(1));
    }
    await until(() => refused(answers) === 28, "the part of the address to be full");
    unverified
      .getUsed()
      .should.equal(2 * body.length)
      .and.belowOrEqual(share);
    for (const received of answers)
      if (received() !== "") received().should.match(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n/s);
    reception.payloads.should.be.empty();
  });

  it("takes no memory that is not counted: none for a thousand heads, and a counted one from the first byte on", async () => {
    const taken = () => {
      // What a connection was read into may not be collected yet.
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = taken();
    const answers = dialMany(1000);
    const met = reception.met(sockets.length);
    for (const socket of sockets) socket.write(forged(maxSmallBytes));
    await met;
    unverified.getUsed().should.equal(0);
    // The memory of connections that are read; 16 kB for each would be 16 MB.
    (taken() - before).should.be.below(8 * megabyte);
    // A byte takes no more, whatever length is declared.
    for (const socket of sockets) socket.write("x");
    await until(() => unverified.getUsed() === sockets.length * 4096, "a first byte of each");
    (taken() - before).should.be.below(sockets.length * 4096 + 8 * megabyte);
    for (const socket of sockets) socket.write(body.subarray(0, maxSmallBytes - 2));
    const isFull = () => refused(answers) > 0 && unverified.getUsed() > share - maxSmallBytes;
    await until(isFull, "the part of the address to be full");
    unverified.getUsed().should.be.belowOrEqual(share);
    // Beside what is being read at the moment, to be thrown away.
    await until(() => taken() - before < share + 8 * megabyte, "no more memory than is counted");
  });

  it("leaves the memory to later requests, which are verified or refused", async () => {
    for (const [key, status] of [
      [secret, 200],
      ["another", 401],
    ] as const) {
      const socket = dial(reception.origin);
      const received = answersOn(socket);
      socket.write(Buffer.concat([Buffer.from(head(createHmac("sha256", key).update(body).digest("hex"))), body]));
      await once(socket, "close");
      repliesIn(received())
        .map((reply) => reply.status)
        .should.eql([status]);
      unverified.getUsed().should.equal(0);
    }
    reception.payloads.should.have.length(1);
  });

  it("takes no memory for the rest of a body after its refusal", async () => {
    const others = unverified.lease("127.0.0.1");
    others.resize(share * (3 / 4)).should.be.true();
    const [received = () => ""] = dialMany(1);
    const [socket] = sockets;
    if (!socket) throw new Error("There is no connection");
    // The first part is small; the second one has no room.
    socket.write(Buffer.concat([Buffer.from(forged()), body.subarray(0, 2 * maxSmallBytes)]));
    await until(() => received().startsWith("HTTP/1.1 503"), "the refusal");
    // What the caller goes on to send is read, and thrown away.
    const sending = setInterval(() => socket.write(body.subarray(0, maxSmallBytes)), 50);
    await until(() => socket.bytesWritten > megabyte, "the rest to be on its way");
    clearInterval(sending);
    unverified.getUsed().should.equal(share * (3 / 4));
    others.release();
  });
});
