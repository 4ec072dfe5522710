import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import should from "should";
import { readBody } from "../../../src/request/body";
import { problems } from "../../../src/request/problem";

describe("readBody", () => {
  it("lets go of what has come when the upload breaks off", async () => {
    const upload = new PassThrough();
    const request = Object.assign(upload, { headers: {}, complete: false }) as unknown as IncomingMessage;
    const reading = readBody(request, 1_000_000);
    upload.write("half of it");
    await new Promise(setImmediate);
    upload.destroy();
    should(await reading).equal(problems.bodyIncomplete);
    // A listener that is left has the buffer, as long as anybody has the request.
    ["data", "end", "close"].map((event) => upload.listenerCount(event)).should.eql([0, 0, 0]);
  });
});
