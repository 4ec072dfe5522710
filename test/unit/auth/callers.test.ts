import should from "should";
import type { Authenticator } from "../../../src/auth/authenticator";
import { createBasicAuthenticator } from "../../../src/auth/basic";
import { CallerTokens } from "../../../src/auth/caller-tokens";
import { digest, makeToken } from "../../../src/auth/digest";
import { Redactor } from "../../../src/auth/redactor";
import { TestCredentials } from "../../../src/auth/test-credentials";
import { createTokenAuthenticator } from "../../../src/auth/token";
import { token } from "../../harness/flow";

const names = ["door", "Sensor: Keller, ß", "__proto__"];
const made = names.map((name) => ({ name, token: makeToken() }));
const callers = made.map(({ name, token }) => ({ name, digest: digest(token).toString("hex") }));
const testCredentials = new TestCredentials().of("hook");

/** The name of the caller; `own` for the node's credential, nothing where it is refused. */
function judge(authenticator: Authenticator, rawHeaders: string[], search = ""): string | undefined {
  const result = authenticator.checkHead({ method: "POST", rawHeaders, search }, 0);
  return "credential" in result ? (result.caller ?? "own") : undefined;
}

describe("callers", () => {
  for (const own of [token, ""]) {
    const isOwn = own === "" ? "without" : "beside";
    const byHeader = createTokenAuthenticator({ method: "header", name: "Authorization", first: own, callers });
    const byQuery = createTokenAuthenticator({ method: "query", name: "state", first: own, callers });
    const password = own && "secret";
    const access = { method: "basic", user: own && "me", first: password, callers } as const;
    const byBasic = createBasicAuthenticator(access, testCredentials);
    const basic = (pair: string) => ["Authorization", `Basic ${Buffer.from(pair).toString("base64")}`];

    it(`are known by their tokens ${isOwn} the node's own credential, and are not known without one`, () => {
      for (const { name, token } of made) {
        should(judge(byHeader, ["Authorization", `Bearer ${token}`])).equal(name);
        should(judge(byQuery, [], `state=${token}`)).equal(name);
        should(judge(byBasic, basic(`${name}:${token}`))).equal(name);
        for (const other of [...names, "me", ""]) {
          if (other !== name) should(judge(byBasic, basic(`${other}:${token}`))).be.undefined();
        }
      }
      const expected = own === "" ? undefined : "own";
      should(judge(byHeader, ["Authorization", `Bearer ${own}`])).equal(expected);
      should(judge(byQuery, [], `state=${encodeURIComponent(own)}`)).equal(expected);
      should(judge(byBasic, basic(`${own && "me"}:${password}`))).equal(expected);
      for (const other of [makeToken(), callers[0]?.digest ?? "", "door"]) {
        should(judge(byHeader, ["Authorization", `Bearer ${other}`])).be.undefined();
        should(judge(byQuery, [], `state=${other}`)).be.undefined();
        should(judge(byBasic, basic(`door:${other}`))).be.undefined();
      }
    });
  }

  it("have no token but one of 40 characters, whatever digest is saved", () => {
    for (const presented of ["", "x", "x".repeat(39), "x".repeat(41), `${"x".repeat(39)}.`]) {
      const saved = [{ name: "door", digest: digest(presented).toString("hex") }];
      const authenticator = createTokenAuthenticator({ method: "query", name: "state", first: "", callers: saved });
      should(judge(authenticator, [], `state=${presented}`)).be.undefined();
    }
  });

  it("have tokens that are redacted wherever a text or a body has them", () => {
    const redactor = new Redactor(["a secret of ours"], undefined, new CallerTokens(callers));
    const [first = "", second = ""] = made.map(({ token }) => token);
    for (const [before, after] of [
      ["", ""],
      ["%20", "&"],
      ["Bearer ", "\n"],
      ['{"a":"', '"}'],
      ["\\n", "\\n"],
      ["", "_1"],
    ] as const) {
      const text = before + first + after;
      redactor.contains(text).should.be.true();
      redactor.redact(text).should.equal(`${before}[redacted]${after}`);
      String(redactor.redactBytes(Buffer.from(`ä${text}`))).should.equal(`ä${before}[redacted]${after}`);
    }
    redactor.redact(`${first}${second}, a secret of ours`).should.equal("[redacted][redacted], [redacted]");
    String(redactor.redactBytes(Buffer.from(`${second} a secret of ours ${first}`))).should.equal("[redacted] [redacted] [redacted]"); // prettier-ignore
    for (const { name, token } of made) {
      const pair = Buffer.from(`${name}:${token}`).toString("base64");
      const hidden = pair.replace(/^[^=]+/, "[redacted]");
      redactor.redact(`Basic ${pair}, ${pair}`).should.equal(`Basic ${hidden}, ${hidden}`);
    }
    const other = makeToken();
    redactor.contains(other).should.be.false();
    redactor.redact(other).should.equal(other);
  });

  it("have long files in base64 looked at no further than at their ends", () => {
    const redactor = new Redactor([], undefined, new CallerTokens(callers));
    const [token = ""] = made.map((each) => each.token);
    const file = "x/".repeat(10_000);
    redactor.redact(`${token}/${file}`).should.equal(`[redacted]/${file}`);
    redactor.redact(`${file}${token}`).should.equal(`${file}[redacted]`);
    redactor.contains(`${file}${token}/${file}`).should.be.false();
  });

  it("have no text that is full of words as long as tokens looked through to its end", () => {
    const redactor = new Redactor([], undefined, new CallerTokens(callers));
    const words = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(40, "x"));
    redactor.redact(words(10_000).join(" ")).should.equal(words(10_000).join(" "));
    redactor
      .redact([...words(10_000), "a", ...words(10_000)].join(" "))
      .should.equal(`${words(10_000).join(" ")} a [redacted]`);
  });

  it("have tokens that are different, and that no spreadsheet takes for a formula", () => {
    const tokens = Array.from({ length: 1000 }, makeToken);
    new Set(tokens).size.should.equal(1000);
    for (const each of tokens) each.should.match(/^(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9_][A-Za-z0-9_-]{39}$/);
  });
});
