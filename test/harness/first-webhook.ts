import "should";
import { catalogText, type Editor } from "./browser";
import { send } from "./http";
import type { NodeRed } from "./node-red";

/** Does in an empty editor what the README's first webhook does, up to the message in the debug sidebar. */
export async function makeFirstWebhook(editor: Editor, nodeRed: NodeRed): Promise<void> {
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
  (await editor.sendTest()).should.equal(catalogText("trial.accepted"));
  await editor.page.locator("#webhook-trigger-debug").click();
  await editor.page.locator(".red-ui-debug-msg", { hasText: "hello world" }).waitFor();

  await editor.done();

  const headers = { [field]: value, "Content-Type": "text/plain" };
  const reply = await send(url, { headers, body: "hello from a caller" });
  reply.status.should.equal(200);
  await editor.page.locator(".red-ui-debug-msg", { hasText: "hello from a caller" }).waitFor();
}
