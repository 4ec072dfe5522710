import should from "should";
import { TestCredentials } from "../../../src/auth/test-credentials";
import { TokenAuthenticator } from "../../../src/auth/token";
import { rules } from "../../../src/config/rules";
import { Problem, problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";

type Outcome = "accepted" | "tokenMissing" | "tokenInvalid";

/** Why a request is refused; nothing where it is accepted. */
function refusalBy(authenticator: TokenAuthenticator, rawHeaders: string[], search: string): Problem | undefined {
  const entry = authenticator.begin({ method: "POST", rawHeaders, search });
  return entry instanceof Problem ? entry : undefined;
}

function outcome(method: "header" | "query", name: string, headers: string[], search = ""): Outcome {
  const problem = refusalBy(new TokenAuthenticator({ method, name, token, secondToken: "" }), headers, search);
  return problem ? (problem.name as Outcome) : "accepted";
}

// What attackers send is in test/adversary/token.test.ts.
describe("a token", () => {
  const encoded = encodeURIComponent(token);
  const cases: [string, "header" | "query", string, string[], string, Outcome][] = [
    ["Bearer and the token", "header", "Authorization", ["Authorization", `Bearer ${token}`], "", "accepted"],
    ["the scheme in capitals", "header", "Authorization", ["authorization", `BEARER ${token}`], "", "accepted"],
    ["more than one space", "header", "authorization", ["AUTHORIZATION", `bearer   ${token}`], "", "accepted"],
    ["a token of 100,000 characters", "header", "Authorization", ["Authorization", `Bearer ${"x".repeat(100_000)}`], "", "tokenInvalid"],
    ["the field twice, never with a token", "header", "Authorization", ["Authorization", "Basic eDp4", "Authorization", ""], "", "tokenMissing"],
    ["the token in the query", "header", "Authorization", [], `state=${token}&Authorization=${token}`, "tokenMissing"],
    ["the name of the field as a value", "header", "Authorization", ["X-A", "Authorization", "X-B", `Bearer ${token}`], "", "tokenMissing"],
    ["the bare token in another field", "header", "X-Gitlab-Token", ["x-gitlab-TOKEN", token], "", "accepted"],
    ["Bearer and the token in another field", "header", "X-Gitlab-Token", ["X-Gitlab-Token", `Bearer ${token}`], "", "accepted"],
    ["another scheme in another field", "header", "X-Gitlab-Token", ["X-Gitlab-Token", `Basic ${token}`], "", "tokenInvalid"],
    ["the parameter", "query", "state", [], `a=1&state=${encoded}`, "accepted"],
    ["the parameter with each character encoded", "query", "state", [], `state=${percentEncoded(token)}`, "accepted"],
    ["the parameter's name encoded", "query", "state", [], `%73tate=${encoded}`, "accepted"],
    ["a bearer token in the query", "query", "state", [], `state=Bearer%20${encoded}`, "tokenInvalid"],
    ["the token in fields", "query", "state", ["Authorization", `Bearer ${token}`, "state", token], "", "tokenMissing"],
  ]; // prettier-ignore
  for (const [what, method, name, headers, search, expected] of cases) {
    it(`by the ${method} ${name}, with ${what}: ${expected}`, () => {
      outcome(method, name, headers, search).should.equal(expected);
    });
  }

  it("challenges as RFC 6750 says: without an error code where no token came", () => {
    should(problems.tokenMissing.headers["WWW-Authenticate"]).equal('Bearer realm="webhook"');
    should(problems.tokenInvalid.headers["WWW-Authenticate"]).equal('Bearer realm="webhook", error="invalid_token"');
  });
});

describe("a test credential", () => {
  const access = { method: "header", name: "X-Token", token, secondToken: "" } as const;
  const arrive = (presented: string) => ["X-Token", presented];
  const setUp = () => {
    const testCredentials = new TestCredentials();
    return { testCredentials, authenticator: new TokenAuthenticator(access, "hook", testCredentials) };
  };

  it("has the form of a token, and is another each time", () => {
    const { testCredentials } = setUp();
    const tokens = Array.from({ length: 100 }, () => testCredentials.issue("hook").token);
    for (const testCredential of tokens) should(rules.token(testCredential)).be.undefined();
    new Set(tokens).size.should.equal(100);
  });

  it("is valid for one request, however often that is checked", () => {
    const { testCredentials, authenticator } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
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

  it("is valid beside others, and after a deploy", () => {
    const { testCredentials } = setUp();
    const issued = [testCredentials.issue("hook"), testCredentials.issue("hook")];
    const successor = new TokenAuthenticator({ ...access, token: "x".repeat(40) }, "hook", testCredentials);
    for (const testCredential of issued) should(refusalBy(successor, arrive(testCredential.token), "")).be.undefined();
  });

  it("is redacted like a token", () => {
    const { testCredentials, authenticator } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
    authenticator.redactor.redact(`${testCredential} and ${token}`).should.equal("[redacted] and [redacted]");
  });
});

function percentEncoded(text: string): string {
  return Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
}
