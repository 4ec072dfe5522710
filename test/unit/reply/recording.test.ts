import should from "should";
import type { ServerResponse } from "node:http";
import { longestAnswer } from "../../../src/deliveries/repeats";
import { Recording } from "../../../src/reply/recording";

const responseWith = (statusCode: number, fields: Record<string, unknown> = {}) =>
  ({ statusCode, getHeader: (name: string) => fields[name] }) as unknown as ServerResponse;

describe("Recording", () => {
  it("keeps the status, the fields that the body needs, and the body", () => {
    const recording = new Recording();
    const fields = { "Content-Type": "text/plain", "Content-Encoding": "gzip", "Set-Cookie": "a=1" };
    const bytes = Buffer.from("b");
    recording.of(responseWith(201, fields), "ä", "utf8")();
    recording.of(responseWith(500), bytes, undefined)();
    bytes.fill("x");
    recording.of(responseWith(500), "63", "hex")();
    recording.of(responseWith(500), () => undefined, undefined)();
    should(recording.answer).eql({
      status: 201,
      fields: { "Content-Type": "text/plain", "Content-Encoding": "gzip" },
      body: Buffer.from("äbc"),
    });
  });

  it("has none before the flow has answered", () => should(new Recording().answer).be.undefined());

  it("keeps no body that is too long, however it comes", () => {
    for (const chunks of [[longestAnswer + 1], [longestAnswer, 1], [100_000_000]]) {
      const recording = new Recording();
      for (const length of chunks) recording.of(responseWith(200), Buffer.alloc(length), undefined)();
      should(recording.answer?.body).be.undefined();
    }
    const recording = new Recording();
    recording.of(responseWith(200), Buffer.alloc(longestAnswer), undefined)();
    should(recording.answer?.body).have.length(longestAnswer);
  });
});
