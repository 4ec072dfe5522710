import should from "should";
import type { ServerResponse } from "node:http";
import { runInNewContext } from "node:vm";
import { longestAnswer } from "../../../src/deliveries/repeats";
import { mostRead, mostShown, notedOf } from "../../../src/reply/acceptance";
import { Recording } from "../../../src/reply/recording";
import { Secrecy } from "../../../src/trust/secrecy";

const responseWith = (statusCode: number, fields: Record<string, unknown> = {}) =>
  ({ statusCode, getHeader: (name: string) => fields[name] }) as unknown as ServerResponse;

describe("Recording", () => {
  it("keeps the status, the fields that the body needs, and the body", () => {
    const recording = new Recording(true);
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

  it("keeps the bytes of another realm, such as those that a function node makes", () => {
    const recording = new Recording(true);
    recording.of(responseWith(200), runInNewContext("new Uint8Array([104, 105])"), undefined)();
    should([recording.beginning, recording.answer?.body]).eql([Buffer.from("hi"), Buffer.from("hi")]);
  });

  it("has none before the flow has answered", () => should(new Recording(true).answer).be.undefined());

  it("keeps no body that is too long, however it comes", () => {
    for (const chunks of [[longestAnswer + 1], [longestAnswer, 1], [100_000_000]]) {
      const recording = new Recording(true);
      for (const length of chunks) recording.of(responseWith(200), Buffer.alloc(length), undefined)();
      should(recording.answer?.body).be.undefined();
    }
    const recording = new Recording(true);
    recording.of(responseWith(200), Buffer.alloc(longestAnswer), undefined)();
    should(recording.answer?.body).have.length(longestAnswer);
  });

  it("keeps enough to know a secret by, of which only the beginning would be shown", () => {
    const recording = new Recording(false);
    const before = "x".repeat(mostShown - 5);
    recording.of(responseWith(200), `${before}abc%`, undefined)();
    recording.of(responseWith(200), "3Bdefgh and more", undefined)();
    should(notedOf(recording.beginning, new Secrecy(["abc;defgh"])).answer).equal(`${before}…`);
  });

  for (const isShared of [true, false]) {
    it(`tells how the body begins, ${isShared ? "also" : "only"} where others are${isShared ? "" : " not"} to be told the same`, () => {
      const textOf = (...chunks: [chunk: string | Buffer, encoding?: string][]) => {
        const recording = new Recording(isShared);
        for (const [chunk, encoding] of chunks) recording.of(responseWith(200), chunk, encoding)();
        if (!isShared) recording.beginning.length.should.be.belowOrEqual(mostRead);
        return notedOf(recording.beginning).answer;
      };
      should(textOf(["grü"], [Buffer.from("ße")], ["21", "hex"])).equal("grüße!");
      should(textOf()).be.undefined();
      should(textOf(["x".repeat(mostShown)])).equal("x".repeat(mostShown));
      should(textOf(["x".repeat(mostShown - 1)], ["ä"])).equal(`${"x".repeat(mostShown - 1)}…`);
      should(textOf(["78".repeat(100_000), "hex"])).equal(`${"x".repeat(mostShown)}…`);
      should(textOf(["00", "hex"])).be.undefined();
      should(textOf([Buffer.from([0xff, 0xfe])])).be.undefined();
    });
  }
});
