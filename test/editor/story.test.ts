import "should";
import { catalogText, Editor } from "../harness/browser";
import { makeFirstWebhook } from "../harness/first-webhook";
import { layouts } from "../harness/layouts";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

for (const [layout, settings] of Object.entries(layouts)) {
  describe(`a first webhook, made in the editor, with ${layout}`, () => {
    let nodeRed: NodeRed;
    let editor: Editor;
    before(async () => {
      nodeRed = await sharedNodeRed([], { settings });
      editor = await Editor.open(await sharedBrowser(), nodeRed);
    });
    after(() => editor.close());

    it("goes from the palette to a message in the debug sidebar", async () => {
      const label = await editor.paletteEntry("webhook-trigger").innerText();
      label.replace(/\s+/g, " ").should.equal(catalogText("paletteLabel"));
      await makeFirstWebhook(editor, nodeRed);
    });
  });
}
