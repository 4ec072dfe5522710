import { createHmac } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { mock } from "node:test";
import "should";
import { memoryBudget } from "../../src/request/body";
import { dial, repliesIn } from "../harness/http";
import { Reception } from "../harness/reception";
import { until } from "../harness/until";
import { authenticatorFor } from "../harness/verification";

const secret = "It's a Secret to Everybody";
const megabyte = 1024 * 1024;
const body = Buffer.alloc(5 * megabyte, "x");
const callers = 30;

function head(signature: string): string {
  const fields = [
    "Host: x",
    `X-Hub-Signature-256: sha256=${signature}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  return ["POST /hook HTTP/1.1", ...fields, "", ""].join("\r\n");
}

/** Collects what is answered on a connection. */
function answersOn(socket: Socket): () => string {
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  socket.on("error", () => undefined);
  return () => received;
}

describe("a flood of large bodies whose signature is not verified yet", () => {
  let reception: Reception;
  let peak = 0;
  /** Whether there is no memory for the next part, as others have taken it. */
  let isFull = false;
  beforeEach(async () => {
    reception = await Reception.open();
    reception.open(authenticatorFor("github", { secret }), "github", body.length);
    const take = memoryBudget.take.bind(memoryBudget);
    isFull = false;
    mock.method(memoryBudget, "take", (bytes: number) => {
      const taken = !isFull && take(bytes);
      isFull = false;
      peak = Math.max(peak, memoryBudget.used);
      return taken;
    });
  });
  afterEach(() => {
    reception.close();
    mock.restoreAll();
  });

  it("takes no more than the memory budget, and gets 503 with Retry-After beyond it", async () => {
    const sockets = Array.from({ length: callers }, () => dial(reception.origin));
    const answers = sockets.map(answersOn);
    // All but the last byte: nobody can be verified yet.
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from(head("0".repeat(64))), body.subarray(1)]));
    const full = () => answers.filter((received) => received().startsWith("HTTP/1.1 503")).length;
    await until(() => full() > 0 && peak > memoryBudget.max - 6 * megabyte, "the memory to be full");
    peak.should.be.belowOrEqual(memoryBudget.max);
    for (const received of answers)
      if (received() !== "") received().should.match(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n/s);
    for (const socket of sockets) socket.destroy();
    await until(() => memoryBudget.used === 0, "the memory to be free");
    reception.payloads.should.be.empty();
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
      memoryBudget.used.should.equal(0);
    }
    reception.payloads.should.have.length(1);
  });

  it("takes no memory for the rest of a body after its refusal", async () => {
    isFull = true;
    const socket = dial(reception.origin);
    const received = answersOn(socket);
    socket.write(head("0".repeat(64)) + "x".repeat(1024));
    await until(() => received().startsWith("HTTP/1.1 503"), "the refusal");
    // What the caller goes on to send is read, and thrown away.
    const sending = setInterval(() => socket.write(body.subarray(0, 65_536)), 50);
    await until(() => socket.bytesWritten > megabyte, "the rest to be on its way");
    clearInterval(sending);
    memoryBudget.used.should.equal(0);
    socket.destroy();
  });
});
