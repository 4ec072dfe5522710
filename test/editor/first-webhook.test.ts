import "should";
import { catalogText, Editor } from "../harness/browser";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { packedTarball } from "../harness/package";
import { sharedBrowser } from "../harness/stage";

/** Installs a package by the palette manager's upload. */
async function install({ page }: Editor, tarball: string): Promise<void> {
  await page.locator("#red-ui-header-button-sidemenu").click();
  await page.getByText("Manage palette", { exact: true }).click();
  await page.locator("#red-ui-palette-editor-tabs").getByText("Install", { exact: true }).click();
  const chosen = page.waitForEvent("filechooser");
  await page.locator(".red-ui-palette-editor-upload-button").click();
  await (await chosen).setFiles(tarball);
  const installed = page.waitForResponse(
    (response) => response.request().method() === "POST" && new URL(response.url()).pathname.endsWith("/nodes"),
  );
  await page.locator(".red-ui-palette-editor-upload-buttons").getByText("Upload", { exact: true }).click();
  const response = await installed;
  response.status().should.equal(200, await response.text());
  await page.locator("#node-dialog-ok").click();
  // While the palette manager slides away, a shade lies over the editor.
  await page.locator("#red-ui-editor-shade").waitFor({ state: "hidden" });
}

describe("the package, in a Node-RED that does not have it", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await NodeRed.start({ bare: true, settings: { externalModules: {} } });
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  after(() => nodeRed.stop());

  it("is installed by the palette manager, and makes the first webhook without a restart", async () => {
    (await editor.paletteEntry("webhook-trigger").count()).should.equal(0);
    await install(editor, packedTarball());
    const label = await editor.paletteEntry("webhook-trigger").innerText();
    label.replace(/\s+/g, " ").should.equal(catalogText("paletteLabel"));

    const webhook = await editor.drop("webhook-trigger", 200, 150);
    const debug = await editor.drop("debug", 500, 150);
    await editor.wire(webhook, debug);
    // It comes with all that it needs.
    await editor.editAsItIs(webhook);
    const path = await editor.input("relativePath").inputValue();
    const [, field = "", value = ""] = /^(.+?): (.+)$/.exec(await editor.copyGiven("header")) ?? [];
    const url = await editor.copyGiven("url");
    url.should.equal(nodeRed.node(path));
    await editor.done();
    await editor.deploy();
    await nodeRed.status(webhook, new RegExp(path));

    await editor.editAsItIs(webhook);
    (await editor.sendTest()).should.equal(catalogText("testRequest.accepted"));
    await editor.part("debug").click();
    await editor.page.locator(".red-ui-debug-msg", { hasText: "hello world" }).waitFor();
    await editor.done();

    const headers = { [field]: value, "Content-Type": "text/plain" };
    (await send(url, { headers, body: "hello from a sender" })).status.should.equal(200);
    await editor.page.locator(".red-ui-debug-msg", { hasText: "hello from a sender" }).waitFor();
  });
});
