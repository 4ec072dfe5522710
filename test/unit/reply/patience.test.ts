import should from "should";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { mock } from "node:test";
import { readBody } from "../../../src/request/body";
import { problems } from "../../../src/problem";
import { refuse } from "../../../src/reply/reply";
import { dial } from "../../harness/http";

async function listening(listener?: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function callerOf(server: Server): Socket {
  return dial(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Lets the event loop turn. */
async function pass(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

describe("readBody", () => {
  it("waits 30 s for a body, and no longer", async () => {
    const server = await listening();
    const client = callerOf(server);
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf");
    const [request] = (await once(server, "request")) as [IncomingMessage];
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      let result: unknown = "nothing yet";
      const reading = readBody(request, 8).then((settled) => (result = settled));
      // It begins to listen once what came with the head is here.
      await pass();
      mock.timers.tick(29_999);
      await pass();
      should(result).equal("nothing yet");
      mock.timers.tick(1);
      should(await reading).equal(problems.bodyLate);
    } finally {
      mock.timers.reset();
      client.destroy();
      server.close();
    }
  });
});

describe("refuse", () => {
  const megabyte = 1024 * 1024;

  /** Begins uploads of 5 MB each, which are refused; answers with their ends, when they have come so far. */
  async function refusedUploads(callers: number, body: Buffer) {
    const ends: Promise<number>[] = [];
    const server = await listening((request, response) => {
      const { socket } = request;
      ends.push(once(socket, "close").then(() => socket.bytesRead));
      refuse(request, response, problems.tokenMissing);
    });
    const head = Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${5 * megabyte}\r\n\r\n`);
    const clients = Array.from({ length: callers }, () => callerOf(server).on("error", () => undefined));
    for (const client of clients) client.write(Buffer.concat([head, body]));
    while (ends.length < callers) await once(server, "request");
    const leave = () => {
      for (const client of clients) client.destroy();
      server.close();
    };
    return { ends, leave };
  }

  /** Lets callers send all of their bodies without a look at their refusal; answers with what the server read of it. */
  async function readInVain(callers: number): Promise<number> {
    const { ends, leave } = await refusedUploads(callers, Buffer.alloc(5 * megabyte));
    mock.timers.tick(500);
    const read = await Promise.all(ends);
    leave();
    return read.reduce((sum, each) => sum + each, 0);
  }

  it("reads what callers still send, but of a flood no more than 16 MB in a second", async () => {
    let now = performance.now();
    const clock = mock.method(performance, "now", () => now);
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      should(await readInVain(2)).be.aboveOrEqual(2 * 5 * megabyte);
      const flood = await readInVain(20);
      // What comes before the refusal, or while the connection is being closed, is read as well.
      should(flood).be.within(5 * megabyte, 16 * megabyte + 20 * 0.5 * megabyte);
      now += 1000;
      should(await readInVain(2)).be.aboveOrEqual(2 * 5 * megabyte);
    } finally {
      mock.timers.reset();
      clock.mock.restore();
    }
  });

  it("lets at most 100 refused callers go on sending", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const { ends, leave } = await refusedUploads(120, Buffer.alloc(1));
    try {
      let left = 0;
      for (const end of ends) void end.then(() => left++);
      while (left < 20) await new Promise(setImmediate);
      const { ends: later, leave: laterLeave } = await refusedUploads(1, Buffer.alloc(1));
      await Promise.all(later);
      laterLeave();
      should(left).equal(20);
      mock.timers.tick(500);
      mock.timers.tick(2000);
      await Promise.all(ends);
    } finally {
      mock.timers.reset();
      leave();
    }
  });

  it("gives no place to callers that are gone already", async () => {
    for (let count = 0; count < 101; count++) {
      const server = await listening();
      const client = callerOf(server).on("error", () => undefined);
      client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${5 * megabyte}\r\n\r\nhalf`);
      const [request, response] = (await once(server, "request")) as Parameters<RequestListener>;
      request.on("error", () => undefined);
      client.resetAndDestroy();
      await new Promise((resolve) => request.once("close", resolve));
      refuse(request, response, problems.bodyIncomplete);
      server.close();
    }
    // Much later, so that nothing of what was read in vain before counts.
    const later = performance.now() + 3_600_000;
    const clock = mock.method(performance, "now", () => later);
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      should(await readInVain(1)).be.aboveOrEqual(5 * megabyte);
    } finally {
      mock.timers.reset();
      clock.mock.restore();
    }
  });
});
