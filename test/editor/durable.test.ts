import should from "should";
import type { Keeping } from "../../src/config/keeping";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import { catalogText, Editor, setKeeping } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

const here: Keeping = sqliteIsHere() ? "file" : "none";

describe("Never lose, in the form", () => {
  let editor: Editor;
  before(async () => {
    const nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "usual", relativePath: "/usual" },
        { id: "kept", relativePath: "/kept" },
        { id: "safe", relativePath: "/safe", durable: true },
        { id: "text", relativePath: "/text", durable: "true" },
        { id: "signed", relativePath: "/signed", durable: true, verificationMethod: "signature", sender: "stripe", credentials: { secret: "whsec_a" } },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  beforeEach(() => setKeeping(editor, "file"));
  afterEach(() => editor.leave());
  after(() => editor.close());

  const state = () => editor.state("durable").innerText();
  const section = () => editor.page.locator("#webhook-trigger-section-durable");
  const points = async () => (await section().locator("li:visible").allInnerTexts()).map((text) => text.trim());
  const noted = async (name: "no-store" | "durable-repeats") => (await editor.note(name).innerText()).trim();

  it("comes from the runtime: where it is kept, or that it cannot be", async () => {
    // What the tests before have set is gone when the editor is loaded anew.
    await editor.page.reload();
    await editor.paletteEntry("debug").waitFor();
    await editor.page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
    await editor.edit("usual");
    (await editor.note("no-store").isVisible()).should.equal(here === "none");
    (await points()).includes(catalogText("durable.inFile")).should.equal(here === "file");
  });

  for (const [keeping, expected, where] of [
    ["file", "section.durableInFile", "durable.inFile"],
    ["server", "section.durableOnServer", "durable.onServer"],
  ] as const) {
    it(`says in its heading that it is on, and kept: ${keeping}`, async () => {
      await setKeeping(editor, keeping);
      for (const id of ["safe", "text"]) {
        await editor.editAsItIs(id);
        (await editor.openSections()).should.eql([]);
        (await state()).should.equal(catalogText(expected));
        await editor.cancel();
      }
      await editor.edit("usual");
      (await state()).should.equal(catalogText("section.durableOff"));
      (await points()).should.eql(["durable.again", "durable.twice", where, "durable.slower"].map((key) => catalogText(key)));
      (await editor.note("no-store").isVisible()).should.be.false();
    });
  }

  it("is off in a new node, and saved once it is on", async () => {
    await editor.edit("kept");
    (await editor.input("durable").isChecked()).should.be.false();
    await editor.input("durable").check();
    (await state()).should.equal(catalogText("section.durableInFile"));
    await editor.done();
    should(await editor.saved("kept", "durable")).equal(true);
    (await editor.isValid("kept")).should.be.true();
    await editor.editAsItIs("kept");
    (await editor.openSections()).should.eql(["durable"]);
    await editor.input("durable").uncheck();
    await editor.done();
    should(await editor.saved("kept", "durable")).equal(false);
  });

  const span = () => editor.page.locator("#webhook-trigger-durable-span");

  it("says for how long a delivery is tried", async () => {
    await editor.edit("usual");
    (await span().isVisible()).should.be.false();
    await editor.input("durable").check();
    (await span().innerText()).should.equal(catalogText("durable.span", { time: "85 minutes" }));
    await editor.input("attempts").fill("50");
    (await span().innerText()).should.equal(catalogText("durable.span", { time: "41 hours" }));
    await editor.input("attempts").fill("1");
    (await span().isVisible()).should.be.false();
    await editor.input("attempts").fill("2");
    await editor.input("backoffFirst").fill("1");
    (await span().innerText()).should.equal(catalogText("durable.span", { time: "1 second" }));
    await editor.input("backoffFirst").fill("soon");
    (await span().isVisible()).should.be.false();
  });

  it("says when the flow answers that this is the end", async () => {
    await editor.edit("usual");
    (await points()).includes(catalogText("durable.byFlow")).should.be.false();
    await editor.input("reply").selectOption("flow");
    (await points()).includes(catalogText("durable.byFlow")).should.be.true();
  });

  it("hints to ignore repeats, as long as they are not, where the sender has an id for its deliveries", async () => {
    await editor.edit("usual");
    await editor.input("durable").check();
    (await editor.note("durable-repeats").isVisible()).should.be.false();
    await editor.cancel();
    await editor.edit("signed");
    (await noted("durable-repeats")).should.equal(catalogText("durable.repeats", { name: "Stripe" }));
    await editor.input("durable").uncheck();
    (await editor.note("durable-repeats").isVisible()).should.be.false();
    await editor.input("durable").check();
    await editor.input("ignoreRepeats").check();
    (await editor.note("durable-repeats").isVisible()).should.be.false();
  });

  describe("where nothing can be kept", () => {
    beforeEach(() => setKeeping(editor, "none"));

    it("says what to do, and is no error as long as it is off", async () => {
      await editor.editAsItIs("usual");
      (await editor.openSections()).should.eql([]);
      (await state()).should.equal(catalogText("section.durableOff"));
      await editor.heading("durable").click();
      (await noted("no-store")).should.equal(catalogText("durable.missing"));
      (await points()).should.eql(["durable.again", "durable.twice", "durable.slower"].map((key) => catalogText(key)));
      (await editor.message("durable").isVisible()).should.be.false();
    });

    it("opens with an error where it is on, and closes with it", async () => {
      await editor.editAsItIs("safe");
      (await editor.openSections()).should.eql(["durable"]);
      (await state()).should.equal(catalogText("section.broken"));
      (await editor.message("durable").innerText()).should.equal(catalogText("durable.closed"));
      (await editor.input("durable").getAttribute("aria-invalid") ?? "").should.equal("true");
      await editor.input("durable").uncheck();
      (await editor.message("durable").isVisible()).should.be.false();
      (await state()).should.equal(catalogText("section.durableOff"));
      await editor.input("durable").check();
      await editor.done();
      (await editor.isValid("safe")).should.be.false();
    });
  });
}); // prettier-ignore
