import should from "should";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { mock } from "node:test";
import { readBody } from "../../src/body";
import { problems } from "../../src/problem";
import { dial } from "../harness/http";

describe("readBody", () => {
  it("waits 30 s for a body, and no longer", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = dial(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
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
