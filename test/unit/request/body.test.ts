import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import should from "should";
import { decodeContent, readBody } from "../../../src/request/body";
import { problems } from "../../../src/request/problem";

const limit = 1_000_000;

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
});
