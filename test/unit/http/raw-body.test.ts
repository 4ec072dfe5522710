import express, { type Express, type RequestHandler } from "express";
import should from "should";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Endpoint } from "../../../src/flow/endpoint";
import { addRawBodyLayer, type RawBodyOptions } from "../../../src/http/raw-body";
import { arrive } from "../../../src/http/receive-request";
import { type Content, DecodedBody } from "../../../src/request/decode";
import { problems } from "../../../src/request/problem";
import { send } from "../../harness/http";

const value = { order: 42 };

describe("the body of a request that is passed on", () => {
  let app: Express;
  let server: Server;
  let seen: unknown;
  let decoded: number;
  let reads: boolean;
  const decode = Reflect.get(DecodedBody.prototype, "decode") as (this: DecodedBody, limit: number) => Content;
  const endpoint = {
    hasParameters: true,
    config: { methods: ["POST"], path: "/devices/:id" },
    maxBodyBytes: 1000,
    authenticator: {
      checkHead: () => ({ isUnverified: true, needsBytes: true, verify: () => problems.signatureInvalid }),
    },
  } as unknown as Endpoint;
  before(async () => {
    app = express();
    app.set("query parser", (text: string | null) => {
      if (text?.includes("[")) throw new Error("too deep");
      return {};
    });
    app.use(express.json(), express.urlencoded({ extended: true }));
    addRawBodyLayer({
      admin: app,
      deployGate: { isClosed: false, wait: () => Promise.resolve(true) } as unknown as RawBodyOptions["deployGate"],
      find: () => endpoint,
      arrive: (request, response) => arrive(app, request, response, { path: request.path, search: "" }),
      mayLeaveAdmin: () => false,
    });
    const guard: RequestHandler = (request, response) => {
      seen = reads ? request.body : undefined;
      response.end();
    };
    app.use(guard);
    DecodedBody.prototype.decode = function (limit) {
      decoded++;
      return decode.call(this, limit);
    };
    server = createServer(app).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  beforeEach(() => (decoded = 0));
  after(() => {
    DecodedBody.prototype.decode = decode;
    server.close();
  });

  const packed = { "Content-Type": "application/json", "Content-Encoding": "gzip" };

  async function post(body: Buffer, headers: Record<string, string> = packed): Promise<void> {
    const { port } = server.address() as AddressInfo;
    const response = await send(`http://127.0.0.1:${port}/devices/7`, { headers, body });
    should(response.status).equal(200);
  }

  it("is not unpacked before its sender is verified, unless request.body is read", async () => {
    reads = false;
    await post(gzipSync(JSON.stringify(value)));
    should(decoded).equal(0);
  });

  it("is unpacked for another node that reads it", async () => {
    reads = true;
    await post(gzipSync(JSON.stringify(value)));
    should(seen).deepEqual(value);
  });

  it("is empty where it cannot be unpacked within the limit", async () => {
    reads = true;
    for (const body of [gzipSync(JSON.stringify("x".repeat(1000))), Buffer.from("no gzip")]) {
      await post(body);
      should(seen).deepEqual({});
    }
  });

  it("is what the flow would get of a form for which the host's parser of queries fails", async () => {
    reads = true;
    await post(Buffer.from("a[b]=1"), { "Content-Type": "application/x-www-form-urlencoded" });
    should(seen).deepEqual({ "a[b]": "1" });
  });
});
