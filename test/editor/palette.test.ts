import "should";
import type { Browser } from "playwright-core";
import { Editor, startBrowser } from "../harness/browser";
import { makeFirstWebhook } from "../harness/first-webhook";
import { NodeRed } from "../harness/node-red";
import { packedTarball } from "../harness/package";

describe("the package, in a Node-RED that does not have it", () => {
  let browser: Browser;
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    browser = await startBrowser();
    nodeRed = await NodeRed.start({ bare: true });
    editor = await Editor.open(browser, nodeRed);
  });
  after(async () => {
    await browser.close();
    await nodeRed.stop();
  });

  it("is installed by the palette manager's upload, and works without a restart", async () => {
    (await editor.paletteEntry("webhook-trigger").count()).should.equal(0);
    await editor.install(packedTarball(), "webhook-trigger");
    await makeFirstWebhook(editor, nodeRed);
  });
});
