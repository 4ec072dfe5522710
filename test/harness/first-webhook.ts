import "should";
import type { Editor } from "./browser";
import { send } from "./http";
import type { NodeRed } from "./node-red";

/** Does in an empty editor what the README's first webhook does, up to the message in the debug sidebar. */
export async function makeFirstWebhook(editor: Editor, nodeRed: NodeRed): Promise<void> {
  const webhook = await editor.drop("webhook-trigger", 200, 150);
  const debug = await editor.drop("debug", 500, 150);
  await editor.wire(webhook, debug);

  await editor.edit(webhook);
  await editor.input("relativePath").fill("/orders");
  await editor.tokenButton("make").click();
  const token = await editor.input("token").inputValue();
  const url = await editor.url.innerText();
  url.should.equal(nodeRed.node("/orders"));
  await editor.done();
  await editor.deploy();
  await nodeRed.status(webhook, /orders/);

  await editor.edit(webhook);
  (await editor.sendTest()).should.match(/^\s*200: accepted/);
  await editor.done();
  await editor.invoke("core:show-debug-tab");
  await editor.page.locator(".red-ui-debug-msg", { hasText: "hello world" }).waitFor();

  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
  const reply = await send(url, { headers, body: "hello from a caller" });
  reply.status.should.equal(200);
  await editor.page.locator(".red-ui-debug-msg", { hasText: "hello from a caller" }).waitFor();
}
