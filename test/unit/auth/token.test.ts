import should from "should";
import { TestCredentials } from "../../../src/auth/test-credentials";
import type { Authenticator } from "../../../src/auth/authenticator";
import { createTokenAuthenticator } from "../../../src/auth/token";
import { rules } from "../../../src/config/fields";
import { Problem, problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";

/** Why a request is refused; nothing where it is accepted. */
function refusalBy(authenticator: Authenticator, rawHeaders: string[], search: string): Problem | undefined {
  const entry = authenticator.checkHead({ method: "POST", rawHeaders, search }, 0);
  return entry instanceof Problem ? entry : undefined;
}

describe("a test credential", () => {
  const access = { method: "header", name: "X-Token", first: token, callers: [] } as const;
  const arrive = (presented: string) => ["X-Token", presented];
  const setUp = () => {
    const testCredentials = new TestCredentials();
    return { testCredentials, authenticator: createTokenAuthenticator(access, testCredentials.of("hook")) };
  };

  it("has the form of a token, and is another each time", () => {
    const { testCredentials } = setUp();
    const tokens = Array.from({ length: 100 }, () => testCredentials.issue("hook").token);
    for (const testCredential of tokens) should(rules.token(testCredential)).be.undefined();
    new Set(tokens).size.should.equal(100);
  });

  it("is valid for one request beside others, however often that is checked, also after a deploy", () => {
    const { testCredentials } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
    testCredentials.issue("hook");
    const authenticator = createTokenAuthenticator({ ...access, first: "x".repeat(40) }, testCredentials.of("hook"));
    const request = arrive(testCredential);
    should(refusalBy(authenticator, request, "")).be.undefined();
    should(refusalBy(authenticator, request, "")).be.undefined();
    should(refusalBy(authenticator, arrive(testCredential), "")).equal(problems.tokenInvalid);
  });

  it("is not valid once it is revoked, or at another node", () => {
    const { testCredentials, authenticator } = setUp();
    const testCredential = testCredentials.issue("hook");
    const other = testCredentials.issue("other");
    testCredential.revoke();
    for (const { token } of [testCredential, other]) {
      should(refusalBy(authenticator, arrive(token), "")).equal(problems.tokenInvalid);
      authenticator.redactor.contains(token).should.be.false();
    }
    should(refusalBy(authenticator, arrive(token), "")).be.undefined();
  });

  it("is redacted like a token", () => {
    const { testCredentials, authenticator } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
    authenticator.redactor.redact(`${testCredential} and ${token}`).should.equal("[redacted] and [redacted]");
  });
});
