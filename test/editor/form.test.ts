import should from "should";
import { senders } from "../../src/auth/senders/table";
import { defaults, tokenLength } from "../../src/config/fields";
import { catalogText, type Entered, type FormField, type Section } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { useEditor } from "../harness/stage";

const bytes = (count: number, encoding: "base64" | "hex") => Buffer.alloc(count, 7).toString(encoding);

/** What is entered one after the other, and the rules that it breaks: the name of a rule begins with its field. */
const breaches: [entered: Entered, ...rules: string[]][] = [
  [{ relativePath: "/" }, "relativePath.required"],
  [{ relativePath: "/orders/a:id" }, "relativePath.characters"],
  [{ relativePath: "/:id/orders/:id" }, "relativePath.parameters"],
  [{ relativePath: "/Flows/" }, "relativePath.admin"],
  [{ token: "" }, "token.required"],
  [{ token: "x".repeat(tokenLength - 1) }, "token.length"],
  [{ token: "é".repeat(tokenLength) }, "token.characters"],
  [{ headerParameter: "X Token" }, "headerParameter"],
  [{ verificationMethod: "query", queryParameter: "" }, "queryParameter"],
  [{ verificationMethod: "jwt", jwksUrl: "http://issuer.example/", issuer: "x", audience: "x" }, "jwksUrl"],
  [{ issuer: "", audience: "" }, "issuer", "audience"],
  [{ keySource: "publicKey", publicKey: "a key", requiredClaim: "email" }, "publicKey", "requiredClaim.format"],
  [{ keySource: "secret", secret: "x", headerParameter: "X Token" }, "headerParameter"],
  [{ secret: "" }, "secret.required"],
  [{ sender: "google-pubsub", requiredClaim: "" }, "requiredClaim.required"],
  [{ sender: "netlify", verificationMethod: "signature" }, "verificationMethod"],
  [{ replyType: "text", replyStatus: "404" }, "replyType", "replyStatus"],
  [{ reply: "flow", replyTimeout: "301" }, "replyTimeout"],
  [{ ignoreDuplicates: true, duplicateKey: "header:", duplicateWindow: "0" }, "duplicateKey", "duplicateWindow"],
  [{ rateLimit: "many", alertWhenSilent: "1,5" }, "rateLimit", "alertWhenSilent"],
  [{ guaranteed: true, attempts: "51", backoffFirst: "0" }, "attempts", "backoffFirst"],
  [{ backoffLongest: "1h", concurrency: "1001" }, "backoffLongest", "concurrency"],
  [{ ratePerMinute: "0.5", breaker: "-1", attemptTimeout: "0" }, "ratePerMinute", "breaker", "attemptTimeout"],
  [{ sender: "telnyx", secret: bytes(31, "base64") }, "secret.format"],
  [{ secret: bytes(33, "base64") }, "secret.format"],
  [{ sender: "discord", secret: bytes(31, "hex"), secondSecret: "0a" }, "secret.format", "secondSecret.format"],
  [{ sender: "square", publicUrl: "nodered.example" }, "publicUrl"],
  [{ sender: "grafana-timestamp", signatureHeader: "X Signature" }, "signatureHeader"],
  [{ timestampHeader: "X Time" }, "timestampHeader"],
  [{ sender: "amazon-sns", topicArn: "orders" }, "topicArn"],
  [{ sender: "paypal", webhookId: "a-b" }, "webhookId"],
  [{ sender: "custom", scheme: "{" }, "scheme.required"],
];

/** Nodes that were saved with what the form does not offer, and the rules that this breaks. */
const hashing = { verificationMethod: "signature", sender: "websub", senderSettings: { alg: "md5" } };
const strange: Record<string, [saved: Record<string, unknown>, ...rules: string[]]> = {
  unknown: [
    { verificationMethod: "cookie", reply: "later", sender: "nobody" },
    ...["verificationMethod", "reply", "sender.unknown"],
  ],
  missing: [{ verificationMethod: null, reply: null }, "verificationMethod", "reply"],
  hashing: [hashing, "alg"],
};

/** An environment variable in each field that is saved as text. */
const environmentValues = Object.fromEntries(
  Object.keys(defaults)
    .filter((field) => !["events", "conditions", "outputs", "scheme", "senderSettings"].includes(field))
    .map((field) => [field, `\${${field.toUpperCase()}}`]),
);

const boxes = { ignoreDuplicates: "${IGNORE}", rawBody: "${RAW}", guaranteed: "${DURABLE}" };

const flow = webhookFlow(
  { id: "plain", relativePath: "/plain" },
  { id: "broken", relativePath: "/broken", rateLimit: "many" },
  { id: "environment", ...environmentValues },
  { id: "guarded", relativePath: "/guarded" },
  { id: "asked", relativePath: "/asked" },
  { id: "boxes", relativePath: "/boxes", returnQueryParams: "true", ...boxes },
  { id: "unused", relativePath: "/unused", headerParameter: "X Token", verificationMethod: "query" },
  ...Object.entries(strange).map(([id, [saved]]) => ({ id, relativePath: `/${id}`, ...saved })),
);

describe("the form of the webhook trigger", () => {
  const { editor } = useEditor(flow);

  const isInvalid = async (field: FormField) => (await editor().input(field).getAttribute("aria-invalid")) === "true";
  const state = (section: Section) => editor().state(section).innerText();
  const parameters = () => editor().visible("queryParameter", "headerParameter");
  const isMarked = () => editor().page.locator('.webhook-trigger-form [aria-invalid="true"]').count();

  it("names the fields as the specification does, and has a help panel", async () => {
    await editor().editAsItIs("plain");
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
      const shown = await editor().page.locator(`label[for="node-input-${field}"]`).textContent();
      should(shown?.trim()).equal(label);
    }
    await editor().page.locator(".red-ui-tray-footer .fa-book").click();
    const help = editor().page.locator(".red-ui-help .red-ui-help", { hasText: "Starts the flow when" });
    await help.waitFor();
    (await help.innerText()).should.containEql(catalogText("label.relativePath"));
  });

  it("gives a new node the defaults, a path and a token of its own, and finds no fault with it", async () => {
    await editor().editAsItIs(await editor().drop("webhook-trigger", 500, 300));
    for (const field of ["name", "sender", "verificationMethod", "queryParameter", "headerParameter"] as const) {
      (await editor().input(field).inputValue()).should.equal(defaults[field]);
    }
    (await editor().input("returnQueryParams").isChecked()).should.equal(defaults.returnQueryParams);
    (await editor().input("relativePath").inputValue()).should.match(/^\/hook-[a-z0-9]{6}$/);
    (await editor().input("token").inputValue()).should.match(/^[\w-]{40}$/);
    (await editor().openSections()).should.eql([]);
    (await isMarked()).should.equal(0);
    await editor().enter({ sender: "github" });
    (await editor().openSections()).should.eql([]);
  });

  const expectBroken = async (...rules: string[]) => {
    for (const rule of rules) {
      const [field] = rule.split(".") as [FormField];
      ((await editor().message(field).textContent()) ?? "").should.equal(catalogText(`rules.${rule}`), rule);
      (await isInvalid(field)).should.be.true(rule);
    }
  };

  it("says under each field which rule is broken, and takes it back as soon as the rule is kept", async () => {
    await editor().editAsItIs("plain");
    for (const [entered, ...rules] of breaches) {
      await editor().fillIn(entered);
      await expectBroken(...rules);
    }
    await editor().fillIn({ scheme: JSON.stringify(senders.custom.scheme), relativePath: "/orders" });
    await editor().fillIn({ sender: "telnyx", secret: bytes(32, "base64"), secondSecret: bytes(32, "base64") });
    for (const field of ["scheme", "relativePath", "secret", "secondSecret"] as const) {
      (await editor().message(field).isVisible()).should.be.false(field);
      (await isInvalid(field)).should.be.false(field);
    }
  });

  it("calls nothing missing that it has only just asked for, until the user has been there or opens it again", async () => {
    const border = async (field: FormField) => {
      const input = editor().input(field);
      return input.evaluate((element) => getComputedStyle(element).borderTopColor);
    };
    await editor().editAsItIs("asked");
    await editor().enter({ verificationMethod: "basic" });
    (await isMarked()).should.equal(0);
    (await editor().message("password").isVisible()).should.be.false();
    await editor().input("user").pressSequentially("a");
    (await border("password")).should.equal(await border("name"));
    await editor().enter({ user: "" });
    await expectBroken("user.required");
    (await border("user")).should.not.equal(await border("name"));
    (await isMarked()).should.equal(1);
    await editor().done();
    (await editor().isValid("asked")).should.be.false();
    await editor().editAsItIs("asked");
    await expectBroken("user.required", "password.required");
  });

  it("says which rule is broken by what was saved, keeps it, and marks the node as invalid", async () => {
    for (const [id, [, ...rules]] of Object.entries(strange)) {
      await editor().editAsItIs(id);
      await expectBroken(...rules);
      if (id === "unknown") (await parameters()).should.eql([]);
      await editor().done();
      (await editor().isValid(id)).should.be.false(id);
    }
    should(await editor().saved("unknown", "verificationMethod")).equal("cookie");
  });

  it("ticks a box that was saved as the text true, and takes a variable where one was saved, but no other text", async () => {
    await editor().edit("boxes");
    (await editor().input("returnQueryParams").isChecked()).should.be.true();
    for (const box of Object.keys(boxes) as (keyof typeof boxes)[]) {
      await editor().enter({ [box]: "perhaps" });
      await expectBroken(box);
    }
  });

  it("shows and checks the parameter field of the chosen method alone", async () => {
    await editor().editAsItIs("unused");
    (await parameters()).should.eql(["queryParameter"]);
    (await isInvalid("headerParameter")).should.be.false();
    await editor().enter({ verificationMethod: "header" });
    (await parameters()).should.eql(["headerParameter"]);
    await expectBroken("headerParameter");
    // A node that comes back after it was deleted from its form is checked by what it holds.
    await editor().page.locator("#node-dialog-delete").click();
    await editor().input("name").waitFor({ state: "detached" });
    await editor().invoke("core:undo");
    (await editor().isValid("unused")).should.be.true();
  });

  it("takes environment variables in every field, shows both parameters where one decides, and keeps them on Done", async () => {
    await editor().edit("environment");
    (await parameters()).should.eql(["queryParameter", "headerParameter"]);
    await editor().input("token").fill("${TOKEN}");
    (await isMarked()).should.equal(0);
    (await editor().page.locator(".webhook-trigger-message").allInnerTexts()).join("").should.equal("");
    (await state("rotation")).should.equal(catalogText("section.oneCredential"));
    (await state("terminal")).should.equal(catalogText("section.lineUnknown"));
    await editor().done();
    should(await editor().savedFields("environment", Object.keys(environmentValues))).eql(environmentValues);
  });

  it("takes user and password, or what JSON Web Tokens are verified by, gives the former to the sender, hides what that presets, and says where httpNodeAuth is in the way", async () => {
    const guard = () => editor().note("guarded");
    await editor().set("webhookTriggerHasNodeAuth", true);
    await editor().edit("guarded");
    await editor().enter({ verificationMethod: "basic", user: "a:b" });
    await expectBroken("user.colon");
    (await editor().input("token").isVisible()).should.be.false();
    await editor().enter({ user: "sensor" });
    await editor().part("password-make").click();
    const password = await editor().input("password").inputValue();
    password.should.match(/^[\w-]{40}$/);
    (await editor().copyGiven("user")).should.equal("sensor");
    (await editor().copyGiven("password")).should.equal(password);
    (await editor().note("seen").innerText()).trim().should.equal(catalogText("handover.passwordSeen"));
    (await guard().innerText()).trim().should.equal(catalogText("basic.guarded"));
    (await editor().part("command").innerText()).should.containEql(` --user "sensor:${password}" `);
    (await state("rotation")).should.equal(catalogText("section.oneCredential"));
    await editor().enter({ secondPassword: "another" });
    (await state("rotation")).should.equal(catalogText("section.twoCredentials"));
    await editor().done();
    (await editor().isValid("guarded")).should.be.true();
    await editor().set("webhookTriggerHasNodeAuth", false);
    await editor().edit("guarded");
    (await editor().input("user").inputValue()).should.equal("sensor");
    (await guard().isVisible()).should.be.false();
    await editor().set("webhookTriggerHasNodeAuth", true);
    const jwt = { verificationMethod: "jwt", jwksUrl: "https://issuer.example/keys", requiredClaim: "sub=1" };
    await editor().enter({ ...jwt, issuer: "https://issuer.example", audience: "orders" });
    (await guard().innerText()).trim().should.equal(catalogText("jwt.guarded"));
    await editor().enter({ headerParameter: "X-Token" });
    (await guard().isVisible()).should.be.false();
    (await editor().state("rotation").isVisible()).should.be.false();
    (await state("terminal")).should.equal(catalogText("section.noLine"));
    (await isMarked()).should.equal(0);
    await editor().done();
    (await editor().isValid("guarded")).should.be.true();
    should(await editor().savedFields("guarded", [...Object.keys(jwt), "keySource"])).eql({
      ...jwt,
      keySource: "jwks",
    });
    await editor().editAsItIs("guarded");
    await editor().enter({ sender: "google-pubsub", requiredClaim: "email=a@example.com" });
    (await editor().visible("keySource", "jwksUrl", "issuer", "headerParameter")).should.eql([]);
    (await guard().isVisible()).should.be.true();
    await editor().done();
    (await editor().isValid("guarded")).should.be.true();
    await editor().set("webhookTriggerHasNodeAuth", false);
  });

  it("offers methods, those beside POST in sight, says what GET means for the message and for a token in the URL, and saves them as a list", async () => {
    const isInSection = () => editor().page.locator("details #webhook-trigger-methods").isVisible();
    const box = (method: string) => editor().part("methods").getByLabel(method, { exact: true });
    const command = () => editor().part("command").innerText();
    await editor().edit("plain");
    (await box("POST").isChecked()).should.be.true();
    (await isInSection()).should.be.true();
    await box("POST").uncheck();
    (await editor().message("methods").innerText()).should.equal(catalogText("rules.methods"));
    await box("GET").check();
    (await editor().hint("methods").innerText()).should.startWith(catalogText("methods.get"));
    (await command()).should.match(/^curl "[^"]+\/plain\?text=hello\+world" -H "[^"]+"$/);
    (await editor().part("picture").innerText()).should.equal('msg.payload = { "text": "hello world" }');
    (await editor().state("message").innerText()).should.equal(catalogText("section.payloadQuery"));
    await editor().hint("methods").locator("button").click();
    (await editor().input("verificationMethod").inputValue()).should.equal("query");
    (await editor().hint("methods").innerText()).should.equal(catalogText("methods.tokenInUrl"));
    (await command()).should.match(/\?state=[^&"]+&text=hello\+world"$/);
    await box("GET").uncheck();
    await box("PUT").check();
    (await command()).should.match(/^curl -X PUT "[^"]+" --data "hello world"$/);
    await editor().done();
    should(await editor().saved("plain", "methods")).eql(["PUT"]);
    await editor().editAsItIs("plain");
    (await box("PUT").isVisible()).should.be.true();
    (await isInSection()).should.be.false();
  });

  it("opens a section for an error in it, which the heading states, until the user closes it", async () => {
    (await editor().isValid("broken")).should.be.false();
    await editor().editAsItIs("broken");
    (await editor().openSections()).should.eql(["limits"]);
    (await state("limits")).should.equal(catalogText("section.broken"));
    (await editor().state("limits").locator("i.fa").count()).should.equal(1);
    await editor().part("heading-limits").click();
    await editor().enter({ name: "Broken" });
    (await editor().openSections()).should.eql([]);
  });
});
