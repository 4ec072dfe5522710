import "should";
import { Editor } from "../harness/browser";
import { makeFirstWebhook } from "../harness/first-webhook";
import { NodeRed } from "../harness/node-red";
import { packedTarball } from "../harness/package";
import { sharedBrowser } from "../harness/stage";

describe("the package, in a Node-RED that does not have it", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await NodeRed.start({ bare: true, settings: { externalModules: {} } });
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  after(async () => {
    await editor.close();
    await nodeRed.stop();
  });

  it("is installed by the palette manager's upload, and works without a restart", async () => {
    (await editor.paletteEntry("webhook-trigger").count()).should.equal(0);
    await editor.install(packedTarball(), "webhook-trigger");
    await makeFirstWebhook(editor, nodeRed);
  });
});
