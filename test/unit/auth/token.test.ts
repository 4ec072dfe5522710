import should from "should";
import { TestCredentials } from "../../../src/auth/test-credentials";
import { TokenAuthenticator } from "../../../src/auth/token";
import { rules } from "../../../src/config/rules";
import { Problem, problems } from "../../../src/request/problem";
import { token } from "../../harness/flow";

type Outcome = "accepted" | "tokenMissing" | "tokenInvalid";

/** Why a gate refuses a request; nothing where it lets it in. */
function refusalBy(authenticator: TokenAuthenticator, rawHeaders: string[], search: string): Problem | undefined {
  const entry = authenticator.begin({ method: "POST", rawHeaders, search });
  return entry instanceof Problem ? entry : undefined;
}

function outcome(method: "header" | "query", name: string, headers: string[], search = ""): Outcome {
  const problem = refusalBy(new TokenAuthenticator({ method, name, token, secondToken: "" }), headers, search);
  return problem ? (problem.name as Outcome) : "accepted";
}

describe("a token's gate", () => {
  describe("by the Authorization header", () => {
    const cases: [string, string[], Outcome][] = [
      ["Bearer and the token", ["Authorization", `Bearer ${token}`], "accepted"],
      ["the scheme in capitals", ["authorization", `BEARER ${token}`], "accepted"],
      ["more than one space", ["AUTHORIZATION", `bearer   ${token}`], "accepted"],
      ["no header", ["Host", "x"], "tokenMissing"],
      ["an empty header", ["Authorization", ""], "tokenMissing"],
      ["only the scheme", ["Authorization", "Bearer"], "tokenMissing"],
      ["another scheme", ["Authorization", `Basic ${token}`], "tokenMissing"],
      ["the bare token", ["Authorization", token], "tokenMissing"],
      ["the token in another header", ["X-Token", token], "tokenMissing"],
      ["a wrong token", ["Authorization", `Bearer ${"x".repeat(40)}`], "tokenInvalid"],
      ["a token in other letter case", ["Authorization", `Bearer ${token.toUpperCase()}`], "tokenInvalid"],
      ["a token that is too short", ["Authorization", `Bearer ${token.slice(1)}`], "tokenInvalid"],
      ["a token that is too long", ["Authorization", `Bearer ${token}x`], "tokenInvalid"],
      ["a token of 100,000 characters", ["Authorization", `Bearer ${"x".repeat(100_000)}`], "tokenInvalid"],
      ["a token that is not ASCII", ["Authorization", "Bearer \u00e4".padEnd(47, "\u00ff")], "tokenInvalid"],
      ["the token twice in one header", ["Authorization", `Bearer ${token}, Bearer ${token}`], "tokenInvalid"],
      ["the header twice", ["Authorization", `Bearer ${token}`, "authorization", `Bearer ${token}`], "tokenInvalid"],
      [
        "the header twice, once wrong",
        ["Authorization", "Bearer x", "Authorization", `Bearer ${token}`],
        "tokenInvalid",
      ],
      [
        "the header twice, once of another scheme",
        ["Authorization", "Basic eDp4", "Authorization", `Bearer ${token}`],
        "tokenInvalid",
      ],
      ["the header twice, once empty", ["Authorization", `Bearer ${token}`, "Authorization", ""], "tokenInvalid"],
      ["the header twice, never with a token", ["Authorization", "Basic eDp4", "Authorization", ""], "tokenMissing"],
    ];
    for (const [name, headers, expected] of cases) {
      it(`${name}: ${expected}`, () => outcome("header", "Authorization", headers).should.equal(expected));
    }
    it("does not look into the query", () => {
      outcome("header", "Authorization", [], `state=${token}&Authorization=${token}`).should.equal("tokenMissing");
    });
    it("takes a value for a name only in its place", () => {
      outcome("header", "Authorization", ["X-A", "Authorization", "X-B", `Bearer ${token}`]).should.equal(
        "tokenMissing",
      );
    });
  });

  describe("by another header", () => {
    const cases: [string, string[], Outcome][] = [
      ["the bare token", ["x-gitlab-TOKEN", token], "accepted"],
      ["Bearer and the token", ["X-Gitlab-Token", `Bearer ${token}`], "accepted"],
      ["an empty header", ["X-Gitlab-Token", ""], "tokenMissing"],
      ["the token in Authorization", ["Authorization", `Bearer ${token}`], "tokenMissing"],
      ["another scheme", ["X-Gitlab-Token", `Basic ${token}`], "tokenInvalid"],
      ["the token twice", ["X-Gitlab-Token", token, "X-Gitlab-Token", token], "tokenInvalid"],
    ];
    for (const [name, headers, expected] of cases) {
      it(`${name}: ${expected}`, () => outcome("header", "X-Gitlab-Token", headers).should.equal(expected));
    }
  });

  describe("by the query", () => {
    const encoded = encodeURIComponent(token);
    const cases: [string, string, Outcome][] = [
      ["the token", `a=1&state=${encoded}`, "accepted"],
      ["the token with every character encoded", `state=${percentEncoded(token)}`, "accepted"],
      ["the name encoded", `%73tate=${encoded}`, "accepted"],
      ["no query", "", "tokenMissing"],
      ["an empty value", "state=", "tokenInvalid"],
      ["another name", `token=${encoded}`, "tokenMissing"],
      ["the name in other letter case", `State=${encoded}`, "tokenMissing"],
      ["the name with brackets", `state[]=${encoded}`, "tokenMissing"],
      ["the name with a key in brackets", `state[a]=${encoded}`, "tokenMissing"],
      ["the token twice", `state=${encoded}&state=${encoded}`, "tokenInvalid"],
      ["a wrong token", `state=${"x".repeat(40)}`, "tokenInvalid"],
      ["broken percent-encoding", "state=%", "tokenInvalid"],
      ["a bearer token", `state=Bearer%20${encoded}`, "tokenInvalid"],
    ];
    for (const [name, search, expected] of cases) {
      it(`${name}: ${expected}`, () => outcome("query", "state", [], search).should.equal(expected));
    }
    it("does not look into the headers", () => {
      outcome("query", "state", ["Authorization", `Bearer ${token}`, "state", token]).should.equal("tokenMissing");
    });
  });

  it("challenges as RFC 6750 says: without an error code where no token came", () => {
    should(problems.tokenMissing.headers["WWW-Authenticate"]).equal('Bearer realm="webhook"');
    should(problems.tokenInvalid.headers["WWW-Authenticate"]).equal('Bearer realm="webhook", error="invalid_token"');
  });
});

describe("a stand-in", () => {
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

  it("lets one request in, which may be asked for it again, and no other", () => {
    const { testCredentials, authenticator } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
    const request = arrive(testCredential);
    should(refusalBy(authenticator, request, "")).be.undefined();
    should(refusalBy(authenticator, request, "")).be.undefined();
    should(refusalBy(authenticator, arrive(testCredential), "")).equal(problems.tokenInvalid);
  });

  it("lets nobody in once it is revoked, or at another node", () => {
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

  it("is valid beside others, and with the node that a deploy has put in the place of the first", () => {
    const { testCredentials } = setUp();
    const issued = [testCredentials.issue("hook"), testCredentials.issue("hook")];
    const successor = new TokenAuthenticator({ ...access, token: "x".repeat(40) }, "hook", testCredentials);
    for (const testCredential of issued) should(refusalBy(successor, arrive(testCredential.token), "")).be.undefined();
  });

  it("is kept secret like a token", () => {
    const { testCredentials, authenticator } = setUp();
    const { token: testCredential } = testCredentials.issue("hook");
    authenticator.redactor.redact(`${testCredential} and ${token}`).should.equal("[redacted] and [redacted]");
  });
});

function percentEncoded(text: string): string {
  return Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
}
