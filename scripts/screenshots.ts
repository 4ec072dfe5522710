/**
 * Photographs a real editor: a flow that has just had a webhook, and the form. What would differ from one time to the
 * next is fixed, as far as it can be: the size of the window, the time, the address in the URL, the token.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { boxOf, Editor, startBrowser } from "../test/harness/browser";
import { send } from "../test/harness/http";
import { type Flow, NodeRed } from "../test/harness/node-red";
import { root } from "../test/harness/package";

const docs = join(root, "docs");
const example = JSON.parse(readFileSync(join(root, "examples", "Token in the header.json"), "utf8")) as Flow;
const webhook = String(example.find(({ type }) => type === "webhook-trigger")?.id);
const token = "bZ3kQ8xV1nR6tY4wP9sL2mD7cH5gJ0fA-uE_iOqX";

/** What comes and goes: notifications, and the mark of the text cursor. */
const hidden = "#red-ui-notifications { display: none; } * { caret-color: transparent !important; }";

/** The width of the form's handle, in px. */
const handle = 18;

void photograph();

async function photograph(): Promise<void> {
  mkdirSync(docs, { recursive: true });
  const nodeRed = await NodeRed.start({
    flow: example,
    settings: { webhookTriggerBaseUrl: "https://nodered.example" },
  });
  const browser = await startBrowser();
  try {
    const editor = await Editor.open(browser, nodeRed);
    await editor.page.addStyleTag({ content: hidden });
    await editor.page.clock.setFixedTime("2026-01-01T12:00:00");
    await editor.invoke("core:toggle-left-sidebar");
    await photographForm(editor);
    await editor.deploy();
    await nodeRed.status(webhook, /0 accepted/);
    await photographMessage(editor, nodeRed);
  } finally {
    await browser.close();
    await nodeRed.stop();
  }
}

/** The form as one sees it who has made a token. */
async function photographForm(editor: Editor): Promise<void> {
  const { page } = editor;
  await page.setViewportSize({ width: 1280, height: 750 });
  await editor.edit(webhook);
  // A trial waits until the form has slid in.
  await page.locator("#node-dialog-ok").click({ trial: true });
  await editor.input("token").fill(token);
  await editor.tokenButton("show").click();
  await editor.tokenButton("show").blur();
  await page.mouse.move(0, 0);
  const { x, y, width, height } = await boxOf(page.locator(".red-ui-tray"));
  // At its left edge is a handle, through which one sees what is behind.
  const clip = { x: x + handle, y, width: width - handle, height };
  await page.screenshot({ path: join(docs, "form.png"), clip, animations: "disabled" });
  await editor.done();
}

/** A flow with its status, and the message in the debug sidebar. */
async function photographMessage(editor: Editor, nodeRed: NodeRed): Promise<void> {
  const { page } = editor;
  await page.setViewportSize({ width: 1000, height: 400 });
  await page.locator("[data-tab-id=info]").click();
  await editor.invoke("core:show-debug-tab");
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { json } = await send(nodeRed.node("/orders"), { headers, body: '{"order":42,"paid":true}' });
  const message = editor.debugMessage("message", String(json.id));
  await message.locator(".red-ui-debug-msg-object-handle").first().click();
  await message.locator(".red-ui-debug-msg-object-entry", { hasText: "payload" }).locator("i").first().click();
  await editor.status(webhook, "1 accepted").waitFor();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(docs, "message.png"), animations: "disabled" });
}
