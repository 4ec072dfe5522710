import "should";
import type { Browser } from "playwright-core";
import { catalogText, Editor, startBrowser } from "../harness/browser";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

const layouts = [
  { name: "one root", settings: {}, nodeRoot: "" },
  { name: "separate roots", settings: { httpAdminRoot: "/admin", httpNodeRoot: "/api" }, nodeRoot: "/api" },
];

describe("a first webhook, made in the editor", () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  for (const { name, settings, nodeRoot } of layouts) {
    describe(`with ${name}`, () => {
      let nodeRed: NodeRed;
      let editor: Editor;
      before(async () => {
        nodeRed = await NodeRed.start({ settings });
        editor = await Editor.open(browser, nodeRed);
      });
      after(async () => {
        await editor.close();
        await nodeRed.stop();
      });

      it("goes from the palette to a message in the debug sidebar", async () => {
        const { page } = editor;
        const label = await editor.paletteEntry("webhook-trigger").innerText();
        label.replace(/\s+/g, " ").should.equal(catalogText("paletteLabel"));
        const webhook = await editor.drop("webhook-trigger", 200, 150);
        const debug = await editor.drop("debug", 500, 150);
        await editor.wire(webhook, debug);

        await editor.edit(webhook);
        await editor.input("relativePath").fill("/orders");
        await editor.tokenButton("make").click();
        const token = await editor.input("token").inputValue();
        const url = await editor.url.innerText();
        url.should.equal(`${nodeRed.origin}${nodeRoot}/orders`);
        await editor.done();
        await editor.deploy();
        await nodeRed.status(webhook, /orders/);

        await editor.edit(webhook);
        (await editor.sendTest()).should.match(/^\s*200: accepted/);
        await editor.done();
        await editor.invoke("core:show-debug-tab");
        await page.locator(".red-ui-debug-msg", { hasText: "hello world" }).waitFor();

        const headers = { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
        const reply = await send(url, { headers, body: "hello from a caller" });
        reply.status.should.equal(200);
        await page.locator(".red-ui-debug-msg", { hasText: "hello from a caller" }).waitFor();
      });
    });
  }
});
