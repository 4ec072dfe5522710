import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { mock } from "node:test";
import should from "should";
import { maxPauseMs, readBody } from "../../../src/request/body";
import { maxSmallBytes, MemoryBudget } from "../../../src/request/memory";
import { problems } from "../../../src/request/problem";
import { dial, repliesIn } from "../../harness/http";

const limit = 1_000_000;
const network = "192.0.2.1";

interface Upload {
  stream: PassThrough;
  reading: ReturnType<typeof readBody>;
  budget: MemoryBudget;
  /** Sends a chunk, and waits until it was read. */
  send: (chunk: Uint8Array | string) => Promise<void>;
}

/** Begins to read a body of which nothing has come. */
async function upload(headers: IncomingMessage["headers"] = {}, max = 64 * limit): Promise<Upload> {
  const stream = new PassThrough();
  const request = Object.assign(stream, { headers, complete: false }) as unknown as IncomingMessage;
  const budget = new MemoryBudget(max);
  const reading = readBody(request, limit, budget.lease(network));
  await new Promise(setImmediate);
  const send = async (chunk: Uint8Array | string) => {
    stream.write(chunk);
    await new Promise(setImmediate);
  };
  return { stream, reading, budget, send };
}

describe("readBody", () => {
  it("lets go of what has come when the upload breaks off", async () => {
    const { stream, reading, budget, send } = await upload();
    await send("half of it");
    budget.getUsed().should.be.above(0);
    stream.destroy();
    should(await reading).equal(problems.bodyIncomplete);
    budget.getUsed().should.equal(0);
    // A listener that is left has the buffer, as long as anybody has the request.
    ["data", "end", "close"].map((event) => stream.listenerCount(event)).should.eql([0, 0, 0]);
  });

  for (const [name, headers] of [
    ["of a declared length", { "content-length": String(limit) }],
    ["in chunks", {}],
  ] as const) {
    it(`counts what is allocated for a body ${name}: nothing before it has begun, then what it grows to`, async () => {
      const { stream, reading, budget, send } = await upload(headers);
      budget.getUsed().should.equal(0);
      await send("x");
      budget.getUsed(network).should.equal(4096);
      const chunk = Buffer.alloc(50_000, "y");
      for (let sent = chunk.length; sent < limit; sent += chunk.length) {
        await send(chunk);
        budget.getUsed(network).should.be.within(sent + 1, limit);
      }
      stream.end(chunk.subarray(1));
      const bytes = (await reading) as Buffer;
      bytes.length.should.equal(limit);
      bytes.equals(Buffer.concat([Buffer.from("x"), Buffer.alloc(limit - 1, "y")])).should.be.true();
      // What is kept of a body is not more than its own bytes and a part of a buffer.
      bytes.buffer.byteLength.should.equal(limit);
      budget.getUsed().should.equal(0);
    });
  }

  for (const [name, headers] of [
    ["of a declared length", { "content-length": String(maxSmallBytes) }],
    ["in chunks", {}],
  ] as const) {
    it(`takes 4 kB for a small body ${name} that drips, or at most twice what has come`, async () => {
      const { stream, reading, budget, send } = await upload(headers);
      for (let sent = 1000; sent < maxSmallBytes; sent += 1000) {
        await send(Buffer.alloc(1000));
        budget.getUsed(network).should.be.within(sent, Math.max(4096, 2 * sent));
      }
      stream.end(Buffer.alloc(maxSmallBytes % 1000));
      should(((await reading) as Buffer).length).equal(maxSmallBytes);
    });
  }

  it("is not given memory beyond the part of a network, and gives back what it had", async () => {
    const { reading, budget, send } = await upload({ "content-length": String(limit) }, 4 * limit);
    await send(Buffer.alloc(maxSmallBytes));
    budget.getUsed(network).should.equal(maxSmallBytes);
    await send("x");
    should(await reading).equal(problems.memoryFull);
    budget.getUsed().should.equal(0);
  });

  it("ends with Node's requestTimeout for a body that drips without a pause: 408 by Node, and no memory is left", async () => {
    const budget = new MemoryBudget(64 * limit);
    const server = createServer({ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 });
    const came = once(server, "request") as Promise<[IncomingMessage]>;
    await once(server.listen(0, "127.0.0.1"), "listening");
    const socket = dial(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).setEncoding("latin1");
    let received = "";
    socket.on("error", () => undefined).on("data", (text: string) => (received += text));
    // Its last byte may meet a connection that is closed already.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    const drip = setInterval(() => socket.write("x"), 10);
    const [request] = await came;
    should(await readBody(request, limit, budget.lease(network))).equal(problems.bodyIncomplete);
    await closed;
    clearInterval(drip);
    server.close();
    repliesIn(received).map(({ status, head, body }) => [status, /^Connection: close\r$/m.test(head), body]).should.eql([[408, true, ""]]);
    budget.getUsed().should.equal(0);
  }); // prettier-ignore

  describe("with a slow sender", () => {
    beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
    afterEach(() => mock.timers.reset());

    it("takes a body that pauses for less than 30 s each time, however long it takes", async () => {
      const { stream, reading, send } = await upload();
      for (let part = 0; part < 10; part++) {
        mock.timers.tick(maxPauseMs - 1);
        await send("x");
      }
      mock.timers.tick(maxPauseMs - 1);
      stream.end();
      should(await reading).eql(Buffer.from("x".repeat(10)));
    });

    for (const [name, parts] of [
      ["before its first byte", []],
      ["after a part of it", ["x", "y"]],
    ] as const) {
      it(`refuses a body that pauses for 30 s ${name} with 408, and gives its memory back`, async () => {
        const { reading, budget, send } = await upload();
        for (const part of parts) {
          mock.timers.tick(maxPauseMs - 1);
          await send(part);
        }
        mock.timers.tick(maxPauseMs);
        should(await reading).equal(problems.bodyLate);
        budget.getUsed().should.equal(0);
      });
    }
  });
});
