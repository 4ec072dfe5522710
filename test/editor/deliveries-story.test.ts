import type { Locator } from "playwright-core";
import should from "should";
import { catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { bearer, tab as flowTab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import type { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { openEditor } from "../harness/stage";
import { until } from "../harness/until";

const flow = flowTab(
  webhook("orders", "/orders", { name: "Orders" }),
  webhook("totals", "/totals", { wires: [["check"]] }),
  { id: "check", type: "function", func: 'throw new Error("no total");' },
);
/** Everybody may do everything, but who says what he may. */
const code = `adminAuth: {
  type: "credentials", users: [], default: { permissions: "*" }, tokens: async (permissions) => ({ username: "me", permissions }),
}`;

const json = { "Content-Type": "application/json" };

describe("the tab of deliveries, with a real runtime", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  let tab: DeliveriesTab;
  let kept: ShownDeliveries;
  before(async () => {
    ({ editor, nodeRed } = await openEditor(flow, { code, settings: { webhookTriggerMemory: "32mb" } }));
    kept = new ShownDeliveries(nodeRed);
    tab = new DeliveriesTab(editor);
  });
  beforeEach(async () => {
    await editor.leave();
    await tab.open();
    const clear = tab.button(catalogText("tab.filter.clear"));
    if (await clear.isVisible()) await clear.click();
  });

  const opened = () => tab.element.locator(".webhook-delivery");
  const press = (place: Locator, key: string) =>
    place.getByRole("button", { name: catalogText(key), exact: true }).click();
  const result = (said: string) => tab.element.locator(".webhook-delivery-result").filter({ hasText: said });
  const sendTo = (path: string, body: string): Promise<Reply> =>
    send(nodeRed.node(path), { headers: { ...json, ...bearer }, body });
  /** Opens the delivery that a reply was to, which is looked for by its id. */
  const open = async ({ json: { id } }: Reply) => {
    await tab.element.getByLabel(catalogText("tab.filter.text"), { exact: true }).fill(String(id));
    await until(async () => (await tab.rows.count()) === 1, "the one to be found");
    await tab.rows.locator(".webhook-deliveries-what").click();
    await opened()
      .locator(`a[href$="#${String(id)}"]`)
      .waitFor({ state: "attached" });
    await opened().locator('[data-section="body"]').waitFor();
  };
  /** The id of the replay of a delivery, which the tab names. */
  const replayed = async (of: unknown) => {
    const { id } = await kept.find(({ replayOf }) => replayOf === of);
    await result(catalogText("delivery.replayed", { id })).waitFor();
    return id;
  };

  it("says which settings are given, shows a request as it comes, and starts its flow again", async () => {
    const settings = tab.element.locator(".webhook-deliveries-settings");
    (await settings.locator("code").isVisible()).should.be.false();
    await settings.getByText(catalogText("tab.settings"), { exact: true }).click();
    (await settings.locator("code").allInnerTexts()).should.eql(["webhookTriggerMemory: 32mb"]);
    const before = await kept.page();
    const reply = await sendTo("/orders", '{"order":1}');
    await tab.row("order: 1").first().waitFor();
    (await tab.rows.count()).should.equal(before.deliveries.length + 1);
    await open(reply);
    await press(opened(), "delivery.replay");
    const { webhook: about, payload } = await nodeRed.message(await replayed(reply.json.id));
    should(payload).eql({ order: 1 });
    should(about).match({ replay: true });
  });

  it("replays all that has failed, after a question, also where the list shows none of it", async () => {
    await sendTo("/totals", '{"order":4}');
    const { id } = await kept.find(({ state, node }) => state === "failed" && node === "totals");
    await tab.element.getByLabel(catalogText("tab.filter.text"), { exact: true }).fill("nothing has this text");
    await until(async () => (await tab.rows.count()) === 0, "an empty list");
    await nodeRed.deploy(
      flow.map((node) => (node.id === "check" ? { ...node, func: "return msg;" } : node)),
      "nodes",
    );
    await tab.unfoldFailures();
    await tab.failures.getByRole("button", { name: catalogText("tab.replay", { count: "1" }) }).click();
    const dialog = editor.page.getByRole("dialog");
    (await dialog.innerText()).should.containEql(catalogText("delivery.several.toNode", { name: "/totals on Test" }));
    await press(dialog, "delivery.replay");
    await dialog.getByText(catalogText("delivery.several.sum", { count: "1" })).waitFor();
    await press(dialog, "delivery.close");
    await tab.failures.waitFor({ state: "hidden" });
    const again = await kept.find(({ replayOf }) => replayOf === id);
    should((await nodeRed.message(again.id)).payload).eql({ order: 4 });
    (await kept.page("state=failed")).deliveries.should.eql([]);
  });

  /** Has a sender that signs as GitHub does call a path, and opens what the tab has of it. */
  const openMissed = async (path: string, event = "push") => {
    await send(nodeRed.node(path), {
      headers: { ...json, "X-GitHub-Event": event, "User-Agent": "GitHub-Hookshot/1" },
    });
    await tab.row(`POST ${path}`).locator(".webhook-deliveries-what").first().click();
    await opened().locator('[data-section="body"]').waitFor();
  };
  const make = () => tab.button(catalogText("newNode.make"));

  it("makes a node for a request that reached none, whose form is open, and which can be undone", async () => {
    await openMissed("/invoices/new");
    const looksLike = catalogText("whyNot.looksLike", { sender: "GitHub" });
    (await opened().locator(".webhook-delivery-cause").innerText()).should.containEql(looksLike);
    const nodesOf = () => editor.page.locator(".red-ui-flow-node-group").count();
    const before = await nodesOf();
    await make().click();
    await editor.input("name").waitFor();
    (await editor.input("relativePath").inputValue()).should.equal("/invoices/new");
    (await editor.input("sender").inputValue()).should.equal("github");
    (await editor.page.locator("#webhook-trigger-state-filter").innerText()).should.equal(
      catalogText("filter.only", { events: "push" }),
    );
    await editor.input("secret").fill("of GitHub");
    const isNotified = await editor.noteNotifications();
    await make().click();
    await isNotified(catalogText("newNode.busy"));
    await editor.done();
    await until(async () => (await nodesOf()) === before + 1, "the node to be drawn");
    const [id = ""] = await editor.page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: { view: { selection(): { nodes: { id: string }[] } } } };
      return RED.view.selection().nodes.map((node) => node.id);
    });
    [await editor.saved(id, "verificationMethod"), await editor.saved(id, "methods"), await editor.isValid(id)].should.eql(["signature", ["POST"], true]); // prettier-ignore
    await editor.invoke("core:undo");
    await editor.invoke("core:undo");
    await until(async () => (await nodesOf()) === before, "the node to be gone");
    // GitHub documents no such event: what a stranger has written is not shown.
    await tab.button(catalogText("tab.back")).click();
    await openMissed("/invoices/other", "hunter2");
    (await opened().innerText()).should.not.containEql("hunter2");
    await make().click();
    await editor.input("name").waitFor();
    (await editor.page.locator("#webhook-trigger-state-filter").innerText()).should.equal(catalogText("filter.none"));
    await editor.leave();
    await editor.invoke("core:undo");
    // The path of a request may be longer than a node's, or a pattern.
    for (const [path, shown] of [
      ["/a:b", "/a:b"],
      [`/${"x".repeat(40)}`, "/…"],
    ] as const) {
      await send(nodeRed.node(path), { headers: json });
      await tab.button(catalogText("tab.back")).click();
      await tab.row(`POST ${shown}:`).locator(".webhook-deliveries-what").click();
      await opened().locator('[data-section="body"]').waitFor();
      (await make().count()).should.equal(0);
    }
  });

  it("has no button that pauses a node or replays for a user who may only look, and says what a replay lacks", async () => {
    const reply = await sendTo("/orders", '{"order":6}');
    await editor.page.setExtraHTTPHeaders({ Authorization: "Bearer read" });
    try {
      await editor.page.reload();
      await editor.loaded();
      const queue = { node: "orders", pause: "manual", queued: 1, retrying: 0 };
      await editor.page.route("**/webhook-trigger/queues", (route) => route.fulfill({ json: { queues: [queue] } }));
      await tab.open();
      const line = tab.element.locator(".webhook-deliveries-queue");
      await line.filter({ hasText: catalogText("tab.queue.manual", { count: "1" }) }).waitFor();
      (await line.locator(".red-ui-button").count()).should.equal(0);
      await open(reply);
      await opened().getByText(catalogText("delivery.forbidden")).waitFor();
      const replays = tab.element.locator(".fa-repeat, .fa-pencil, .fa-trash");
      (await replays.filter({ visible: true }).count()).should.equal(0);
      await tab.button(catalogText("tab.back")).click();
      await tab.button(catalogText("tab.filter.clear")).click();
      await openMissed("/invoices/old");
      (await make().count()).should.equal(0);
    } finally {
      await editor.page.setExtraHTTPHeaders({});
    }
  });

  it("says so where its script cannot be loaded, and is there once it can be", async () => {
    const isScript = "**/webhook-trigger/page.js*";
    await editor.page.route(isScript, (route) => route.fulfill({ status: 502, body: "<!doctype html>" }));
    await editor.page.reload();
    await editor.loaded();
    await editor.invoke("webhook-trigger:show-deliveries");
    await tab.element.filter({ hasText: catalogText("tab.trouble.unreachable") }).waitFor();
    await editor.page.unroute(isScript);
    await tab.rows.first().waitFor();
  });
});
