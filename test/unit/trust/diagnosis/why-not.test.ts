import { createHmac } from "node:crypto";
import should from "should";
import { explainToken, type Finding, originals, type Verification, whyNot } from "../../../../src/auth/diagnosis";
import type { RefusalReason } from "../../../../src/auth/result";
import type { SenderId } from "../../../../src/auth/senders/table";
import { Verifier } from "../../../../src/auth/signature/verifier";
import { schemeOf } from "../../../harness/verification";

const at = 1_767_225_600_000;
const hmac = (text: string | Buffer, secret: string | Buffer = "secret") =>
  createHmac("sha256", secret).update(text).digest();

/** What the operator is told of a request that a sender signed, and that was refused. */
function findings(verification: Verification, rawHeaders: string[], body: Buffer | string, search = ""): Finding[] {
  const { scheme, secrets, publicUrl } = verification;
  const head = { method: "POST", rawHeaders, search };
  const bytes = Buffer.from(body);
  const why = refusalOf(Verifier.of(scheme, secrets, publicUrl), head, bytes);
  return whyNot(verification, { why, head, body: bytes, at });
}

function refusalOf(
  verifier: ReturnType<typeof Verifier.of>,
  head: Parameters<Verifier["begin"]>[0],
  body: Buffer,
): RefusalReason {
  if (!(verifier instanceof Verifier)) throw new Error(verifier.rule);
  const check = verifier.begin(head, at);
  if ("why" in check) return check.why;
  const verdict = check.verdict(() => body);
  if (!("why" in verdict)) throw new Error("accepted");
  return verdict.why;
}

function of(sender: SenderId, first = "secret", publicUrl = "https://example.com/hook"): Verification {
  return { sender, scheme: schemeOf(sender, publicUrl), secrets: { first }, publicUrl };
}

const byGitHub = (body: string | Buffer, secret = "secret") =>
  ["X-GitHub-Event", "push", "X-GitHub-Delivery", "1", "X-Hub-Signature-256", `sha256=${hmac(body, secret).toString("hex")}`]; // prettier-ignore

describe("why a signature does not fit", () => {
  describe("since something has changed the body", () => {
    const json = '{"a": [1, 2.5, "ü/"], "b": {}}';
    const cases: [string, string | Buffer, string | Buffer, string][] = [
      ["a line feed was added", "{}", "{}\n", "trailingNewline"],
      ["a line feed was taken off", "{}\n", "{}", "trailingNewline"],
      ["a CRLF was taken off", "{}\r\n", "{}", "trailingNewline"],
      ["a CRLF was added", "a", "a\r\n", "trailingNewline"],
      ["CRLF have become line feeds", "a\r\nb", "a\nb", "lineEndings"],
      ["line feeds have become CRLF", "a\nb\n", "a\r\nb\r\n", "lineEndings"],
      ["a byte-order mark was taken off", "\ufeff{}", "{}", "byteOrderMark"],
      ["a byte-order mark was added", "{}", "\ufeff{}", "byteOrderMark"],
      ["JSON was made compact", json, '{"a":[1,2.5,"ü/"],"b":{}}', "json"],
      ["JSON was made pretty", '{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}', "json"],
      ["pretty JSON was made compact", '{\n    "a": 1\n}', '{"a":1}', "json"],
      ["escapes of PHP were undone", '{"a":"\\u00fc\\ud83d\\ude00\\/"}', '{"a":"ü😀/"}', "json"],
      ["escapes of Python were undone", '{"a": "\\u00fc", "b": []}', '{"a":"ü","b":[]}', "json"],
      ["a line feed was added to bytes that are no text", Buffer.from([0xff, 0xc3]), Buffer.from([0xff, 0xc3, 10]), "trailingNewline"],
    ]; // prettier-ignore
    for (const [name, signed, came, change] of cases) {
      it(`${name}: ${change}`, () => {
        findings(of("github"), byGitHub(signed), came).should.eql([{ kind: "bodyChanged", change }]);
      });
    }

    it("with either secret", () => {
      const verification = { ...of("github", "other"), secrets: { first: "other", second: "secret" } };
      findings(verification, byGitHub("{}\n"), "{}").should.eql([{ kind: "bodyChanged", change: "trailingNewline" }]);
    });

    it("is not looked for in a long one", () => {
      const long = " ".repeat(65_537);
      findings(of("github"), byGitHub(`${long}\n`), long).should.eql([]);
      findings(of("github"), byGitHub(`${long.slice(1)}\n`), long.slice(1)).should.not.eql([]);
    });

    it("is tried in a few forms only, whatever is in it", () => {
      for (const body of ["", "{}", "\r\n", "[".repeat(5000), `${"[".repeat(200)}${"]".repeat(200)}`, '"\\u0000"']) {
        [...originals(Buffer.from(body))].length.should.be.belowOrEqual(16);
      }
    });
  });

  describe("since the secret is not as the sender has it", () => {
    const cases: [string, SenderId, string, string, object][] = [
      ["a blank behind it", "github", "secret ", "secret", { kind: "secretBlank" }],
      ["a line feed before it", "github", "\nsecret", "secret", { kind: "secretBlank" }],
      ["a prefix of signatures", "github", "sha256=secret", "secret", { kind: "secretPrefixTooMuch", prefix: "sha256=" }],
      ["a prefix of other secrets", "github", "whsec_secret", "secret", { kind: "secretPrefixTooMuch", prefix: "whsec_" }],
      ["a prefix too much and a blank", "github", " whsec_secret", "secret", { kind: "secretPrefixTooMuch", prefix: "whsec_" }],
    ]; // prettier-ignore
    for (const [name, sender, typed, own, finding] of cases) {
      it(`${name}: ${JSON.stringify(finding)}`, () => {
        findings(of(sender, typed), byGitHub("{}", own), "{}").should.eql([finding]);
      });
    }

    it("lacks the prefix that is part of it", () => {
      const time = String(at / 1000);
      const signed = (secret: string) => `t=${time},v1=${hmac(`${time}.{}`, secret).toString("hex")}`;
      findings(of("stripe", "5WbX5k"), ["Stripe-Signature", signed("whsec_5WbX5k")], "{}").should.eql([
        { kind: "secretPrefixMissing", prefix: "whsec_" },
      ]);
      const paddle = `ts=${time};h1=${hmac(`${time}:{}`, "pdl_ntfset_01").toString("hex")}`;
      findings(of("paddle", "01"), ["Paddle-Signature", paddle], "{}").should.eql([
        { kind: "secretPrefixMissing", prefix: "pdl_ntfset_" },
      ]);
    });
  });

  it("since another URL was signed", () => {
    const came = (url: string) => ["x-square-hmacsha256-signature", hmac(`${url}{}`).toString("base64")];
    for (const url of ["http://example.com/hook", "https://example.com/hook/", "http://example.com/hook/"]) {
      findings(of("square"), came(url), "{}").should.eql([{ kind: "publicUrl", url }]);
    }
    findings(of("square"), came("https://example.com/other"), "{}").should.eql([{ kind: "signedUrl" }]);
  });

  it("since a clock is off, and by how much", () => {
    const signed = (time: number) => ["Stripe-Signature", `t=${time},v1=${hmac(`${time}.{}`).toString("hex")}`];
    for (const seconds of [420, -420]) {
      const clock = { kind: "clock", seconds, tolerance: 300 };
      findings(of("stripe"), signed(at / 1000 - seconds), "{}").should.eql([clock]);
    }
  });

  it("since another sender has sent it", () => {
    const other: Finding = { kind: "otherSender", sender: "github" };
    findings(of("stripe"), byGitHub("{}"), "{}").should.eql([other]);
    const meta = findings(of("meta", "other"), byGitHub("{}"), "{}");
    meta.should.eql([other]);
    findings(of("github", "other"), byGitHub("{}"), "{}").should.eql([]);
  });

  it("since the token of a sender came elsewhere", () => {
    findings(of("gitlab"), ["Authorization", "Bearer secret"], "{}").should.eql([
      { kind: "tokenElsewhere", source: "header:Authorization" },
    ]);
    findings(of("gitlab"), ["X-Gitlab-Token", "secre"], "{}").should.eql([{ kind: "tokenLength", length: 5, expected: 6 }]);
    findings(of("gitlab", "secret "), ["X-Gitlab-Token", "secret"], "{}")[0]?.should.eql({ kind: "secretBlank" });
    findings(of("microsoft-graph"), [], '{"value":[{"clientState":"other"}]}').should.eql([]);
  }); // prettier-ignore

  it("tells nothing of what it found", () => {
    const secret = "s3cr3t-with-some-length";
    const told = [
      findings(of("github", `${secret} `), byGitHub("{}", secret), "{}"),
      findings(of("gitlab", secret), ["X-Other", secret], "{}"),
      findings(of("gitlab", secret), ["X-Gitlab-Token", secret.slice(1)], "{}"),
    ];
    JSON.stringify(told).should.not.containEql("3cr3t");
  });
});

describe("why a token does not fit", () => {
  const token = "0123456789".repeat(4);
  const other = "x".repeat(40);
  const head = (rawHeaders: string[], search = "") => ({ method: "POST", rawHeaders, search });
  const cases: [string, ReturnType<typeof head>, object | undefined][] = [
    ["another field", head(["X-Token", token]), { kind: "tokenElsewhere", source: "header:X-Token" }],
    ["a parameter", head([], `a=1&state=${token}`), { kind: "tokenElsewhere", source: "query:state" }],
    ["a field of another scheme", head(["X-Auth", `Bearer ${token}`]), { kind: "tokenElsewhere", source: "header:X-Auth" }],
    ["another field, and a wrong one in place", head(["authorization", "x", "X-A", token]), { kind: "tokenElsewhere", source: "header:X-A" }],
    ["39 characters", head(["authorization", `bearer ${token.slice(1)}`]), { kind: "tokenLength", length: 39, expected: 40 }],
    ["a blank", head(["Authorization", `Bearer ${token} `]), { kind: "tokenBlank" }],
    ["40 other characters", head(["Authorization", `Bearer ${other}`]), undefined],
    ["two in place", head(["Authorization", `Bearer ${token}`, "Authorization", "Bearer x"]), undefined],
    ["none", head(["X-Other", other], "state=1"), undefined],
    ["a very long one", head(["Authorization", "x".repeat(2000)]), undefined],
    ["one behind a hundred fields", head(Array.from({ length: 101 }, (_, index) => [`X-${index}`, index === 100 ? token : "x"]).flat()), undefined],
  ]; // prettier-ignore
  for (const [name, request, expected] of cases) {
    it(`${name}: ${expected ? JSON.stringify(expected) : "nothing"}`, () => {
      should(explainToken([token], "header:Authorization", request)).eql(expected);
    });
  }

  it("knows the second of two, and a parameter by the letter case of its name", () => {
    const search = `STATE=${token}`;
    const found = explainToken([other, token], "query:state", head([], search));
    should(found).eql({ kind: "tokenElsewhere", source: "query:STATE" });
  });
});
