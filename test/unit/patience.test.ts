import should from "should";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { mock } from "node:test";
import { readBody } from "../../src/body";
import { problems } from "../../src/problem";
import { refuse } from "../../src/reply";
import { dial } from "../harness/http";

async function listening(listener?: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function callerOf(server: Server): Socket {
  return dial(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
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
      mock.timers.tick(29_999);
      await once(request, "data");
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

  /** Lets callers send 5 MB each without a look at their refusal, and answers with what the server read of it. */
  async function readInVain(callers: number): Promise<number> {
    let read = 0;
    const ends: Promise<unknown>[] = [];
    const server = await listening((request, response) => {
      const { socket } = request;
      ends.push(once(socket, "close").then(() => (read += socket.bytesRead)));
      refuse(request, response, problems.tokenMissing);
    });
    const head = Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${5 * megabyte}\r\n\r\n`);
    const clients = Array.from({ length: callers }, () => callerOf(server).on("error", () => undefined));
    for (const client of clients) client.write(Buffer.concat([head, Buffer.alloc(5 * megabyte)]));
    while (ends.length < callers) await once(server, "request");
    mock.timers.tick(500);
    await Promise.all(ends);
    for (const client of clients) client.destroy();
    server.close();
    return read;
  }

  it("reads what callers still send, but of a flood no more than 64 MB in a second", async () => {
    let now = performance.now();
    const clock = mock.method(performance, "now", () => now);
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      should(await readInVain(2)).be.aboveOrEqual(2 * 5 * megabyte);
      const flood = await readInVain(20);
      // What comes before the refusal, or while the connection is being closed, is read as well.
      should(flood).be.within(50 * megabyte, 64 * megabyte + 20 * 0.5 * megabyte);
      now += 1000;
      should(await readInVain(2)).be.aboveOrEqual(2 * 5 * megabyte);
    } finally {
      mock.timers.reset();
      clock.mock.restore();
    }
  });
});
