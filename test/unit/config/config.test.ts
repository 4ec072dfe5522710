import should from "should";
import catalog from "../../../locales/en-US/webhook-trigger.json";
import { type BrokenRule, type CredentialName, credentials, defaults, fields, type FormRow, type SavedFields, settingNames, settings } from "../../../src/config/fields"; // prettier-ignore
import { parseBaseUrl, type Roots } from "../../../src/config/paths";
import { parseConfig } from "../../../src/config/parse";
import { shouldGrowEvenly } from "../../harness/cost";
import { type HandlingField, token } from "../../harness/flow";

const separate: Roots = { admin: "/admin/", node: "/api/" };
const equal: Roots = { admin: "/", node: "/" };
type HandlingRule = Exclude<HandlingField, "replyBody"> | "methods";
type Given = Partial<Record<keyof SavedFields | CredentialName, unknown>>;

const saved: SavedFields = { ...defaults, relativePath: "/hook" };

function parse(fields: Given, roots = separate, baseUrl?: string) {
  return parseConfig({ ...saved, ...fields } as SavedFields, { token, ...fields }, { roots, baseUrl });
}

const jwt = {
  ...{ verificationMethod: "jwt", keySource: "jwks", jwksUrl: "https://issuer.example/keys" },
  ...{ issuer: "https://issuer.example", audience: "orders" },
} as const;

const plain = {
  ...{ events: [], conditions: [], outputPerEvent: false },
  methods: ["POST"],
  reply: { by: "now", status: 200, body: "", type: "application/json" },
  duplicates: undefined,
  allowFrom: [],
  rateLimit: 0,
  alertWhenSilent: 0,
  rawBody: false,
  guaranteed: false,
  pace: {
    attempts: 10,
    backoffFirstMs: 10_000,
    backoffLongestMs: 3_600_000,
    concurrency: 0,
    ratePerMinute: 0,
    breaker: 0,
  },
  attemptTimeoutMs: 300_000,
  httpErrorsFail: true,
  rateLimitBy: "address",
  alertPerCaller: false,
};

const caller = (name: string) => ({ name, digest: Buffer.from(name.padStart(32)).toString("hex") });

describe("parseConfig", () => {
  it("answers with a configuration when every rule is kept, and takes a node that is older than most fields", () => {
    for (const fields of [saved, { relativePath: "/hook" }]) {
      should(parseConfig(fields, { token }, { roots: separate })).eql({
        path: "/hook",
        returnQueryParams: false,
        sender: "",
        access: { method: "header", name: "Authorization", first: token, callers: [] },
        ...plain,
      });
    }
  });

  it("counts by caller, and watches each, only where there are callers", () => {
    const byCaller = { rateLimitBy: "caller", alertPerCaller: true };
    const byAddress = { rateLimitBy: "address", alertPerCaller: false };
    const callers = JSON.stringify([caller("door")]);
    parse({ ...byCaller, callers }).should.containEql(byCaller);
    parse(byCaller).should.containEql(byAddress);
    parse({ ...byCaller, callers, ...jwt }).should.containEql(byAddress);
  });

  describe("normalises the relative path", () => {
    for (const [given, path] of [
      ["hook", "/hook"],
      ["/hook/", "/hook"],
      ["hook/", "/hook"],
      ["/a/b-c/D.e_f~9", "/a/b-c/D.e_f~9"],
      ["/...", "/..."],
      [`/${"x".repeat(254)}`, `/${"x".repeat(254)}`],
      [`/${"x".repeat(254)}/`, `/${"x".repeat(254)}`],
      [42, "/42"],
    ] as const) {
      it(`${given} to ${path}`, () => parse({ relativePath: given }).should.have.property("path", path));
    }
  });

  describe("names the broken rule", () => {
    const broken: [BrokenRule, keyof SavedFields | CredentialName, unknown[], Parameters<typeof parse>[0]?][] = [
      ["relativePath.required", "relativePath", ["", "/", undefined, null, {}, true]],
      ["relativePath.length", "relativePath", [`/${"x".repeat(255)}`]],
      ["relativePath.characters", "relativePath", Array.from(" :*?()+%\\[]{}#&=@!$',;\"<>|^`äあ\n\0").map((each) => `/a${each}b`)],
      ["relativePath.segments", "relativePath", ["//", "/a//b", "//a", "/a//", "/.", "/..", "/a/./b", "/a/../b"]],
      ["token.required", "token", ["", undefined, null, {}]],
      ["token.length", "token", [5e39, token.slice(1), `${token}x`]],
      ["token.characters", "token", [" ", "\t", "\x7f", "ä", "\n", "\0"].map((each) => token.slice(1) + each)],
      ["callers.format", "callers", ["door", "{}", "null", "[1]", "[null]", "[[]]", 1]],
      ["callers.many", "callers", [JSON.stringify(Array.from({ length: 1001 }, (_, each) => caller(`${each}`)))]],
      ["callers.name", "callers", ["", " a", "a ", "a\nb", "x".repeat(65), 1].map((name) => JSON.stringify([{ ...caller("a"), name }]))],
      ["callers.digest", "callers", ["", "0".repeat(63), "A".repeat(64), null].map((digest) => JSON.stringify([{ name: "a", digest }]))],
      ["callers.twice", "callers", [[caller("Door"), caller("dOOR")], [caller("a"), { ...caller("a"), name: "b" }]].map((list) => JSON.stringify(list))],
      ["verificationMethod", "verificationMethod", ["body"]],
      ["rateLimit", "rateLimit", [-1]],
      ["queryParameter", "queryParameter", [""], { verificationMethod: "query" }],
      ["headerParameter", "headerParameter", ["", "X Token", "X:Token", "Tökén", "a\nb"]],
      ["keySource", "keySource", ["", "url", "JWKS", true, null], jwt],
      ["jwksUrl", "jwksUrl", ["", "http://issuer.example/keys", "issuer.example", "https://", "https://user@issuer.example/", "https://issuer.example/#a", "https://a b/", null], jwt],
      ["publicKey", "publicKey", ["", "a key", "-----BEGIN PRIVATE KEY-----\n", "x-----BEGIN PUBLIC KEY-----\n", null], { ...jwt, keySource: "publicKey" }],
      ["secret.required", "secret", ["", undefined, null], { ...jwt, keySource: "secret" }],
      ["issuer", "issuer", ["", true, null], jwt],
      ["audience", "audience", ["", {}, null], jwt],
      ["requiredClaim.format", "requiredClaim", ["email", "=a", "email="], jwt],
      ["requiredClaim.required", "requiredClaim", ["", "sub=1"], { ...jwt, sender: "google-pubsub" }],
      ["returnQueryParams", "returnQueryParams", ["yes", "", 1, ["true"], { toString: null }]],
      ...(["relativePath", "headerParameter", "verificationMethod", "returnQueryParams"] as const).map((field): (typeof broken)[number] => ["environment", field, ["${NAME}", "$(NAME)"]]),
      ["environment", "token", [`\${${"A".repeat(37)}}`]],
      ["environment", "queryParameter", ["${NAME}"], { verificationMethod: "query" }],
    ]; // prettier-ignore
    for (const [rule, field, values, others] of broken) {
      for (const value of values) {
        it(`${rule} for ${JSON.stringify(value)} as ${field}`, () => {
          parse({ ...others, [field]: value }).should.have.property("rule", rule);
        });
      }
    }
  });

  describe("uses the fields that a sender needs, and no others, such as", () => {
    const rows: Record<string, FormRow & { default?: unknown }> = { ...credentials, ...settings, ...fields };
    const asked = ["token", "verifyToken", "secret", ...settingNames, "keySource", "jwksUrl", "publicKey", "issuer", "audience", "requiredClaim"];
    for (const [sender, method, ...expected] of [
      ["", "header", "token"],
      ["cloudevents", "header", "token"],
      ["custom", "signature", "secret"],
      ["microsoft-graph", "signature", "secret"],
      ["meta", "signature", "verifyToken", "secret"],
      ["strava", "signature", "verifyToken", "secret"],
      ["notion", "signature", "secret", "arm"],
      ["square", "signature", "secret", "publicUrl"],
      ["grafana-timestamp", "signature", "secret", "signatureHeader", "timestampHeader"],
      ["websub", "signature", "secret", "topicUrl", "alg"],
      ["amazon-sns", "signature", "topicArn"],
      ["paypal", "signature", "webhookId"],
      ["google-pubsub", "jwt", "audience", "requiredClaim"],
      ["google-chat", "jwt", "audience", "requiredClaim"],
      ["netlify", "jwt", "secret"],
      ["vonage", "jwt", "secret"],
      ["monday", "jwt", "secret", "audience"],
    ] as const) {
      it(`${sender || "any sender"}: ${expected.join(", ")}`, () => {
        const choices = { ...defaults, sender, verificationMethod: method };
        const used = asked.filter((name) => rows[name]?.isUsed?.(choices) ?? true);
        // The URL is asked for where a custom scheme signs it, which the form finds.
        used.filter((name) => sender !== "custom" || name !== "publicUrl").should.eql(expected);
      });
    }
  }); // prettier-ignore

  it("looks only at the parameter that the verification method uses", () => {
    parse({ queryParameter: "" }).should.have.propertyByPath("access", "name").equal("Authorization");
    const byQuery = parse({ verificationMethod: "query", headerParameter: "" });
    byQuery.should.have.propertyByPath("access", "name").equal("state");
  });

  describe("reads what a signature takes", () => {
    const signed = { verificationMethod: "signature", sender: "github", secret: "s3cret", token: undefined };

    it("without a token, and with what is empty as not given", () => {
      parse({ ...signed, senderSettings: { arm: "true", alg: null } }).should.have.property("access", {
        method: "signature",
        scheme: null,
        settings: {
          publicUrl: "",
          signatureHeader: "",
          timestampHeader: "",
          topicUrl: "",
          topicArn: "",
          webhookId: "",
          alg: "",
          arm: true,
        },
        ...{ first: "s3cret", second: "", callers: [], verifyToken: "" },
      });
    });

    for (const senderSettings of [null, undefined, "text", 42]) {
      it(`with ${JSON.stringify(senderSettings)} as settings, which a flow file may hold`, () => {
        parse({ ...signed, senderSettings })
          .should.have.propertyByPath("access", "settings", "arm")
          .equal(false);
      });
    }

    it("with the URL that the settings file tells, unless one is entered", () => {
      const publicUrl = (given: string) =>
        parse({ ...signed, senderSettings: { publicUrl: given } }, separate, "https://h.example");
      publicUrl("").should.have.propertyByPath("access", "settings", "publicUrl").equal("https://h.example/api/hook");
      publicUrl("https://x/y").should.have.propertyByPath("access", "settings", "publicUrl").equal("https://x/y");
    });

    for (const [rule, fields] of [
      ["environment", { secret: "${SECRET}" }],
      ["environment", { secondSecret: "${SECRET}" }],
      ["environment", { verifyToken: "${SECRET}" }],
      ["environment", { senderSettings: { topicUrl: "${TOPIC}" } }],
      ["environment", { sender: "${SENDER}" }],
      ["publicUrl", { senderSettings: { publicUrl: "hooks.example.com" } }],
      ["signatureHeader", { senderSettings: { signatureHeader: "X Signature" } }],
      ["timestampHeader", { senderSettings: { timestampHeader: "X:Time" } }],
      ["topicArn", { senderSettings: { topicArn: "arn:aws:s3:::bucket" } }],
      ["webhookId", { senderSettings: { webhookId: "a b" } }],
      ["alg", { senderSettings: { alg: "md5" } }],
    ] as const) {
      it(`and names the rule ${rule} that ${JSON.stringify(fields)} breaks`, () => {
        parse({ ...signed, ...fields }).should.have.property("rule", rule);
      });
    }
  });

  it("takes from a sender of JSON Web Tokens what it documents of them, whatever the fields have", () => {
    const others = { keySource: "publicKey", publicKey: "none", headerParameter: "X Token", issuer: "${NAME}" };
    const given = { ...jwt, ...others, sender: "google-pubsub", requiredClaim: "email=a@b=c" };
    parse(given).should.have.property("access", {
      ...{
        method: "jwt",
        name: "Authorization",
        keySource: "jwks",
        publicKey: "none",
        first: "",
        second: "",
        callers: [],
      },
      jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
      ...{ issuer: "https://accounts.google.com", audience: "orders", bodyDigest: undefined },
      claims: { email_verified: "true", email: "a@b=c" },
    });
    parse({ ...given, sender: "netlify", audience: "", secret: "s3cret" })
      .should.have.property("access")
      .containEql({
        ...{ name: "X-Webhook-Signature", keySource: "secret", first: "s3cret", issuer: "netlify", audience: "" },
        ...{ claims: {}, bodyDigest: { claim: "sha256", encoding: "hex" } },
      });
  });

  describe("keeps Node-RED's admin API free", () => {
    const cases: [string, Roots, "refused" | "taken"][] = [
      ["/flows", equal, "refused"],
      ["/Nodes", equal, "refused"],
      ["flow/", equal, "refused"],
      ["/settings/user", equal, "refused"],
      ["/inject/abc", equal, "refused"],
      ["/flowsheet", equal, "taken"],
      ["/my/flows", equal, "taken"],
      ["/flows", separate, "taken"],
      ["/admin/flows", { admin: "/admin", node: "/" }, "refused"],
      ["/administer/flows", { admin: "/admin", node: "/" }, "taken"],
      ["/user", { admin: "/", node: "/settings/" }, "refused"],
      ["/flows", { admin: false, node: "/" }, "taken"],
    ];
    for (const [relativePath, roots, outcome] of cases) {
      it(`${relativePath} is ${outcome} with roots ${JSON.stringify(roots)}`, () => {
        const result = parse({ relativePath }, roots);
        ("rule" in result && result.rule === "relativePath.admin").should.equal(outcome === "refused");
      });
    }
  });

  describe("reads what becomes of requests:", () => {
    const read: [string, Given, object][] = [
      ["a reply of its own", { replyStatus: 202, replyBody: "ok", replyType: "text/plain; charset=utf-8" }, { reply: { by: "now", status: 202, body: "ok", type: "text/plain; charset=utf-8" } }],
      ["a status from an environment variable", { replyStatus: "204" }, { reply: { ...plain.reply, status: 204 } }],
      ["a number as the body of the reply", { replyBody: 42 }, { reply: { ...plain.reply, body: "42" } }],
      ["a reply by the flow", { reply: "flow" }, { reply: { by: "flow", timeoutMs: 10_000 } }],
      ["how long that may take", { reply: "flow", replyTimeout: "300" }, { reply: { by: "flow", timeoutMs: 300_000 } }],
      ["duplicates", { ignoreDuplicates: true }, { duplicates: { key: "", keptForMs: 72 * 3_600_000 } }],
      ["duplicates by a header field", { ignoreDuplicates: "true", duplicateKey: "header:X-Id", duplicateWindow: "1" }, { duplicates: { key: "header:X-Id", keptForMs: 3_600_000 } }],
      ["addresses", { allowFrom: "192.0.2.1,\n 2001:db8::/32 " }, { allowFrom: [{ family: "ipv4", address: "192.0.2.1", prefix: 32 }, { family: "ipv6", address: "2001:db8::", prefix: 32 }] }],
      ["a list of addresses that is blank", { allowFrom: " \n" }, { allowFrom: [] }],
      ["a rate", { rateLimit: "60" }, { rateLimit: 60 }],
      ["hours of silence", { alertWhenSilent: 24 }, { alertWhenSilent: 24 }],
      ["a part of an hour", { alertWhenSilent: "0.5" }, { alertWhenSilent: 0.5 }],
      ["a year", { alertWhenSilent: "8760" }, { alertWhenSilent: 8760 }],
      ["methods", { methods: ["GET", "PUT"] }, { methods: ["GET", "PUT"] }],
      ["query parameters", { returnQueryParams: "true" }, { returnQueryParams: true }],
      ["raw bodies", { rawBody: "true" }, { rawBody: true }],
      ["that delivery is guaranteed", { guaranteed: true }, { guaranteed: true }],
      ["the same from an environment variable", { guaranteed: "true" }, { guaranteed: true }],
      ["when the flow is started again", { guaranteed: true, attempts: "50", backoffFirst: 1, backoffLongest: 86_400 }, { pace: { ...plain.pace, attempts: 50, backoffFirstMs: 1000, backoffLongestMs: 86_400_000 } }],
      ["how fast the flow is started", { guaranteed: true, concurrency: "1", ratePerMinute: 6000, breaker: "1000" }, { pace: { ...plain.pace, concurrency: 1, ratePerMinute: 6000, breaker: 1000 } }],
      ["how long an attempt may take", { guaranteed: true, attemptTimeout: "86400" }, { attemptTimeoutMs: 86_400_000 }],
      ["whether an API may answer with an error", { guaranteed: true, httpErrorsFail: "false" }, { httpErrorsFail: false }],
    ]; // prettier-ignore
    for (const [name, fields, expected] of read) it(name, () => parse(fields).should.containEql(expected));
  });

  describe("reads which requests start the flow:", () => {
    const is = { place: "json:a", operator: "is", value: "1" };
    for (const [what, fields, expected] of [
      [
        "events with an output each",
        { events: ["push", "a b*", "*"], outputPerEvent: "true" },
        { events: ["push", "a b*", "*"], outputPerEvent: true },
      ],
      ["one output where there are no events", { outputPerEvent: true }, { outputPerEvent: false }],
      [
        "conditions, with numbers as texts",
        {
          conditions: [
            { ...is, value: 1 },
            { place: "event", operator: "exists" },
          ],
        },
        { conditions: [is, { place: "event", operator: "exists", value: "" }] },
      ],
    ] as const) {
      it(what, () => parse(fields).should.containEql(expected));
    }
    for (const events of ["push", [""], [" push"], ["push "], ["a*b"], ["**"], ["push", "push"], [1], null]) {
      it(`but no events that could not be meant: ${JSON.stringify(events)}`, () => {
        parse({ events }).should.eql({ rule: "events", value: "" });
      });
    }
    for (const broken of [
      ...[null, "a", [], { ...is, place: "" }, { ...is, place: "payload.a" }, { ...is, place: "json:a..*" }],
      ...[
        { ...is, operator: "like" },
        { ...is, value: "" },
        { ...is, operator: "above", value: "much" },
        { place: "event" },
      ],
    ]) {
      it(`and no such condition: ${JSON.stringify(broken)}`, () => {
        parse({ conditions: [broken] }).should.eql({ rule: "conditions", value: "" });
      });
    }

    it("environment for a variable in a list that is not set", () => {
      parse({ events: ["${NAME}"] }).should.eql({ rule: "environment", value: "${NAME}" });
      parse({ conditions: [{ ...is, value: "${NAME}" }] }).should.eql({ rule: "environment", value: "${NAME}" });
    });
  });

  describe("names the broken rule of what becomes of requests:", () => {
    const values: Record<HandlingRule, unknown[]> = {
      methods: [[], ["post"], ["POST", "HEAD"], "POST", [["POST"]], {}, null],
      reply: ["", "later", "Now", true, null],
      replyStatus: [199, 300, 200.5, "", "2e2", " 200", "0xC8", NaN, null, true, [204]],
      replyType: ["", "text", "text/", "/plain", "text/plain;", "text/plain; charset", "a/b\r\nX: y", "a/b; c=\"\r\n\"", "ä/b", 1, null], // prettier-ignore
      replyTimeout: [0, 301, 1.5, "5.0", "", "1s", -1, null],
      ignoreDuplicates: ["", "yes", 1, null],
      rateLimitBy: ["", "node", null],
      alertPerCaller: ["", "yes", 1, null],
      duplicateKey: ["id", "header:", "header:X Id", "json:", "json:a..b", "json:*.", "query:", "body:x", "Header:x", 1, null], // prettier-ignore
      duplicateWindow: [0, 721, "", "72h", null],
      allowFrom: ["localhost", "192.0.2.1/33", "192.0.2.1 192.0.2.2", ",", "1.2.3.4,x", "2001:db8::/129", "fe80::1%eth0", 1, null], // prettier-ignore
      rateLimit: [-1, 0.5, "", "many", 1e300, null],
      alertWhenSilent: [-1, 8760.5, "8761", "", ".5", "1.", "1,5", "1e3", "24h", NaN, Infinity, null, true, [1]],
      rawBody: ["", "no", 0, null],
      guaranteed: ["", "on", 1, null, {}],
      attempts: [0, 51, 1.5, "", "ten", null],
      backoffFirst: [0, 3601, "0.5", "", null],
      backoffLongest: [0, 86_401, "1h", null],
      concurrency: [-1, 1001, 0.5, "", "all", null],
      ratePerMinute: [-1, 6001, "1.5", "", null],
      breaker: [-1, 1001, "", "never", null],
      attemptTimeout: [0, 86_401, 0.5, "5m", "", null],
      httpErrorsFail: ["", "on", 1, null],
    };
    const used = { ignoreDuplicates: true, guaranteed: "true" };
    for (const [rule, broken] of Object.entries(values) as [HandlingRule, unknown[]][]) {
      const others = rule === "replyTimeout" ? { ...used, reply: "flow" } : used;
      for (const value of broken) {
        it(`${rule} for ${JSON.stringify(value)}`, () => {
          parse({ ...others, [rule]: value }).should.eql({ rule, value: "" });
        });
      }

      it(`${rule}, which has a text, but environment for a variable that is not set`, () => {
        parse({ ...others, [rule]: "${NAME}" }).should.eql({ rule: "environment", value: "${NAME}" });
        should(catalog.rules[rule]).be.a.String();
      });
    }

    it("environment for the body of the reply", () => {
      parse({ replyBody: "${NAME}" }).should.eql({ rule: "environment", value: "${NAME}" });
    });
  });

  it("does not mind what stands in fields that are not used beside the others", () => {
    parse({ reply: "flow", replyStatus: 500, replyType: "", replyBody: "${NAME}" }).should.have.property("reply");
    parse({ replyTimeout: 0, duplicateKey: "?", duplicateWindow: "${NAME}" }).should.containEql(plain);
    parse({ attempts: 0, backoffFirst: "soon", backoffLongest: "${NAME}" }).should.containEql(plain);
    parse({ concurrency: -1, ratePerMinute: "fast", breaker: "${NAME}", attemptTimeout: 0 }).should.containEql(plain);
    const empty = parse({ replyStatus: 204, replyBody: "${NAME}", replyType: "" });
    empty.should.containEql({ ...plain, reply: { ...plain.reply, status: 204 } });
  });

  for (const part of ["; a=b", " \t"]) {
    it(`takes a time that grows with the length of a media type and no faster: ${JSON.stringify(part)}`, async () => {
      await shouldGrowEvenly((size) => {
        parse({ replyType: `a/b${part.repeat(size)};` }).should.have.property("rule", "replyType");
      }, 200_000);
    });
  }
});

describe("parseBaseUrl", () => {
  for (const [setting, base] of [
    ["https://hooks.example.com", "https://hooks.example.com"],
    ["https://hooks.example.com/", "https://hooks.example.com"],
    ["http://10.0.0.1:8080/node-red//", "http://10.0.0.1:8080/node-red"],
    ["hooks.example.com", undefined],
    ["ftp://hooks.example.com", undefined],
    ["javascript:alert(1)", undefined],
    ["https://hooks.example.com/?a=1", undefined],
    ["https://hooks.example.com/#top", undefined],
    ["", undefined],
    [undefined, undefined],
    [true, undefined],
    [{ toString: null }, undefined],
  ] as const) {
    it(`reads ${JSON.stringify(setting)} as ${base}`, () => {
      should(parseBaseUrl(setting)).equal(base);
    });
  }
});
