import should from "should";
import type { Authenticated } from "../../../src/auth/authenticator";
import { createBasicAuthenticator } from "../../../src/auth/basic";
import { digest, makeToken } from "../../../src/auth/digest";
import { TestCredentials } from "../../../src/auth/test-credentials";
import { Problem } from "../../../src/request/problem";

const access = {
  method: "basic",
  user: "sensor",
  first: "pässword:1",
  second: "another-password",
  callers: [],
} as const;
const authenticator = createBasicAuthenticator(access, new TestCredentials().of(""));

function encode(pair: string): string {
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function judge(...values: string[]): string {
  const rawHeaders = values.flatMap((value) => ["Authorization", value]);
  const result = authenticator.checkHead({ method: "POST", rawHeaders, search: "" }, 0);
  return result instanceof Problem ? result.name : (result as Authenticated).credential;
}

function explain(value: string, by = authenticator, more: readonly string[] = []): string[] {
  const head = { method: "POST", rawHeaders: ["Authorization", value, ...more], search: "" };
  return by.explain({ head, at: 0 }).reasons.map(({ key }) => key);
}

describe("Basic authentication", () => {
  it("accepts user and password in UTF-8, and the second password", () => {
    judge(encode("sensor:pässword:1")).should.equal("first");
    judge(encode("sensor:another-password").replace("Basic", "bASIC")).should.equal("second");
  });

  it("accepts the example of RFC 7617", () => {
    const aladdin = { method: "basic", user: "Aladdin", first: "open sesame", callers: [] } as const;
    const rawHeaders = ["Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="];
    const head = { method: "POST", rawHeaders, search: "" };
    const result = createBasicAuthenticator(aladdin, new TestCredentials().of("")).checkHead(head, 0);
    should(result).have.property("credential", "first");
  });

  const refused: [string, string, string][] = [
    ["another password", encode("sensor:password"), "basic.password"],
    ["another user", encode("Sensor:another-password"), "basic.user"],
    ["an empty password", encode("sensor:"), "basic.password"],
    ["a blank behind the password", encode("sensor:another-password "), "basic.blank"],
    ["no colon", encode("sensor"), "basic.malformed"],
    ["broken base64", "Basic c2Vuc29y=OmE", "basic.malformed"],
    ["a Bearer token", "Bearer x", "basic.bearer"],
  ];
  for (const [title, value, reason] of refused) {
    it(`refuses ${title}, and says so to the operator only`, () => {
      judge(value).should.equal("passwordInvalid");
      explain(value).should.eql([reason]);
    });
  }

  it("says what is wrong with a caller's name or token, which may be an old one", () => {
    const token = makeToken();
    const callers = [{ name: "Tür: 1", digest: digest(token).toString("hex") }];
    for (const own of [access, { ...access, user: "", first: "", second: "" }]) {
      const withCallers = createBasicAuthenticator({ ...own, callers }, new TestCredentials().of(""));
      for (const [pair, reason] of [
        [`Tür: 1: ${token}`, "basic.blank"],
        [`Tür 1:${token}`, "basic.callerName"],
        [`:${token} `, "basic.callerName"],
        [`Tür: 1:${makeToken()}`, "callerUnknown"],
        ["gone:x", "callerUnknown"],
      ] as const) {
        explain(encode(pair), withCallers).should.eql([reason], pair);
      }
    }
  });

  it("refuses a missing and a repeated field", () => {
    judge().should.equal("passwordMissing");
    const right = encode("sensor:another-password");
    judge(right, right).should.equal("passwordInvalid");
    explain(right, authenticator, ["Authorization", right]).should.eql([]);
  });

  it("redacts passwords, plain and encoded", () => {
    authenticator.redactor
      .redact(`a ${encode("sensor:another-password")} b`)
      .should.not.containEql(encode("sensor:another-password").slice(6));
    authenticator.redactor.redact("x another-password y").should.not.containEql("another-password");
  });
});
