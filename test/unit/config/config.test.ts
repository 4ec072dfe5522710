import should from "should";
import { type BrokenRule, type CredentialName, defaults, type SavedFields } from "../../../src/config/fields";
import { parseBaseUrl, type Roots } from "../../../src/config/host";
import { parseConfig } from "../../../src/config/parse";
import { token } from "../../harness/flow";

const separate: Roots = { admin: "/admin/", node: "/api/" };
const equal: Roots = { admin: "/", node: "/" };
const saved: SavedFields = { ...defaults, relativePath: "/hook" };

function parse(
  fields: Partial<Record<keyof SavedFields | CredentialName, unknown>>,
  roots = separate,
  baseUrl?: string,
) {
  return parseConfig({ ...saved, ...fields } as SavedFields, { token, ...fields }, { roots, baseUrl });
}

describe("parseConfig", () => {
  it("answers with a configuration when every rule is kept", () => {
    parse({}).should.eql({
      path: "/hook",
      returnQueryParams: false,
      sender: "",
      access: { method: "header", name: "Authorization", token, secondToken: "" },
      reply: { by: "now", status: 200, body: "", type: "application/json" },
      duplicates: undefined,
      allowFrom: [],
      rateLimit: 0,
      alertWhenSilent: 0,
      rawBody: false,
      guaranteed: false,
      pace: {
        attempts: 10,
        backoffFirst: 10_000,
        backoffLongest: 3_600_000,
        concurrency: 0,
        ratePerMinute: 0,
        breaker: 0,
      },
      attemptTimeoutMs: 300_000,
    });
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
      ["secondToken.length", "secondToken", [token.slice(1)]],
      ["secondToken.characters", "secondToken", [`${token.slice(1)} `]],
      ["verificationMethod", "verificationMethod", ["body"]],
      ["rateLimit", "rateLimit", [-1]],
      ["queryParameter", "queryParameter", [""], { verificationMethod: "query" }],
      ["headerParameter", "headerParameter", ["", "X Token", "X:Token", "Tökén", "a\nb"]],
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
        settings: { publicUrl: "", signatureHeader: "", timestampHeader: "", topicUrl: "", alg: "", arm: true },
        secret: "s3cret",
        secondSecret: "",
        verifyToken: "",
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
      ["alg", { senderSettings: { alg: "md5" } }],
    ] as const) {
      it(`and names the rule ${rule} that ${JSON.stringify(fields)} breaks`, () => {
        parse({ ...signed, ...fields }).should.have.property("rule", rule);
      });
    }
  });

  it("takes the words true and false, which environment variables resolve to", () => {
    parse({ returnQueryParams: "true" }).should.have.property("returnQueryParams", true);
    parse({ returnQueryParams: "false" }).should.have.property("returnQueryParams", false);
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
