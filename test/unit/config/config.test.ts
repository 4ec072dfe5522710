import should from "should";
import { parseBaseUrl } from "../../../src/config/base-url";
import { defaults, type SavedFields } from "../../../src/config/fields";
import { parseConfig } from "../../../src/config/parse";
import type { Roots } from "../../../src/config/roots";
import type { BrokenRule } from "../../../src/config/rules";
import { token } from "../../harness/flow";

const separate: Roots = { admin: "/admin/", node: "/api/" };
const equal: Roots = { admin: "/", node: "/" };
const saved: SavedFields = { ...defaults, relativePath: "/hook" };

function parse(fields: Partial<Record<keyof SavedFields | "token", unknown>>, roots = separate) {
  return parseConfig({ ...saved, ...fields } as SavedFields, "token" in fields ? fields.token : token, roots);
}

describe("parseConfig", () => {
  it("answers with a configuration when every rule is kept", () => {
    parse({}).should.eql({
      path: "/hook",
      token,
      placement: { method: "header", name: "Authorization" },
      returnQueryParams: false,
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
    const broken: [BrokenRule, string, Parameters<typeof parse>[0]][] = [
      ...["", "/", undefined, null, {}, true].map((relativePath): (typeof broken)[number] => [
        "relativePath.required", `relative path ${JSON.stringify(relativePath)}`, { relativePath },
      ]), // prettier-ignore
      ["relativePath.length", "a relative path of 256 characters", { relativePath: `/${"x".repeat(255)}` }],
      ...Array.from(" :*?()+%\\[]{}#&=@!$',;\"<>|^`äあ\n\0").map((character): (typeof broken)[number] => [
        "relativePath.characters", `${JSON.stringify(character)} in the relative path`, { relativePath: `/a${character}b` },
      ]), // prettier-ignore
      ...["//", "/a//b", "//a", "/a//", "/.", "/..", "/a/./b", "/a/../b"].map((relativePath): (typeof broken)[number] => [
        "relativePath.segments", `relative path ${relativePath}`, { relativePath },
      ]), // prettier-ignore
      ...["", undefined, null, 5e39, {}].map((value): (typeof broken)[number] => [
        typeof value === "number" ? "token.length" : "token.required", `token ${JSON.stringify(value)}`, { token: value },
      ]), // prettier-ignore
      ["token.length", "a token of 39 characters", { token: token.slice(1) }],
      ["token.length", "a token of 41 characters", { token: `${token}x` }],
      ...[" ", "\t", "\x7f", "ä", "\n", "\0"].map((character): (typeof broken)[number] => [
        "token.characters", `a token with ${JSON.stringify(character)}`, { token: token.slice(1) + character },
      ]), // prettier-ignore
      ["verificationMethod", "an unknown verification method", { verificationMethod: "body" }],
      ["verificationMethod", "a missing verification method", { verificationMethod: undefined }],
      ["queryParameter", "an empty query parameter", { verificationMethod: "query", queryParameter: "" }],
      ...["", "X Token", "X:Token", "Tökén", "a\nb"].map((headerParameter): (typeof broken)[number] => [
        "headerParameter", `header parameter ${JSON.stringify(headerParameter)}`, { headerParameter },
      ]), // prettier-ignore
      ...["yes", "", 1, undefined, ["true"], { toString: null }].map((returnQueryParams): (typeof broken)[number] => [
        "returnQueryParams", `return query params ${JSON.stringify(returnQueryParams)}`, { returnQueryParams },
      ]), // prettier-ignore
      ["environment", "an environment variable that is not set, for the path", { relativePath: "${HOOK_PATH}" }],
      ["environment", "one of 40 characters for the token", { token: `\${${"A".repeat(37)}}` }],
      ["environment", "one for the query parameter", { verificationMethod: "query", queryParameter: "${NAME}" }],
      ["environment", "one in the older notation", { headerParameter: "$(NAME)" }],
      ["environment", "one for the verification method", { verificationMethod: "${METHOD}" }],
      ["environment", "one for return query params", { returnQueryParams: "${QUERY}" }],
    ];
    for (const [rule, name, fields] of broken) {
      it(`${rule} for ${name}`, () => parse(fields).should.have.property("rule", rule));
    }
  });

  it("looks only at the parameter that the verification method uses", () => {
    parse({ queryParameter: "" }).should.have.property("placement", { method: "header", name: "Authorization" });
    parse({ verificationMethod: "query", headerParameter: "" }).should.have.property("placement", {
      method: "query",
      name: "state",
    });
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
