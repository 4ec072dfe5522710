import crypto from "node:crypto";
import { mock } from "node:test";
import fc from "fast-check";
import should from "should";
import type { Authenticator } from "../../src/auth/authenticator";
import { createBasicAuthenticator } from "../../src/auth/basic";
import { CallerTokens } from "../../src/auth/caller-tokens";
import { Redactor } from "../../src/auth/redactor";
import { TestCredentials } from "../../src/auth/test-credentials";
import { createTokenAuthenticator } from "../../src/auth/token";
import { parseCallers } from "../../src/config/callers";
import { callerMethods, callers, callerToken, presentations } from "../harness/callers";
import { shouldGrowEvenly } from "../harness/cost";
import { token } from "../harness/flow";
import { hostileTexts } from "../harness/hostile";
import { seed } from "../harness/property";

const listOf = (...names: string[]) => {
  const parsed = parseCallers(callers(...names).callers);
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
};
const many = Array.from({ length: 1000 }, (_, index) => `caller ${index}`);

/** By each method, with a credential of its own. */
function createAuthenticator(method: (typeof callerMethods)[number], ...names: string[]): Authenticator {
  const known = listOf(...names);
  if (method === "basic") {
    const access = { method, user: "own", first: "its password", callers: known };
    return createBasicAuthenticator(access, new TestCredentials().of(""));
  }
  const name = method === "header" ? "Authorization" : "state";
  return createTokenAuthenticator({ method, name, first: token, callers: known });
}

describe("a list of callers", () => {
  const digest = "0123456789abcdef".repeat(4);
  const read = (...list: unknown[]) => parseCallers(JSON.stringify(list));
  const named = (...names: unknown[]) =>
    read(...names.map((name, index) => ({ name, digest: digest.slice(4) + String(index).padStart(4, "0") })));

  it("is read, or breaks a rule, whatever it is", () => {
    const caller = fc.record({ name: fc.oneof(fc.string(), fc.anything()), digest: fc.oneof(fc.constant(digest), fc.anything()) }); // prettier-ignore
    const saved = fc.oneof(fc.anything(), fc.string(), fc.json(), fc.array(caller), fc.array(caller).map((list) => fc.stringify(list))); // prettier-ignore
    const property = fc.property(saved, (value) => {
      const parsed = parseCallers(value);
      if (typeof parsed === "string") return /^callers\.(format|many|name|digest|twice)$/.test(parsed);
      return parsed.every(({ name, digest }) => name.trim() === name && /^[0-9a-f]{64}$/.test(digest));
    });
    fc.assert(property, { seed, numRuns: 3000 });
  });

  for (const [rule, lists] of Object.entries({
    "callers.format": ["door", "{}", "[1]", '["door"]', "[[]]", "[null]", "null", "true", "[", `[{"name":"door"}`],
    "callers.many": [JSON.stringify(Array(1001).fill({ name: "door", digest }))],
  })) {
    it(`is none: ${rule}`, () => {
      for (const list of lists) should(parseCallers(list)).equal(rule, list);
    });
  }

  it("has names of 1 to 64 characters that are shown as they are, and digests in 64 lower-case digits", () => {
    const bad = ["", " ", "x".repeat(65), " door", "door\u00a0", "a\nb", "a\u0000b", "\u007f", "\u0085x", "a\u2028b", "a\ud800b", "\u200b", "a\u202eb", "\u200d", 1, null, {}]; // prettier-ignore
    for (const name of bad) should(named(name)).equal("callers.name", JSON.stringify(name));
    for (const each of ["", digest.toUpperCase(), digest.slice(1), `${digest}0`, `${digest.slice(1)}g`, ` ${digest}`, `${digest}\n`, 1, null, [digest]]) {
      should(read({ name: "door", digest: each })).equal("callers.digest", JSON.stringify(each));
    } // prettier-ignore
    should(read({ digest })).equal("callers.name");
    should(read({ name: "door" })).equal("callers.digest");
    should(parseCallers(`[{"__proto__":{"name":"door","digest":"${digest}"}}]`)).equal("callers.name");
  });

  it("has no name twice, letter case aside as Unicode has it for all languages, and no token twice", () => {
    for (const names of [
      ["door", "Door"],
      ["Ä", "ä"],
      ["ΔΟΟΡ", "δοορ"],
      ["a", "b", "A"],
    ]) {
      should(named(...names)).equal("callers.twice", names.join());
    }
    should(read({ name: "one", digest }, { name: "other", digest })).equal("callers.twice");
    // Names that only look alike are two: it is the token that counts, with `basic` the very bytes of the name as well.
    for (const names of [["ß", "ss"], ["I", "ı"], ["é", "e\u0301"], ["__proto__", "constructor", "toString"], many, ["x".repeat(64)]]) {
      should(named(...names)).have.length(names.length);
    } // prettier-ignore
  });
});

describe("a thousand callers", () => {
  /** What is computed for a request. */
  const countDigests = (work: () => unknown) => {
    const methods = (["hash", "timingSafeEqual", "createHash"] as const).map((name) => mock.method(crypto, name));
    work();
    const counts = methods.map(({ mock: { calls } }) => calls.length);
    mock.restoreAll();
    return counts;
  };
  const present = (method: (typeof callerMethods)[number], name: string, sent?: string) => {
    const { search, headers } = presentations[method](name, sent);
    return { method: "POST", rawHeaders: Object.entries(headers).flat(), search: search.slice(1) };
  };

  for (const method of callerMethods) {
    it(`cost a request no more digests than one does, and none by which of them it is: ${method}`, () => {
      const one = createAuthenticator(method, "caller 500");
      const all = createAuthenticator(method, ...many);
      const known = present(method, "caller 500");
      const expected = countDigests(() => one.checkHead(known, 0));
      (expected[0] ?? 0).should.be.within(1, 2);
      for (const authenticator of [one, all]) {
        for (const [name, sent] of [["caller 500"], ["caller 0"], ["caller 999"], ["caller 500", "x".repeat(40)], ["nobody"]] as const) {
          const head = present(method, name, sent);
          const counts = countDigests(() => authenticator.checkHead(head, 0));
          // A wrong one is looked for among the test requests on their way as well, of which there are none.
          should(counts).eql(expected, `${name} ${sent}`);
        }
      } // prettier-ignore
      // What cannot be a token costs no more.
      const odd = present(method, "x", "x");
      const least = countDigests(() => all.checkHead(odd, 0));
      (least[0] ?? 0).should.be.belowOrEqual(expected[0] ?? 0);
      const results = ["caller 0", "caller 500", "caller 999"].map((name) => all.checkHead(present(method, name), 0));
      should(results.map((result) => "credential" in result && result.caller)).eql(["caller 0", "caller 500", "caller 999"]); // prettier-ignore
    });
  }

  it("cost a text that is shown no more digests than one does, in a time that grows with its length and no faster", async () => {
    const redactorOf = (...names: string[]) => new Redactor([], undefined, new CallerTokens(listOf(...names)));
    const [one, all] = [redactorOf("caller 0"), redactorOf(...many)];
    for (const text of Object.values(hostileTexts(16_384))) {
      should(countDigests(() => all.redact(text))).eql(countDigests(() => one.redact(text)));
      should(countDigests(() => all.findIn(Buffer.from(text)))).eql(countDigests(() => one.findIn(Buffer.from(text))));
    }
    const present = `${callerToken("caller 7")} `;
    for (const piece of [present, "x", `${"x".repeat(39)} `, `${"x".repeat(40)} `, "-", "%20", "\\u0022"]) {
      await shouldGrowEvenly((size) => void all.redact(piece.repeat(size / piece.length)), 400_000);
    }
  });
});
