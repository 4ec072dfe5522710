import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import should from "should";
import { decodeContent, readBody } from "../../../src/request/body";
import { decodeBody } from "../../../src/request/decode";
import { Problem, problems } from "../../../src/request/problem";
import { acceptedBodies, refusedBodies } from "../../harness/bodies";

const limit = 1_000_000;

describe("decodeBody", () => {
  for (const { name, type, body, payload } of acceptedBodies) {
    it(`decodes ${name}`, () => should(decodeBody(Buffer.from(body), type)).eql(payload));
  }
  for (const { name, type, coding, body, status } of refusedBodies) {
    it(`refuses ${name} with ${status}`, async () => {
      const content = await decodeContent(Buffer.from(body), coding ?? "", limit);
      const result = content instanceof Problem ? content : decodeBody(content, type);
      should(result).be.instanceOf(Problem).and.have.property("status", status);
    });
  }
  it("leaves prototypes alone", () => {
    const value = decodeBody(Buffer.from('{"a":{"__proto__":{"polluted":1}}}'), "application/json") as { a: object };
    should(Object.getPrototypeOf(value.a)).equal(Object.prototype);
    should(Object.keys(value.a)).eql([]);
    const form = decodeBody(Buffer.from("__proto__=1&a=2"), "application/x-www-form-urlencoded") as object;
    should(Object.getPrototypeOf(form)).equal(Object.prototype);
    should(Object.keys(form)).eql(["a"]);
  });
});

describe("readBody", () => {
  it("lets go of what has come when the upload breaks off", async () => {
    const upload = new PassThrough();
    const request = Object.assign(upload, { headers: {}, complete: false }) as unknown as IncomingMessage;
    const reading = readBody(request, limit);
    upload.write("half of it");
    await new Promise(setImmediate);
    upload.destroy();
    should(await reading).equal(problems.bodyIncomplete);
    // A listener that is left has the buffer, as long as anybody has the request.
    ["data", "end", "close"].map((event) => upload.listenerCount(event)).should.eql([0, 0, 0]);
  });
});

describe("decodeContent", () => {
  const text = Buffer.from("hello world");
  const cases: [string, Buffer][] = [
    ["", text],
    ["identity", text],
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    [" br , , gzip ", gzipSync(brotliCompressSync(text))],
  ];
  for (const [coding, sent] of cases) {
    it(`undoes ${JSON.stringify(coding)}`, async () => should(await decodeContent(sent, coding, limit)).eql(text));
  }
  it("takes an empty body for empty in any known coding", async () => {
    should(await decodeContent(Buffer.alloc(0), "gzip", limit)).have.length(0);
  });
  for (const [coding, compress] of [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const) {
    it(`stops at the limit while it undoes ${coding}`, async () => {
      const bomb = compress(Buffer.alloc(limit + 1));
      should(await decodeContent(bomb, coding, limit)).equal(problems.bodyTooLarge);
      should(await decodeContent(compress(Buffer.alloc(limit)), coding, limit)).have.length(limit);
    });
  }
  it("stops at the limit in the middle of nested codings", async () => {
    const nested = gzipSync(gzipSync(Buffer.alloc(50 * limit)));
    should(await decodeContent(nested, "gzip, gzip", limit)).equal(problems.bodyTooLarge);
  });
});
