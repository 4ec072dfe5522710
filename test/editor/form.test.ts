import should from "should";
import { type SenderId, senders } from "../../src/auth/senders/table";
import { defaults, type SavedFields } from "../../src/config/fields";
import { type BrokenRule, maxPathLength, tokenLength } from "../../src/config/rules";
import { catalogText, Editor, type FormField } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

/** For each rule that the form can see broken: what to put where, in a node that was saved with these fields. */
const breaches: Record<
  Exclude<
    BrokenRule,
    | "environment"
    | "httpNodeMiddleware"
    | "storeMissing"
    | "storeMisunderstood"
    | "secret.format"
    | "secondSecret.format"
  >,
  { field: FormField; value?: string; saved?: Partial<SavedFields> }
> = {
  "relativePath.required": { field: "relativePath", value: "/" },
  "relativePath.length": { field: "relativePath", value: "a".repeat(maxPathLength) },
  "relativePath.characters": { field: "relativePath", value: "/orders/:id" },
  "relativePath.segments": { field: "relativePath", value: "/orders/../flows" },
  "relativePath.admin": { field: "relativePath", value: "/Flows/" },
  returnQueryParams: { field: "returnQueryParams", value: "perhaps", saved: { returnQueryParams: "${RETURN}" } },
  "token.required": { field: "token", value: "" },
  "token.length": { field: "token", value: "x".repeat(tokenLength - 1) },
  "token.characters": { field: "token", value: "é".repeat(tokenLength) },
  verificationMethod: { field: "verificationMethod", saved: { verificationMethod: "cookie" } },
  queryParameter: { field: "queryParameter", value: "", saved: { verificationMethod: "query" } },
  headerParameter: { field: "headerParameter", value: "X Token" },
  "secondToken.length": { field: "secondToken", value: "x" },
  "secondToken.characters": { field: "secondToken", value: "é".repeat(tokenLength) },
  "sender.required": { field: "sender", saved: { verificationMethod: "signature" } },
  "sender.unknown": { field: "sender", saved: { sender: "nobody" } },
  "secret.required": { field: "secret", value: "", saved: signedBy("stripe") },
  publicUrl: { field: "publicUrl", value: "nodered.example", saved: signedBy("square") },
  signatureHeader: { field: "signatureHeader", value: "X Signature", saved: signedBy("grafana") },
  timestampHeader: { field: "timestampHeader", value: "X Time", saved: signedBy("grafana-timestamp") },
  alg: { field: "alg", saved: { ...signedBy("websub"), senderSettings: { alg: "md5" } } },
  "scheme.required": { field: "scheme", value: "{", saved: signedBy("custom") },
  "scheme.alg": { field: "scheme", value: schemeWith({ alg: "md5" }), saved: signedBy("custom") },
  "scheme.key": { field: "scheme", value: schemeWith({ key: { format: "utf7" } }), saved: signedBy("custom") },
  "scheme.sig": { field: "scheme", value: schemeWith({ sig: {} }), saved: signedBy("custom") },
  "scheme.enc": { field: "scheme", value: schemeWith({ sig: { headers: ["X"] } }), saved: signedBy("custom") },
  "scheme.content": { field: "scheme", value: schemeWith({ content: [] }), saved: signedBy("custom") },
  "scheme.ts": { field: "scheme", value: schemeWith({ content: ["ts"] }), saved: signedBy("custom") },
  reply: { field: "reply", saved: { reply: "later" } },
  replyStatus: { field: "replyStatus", value: "404" },
  replyType: { field: "replyType", value: "text" },
  replyTimeout: { field: "replyTimeout", value: "301", saved: { reply: "flow" } },
  ignoreDuplicates: { field: "ignoreDuplicates", value: "perhaps", saved: { ignoreDuplicates: "${IGNORE}" } },
  duplicateKey: { field: "duplicateKey", value: "header:", saved: { ignoreDuplicates: true } },
  duplicateWindow: { field: "duplicateWindow", value: "0", saved: { ignoreDuplicates: true } },
  allowFrom: { field: "allowFrom", value: "192.0.2.1\nsomewhere" },
  rateLimit: { field: "rateLimit", value: "many" },
  alertWhenSilent: { field: "alertWhenSilent", value: "1,5" },
  rawBody: { field: "rawBody", value: "perhaps", saved: { rawBody: "${RAW}" } },
  guaranteed: { field: "guaranteed", value: "perhaps", saved: { guaranteed: "${DURABLE}" } },
  attempts: { field: "attempts", value: "51", saved: { guaranteed: true } },
  backoffFirst: { field: "backoffFirst", value: "0", saved: { guaranteed: true } },
  backoffLongest: { field: "backoffLongest", value: "1h", saved: { guaranteed: true } },
  concurrency: { field: "concurrency", value: "1001", saved: { guaranteed: true } },
  ratePerMinute: { field: "ratePerMinute", value: "0.5", saved: { guaranteed: true } },
  breaker: { field: "breaker", value: "-1", saved: { guaranteed: true } },
  attemptTimeout: { field: "attemptTimeout", value: "0", saved: { guaranteed: true } },
};

function signedBy(sender: SenderId): Partial<SavedFields> {
  return { verificationMethod: "signature", sender };
}

/** The scheme that the form begins with, but for a part of it. */
function schemeWith(part: object): string {
  return JSON.stringify({ ...senders.custom.scheme, ...part });
}

const environmentValues = {
  name: "${NAME}",
  relativePath: "${SOME_PATH}",
  returnQueryParams: "${RETURN}",
  verificationMethod: "${METHOD}",
  queryParameter: "${QUERY}",
  headerParameter: "${HEADER}",
  sender: "${SENDER}",
  reply: "${REPLY}",
  replyStatus: "${STATUS}",
  replyBody: "${BODY}",
  replyType: "${TYPE}",
  replyTimeout: "${TIMEOUT}",
  ignoreDuplicates: "${IGNORE}",
  duplicateKey: "${KEY}",
  duplicateWindow: "${WINDOW}",
  allowFrom: "${ADDRESSES}",
  rateLimit: "${RATE}",
  alertWhenSilent: "${HOURS}",
  rawBody: "${RAW}",
  guaranteed: "${DURABLE}",
  attempts: "${ATTEMPTS}",
  backoffFirst: "${FIRST}",
  backoffLongest: "${LONGEST}",
  concurrency: "${CONCURRENCY}",
  ratePerMinute: "${STARTS}",
  breaker: "${BREAKER}",
  attemptTimeout: "${TIMEOUT}",
};

/** The fields that may hold anything. */
const withoutRule = ["name", "replyBody"];

describe("the form of the webhook trigger", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "plain", relativePath: "/plain" },
        { id: "environment", ...environmentValues },
        { id: "ticked", relativePath: "/ticked", returnQueryParams: "true" },
        { id: "unused", relativePath: "/unused", headerParameter: "X Token", verificationMethod: "query" },
        { id: "unknown", relativePath: "/unknown", verificationMethod: "cookie" },
        ...Object.entries(breaches).map(([rule, { saved }]) => ({ id: rule, relativePath: `/${rule}`, ...saved })),
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const isInvalid = (field: FormField) =>
    editor.input(field).evaluate((input) => input.classList.contains("input-error"));

  it("labels every field as the specification names it", async () => {
    await editor.edit("plain");
    const labels = {
      relativePath: "Relative Path",
      returnQueryParams: "Return Query Params",
      token: "Token",
      verificationMethod: "Verification Method",
      queryParameter: "Query Parameter",
      headerParameter: "Header Parameter",
      name: "Name",
    };
    for (const [field, label] of Object.entries(labels)) {
      const shown = await editor.page.locator(`label[for="node-input-${field}"]`).textContent();
      should(shown?.trim()).equal(label);
    }
  });

  it("starts with the defaults that the runtime knows, but for a path and a token of its own", async () => {
    const id = await editor.drop("webhook-trigger", 500, 300);
    await editor.edit(id);
    for (const field of ["name", "sender", "verificationMethod", "queryParameter", "headerParameter"] as const) {
      (await editor.input(field).inputValue()).should.equal(defaults[field]);
    }
    (await editor.input("returnQueryParams").isChecked()).should.equal(defaults.returnQueryParams);
    (await editor.input("relativePath").inputValue()).should.match(/^\/hook-[a-z0-9]{6}$/);
    (await editor.input("token").inputValue()).should.match(/^[\w-]{40}$/);
  });

  it("shows the parameter field of the chosen method and hides the other", async () => {
    await editor.edit("plain");
    for (const method of ["query", "header", "query"]) {
      await editor.input("verificationMethod").selectOption(method);
      (await editor.input("queryParameter").isVisible()).should.equal(method === "query");
      (await editor.input("headerParameter").isVisible()).should.equal(method === "header");
    }
  });

  it("shows both parameter fields when an environment variable decides the method", async () => {
    await editor.edit("environment");
    (await editor.input("queryParameter").isVisible()).should.be.true();
    (await editor.input("headerParameter").isVisible()).should.be.true();
  });

  for (const [rule, { field, value }] of Object.entries(breaches)) {
    it(`says so when ${rule} is broken`, async () => {
      await editor.edit(rule);
      if (value !== undefined) {
        await editor.input(field).fill(value);
        await editor.input(field).blur();
      }
      // Of a list, the form knows which entry it is.
      const text =
        rule === "allowFrom" ? catalogText("limits.unreadable", { entry: "somewhere" }) : catalogText(`rules.${rule}`);
      (await editor.message(field).innerText()).should.equal(text);
      (await isInvalid(field)).should.be.true();
    });
  }

  it("takes a message back as soon as the rule is kept", async () => {
    await editor.edit("plain");
    await editor.input("headerParameter").fill("X Token");
    (await editor.message("headerParameter").isVisible()).should.be.true();
    await editor.input("headerParameter").fill("X-Token");
    await editor.input("headerParameter").blur();
    (await editor.message("headerParameter").isVisible()).should.be.false();
    (await isInvalid("headerParameter")).should.be.false();
  });

  it("does not check the parameter field that the method does not use", async () => {
    await editor.edit("unused");
    (await isInvalid("headerParameter")).should.be.false();
    should(await editor.message("headerParameter").textContent()).equal("");
    await editor.cancel();
    (await editor.isValid("unused")).should.be.true();
  });

  it("checks a parameter field as soon as a method is chosen that uses it", async () => {
    await editor.edit("unused");
    await editor.input("verificationMethod").selectOption("header");
    (await editor.message("headerParameter").innerText()).should.equal(catalogText("rules.headerParameter"));
    (await isInvalid("headerParameter")).should.be.true();
  });

  it("checks no parameter field for a method that does not exist", async () => {
    await editor.edit("unknown");
    (await editor.input("headerParameter").isVisible()).should.be.false();
    (await editor.input("queryParameter").isVisible()).should.be.false();
    await editor.done();
    should(await editor.saved("unknown", "verificationMethod")).equal("cookie");
    (await editor.isValid("unknown")).should.be.false();
  });

  it("checks a node that came back after it was deleted from its form by what it holds", async () => {
    await editor.edit("unused");
    await editor.input("name").fill("renamed");
    await editor.done();
    await editor.edit("unused");
    await editor.page.locator("#node-dialog-delete").click();
    await editor.input("name").waitFor({ state: "detached" });
    await editor.invoke("core:undo");
    await editor.invoke("core:undo");
    should(await editor.saved("unused", "name")).equal("");
    (await editor.isValid("unused")).should.be.true();
  });

  it("accepts environment values in every field", async () => {
    await editor.edit("environment");
    await editor.input("token").fill("${TOKEN}");
    await editor.input("token").blur();
    for (const field of [...Object.keys(environmentValues), "token"] as FormField[]) {
      (await isInvalid(field)).should.be.false(field);
      if (!withoutRule.includes(field)) should(await editor.message(field).textContent()).equal("");
    }
  });

  it("keeps environment values in every field on Done", async () => {
    await editor.edit("environment");
    await editor.done();
    for (const [field, value] of Object.entries(environmentValues)) {
      should(await editor.saved("environment", field as keyof SavedFields)).equal(value);
    }
  });

  it("ticks the box when an environment variable's place was taken by the text true", async () => {
    await editor.edit("ticked");
    (await editor.input("returnQueryParams").isChecked()).should.be.true();
  });

  it("leaves no text untranslated", async () => {
    await editor.edit("plain");
    const texts = await editor.page.locator(".webhook-trigger-form").evaluate((form) => {
      const elements = [...form.querySelectorAll("*")];
      return [
        form.textContent,
        ...elements.flatMap((element) => [element.getAttribute("aria-label"), element.getAttribute("placeholder")]),
      ];
    });
    const keys = await editor.page
      .locator(".webhook-trigger-form [data-i18n]")
      .evaluateAll((elements) => elements.map((element) => element.getAttribute("data-i18n") ?? ""));
    keys.length.should.be.above(0);
    for (const key of keys) {
      const name = key.replace(/^\[[^\]]*\]/, "").replace(/^.*:/, "");
      catalogText(name).should.not.equal("");
      texts.join("\n").should.not.containEql(name);
    }
  });

  it("has a help panel", async () => {
    await editor.edit("plain");
    await editor.page.locator(".red-ui-tray-footer .fa-book").click();
    const help = editor.page.locator(".red-ui-help .red-ui-help", { hasText: "Starts the flow when" });
    await help.waitFor();
    for (const label of ["relativePath", "token", "verificationMethod", "returnQueryParams"]) {
      (await help.innerText()).should.containEql(catalogText(`label.${label}`));
    }
  });
});
