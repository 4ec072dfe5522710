import "should";
import type { Browser } from "playwright-core";
import { catalogText, Editor, startBrowser } from "../harness/browser";
import { makeFirstWebhook } from "../harness/first-webhook";
import { inEveryLayout } from "../harness/layouts";

inEveryLayout("a first webhook, made in the editor", {}, (nodeRed) => {
  let browser: Browser;
  let editor: Editor;
  before(async () => {
    browser = await startBrowser();
    editor = await Editor.open(browser, nodeRed());
  });
  after(() => browser.close());

  it("goes from the palette to a message in the debug sidebar", async () => {
    const label = await editor.paletteEntry("webhook-trigger").innerText();
    label.replace(/\s+/g, " ").should.equal(catalogText("paletteLabel"));
    await makeFirstWebhook(editor, nodeRed());
  });
});
