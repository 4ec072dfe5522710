import { createHmac } from "node:crypto";
import should from "should";
import catalog from "../../../locales/en-US/webhook-trigger.json";
import { explainSignature, explainToken, originals, type SignatureSetup } from "../../../src/auth/diagnosis";
import { CallerTokens } from "../../../src/auth/caller-tokens";
import { digest } from "../../../src/auth/digest";
import type { Explanation } from "../../../src/auth/authenticator";
import type { Reason } from "../../../src/request/problem";
import { type SenderId, senders } from "../../../src/auth/senders/table";
import { schemeOf } from "../../harness/verification";

const at = 1_767_225_600_000;
const hmac = (text: string | Buffer, secret = "secret") => createHmac("sha256", secret).update(text).digest();

function setup(sender: SenderId, first = "secret", publicUrl = "https://example.com/hook"): SignatureSetup {
  return { sender, scheme: schemeOf(sender, publicUrl), secrets: { first }, publicUrl };
}

function explain(given: SignatureSetup, rawHeaders: string[], body: Buffer | string = "{}", search = ""): Explanation {
  return explainSignature(given, { head: { method: "POST", rawHeaders, search }, body: Buffer.from(body), at });
}

const byGitHub = (body: string | Buffer, secret = "secret") =>
  ["X-GitHub-Event", "push", "X-GitHub-Delivery", "1", "X-Hub-Signature-256", `sha256=${hmac(body, secret).toString("hex")}`]; // prettier-ignore
const byStripe = (secret: string, seconds = 0) => {
  const time = at / 1000 - seconds;
  return ["Stripe-Signature", `t=${time},v1=${hmac(`${time}.{}`, secret).toString("hex")}`];
};
const byStandard = ["webhook-id", "m", "webhook-timestamp", String(at / 1000), "webhook-signature", "v1,AAAA"];
const bySquare = (url: string) => ["x-square-hmacsha256-signature", hmac(`${url}{}`).toString("base64")];
const byTwilio = (url: string) => ["X-Twilio-Signature", createHmac("sha1", "secret").update(url).digest("base64")];

const reason = (key: string, values: Reason["values"] = {}): Reason => ({ key, values });
const changed = (change: string) => reason(`bodyChanged.${change}`);
const tooMuch = (prefix: string) => reason("secretPrefixTooMuch", { prefix });
const place = "X-Hub-Signature-256";
const json = '{"a": [1, 2.5, "ü/"], "b": {}}';
const bytes = [Buffer.from([0xff, 0xc3]), Buffer.from([0xff, 0xc3, 10])] as const;
const two = { ...setup("github", "other"), secrets: { first: "other", second: "secret" } };
const required = { ...setup("custom"), scheme: { ...senders.custom.scheme, requires: { "X-Env": "live" } } };
const withToken = setup("square", "secret", "https://user:pass@example.com/hook?token=1");

const asForm = ["Content-Type", "application/x-www-form-urlencoded"];
const mailgun = (more: object) =>
  JSON.stringify({ signature: { timestamp: String(at / 1000), token: "nonce", signature: "00".repeat(32), ...more } });

const cases: [name: string, explanation: () => Explanation, expected: Reason][] = [
  ["a line feed was added to the body", () => explain(setup("github"), byGitHub("{}"), "{}\n"), changed("trailingNewline")],
  ["a line feed was taken off the body", () => explain(setup("github"), byGitHub("{}\n")), changed("trailingNewline")],
  ["a CRLF was taken off the body", () => explain(setup("github"), byGitHub("{}\r\n")), changed("trailingNewline")],
  ["a line feed was added to bytes that are no text", () => explain(setup("github"), byGitHub(bytes[0]), bytes[1]), changed("trailingNewline")],
  ["the body was changed, and the second secret fits", () => explain(two, byGitHub("{}\n")), changed("trailingNewline")],
  ["CRLF have become line feeds", () => explain(setup("github"), byGitHub("a\r\nb"), "a\nb"), changed("lineEndings")],
  ["line feeds have become CRLF", () => explain(setup("github"), byGitHub("a\nb\n"), "a\r\nb\r\n"), changed("lineEndings")],
  ["a byte-order mark was taken off", () => explain(setup("github"), byGitHub("\ufeff{}")), changed("byteOrderMark")],
  ["a byte-order mark was added", () => explain(setup("github"), byGitHub("{}"), "\ufeff{}"), changed("byteOrderMark")],
  ["JSON was made compact", () => explain(setup("github"), byGitHub(json), '{"a":[1,2.5,"ü/"],"b":{}}'), changed("json")],
  ["JSON was made pretty", () => explain(setup("github"), byGitHub('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}'), changed("json")],
  ["pretty JSON was made compact", () => explain(setup("github"), byGitHub('{\n    "a": 1\n}'), '{"a":1}'), changed("json")],
  ["escapes of PHP were undone", () => explain(setup("github"), byGitHub('{"a":"\\u00fc\\ud83d\\ude00\\/"}'), '{"a":"ü😀/"}'), changed("json")],
  ["escapes of Python were undone", () => explain(setup("github"), byGitHub('{"a": "\\u00fc", "b": []}'), '{"a":"ü","b":[]}'), changed("json")],
  ["the secret has a space at its end", () => explain(setup("github", "secret "), byGitHub("{}")), reason("secretBlank")],
  ["the secret begins with a line feed", () => explain(setup("github", "\nsecret"), byGitHub("{}")), reason("secretBlank")],
  ["the secret has a prefix of signatures", () => explain(setup("github", "sha256=secret"), byGitHub("{}")), tooMuch("sha256=")],
  ["the secret has a space and a prefix", () => explain(setup("github", " whsec_secret"), byGitHub("{}")), tooMuch("whsec_")],
  ["the secret lacks its prefix", () => explain(setup("stripe", "5WbX5k"), byStripe("whsec_5WbX5k")), reason("secretPrefixMissing", { prefix: "whsec_" })],
  ["the URL was signed with another scheme", () => explain(setup("square"), bySquare("http://example.com/hook")), reason("publicUrl", { url: "http://example.com/hook" })],
  ["the URL was signed with a slash at its end", () => explain(setup("square"), bySquare("https://example.com/hook/")), reason("publicUrl", { url: "https://example.com/hook/" })],
  ["the URL has secrets, which are not shown", () => explain(withToken, bySquare("http://user:pass@example.com/hook?token=1")), reason("publicUrl", { url: "http://example.com/hook" })],
  ["another URL was signed", () => explain(setup("square"), bySquare("https://example.com/other")), reason("signedUrl")],
  ["the request is old", () => explain(setup("stripe"), byStripe("secret", 420)), reason("clockBehind", { distance: "7 min", tolerance: "5 min" })],
  ["the sender's clock is ahead", () => explain(setup("stripe"), byStripe("secret", -86_400 * 3)), reason("clockAhead", { distance: "3 d", tolerance: "5 min" })],
  ["another sender has sent it", () => explain(setup("stripe"), byGitHub("{}")), reason("otherSender", { sender: "GitHub" })],
  ["another sender with the same field has sent it", () => explain(setup("meta", "other"), byGitHub("{}")), reason("otherSender", { sender: "GitHub" })],
  ["another sender than one that cannot be recognised has sent it", () => explain(setup("anthropic", "whsec_c2VjcmV0"), byGitHub("{}")), reason("otherSender", { sender: "GitHub" })],
  ["a sender that cannot be told from others with its fields has sent it", () => explain(setup("anthropic", "whsec_c2VjcmV0"), byStandard), reason("signatureLength", { place: "webhook-signature", bytes: 3, expected: 32 })],
  ["the sender's token is elsewhere", () => explain(setup("gitlab"), ["Authorization", "Bearer secret"]), reason("tokenElsewhere", { place: "Authorization" })],
  ["the sender's token is too short", () => explain(setup("gitlab"), ["X-Gitlab-Token", "secre"]), reason("tokenLength", { length: 5, expected: 6 })],
  ["a token in the body is wrong", () => explain(setup("microsoft-graph"), [], '{"value":[{"clientState":"other"}]}'), reason("tokenWrong")],
  ["nothing more is found", () => explain(setup("github", "other"), byGitHub("{}")), reason("signatureWrong")],
  ["there is no signature", () => explain(setup("github"), []), reason("missing", { place })],
  ["there are two signatures", () => explain(setup("github"), [place, "a", place, "b"]), reason("repeated", { place })],
  ["there are two ids", () => explain(setup("github"), [...byGitHub("{}"), "X-GitHub-Delivery", "2"]), reason("repeated", { place: "X-GitHub-Delivery" })],
  ["the signature has no prefix", () => explain(setup("github"), [place, "00"]), reason("signatureMalformed", { place })],
  ["a required field has another value", () => explain(required, [place, "sha256=00", "X-Env", "test"]), reason("valueWrong", { place: "X-Env" })],
  ["the signature is too short", () => explain(setup("github"), [place, "sha256=00"]), reason("signatureLength", { place, bytes: 1, expected: 32 })],
  ["there are too many signatures", () => explain(setup("pagerduty"), ["X-PagerDuty-Signature", "v1=00,".repeat(17)]), reason("tooManySignatures", { count: 17, most: 16 })],
  ["the time is none", () => explain(setup("stripe"), ["Stripe-Signature", `t=now,v1=${"0".repeat(64)}`]), reason("timeMalformed", { place: "t" })],
  ["a signed value is a list", () => explain(setup("mailgun"), [], mailgun({ token: ["nonce"] })), reason("valueMalformed", { place: "signature.token" })],
  ["the body with the values is packed", () => explain(setup("mailgun"), ["Content-Encoding", "gzip"], mailgun({})), reason("bodyPacked")],
  ["the body with the values is a form", () => explain(setup("mailgun"), [...asForm], "a=1"), reason("bodyNoJson")],
  ["the body is JSON that is labelled as a form", () => explain(setup("twilio"), [...asForm, ...byTwilio("https://example.com/hook")], "{}"), reason("bodyNoForm")],
  ["the body has another digest", () => explain(setup("twilio"), byTwilio("https://example.com/hook?bodySHA256=00"), "{}", "bodySHA256=00"), reason("bodyDigestWrong")],
]; // prettier-ignore

const token = "0123456789".repeat(4);
const other = "x".repeat(40);
const elsewhere = (where: string) => reason("tokenElsewhere", { place: where });
const hundred = Array.from({ length: 100 }, (_, index) => [`X-${index}`, "x"]).flat();
const tokenCases: [name: string, headers: string[], search: string, expected: Reason | undefined][] = [
  ["in another field", ["X-Token", token], "", elsewhere("X-Token")],
  ["in a parameter", [], `a=1&state=${token}`, elsewhere("?state=")],
  ["in a field with a scheme", ["X-Auth", `Bearer ${token}`], "", elsewhere("X-Auth")],
  ["in another field, and a wrong one in its place", ["authorization", "x", "X-A", token], "", elsewhere("X-A")],
  ["39 characters", ["authorization", `bearer ${token.slice(1)}`], "", reason("tokenLength", { length: 39, expected: 40 })],
  ["with a space at its end", ["Authorization", `Bearer ${token} `], "", reason("tokenBlank")],
  ["without its scheme", ["Authorization", token], "", reason("tokenScheme")],
  ["as a password", ["Authorization", `Basic ${Buffer.from(`user:${token}`).toString("base64")}`], "", reason("tokenScheme")],
  ["40 other characters", ["Authorization", `Bearer ${other}`], "", undefined],
  ["twice in its place", ["Authorization", `Bearer ${token}`, "Authorization", "Bearer x"], "", undefined],
  ["nowhere", ["X-Other", other], "state=1", undefined],
  ["very long", ["Authorization", "x".repeat(2000)], "", undefined],
  ["behind a hundred fields", [...hundred, "X-Token", token], "", undefined],
]; // prettier-ignore

describe("the explanation of a refusal", () => {
  for (const [name, explanation, expected] of cases) {
    it(`says that ${name}: ${expected.key}`, () => explanation().reasons.should.eql([expected]));
  }

  it("says which sender a request looks like, unless that one is expected", () => {
    should(explain(setup("stripe"), byGitHub("{}")).looksLike).equal("github");
    should(explain(setup("github", "other"), byGitHub("{}")).looksLike).be.undefined();
    // Their fields tell no more.
    const byGrafana = [
      "X-Grafana-Alerting-Timestamp",
      String(at / 1000),
      "X-Grafana-Alerting-Signature",
      "00".repeat(32),
    ];
    should(explain(setup("grafana-timestamp"), byGrafana).looksLike).be.undefined();
    should(explain(setup("mailgun"), byGrafana).looksLike).equal("grafana");
  });

  it("tries few forms of a body, whatever it contains", () => {
    for (const body of ["", "{}", "\r\n", "[".repeat(5000), `${"[".repeat(200)}${"]".repeat(200)}`, '"\\u0000"']) {
      [...originals(Buffer.from(body))].length.should.be.belowOrEqual(16);
    }
  });

  it("reveals nothing of a secret", () => {
    const secret = "s3cr3t-with-some-length";
    const told = [
      explain(setup("github", `${secret} `), byGitHub("{}", secret)),
      explain(setup("gitlab", secret), ["X-Other", secret]),
      explain(setup("gitlab", secret), ["X-Gitlab-Token", secret.slice(1)]),
    ];
    JSON.stringify(told).should.not.containEql("3cr3t");
  });

  for (const [name, rawHeaders, search, expected] of tokenCases) {
    it(`says of a token ${name}: ${expected?.key ?? "nothing"}, and the same of a caller's, though it may be an old one`, () => {
      const head = { method: "POST", rawHeaders, search };
      const reasons = expected ? [expected] : [];
      explainToken([token], "header:Authorization", head).reasons.should.eql(reasons);
      const callers = new CallerTokens([{ name: "door", digest: digest(token).toString("hex") }]);
      const isOther = rawHeaders.includes(`Bearer ${other}`);
      const { reasons: ofCaller } = explainToken([], "header:Authorization", head, callers);
      ofCaller.should.eql(isOther ? [reason("callerUnknown")] : reasons);
    });
  }

  it("considers the letter case of a parameter's name", () => {
    const head = { method: "POST", rawHeaders: [], search: `STATE=${token}` };
    explainToken([token], "query:state", head).reasons.should.eql([elsewhere("?STATE=")]);
  });

  it("has a text for each reason, with a place for each of its values, and no text besides", () => {
    const texts = new Map<string, string>();
    for (const [key, text] of Object.entries<string | Record<string, string>>(catalog.whyNot)) {
      if (typeof text === "string") texts.set(key, text);
      else for (const [step, inner] of Object.entries(text)) texts.set(`${key}.${step}`, inner);
    }
    const reasons = [
      reason("callerUnknown"),
      ...cases.map(([, , expected]) => expected),
      ...tokenCases.flatMap(([, , , one]) => one ?? []),
    ];
    for (const { key, values } of reasons) {
      const names = [...(texts.get(key) ?? "").matchAll(/__(\w+)__/g)].map(([, name]) => name);
      [...new Set(names)].sort().should.eql(Object.keys(values).sort(), key);
    }
    // The others are those of filters and missed requests, of Basic authentication, JSON Web Tokens and certificates.
    const keys = [...texts.keys()].filter(
      (key) =>
        key !== "looksLike" && !/^(?:condition$|(?:path|front)[A-Z]|basic\.|jwt\.|fetch\.|certificate\.)/.test(key),
    );
    keys.sort().should.eql([...new Set(reasons.map(({ key }) => key))].sort());
  });
});
