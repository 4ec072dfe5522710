/** Photographs the sidebar's tab of deliveries, as somebody sees it to whom requests have come for an hour. */
import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { SummaryPage } from "../src/admin/summary";
import { Editor } from "../test/harness/browser";
import { DeliveriesTab } from "../test/harness/deliveries-tab";
import { bearer, tab, token, webhook } from "../test/harness/flow";
import { send } from "../test/harness/http";
import { NodeRed } from "../test/harness/node-red";
import { ShownDeliveries } from "../test/harness/shown-deliveries";

const secret = "a secret of ours";
const flow = tab(
  webhook("github", "/github", { name: "GitHub", sender: "github", verificationMethod: "signature", credentials: { secret } }),
  webhook("orders", "/orders", { name: "Orders" }),
  webhook("invoices", "/invoices", { name: "Invoices", wires: [["total"]] }),
  { id: "total", type: "function", func: "msg.payload.invoice.total.toFixed(2);\nreturn msg;" },
); // prettier-ignore

const json = { "Content-Type": "application/json" };
const elsewhere = { ...json, "X-Token": token };
/** What is sent, the oldest first: a path, and the event of GitHub's or the header fields. */
const requests: [path: string, sent: string | Record<string, string>][] = [
  ["/github", "star"],
  ["/orders", { ...json, ...bearer }],
  ["/github", "issues"],
  ["/orders", { ...json, ...bearer }],
  ["/github", "push"],
  ["/github", "check_run"],
  ["/invoices", { ...json, ...bearer }],
  ["/orders", { ...json, ...bearer }],
  ["/orders", elsewhere],
  ["/github", "pull_request"],
  ["/orders", { ...json, ...bearer }],
  ["/github", "push"],
];

/** The size of the tab, in px. */
const [width, height] = [800, 446];
const look = {
  viewport: { width: 1400, height: 720 },
  style: `#red-ui-sidebar { width: ${width}px !important; } .red-ui-sidebar-section-top { flex: none !important; height: ${height}px !important; }`,
};

export async function photographTab(browser: Browser, path: string, now: string): Promise<void> {
  const nodeRed = await NodeRed.start({ flow });
  try {
    await receive(nodeRed);
    const editor = await Editor.open(browser, nodeRed, look);
    const { page } = editor;
    await page.clock.setFixedTime(now);
    await setTimes(page, new Date(now).getTime());
    const shown = new DeliveriesTab(editor);
    await shown.open();
    await shown.rows.nth(requests.length - 1).waitFor();
    await page.mouse.move(0, 0);
    await shown.element.screenshot({ path: join(path, "deliveries.png"), animations: "disabled" });
  } finally {
    await nodeRed.stop();
  }
}

async function receive(nodeRed: NodeRed): Promise<void> {
  const body = '{"order":17}';
  for (const [path, sent] of requests) {
    const headers = typeof sent === "string" ? signed(sent, body) : sent;
    await send(nodeRed.node(path), { headers, body });
  }
  await new ShownDeliveries(nodeRed).find(({ state }) => state === "failed");
}

function signed(event: string, body: string): Record<string, string> {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { ...json, "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${signature}` };
}

/** The deliveries are real, but came within a second: when they did and how long they took is made up. */
async function setTimes(page: Page, now: number): Promise<void> {
  await page.route("**/webhook-trigger/deliveries?*", async (route) => {
    const response = await route.fetch();
    const { deliveries, next } = (await response.json()) as SummaryPage;
    const dated = deliveries.map((each, index) => {
      return { ...each, at: now - (index + 1) * (index + 2) * 4100, milliseconds: 2 + ((index * 5) % 7) };
    });
    await route.fulfill({ response, json: { deliveries: dated, next } });
  });
}
