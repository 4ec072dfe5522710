import express from "express";
import should from "should";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  canRunParameterHandlers,
  clientAddress,
  findParsers,
  getLayers,
  hasKnownLayers,
  insertLayer,
  matches,
  runParameterHandlers,
  trustsEveryProxy,
} from "../../../src/http/host-internals";
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

describe("an app of an unknown Express", () => {
  const pass: express.RequestHandler = (_request, _response, next) => next();
  const request = { params: { id: "7" } } as unknown as express.Request;
  const response = {} as unknown as express.Response;

  /** @param router what is missing, or otherwise than in the versions that are known */
  function makeApp(router: object | undefined): express.Express & { used: number } {
    const app = { used: 0, router, use: () => app.used++, get: () => undefined };
    return app as unknown as express.Express & { used: number };
  }

  it("is known by its layers to be none that may be trusted to have ours in its place", () => {
    const known = express();
    known.use(pass);
    hasKnownLayers(known).should.be.true();
    for (const router of [undefined, {}, { stack: "none" }, { stack: [{ name: "a" }] }, { stack: [{ match: pass }] }])
      hasKnownLayers(makeApp(router)).should.be.false();
  });

  it("gets no layer that would stand in another place than the one that is meant", () => {
    for (const router of [undefined, {}, { stack: "none" }]) {
      const app = makeApp(router);
      should(insertLayer(app, pass, 0)).be.undefined();
      app.used.should.equal(0);
      getLayers(app).should.be.empty();
      findParsers(app).should.equal(-1);
    }
  });

  it("lets no request pass the handlers of parameters that it cannot run, as guards may be among them", () => {
    const known = express();
    known.use(pass);
    canRunParameterHandlers(known).should.be.true();
    for (const router of [undefined, { stack: [] }]) {
      const app = makeApp(router);
      canRunParameterHandlers(app).should.be.false();
      let given: unknown;
      runParameterHandlers(app, request, response, (error) => (given = error));
      should(given).be.instanceof(Error);
      runParameterHandlers(app, { params: {} } as unknown as express.Request, response, (error) => (given = error));
      should(given).be.undefined();
    }
  });

  it("has layers that are for each path, where nothing says for which, and trusts no proxy", () => {
    matches({ name: "a", handle: pass }, "/hook").should.be.true();
    const throwing = {
      name: "a",
      handle: pass,
      match: () => {
        throw new URIError("broken");
      },
    };
    matches(throwing, "/hook%").should.be.true();
    trustsEveryProxy(makeApp(undefined)).should.be.false();
  });
});
