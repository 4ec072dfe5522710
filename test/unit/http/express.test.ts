import express from "express";
import should from "should";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { clientAddress, trustsEveryProxy } from "../../../src/http/express";
import { send } from "../../harness/http";

type Trust = boolean | number | string | string[] | ((address: string, hop: number) => boolean);

describe("the address of the sender", () => {
  let root: express.Express;
  let nodes: express.Express;
  let server: Server;
  let told: string;
  before(async () => {
    nodes = express();
    nodes.use((request, response) => response.json({ ip: request.ip }));
    server = createServer((request, response) => {
      told = clientAddress(nodes, request);
      root(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  beforeEach(() => {
    root = express();
    root.use("/api", nodes);
  });
  after(() => server.close());

  const rows: [trust: Trust | undefined, forwarded: string | undefined, ip: string][] = [
    [undefined, undefined, "127.0.0.1"],
    [undefined, "192.0.2.1", "127.0.0.1"],
    [false, "192.0.2.1", "127.0.0.1"],
    [true, undefined, "127.0.0.1"],
    [true, "192.0.2.1, 198.51.100.1", "192.0.2.1"],
    [true, "", "127.0.0.1"],
    [true, "nobody", "nobody"],
    [1, "192.0.2.1, 198.51.100.1", "198.51.100.1"],
    [2, "192.0.2.1, 198.51.100.1", "192.0.2.1"],
    ["loopback", "192.0.2.1, 198.51.100.1", "198.51.100.1"],
    [["loopback", "198.51.100.1"], "192.0.2.1, 198.51.100.1", "192.0.2.1"],
    ["10.0.0.1", "192.0.2.1", "127.0.0.1"],
    [(address: string) => address === "127.0.0.1", "192.0.2.1", "192.0.2.1"],
  ];
  for (const [trust, forwarded, ip] of rows) {
    it(`is ${ip}, as Express has it, with trust proxy ${String(trust)} and X-Forwarded-For: ${forwarded ?? "none"}`, async () => {
      if (trust !== undefined) root.set("trust proxy", trust);
      const headers = forwarded === undefined ? {} : { "X-Forwarded-For": forwarded };
      const { json } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, { headers });
      should([told, json.ip]).eql([ip, ip]);
    });
  }
});

describe("trust proxy", () => {
  const rows: [trust: Trust | undefined, trustsAll: boolean][] = [
    [undefined, false],
    [false, false],
    [1, false],
    [3, false],
    ["loopback", false],
    ["loopback, linklocal, uniquelocal", false],
    ["192.0.2.0/24, 198.51.100.0/24, 2001:db8::/32", false],
    [() => false, false],
    [true, true],
    [() => true, true],
  ];
  for (const [trust, trustsAll] of rows) {
    it(`${String(trust)} ${trustsAll ? "trusts" : "does not trust"} every proxy`, () => {
      const app = express();
      if (trust !== undefined) app.set("trust proxy", trust);
      trustsEveryProxy(app).should.equal(trustsAll);
    });
  }
});
