import "should";
import { tokenLength } from "../../src/config/rules";
import { catalogText, Editor } from "../harness/browser";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

/** A node for each test that leaves it otherwise than it was: with a token that is saved, and without one. */
const saved = ["token-saved", "token-renamed", "token-replaced"];
const empty = ["token-first", "token-second", "token-made", "token-deployed"];

describe("the token in the form", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    const webhooks = [
      ...saved.map((id) => ({ id, relativePath: `/${id}` })),
      ...empty.map((id) => ({ id, relativePath: `/${id}`, credentials: {} })),
    ];
    nodeRed = await sharedNodeRed(webhookFlow(...webhooks));
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const hint = () => editor.hint("token").innerText();

  it("is made of 40 base64url characters, another one each time, and shown", async () => {
    const made = new Set<string>();
    for (const id of ["token-first", "token-second", "token-first"]) {
      await editor.edit(id);
      (await editor.input("token").inputValue()).should.equal("");
      await editor.tokenButton("make").click();
      const token = await editor.input("token").inputValue();
      token.should.match(/^[A-Za-z0-9_-]*$/).and.have.length(tokenLength);
      made.add(token);
      (await editor.input("token").getAttribute("type"))?.should.equal("text");
      (await editor.message("token").isVisible()).should.be.false();
      (await editor.note("seen").innerText()).trim().should.equal(catalogText("handover.tokenSeen"));
      await editor.cancel();
    }
    made.size.should.equal(3);
  });

  it("is not shared by new nodes", async () => {
    await editor.edit("token-made");
    await editor.tokenButton("make").click();
    await editor.done();
    await editor.edit("token-second");
    (await editor.input("token").inputValue()).should.equal("");
  });

  it("is hidden and shown by its button, which says what it does", async () => {
    await editor.edit("token-first");
    await editor.tokenButton("make").click();
    for (const [label, type] of [
      ["credential.hide", "password"],
      ["credential.show", "text"],
    ] as const) {
      const text = catalogText(label, { name: catalogText("label.token") });
      (await editor.tokenButton("show").getAttribute("aria-label"))?.should.equal(text);
      await editor.tokenButton("show").click();
      (await editor.input("token").getAttribute("type"))?.should.equal(type);
    }
  });

  it("is copied to the clipboard while it is new, hidden or not", async () => {
    await editor.edit("token-first");
    await editor.tokenButton("make").click();
    await editor.tokenButton("show").click();
    const token = await editor.input("token").inputValue();
    (await editor.given("header").innerText()).should.not.containEql(token);
    (await editor.copyGiven("header")).should.equal(`Authorization: Bearer ${token}`);
  });

  it("can be shown again until it is deployed", async () => {
    await editor.edit("token-deployed");
    await editor.tokenButton("make").click();
    const token = await editor.input("token").inputValue();
    await editor.done();
    await editor.edit("token-deployed");
    (await editor.input("token").getAttribute("type"))?.should.equal("password");
    await editor.tokenButton("show").click();
    (await editor.input("token").inputValue()).should.equal(token);
    await editor.done();
    await editor.deploy();
    await editor.edit("token-deployed");
    (await editor.tokenButton("show").isDisabled()).should.be.true();
    (await editor.input("token").inputValue()).should.not.equal(token);
  });

  it("is kept without being shown once it is saved", async () => {
    await editor.edit("token-saved");
    (await editor.input("token").getAttribute("type"))?.should.equal("password");
    (await editor.input("token").inputValue()).should.not.equal("");
    (await editor.message("token").isVisible()).should.be.false();
    (await hint()).should.equal(catalogText("credential.kept"));
    (await editor.tokenButton("show").isDisabled()).should.be.true();
  });

  it("stays valid when a saved node is edited, closed with Done and deployed", async () => {
    await editor.edit("token-renamed");
    await editor.input("relativePath").fill("/other");
    await editor.done();
    await editor.deploy();
    await nodeRed.status("token-renamed", /other/);
    (await send(nodeRed.node("/other"), { headers: bearer })).status.should.equal(200);
  });

  it("is replaced as a whole when someone types over a saved one", async () => {
    await editor.edit("token-saved");
    await editor.input("token").focus();
    await editor.page.keyboard.type("typed");
    (await editor.input("token").inputValue()).should.equal("typed");
    (await editor.tokenButton("show").isDisabled()).should.be.false();
    (await editor.message("token").innerText()).should.equal(catalogText("rules.token.length"));
  });

  it("replaces a saved one when a new one is made and deployed", async () => {
    await editor.edit("token-replaced");
    await editor.input("relativePath").fill("/another");
    await editor.tokenButton("make").click();
    const token = await editor.input("token").inputValue();
    await editor.done();
    await editor.deploy();
    await nodeRed.status("token-replaced", /another/);
    (await send(nodeRed.node("/another"), { headers: { Authorization: `Bearer ${token}` } })).status.should.equal(200);
    (await send(nodeRed.node("/another"), { headers: bearer })).status.should.equal(401);
  });
});
