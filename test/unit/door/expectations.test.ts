import "should";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { continueOf, honourExpectations } from "../../../nodes/door/expectations";
import { exchange, repliesIn } from "../../harness/http";

const expecting = ["POST / HTTP/1.1", "Host: x", "Connection: close", "Expect: 100-continue", "Content-Length: 1"];

describe("callers that wait to be told to send their body", () => {
  let server: Server;
  let met: number;

  beforeEach(async () => {
    met = 0;
    server = createServer((request, response) => {
      met++;
      continueOf(request, response)?.();
      request.resume().on("end", () => response.end());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => server.close());

  const statuses = async () => {
    const { port } = server.address() as AddressInfo;
    const received = await exchange(`http://127.0.0.1:${port}`, [...expecting, "", "x"].join("\r\n"));
    return repliesIn(received).map(({ status }) => status);
  };
  const decline = (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, { Connection: "close" }).end();
  };

  it("get their answers once, as listeners of others come and go between them", async () => {
    honourExpectations(server, () => true);
    (await statuses()).should.eql([100, 200]);
    for (const add of ["on", "prependListener", "once", "prependOnceListener"] as const) {
      server[add]("checkContinue", decline);
      (await statuses()).should.eql([417], add);
      server.removeListener("checkContinue", decline);
      met = 0;
      (await statuses()).should.eql([100, 200], add);
      met.should.equal(1, add);
    }
  });

  it("get their answers from the one that was there before, and from Node once that has gone", async () => {
    server.on("checkContinue", decline);
    honourExpectations(server, () => true);
    (await statuses()).should.eql([417]);
    server.removeListener("checkContinue", decline);
    (await statuses()).should.eql([100, 200]);
    met.should.equal(1);
  });

  it("are met by nobody else where a listener has answered them and gone", async () => {
    honourExpectations(server, () => true);
    server.prependOnceListener("checkContinue", decline);
    (await statuses()).should.eql([417]);
    met.should.equal(0);
  });
});
