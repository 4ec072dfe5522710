/**
 * Photographs a real editor: the form, for anybody and for a sender that signs, a flow that has just had a webhook, and the
 * tab of deliveries. What would differ from one time to the next is fixed, as far as it can be: the size of the window, the
 * time in the form, the address in the URL, the token.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { scheduler } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { senders } from "../src/auth/senders/table";
import { boxOf, Editor, startBrowser } from "../test/harness/browser";
import { DeliveriesTab } from "../test/harness/deliveries-tab";
import { tab, webhook } from "../test/harness/flow";
import { send } from "../test/harness/http";
import { type Flow, NodeRed } from "../test/harness/node-red";
import { root } from "../test/harness/package";
import { chromium } from "./setup.mjs";

const docs = join(root, "docs");
const example = JSON.parse(readFileSync(join(root, "examples", "Token in the header.json"), "utf8")) as Flow;
const webhookId = String(example.find(({ type }) => type === "webhook-trigger")?.id);
const token = "bZ3kQ8xV1nR6tY4wP9sL2mD7cH5gJ0fA-uE_iOqX";

const authorised = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

/** What comes and goes: notifications, and the mark of the text cursor. */
const hidden = "#red-ui-notifications { display: none; } * { caret-color: transparent !important; }";

/** The width of the form's handle, in px. */
const handle = 18;

void photograph();

async function photograph(): Promise<void> {
  process.env.CHROMIUM_PATH ??= chromium();
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
    await photographForm(editor, "sender.png", async () => {
      await editor.chooseNamedSender(senders.github.name);
      await editor.input("relativePath").fill("/github");
      await showCredential(editor, "secret");
    });
    await editor.cancel();
    await photographForm(editor, "form.png", () => showCredential(editor, "token"));
    await editor.done();
    await editor.deploy();
    await nodeRed.status(webhookId, /0 accepted/);
    await photographMessage(editor, nodeRed);
    await photographTab(browser);
  } finally {
    await browser.close();
    await nodeRed.stop();
  }
}

/** The form as it opens, when it has been filled in. */
async function photographForm(editor: Editor, name: string, fillIn: () => Promise<void>): Promise<void> {
  const { page } = editor;
  await page.setViewportSize({ width: 1280, height: 870 });
  await editor.editAsItIs(webhookId);
  // A trial waits until the form has slid in.
  await page.locator("#node-dialog-ok").click({ trial: true });
  await fillIn();
  // A section with an error in it opens by itself.
  const open = page.locator(".webhook-trigger-section[open] > summary");
  while ((await open.count()) > 0) await open.first().click();
  await page.locator(":focus").blur();
  await page.mouse.move(0, 0);
  const { x, y, width, height } = await boxOf(page.locator(".red-ui-tray"));
  // At its left edge is a handle, through which one sees what is behind.
  const clip = { x: x + handle, y, width: width - handle, height };
  await page.screenshot({ path: join(docs, name), clip, animations: "disabled" });
}

/** Enters the same credential each time, and shows it. */
async function showCredential(editor: Editor, name: "token" | "secret"): Promise<void> {
  const field = editor.input(name);
  await field.fill(token);
  const show = editor.page.locator(`#webhook-trigger-${name}-show`);
  if ((await field.getAttribute("type")) === "password") await show.click();
}

/** A flow with its status, and the message in the debug sidebar. */
async function photographMessage(editor: Editor, nodeRed: NodeRed): Promise<void> {
  const { page } = editor;
  await page.setViewportSize({ width: 1000, height: 400 });
  await page.locator("[data-tab-id=info]").click();
  await editor.invoke("core:show-debug-tab");
  const { json } = await send(nodeRed.node("/orders"), { headers: authorised, body: '{"order":42,"paid":true}' });
  const message = editor.debugMessage("message", String(json.id));
  await message.locator(".red-ui-debug-msg-object-handle").first().click();
  await message.locator(".red-ui-debug-msg-object-entry", { hasText: "payload" }).locator("i").first().click();
  await editor.status(webhookId, "1 accepted").waitFor();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(docs, "message.png"), animations: "disabled" });
}

/** The tab after requests to several nodes, one of which had no token, and one whose flow failed. */
async function photographTab(browser: Browser): Promise<void> {
  const [body, secret] = ['{"order":17}', "a secret of ours"];
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const github = { sender: "github", verificationMethod: "signature", credentials: { secret } };
  const credentials = { token };
  const flow = tab(
    webhook("github", "/github", { name: "GitHub", ...github }),
    webhook("orders", "/orders", { name: "Orders", credentials }),
    webhook("invoices", "/invoices", { name: "Invoices", credentials, wires: [["total"]] }),
    { id: "total", type: "function", func: "msg.payload.invoice.total.toFixed(2);\nreturn msg;" },
  );
  const sent = ["star", "/orders", "issues", "/orders", "push", "check_run", "/invoices", "/orders", "refused", "pull_request", "/orders", "push"]; // prettier-ignore
  const nodeRed = await NodeRed.start({ flow });
  try {
    for (const each of sent) {
      const event = { "Content-Type": "application/json", "X-GitHub-Event": each, "X-Hub-Signature-256": signature };
      if (each.startsWith("/")) await send(nodeRed.node(each), { headers: authorised, body });
      else await send(nodeRed.node(each === "refused" ? "/orders" : "/github"), { headers: event, body });
      // So that they differ in their times.
      await scheduler.wait(1500);
    }
    const style = `#red-ui-sidebar { width: 800px !important; } .red-ui-sidebar-section-top { flex: none !important; height: 446px !important; }`;
    const editor = await Editor.open(browser, nodeRed, { viewport: { width: 1400, height: 720 }, style });
    // Its times have no date on the same day.
    await editor.page.clock.setFixedTime(new Date());
    const shown = new DeliveriesTab(editor);
    await shown.open();
    await shown.rows.nth(sent.length - 1).waitFor();
    await editor.page.mouse.move(0, 0);
    await shown.element.screenshot({ path: join(docs, "deliveries.png"), animations: "disabled" });
  } finally {
    await nodeRed.stop();
  }
}
