// The form in a window that is small: what of it depends on how wide texts are.

import should from "should";
import { boxOf, Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

describe("the form in a small window", () => {
  let editor: Editor;
  const editIn = async (width: number, height: number) => {
    const nodeRed = await sharedNodeRed(webhookFlow({ id: "orders", relativePath: "/orders" }));
    editor = await Editor.open(await sharedBrowser(), nodeRed, { viewport: { width, height } });
    await editor.edit("orders");
  };
  afterEach(() => editor.close());

  it("fits the window of a small laptop", async () => {
    await editIn(1024, 768);
    const form = await boxOf(editor.page.locator(".webhook-trigger-form"));
    const tray = await boxOf(editor.page.locator(".red-ui-tray"));
    form.width.should.be.above(500).and.below(tray.width);
  });

  it("shows the result of a test request, and takes it back when the form changes", async () => {
    await editIn(1280, 500);
    await editor.sendTest();
    const result = editor.page.locator(".webhook-trigger-result");
    const footer = await boxOf(editor.page.locator(".red-ui-tray-footer"));
    const box = await boxOf(result);
    // Positions are fractions of a pixel.
    should(box.y + box.height).be.belowOrEqual(footer.y + 1);
    await editor.input("relativePath").fill("/elsewhere");
    (await result.isVisible()).should.be.false();
  });
});
