import should from "should";
import { catalogText, Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

/** What the form cannot show of a saved token. */
const placeholder = catalogText("trial.placeholder");

describe("what the form gives to the sender", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await sharedNodeRed(webhookFlow({ id: "saved", relativePath: "/saved" }));
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  beforeEach(() => editor.edit("saved"));
  afterEach(() => editor.cancel());
  after(() => editor.close());

  it("is a URL and a header, spelled out", async () => {
    await editor.tokenButton("make").click();
    const token = await editor.input("token").inputValue();
    (await editor.given("header").innerText()).should.equal(`Authorization: Bearer ${token}`);
    await editor.input("headerParameter").fill("X-Token");
    (await editor.copyGiven("header")).should.equal(`X-Token: ${token}`);
    (await editor.copyGiven("url")).should.equal(nodeRed.node("/saved"));
  });

  it("is a URL with the token in it where the query carries that", async () => {
    await editor.tokenButton("make").click();
    const token = await editor.input("token").inputValue();
    await editor.input("verificationMethod").selectOption("query");
    (await editor.given("url").innerText()).should.equal(`${nodeRed.node("/saved")}?state=${token}`);
    (await editor.copyGiven("url")).should.equal(`${nodeRed.node("/saved")}?state=${token}`);
    (await editor.given("header").isVisible()).should.be.false();
    await editor.input("queryParameter").fill("a key");
    (await editor.copyGiven("url")).should.equal(`${nodeRed.node("/saved")}?a+key=${token}`);
  });

  it("hides the token with its field, and is copied as a whole all the same", async () => {
    await editor.tokenButton("make").click();
    const token = await editor.input("token").inputValue();
    await editor.tokenButton("show").click();
    (await editor.given("header").innerText()).should.match(/^Authorization: Bearer •+$/);
    await editor.input("verificationMethod").selectOption("query");
    (await editor.given("url").innerText()).should.match(/\?state=•+$/);
    (await editor.copyGiven("url")).should.containEql(token);
  });

  it("has a placeholder for a token that is saved, and says so", async () => {
    (await editor.copyGiven("header")).should.equal(`Authorization: Bearer ${placeholder}`);
    (await editor.note("yours").innerText()).trim().should.equal(catalogText("handover.yourToken"));
    (await editor.note("seen").isVisible()).should.be.false();
    await editor.input("verificationMethod").selectOption("query");
    (await editor.copyGiven("url")).should.equal(`${nodeRed.node("/saved")}?state=${placeholder}`);
  });

  it("is to be copied in time where it is given away, and not where the sender has shown it", async () => {
    await editor.input("sender").selectOption("slack");
    await editor.input("secret").fill("0123456789abcdef0123456789abcdef");
    ((await editor.message("secret").textContent()) ?? "?").should.equal("");
    (await editor.note("seen").isVisible()).should.be.false();
    // It shows the secret, and asks for a word besides.
    await editor.input("sender").selectOption("meta");
    await editor.input("secret").fill("0123456789abcdef0123456789abcdef");
    (await editor.note("seen").innerText()).trim().should.equal(catalogText("handover.tokenSeen"));
    await editor.input("verifyToken").fill("");
    (await editor.note("seen").isVisible()).should.be.false();
    await editor.input("sender").selectOption("github");
    (await editor.note("seen").innerText()).trim().should.equal(catalogText("handover.secretSeen"));
  });

  it("is to be copied in time where it is a second token, which comes from here as well", async () => {
    (await editor.note("seen").isVisible()).should.be.false();
    await editor.input("secondToken").fill("x".repeat(40));
    (await editor.note("seen").innerText()).trim().should.equal(catalogText("handover.tokenSeen"));
  });

  it("has no URL for a path from the environment, and says so", async () => {
    await editor.input("relativePath").fill("${HOOK}");
    (await editor.given("url").isVisible()).should.be.false();
    (await editor.note("yours").innerText()).trim().should.equal(catalogText("handover.pathFromEnvironment"));
    (await editor.page.locator(".webhook-trigger-form").innerText()).should.not.containEql("/${HOOK}");
  });

  it("says that nobody else reaches this computer, and where to read on", async () => {
    (await editor.page.locator("#webhook-trigger-reach").innerText()).should.equal(
      catalogText("url.computer", { host: "127.0.0.1" }),
    );
    should(await editor.note("reach").locator("a").getAttribute("href")).equal(
      "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/reaching-node-red.md",
    );
  });
});

describe("the address that the sender is given", () => {
  for (const [base, key] of [
    ["https://nodered.example", undefined],
    ["http://localhost:1880", "url.computer"],
    ["http://192.168.1.7:1880", "url.network"],
  ] as const) {
    it(`${key ? "is warned of" : "is fine"} when it is ${base}`, async () => {
      const settings = { webhookTriggerBaseUrl: base };
      const nodeRed = await sharedNodeRed(webhookFlow({ id: "saved" }), { settings });
      const editor = await Editor.open(await sharedBrowser(), nodeRed);
      await editor.editAsItIs("saved");
      (await editor.note("reach").isVisible()).should.equal(key !== undefined);
      const text = key ? catalogText(key, { host: new URL(base).hostname }) : "";
      should(await editor.page.locator("#webhook-trigger-reach").textContent()).equal(text);
      await editor.close();
    });
  }
}); // prettier-ignore
