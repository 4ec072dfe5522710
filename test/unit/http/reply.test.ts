import should from "should";
import { Redactor } from "../../../src/auth/redactor";
import { maxNotedBytes, noteReply } from "../../../src/flow/reply";

describe("what is noted of an answer", () => {
  const secret = "Zyxwvuts-9876543210";
  const noted = (body: string | Buffer) => noteReply(body, new Redactor([secret])).answer;

  it("has no part of a secret, wherever it is cut", () => {
    for (let part = 1; part <= secret.length; part++) {
      const before = "x".repeat(maxNotedBytes - part);
      const shown = `${before}[redacted]`.slice(0, maxNotedBytes);
      for (const body of [before + secret, Buffer.from(before + secret)]) {
        should(noted(body)).equal(part < "[redacted]".length ? `${shown}…` : shown);
      }
    }
  });

  it("has no part of a secret where many of them make it short before it is cut", () => {
    for (const rest of ["", "y", "y".repeat(10)]) {
      const answer = noted(rest + `${secret} `.repeat(500)) ?? "";
      answer.should.match(/^y*(\[redacted\] )+(\[redacted\]?|\[r?e?d?a?c?t?e?d?)?…$/);
    }
  });

  it("is cut to as many bytes of text, also where there is no secret yet", () => {
    should(noted(Buffer.from("ä".repeat(maxNotedBytes)))).equal(`${"ä".repeat(maxNotedBytes / 2)}…`);
    const beginning = `${"x".repeat(maxNotedBytes)}…`;
    for (const redactor of [undefined, new Redactor([""])]) {
      should(noteReply("x".repeat(3 * maxNotedBytes), redactor).answer).equal(beginning);
    }
  });

  it("is all of it, where it is short and has none", () => {
    should(noted(`a ${secret.slice(0, -1)}`)).equal(`a ${secret.slice(0, -1)}`);
    should(noted("to be continued…")).equal("to be continued…");
    should(noted("")).be.undefined();
  });
});
