import should from "should";
import { catalogText, Editor, type Section } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

describe("the sections of the form", () => {
  let editor: Editor;
  before(async () => {
    const nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "plain", relativePath: "/plain" },
        { id: "second", relativePath: "/second" },
        { id: "query", relativePath: "/query", verificationMethod: "query", returnQueryParams: true },
        { id: "signed", relativePath: "/signed", verificationMethod: "signature", sender: "gitlab-signed" },
        { id: "environment", relativePath: "/environment", verificationMethod: "${METHOD}", returnQueryParams: "${R}" },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const open = () => editor.openSections();
  const state = (section: Section) => editor.state(section).innerText();

  for (const [id, expected] of [
    ["plain", [["header", "Authorization"], "section.body", "section.line"]],
    ["query", [["query", "state"], "section.bodyAndQuery", "section.line"]],
    ["signed", [["signature", "GitLab"], "section.body", "section.noLine"]],
  ] as const) {
    it(`are closed in ${id}, and say what they hold`, async () => {
      await editor.editAsItIs(id);
      (await open()).should.eql([]);
      const [[method, name], message, terminal] = expected;
      (await state("verification")).should.equal(catalogText(`section.${method}`, { name }));
      (await state("message")).should.equal(catalogText(message));
      (await state("terminal")).should.equal(catalogText(terminal));
    });
  }

  it("name the environment variables that decide", async () => {
    await editor.editAsItIs("environment");
    (await state("verification")).should.equal("${METHOD}");
    (await state("message")).should.equal("${R}");
    (await state("terminal")).should.equal(catalogText("section.lineUnknown"));
  });

  it("open by themselves for a change that is not deployed, and no more once it is", async () => {
    await editor.edit("second");
    await editor.input("returnQueryParams").check();
    await editor.done();
    await editor.editAsItIs("second");
    (await open()).should.eql(["message"]);
    await editor.done();
    await editor.deploy();
    await editor.editAsItIs("second");
    (await open()).should.eql([]);
  });

  it("are closed in a new node, which has nothing wrong with it", async () => {
    await editor.editAsItIs(await editor.drop("webhook-trigger", 300, 400));
    (await open()).should.eql([]);
    (await editor.page.locator(".webhook-trigger-message").allInnerTexts()).join("").should.equal("");
    (await editor.page.locator(".webhook-trigger-form .input-error").count()).should.equal(0);
    await editor.input("sender").selectOption("github");
    (await open()).should.eql([]);
  });

  it("open and close by the keyboard, and keep it", async () => {
    await editor.editAsItIs("plain");
    await editor.heading("message").focus();
    await editor.page.keyboard.press("Enter");
    (await open()).should.eql(["message"]);
    await editor.page.keyboard.press("Space");
    (await open()).should.eql([]);
    should(await editor.page.evaluate(() => document.activeElement?.id)).equal("webhook-trigger-heading-message");
  });

  it("open by themselves for an error, which the heading tells as well", async () => {
    await editor.edit("plain");
    await editor.input("headerParameter").fill("X Token");
    await editor.done();
    await editor.editAsItIs("plain");
    (await open()).should.eql(["verification"]);
    (await state("verification")).should.equal(catalogText("section.broken"));
    await editor.heading("verification").click();
    // Whoever has closed it is not told again by each key.
    await editor.input("name").fill("Broken");
    (await open()).should.eql([]);
  });

  it("have no line for a terminal where requests are signed, and say why", async () => {
    await editor.edit("signed");
    (await editor.command.isVisible()).should.be.false();
    (await editor.page.locator("#webhook-trigger-command-none").innerText()).should.equal(catalogText("trial.commandSigned"));
  });

  it("say that the line works after you deploy", async () => {
    await editor.edit("plain");
    (await editor.page.locator("#webhook-trigger-command-hint").innerText()).should.equal(catalogText("trial.command"));
  });
}); // prettier-ignore
