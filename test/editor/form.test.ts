import should from "should";
import type { SenderId } from "../../src/auth/senders/table";
import { defaults, type SavedFields } from "../../src/config/fields";
import { tokenLength } from "../../src/config/rules";
import { catalogText, type Editor, type FormField, type Section } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { openEditor } from "../harness/stage";

/** Rules that a node with these fields breaks, each with what is typed to break it: the rule begins with its field. */
const breaches: [saved: Partial<SavedFields>, broken: Record<string, string | null>][] = [
  [
    {},
    {
      "relativePath.required": "/",
      "relativePath.characters": "/orders/:id",
      "relativePath.admin": "/Flows/",
      "token.required": "",
      "token.length": "x".repeat(tokenLength - 1),
      "token.characters": "é".repeat(tokenLength),
      "secondToken.length": "x",
      headerParameter: "X Token",
      replyType: "text",
      replyStatus: "404",
      allowFrom: "192.0.2.1\nsomewhere",
      rateLimit: "many",
      alertWhenSilent: "1,5",
    },
  ],
  [{ verificationMethod: "query" }, { queryParameter: "" }],
  [
    { verificationMethod: "cookie", reply: "later" },
    { verificationMethod: null, reply: null },
  ],
  [{ verificationMethod: "signature" }, { "sender.required": null }],
  [{ sender: "nobody" }, { "sender.unknown": null }],
  [signedBy("stripe"), { "secret.required": "" }],
  [signedBy("square"), { publicUrl: "nodered.example" }],
  [signedBy("grafana-timestamp"), { signatureHeader: "X Signature", timestampHeader: "X Time" }],
  [{ ...signedBy("websub"), senderSettings: { alg: "md5" } }, { alg: null }],
  [signedBy("custom"), { "scheme.required": "{" }],
  [{ reply: "flow" }, { replyTimeout: "301" }],
  [
    { ignoreDuplicates: true, guaranteed: true },
    {
      duplicateKey: "header:",
      duplicateWindow: "0",
      attempts: "51",
      backoffFirst: "0",
      backoffLongest: "1h",
      concurrency: "1001",
      ratePerMinute: "0.5",
      breaker: "-1",
      attemptTimeout: "0",
    },
  ],
  [
    { returnQueryParams: "${RETURN}", ignoreDuplicates: "${IGNORE}", rawBody: "${RAW}", guaranteed: "${DURABLE}" },
    { returnQueryParams: "perhaps", ignoreDuplicates: "perhaps", rawBody: "perhaps", guaranteed: "perhaps" },
  ],
];

function signedBy(sender: SenderId): Partial<SavedFields> {
  return { verificationMethod: "signature", sender };
}

/** An environment variable in each field that is saved as text. */
const environmentValues = Object.fromEntries(
  Object.keys(defaults)
    .filter((field) => field !== "scheme" && field !== "senderSettings")
    .map((field) => [field, `\${${field.toUpperCase()}}`]),
);

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "changed", relativePath: "/changed" },
  { id: "environment", ...environmentValues },
  { id: "ticked", relativePath: "/ticked", returnQueryParams: "true", guaranteed: "true" },
  { id: "unused", relativePath: "/unused", headerParameter: "X Token", verificationMethod: "query" },
  { id: "unknown", relativePath: "/unknown", verificationMethod: "cookie" },
  { id: "query", relativePath: "/query", verificationMethod: "query", returnQueryParams: true },
  { id: "signed", relativePath: "/signed", verificationMethod: "signature", sender: "gitlab-signed" },
  ...breaches.map(([saved], index) => ({ id: `breach${index}`, relativePath: `/breach${index}`, ...saved })),
);

describe("the form of the webhook trigger", () => {
  let editor: Editor;
  before(async () => {
    ({ editor } = await openEditor(flow));
  });
  afterEach(() => editor.leave());

  const isInvalid = (field: FormField) =>
    editor.input(field).evaluate((input) => input.classList.contains("input-error"));
  const state = (section: Section) => editor.state(section).innerText();
  const isMarked = () => editor.page.locator(".webhook-trigger-form .input-error").count();

  it("names the fields as the specification does, has texts for all of them, and a help panel", async () => {
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
    const form = editor.page.locator(".webhook-trigger-form");
    const keys = await form
      .locator("[data-i18n]")
      .evaluateAll((elements) => elements.map((element) => element.getAttribute("data-i18n") ?? ""));
    keys.length.should.be.above(0);
    const html = await form.evaluate((element) => element.outerHTML.replace(/data-i18n="[^"]*"/g, ""));
    for (const key of keys) html.should.not.containEql(key.replace(/^\[[^\]]*\]/, "").replace(/^.*:/, ""));
    await editor.page.locator(".red-ui-tray-footer .fa-book").click();
    const help = editor.page.locator(".red-ui-help .red-ui-help", { hasText: "Starts the flow when" });
    await help.waitFor();
    (await help.innerText()).should.containEql(catalogText("label.relativePath"));
  });

  it("gives a new node the defaults, a path and a token of its own, and finds no fault with it", async () => {
    await editor.editAsItIs(await editor.drop("webhook-trigger", 500, 300));
    for (const field of ["name", "sender", "verificationMethod", "queryParameter", "headerParameter"] as const) {
      (await editor.input(field).inputValue()).should.equal(defaults[field]);
    }
    (await editor.input("returnQueryParams").isChecked()).should.equal(defaults.returnQueryParams);
    (await editor.input("relativePath").inputValue()).should.match(/^\/hook-[a-z0-9]{6}$/);
    (await editor.input("token").inputValue()).should.match(/^[\w-]{40}$/);
    (await editor.openSections()).should.eql([]);
    (await isMarked()).should.equal(0);
    await editor.input("sender").selectOption("github");
    (await editor.openSections()).should.eql([]);
  });

  it("shows the parameter field of the chosen method, and both where the environment decides", async () => {
    const shown = async () => [
      await editor.input("queryParameter").isVisible(),
      await editor.input("headerParameter").isVisible(),
    ];
    await editor.edit("environment");
    (await shown()).should.eql([true, true]);
    await editor.cancel();
    await editor.edit("plain");
    (await shown()).should.eql([false, true]);
    await editor.input("verificationMethod").selectOption("query");
    (await shown()).should.eql([true, false]);
  });

  for (const [index, [, broken]] of breaches.entries()) {
    it(`says under each field which rule is broken: ${Object.keys(broken).join(", ")}`, async () => {
      await editor.edit(`breach${index}`);
      for (const [rule, value] of Object.entries(broken)) {
        const field = rule.split(".")[0] as FormField;
        if (value !== null) await editor.input(field).fill(value);
        // Of a list, the form knows which entry it is.
        const unreadable = rule === "allowFrom" && catalogText("limits.unreadable", { entry: "somewhere" });
        (await editor.message(field).innerText()).should.equal(unreadable || catalogText(`rules.${rule}`), rule);
        (await isInvalid(field)).should.be.true(rule);
      }
    });
  }

  it("takes a message back as soon as the rule is kept", async () => {
    await editor.edit("plain");
    await editor.input("headerParameter").fill("X Token");
    (await editor.message("headerParameter").isVisible()).should.be.true();
    await editor.input("headerParameter").fill("X-Token");
    (await editor.message("headerParameter").isVisible()).should.be.false();
    (await isInvalid("headerParameter")).should.be.false();
  });

  it("checks a parameter field only while the method uses it", async () => {
    await editor.edit("unused");
    (await isInvalid("headerParameter")).should.be.false();
    await editor.input("verificationMethod").selectOption("header");
    (await editor.message("headerParameter").innerText()).should.equal(catalogText("rules.headerParameter"));
    await editor.cancel();
    (await editor.isValid("unused")).should.be.true();
  });

  it("keeps a method that does not exist, and marks the node as invalid", async () => {
    await editor.edit("unknown");
    (await editor.input("headerParameter").isVisible()).should.be.false();
    (await editor.input("queryParameter").isVisible()).should.be.false();
    await editor.done();
    should(await editor.saved("unknown", "verificationMethod")).equal("cookie");
    (await editor.isValid("unknown")).should.be.false();
  });

  it("checks a node that came back after it was deleted from its form by what it holds", async () => {
    await editor.edit("unused");
    await editor.input("verificationMethod").selectOption("header");
    await editor.page.locator("#node-dialog-delete").click();
    await editor.input("name").waitFor({ state: "detached" });
    await editor.invoke("core:undo");
    (await editor.isValid("unused")).should.be.true();
  });

  it("takes environment variables in every field, and keeps them on Done", async () => {
    await editor.edit("environment");
    await editor.input("token").fill("${TOKEN}");
    (await isMarked()).should.equal(0);
    (await editor.page.locator(".webhook-trigger-message").allInnerTexts()).join("").should.equal("");
    (await state("verification")).should.equal("${VERIFICATIONMETHOD}");
    (await state("terminal")).should.equal(catalogText("section.lineUnknown"));
    await editor.done();
    for (const [field, value] of Object.entries(environmentValues)) {
      should(await editor.saved("environment", field as keyof SavedFields)).equal(value);
    }
  });

  it("ticks a box that was saved as the text true", async () => {
    await editor.edit("ticked");
    (await editor.input("returnQueryParams").isChecked()).should.be.true();
    (await editor.input("guaranteed").isChecked()).should.be.true();
  });

  for (const [id, method, name, message, terminal] of [
    ["plain", "header", "Authorization", "section.body", "section.line"],
    ["query", "query", "state", "section.bodyAndQuery", "section.line"],
    ["signed", "signature", "GitLab", "section.body", "section.noLine"],
  ] as const) {
    it(`closes the sections, whose headings say what they hold: ${id}`, async () => {
      await editor.editAsItIs(id);
      (await editor.openSections()).should.eql([]);
      (await state("verification")).should.equal(catalogText(`section.${method}`, { name }));
      (await state("message")).should.equal(catalogText(message));
      (await state("terminal")).should.equal(catalogText(terminal));
    });
  }

  it("opens a section for a change that is not deployed, and no more once it is", async () => {
    await editor.edit("changed");
    await editor.input("returnQueryParams").check();
    await editor.done();
    await editor.editAsItIs("changed");
    (await editor.openSections()).should.eql(["message"]);
    await editor.done();
    await editor.deploy();
    await editor.editAsItIs("changed");
    (await editor.openSections()).should.eql([]);
  });

  it("opens a section for an error in it, which the heading states, until the user closes it", async () => {
    await editor.edit("plain");
    await editor.input("headerParameter").fill("X Token");
    await editor.done();
    (await editor.isValid("plain")).should.be.false();
    await editor.editAsItIs("plain");
    (await editor.openSections()).should.eql(["verification"]);
    (await state("verification")).should.equal(catalogText("section.broken"));
    (await editor.state("verification").locator("i.fa").count()).should.equal(1);
    await editor.heading("verification").click();
    await editor.input("name").fill("Broken");
    (await editor.openSections()).should.eql([]);
  });
});
