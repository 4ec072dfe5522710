import should from "should";
import { defaults } from "../../src/config/fields";
import type { StoreKind } from "../../src/config/stores";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { catalogText, Editor, setKeeping } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

const here: StoreKind = sqliteIsHere() ? "file" : "none";

describe("Guaranteed delivery, in the form", () => {
  let editor: Editor;
  before(async () => {
    const nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "usual", relativePath: "/usual" },
        { id: "kept", relativePath: "/kept" },
        { id: "safe", relativePath: "/safe", guaranteed: true },
        { id: "text", relativePath: "/text", guaranteed: "true" },
        { id: "paced", relativePath: "/paced", guaranteed: true, concurrency: 1, ratePerMinute: "${STARTS}" },
        { id: "signed", relativePath: "/signed", guaranteed: true, verificationMethod: "signature", sender: "stripe", credentials: { secret: "whsec_a" } },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  beforeEach(() => setKeeping(editor, "file"));
  afterEach(() => editor.leave());
  after(() => editor.close());

  const state = () => editor.state("guaranteed").innerText();
  const section = () => editor.page.locator("#webhook-trigger-section-guaranteed");
  const points = async () => (await section().locator("li:visible").allInnerTexts()).map((text) => text.trim());
  const noted = async (name: "no-store" | "guaranteed-duplicates") => (await editor.note(name).innerText()).trim();

  it("comes from the runtime: where it is kept, or that it cannot be", async () => {
    // What the tests before have set is gone when the editor is loaded anew.
    await editor.page.reload();
    await editor.paletteEntry("debug").waitFor();
    await editor.page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
    await editor.edit("usual");
    (await editor.note("no-store").isVisible()).should.equal(here === "none");
    (await points()).includes(catalogText("guaranteed.inFile")).should.equal(here === "file");
  });

  for (const [keeping, expected, where] of [
    ["file", "section.guaranteedInFile", "guaranteed.inFile"],
    ["server", "section.guaranteedOnServer", "guaranteed.onServer"],
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
      (await state()).should.equal(catalogText("section.guaranteedOff"));
      (await points()).should.eql(["guaranteed.again", "guaranteed.twice", "guaranteed.status", where, "guaranteed.slower"].map((key) => catalogText(key)));
      (await editor.note("no-store").isVisible()).should.be.false();
    });
  }

  it("is off in a new node, and saved once it is on", async () => {
    await editor.edit("kept");
    (await editor.input("guaranteed").isChecked()).should.be.false();
    await editor.input("guaranteed").check();
    (await state()).should.equal(catalogText("section.guaranteedInFile"));
    await editor.done();
    should(await editor.saved("kept", "guaranteed")).equal(true);
    (await editor.isValid("kept")).should.be.true();
    await editor.editAsItIs("kept");
    (await editor.openSections()).should.eql(["guaranteed"]);
    await editor.input("guaranteed").uncheck();
    await editor.done();
    should(await editor.saved("kept", "guaranteed")).equal(false);
  });

  it("says in its heading how fast the flow is started, and when the node pauses", async () => {
    const [inFile, one, five] = [catalogText("section.guaranteedInFile"), catalogText("section.concurrency", { count: "1" }), catalogText("section.breaker", { failures: "5" })];
    await editor.editAsItIs("paced");
    (await editor.openSections()).should.eql([]);
    (await state()).should.equal([inFile, one, catalogText("section.rate", { rate: "${STARTS}" })].join(", "));
    await editor.heading("guaranteed").click();
    await editor.input("ratePerMinute").fill("60");
    await editor.input("breaker").fill("5");
    (await state()).should.equal([inFile, one, catalogText("section.rate", { rate: "60" }), five].join(", "));
    await editor.input("concurrency").fill("0");
    await editor.input("ratePerMinute").fill("0");
    (await state()).should.equal([inFile, five].join(", "));
  });

  it("asks for numbers in their ranges, and saves them", async () => {
    const numbers = [["attemptTimeout", "0", "60"], ["concurrency", "1001", "1"], ["ratePerMinute", "6001", "60"], ["breaker", "soon", "5"]] as const;
    await editor.edit("kept");
    await editor.input("guaranteed").check();
    for (const [field, wrong, right] of numbers) {
      (await editor.input(field).inputValue()).should.equal(String(defaults[field]));
      await editor.input(field).fill(wrong);
      (await editor.message(field).innerText()).should.equal(catalogText(`rules.${field}`));
      (await state()).should.equal(catalogText("section.broken"));
      await editor.input(field).fill(right);
      (await editor.message(field).isVisible()).should.be.false();
    }
    await editor.done();
    for (const [field, , right] of numbers) should(await editor.saved("kept", field)).equal(right);
    (await editor.isValid("kept")).should.be.true();
  });

  const span = () => editor.page.locator("#webhook-trigger-guaranteed-span");

  it("says for how long a delivery is tried", async () => {
    await editor.edit("usual");
    (await span().isVisible()).should.be.false();
    await editor.input("guaranteed").check();
    (await span().innerText()).should.equal(catalogText("guaranteed.span", { time: "85 minutes" }));
    await editor.input("attempts").fill("50");
    (await span().innerText()).should.equal(catalogText("guaranteed.span", { time: "41 hours" }));
    await editor.input("attempts").fill("1");
    (await span().isVisible()).should.be.false();
    await editor.input("attempts").fill("2");
    await editor.input("backoffFirst").fill("1");
    (await span().innerText()).should.equal(catalogText("guaranteed.span", { time: "1 second" }));
    await editor.input("backoffFirst").fill("soon");
    (await span().isVisible()).should.be.false();
  });

  it("says when the flow answers that this is the end", async () => {
    await editor.edit("usual");
    (await points()).includes(catalogText("guaranteed.byFlow")).should.be.false();
    await editor.input("reply").selectOption("flow");
    (await points()).includes(catalogText("guaranteed.byFlow")).should.be.true();
  });

  it("hints to ignore duplicates, as long as they are not, where the sender has an id for its deliveries", async () => {
    await editor.edit("usual");
    await editor.input("guaranteed").check();
    (await editor.note("guaranteed-duplicates").isVisible()).should.be.false();
    await editor.cancel();
    await editor.edit("signed");
    (await noted("guaranteed-duplicates")).should.equal(catalogText("guaranteed.duplicates", { name: "Stripe" }));
    await editor.input("guaranteed").uncheck();
    (await editor.note("guaranteed-duplicates").isVisible()).should.be.false();
    await editor.input("guaranteed").check();
    await editor.input("ignoreDuplicates").check();
    (await editor.note("guaranteed-duplicates").isVisible()).should.be.false();
  });

  describe("where nothing can be kept", () => {
    beforeEach(() => setKeeping(editor, "none"));

    it("says what to do, and is no error as long as it is off", async () => {
      await editor.editAsItIs("usual");
      (await editor.openSections()).should.eql([]);
      (await state()).should.equal(catalogText("section.guaranteedOff"));
      await editor.heading("guaranteed").click();
      (await noted("no-store")).should.equal(catalogText("guaranteed.missing"));
      (await points()).should.eql(["guaranteed.again", "guaranteed.twice", "guaranteed.status", "guaranteed.slower"].map((key) => catalogText(key)));
      (await editor.message("guaranteed").isVisible()).should.be.false();
    });

    it("opens with an error where it is on, and closes with it", async () => {
      await editor.editAsItIs("safe");
      (await editor.openSections()).should.eql(["guaranteed"]);
      (await state()).should.equal(catalogText("section.broken"));
      (await editor.message("guaranteed").innerText()).should.equal(catalogText("guaranteed.closed"));
      (await editor.input("guaranteed").getAttribute("aria-invalid") ?? "").should.equal("true");
      await editor.input("guaranteed").uncheck();
      (await editor.message("guaranteed").isVisible()).should.be.false();
      (await state()).should.equal(catalogText("section.guaranteedOff"));
      await editor.input("guaranteed").check();
      await editor.done();
      (await editor.isValid("safe")).should.be.false();
    });
  });
}); // prettier-ignore
