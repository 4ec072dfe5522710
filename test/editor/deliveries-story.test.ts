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

const missing = "the order has no total";
const flow = flowTab(
  webhook("orders", "/orders", { name: "Orders" }),
  webhook("totals", "/totals", { wires: [["check"]] }),
  { id: "check", type: "function", func: `if (!msg.payload.total) throw new Error("${missing}");\nreturn msg;` },
);
/** Everybody may do everything, but who says what he may. */
const code = `adminAuth: {
  type: "credentials", users: [], default: { permissions: "*" }, tokens: async (permissions) => ({ username: "me", permissions }),
}`;

const json = { "Content-Type": "application/json" };

/** What goes wrong on the way and in the flow: what is sent, and what the tab says of it. */
const mistakes = [
  {
    what: "the path lacks a letter",
    path: "/ordrs",
    reason: catalogText("refused.noEndpoint"),
    fix: catalogText("whyNot.pathNear", { path: "/orders" }),
  },
  { what: "the flow throws an error", path: "/totals", reason: `function: ${missing}`, fix: catalogText("fix.flow") },
];

describe("the tab of deliveries, with a real runtime", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  let tab: DeliveriesTab;
  let kept: ShownDeliveries;
  before(async () => {
    ({ editor, nodeRed } = await openEditor(flow, { code }));
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
    await opened().getByText(String(id), { exact: true }).first().waitFor();
    await opened().locator("details").first().waitFor();
  };
  /** The id of the replay of a delivery, which the tab names. */
  const replayed = async (of: unknown) => {
    const { id } = await kept.find(({ replayOf }) => replayOf === of);
    await result(catalogText("delivery.replayed", { id })).waitFor();
    return id;
  };

  for (const { what, path, reason, fix } of mistakes) {
    it(`names the cause and the fix where ${what}`, async () => {
      await sendTo(path, "{}");
      await tab.row(reason).first().locator(".webhook-deliveries-what").click();
      await opened().locator("details").first().waitFor();
      const said = await opened().locator(".webhook-delivery-cause p").allInnerTexts();
      said.should.eql([reason, catalogText("lastRequest.sentence", { sentence: fix })]);
    });
  }

  it("shows a request as it comes, and starts its flow again", async () => {
    const before = await kept.page();
    const reply = await sendTo("/orders", '{"order":1}');
    await tab.row('{"order":1}').first().waitFor();
    (await tab.rows.count()).should.equal(before.deliveries.length + 1);
    await open(reply);
    await press(opened(), "delivery.replay");
    const { webhook: about, payload } = await nodeRed.message(await replayed(reply.json.id));
    should(payload).eql({ order: 1 });
    should(about).match({ replay: true });
  });

  it("starts the flow of a failed delivery again with a payload that was changed", async () => {
    const reply = await sendTo("/totals", '{"order":2}');
    await open(reply);
    await press(opened(), "delivery.replayChanged");
    await opened().getByLabel(catalogText("delivery.payload"), { exact: true }).fill('{"order":2,"total":3}');
    await press(opened(), "delivery.replayThis");
    const { webhook: about, payload } = await nodeRed.message(await replayed(reply.json.id));
    should(payload).eql({ order: 2, total: 3 });
    should(about).match({ replay: true });
  });

  it("replays all that has failed, after a question", async () => {
    await sendTo("/totals", '{"order":4}');
    const { id } = await kept.find(({ state, node }) => state === "failed" && node === "totals");
    await nodeRed.deploy(
      flow.map((node) => (node.id === "check" ? { ...node, func: "return msg;" } : node)),
      "nodes",
    );
    await press(tab.element, "tab.failed.open");
    await press(tab.element, "tab.failed.replay");
    const dialog = editor.page.getByRole("dialog");
    (await dialog.innerText()).should.containEql(catalogText("delivery.several.toNode", { name: "/totals on Test" }));
    await press(dialog, "delivery.replay");
    await press(dialog, "delivery.close");
    await press(tab.element, "tab.failed.open");
    const again = await kept.find(({ replayOf }) => replayOf === id);
    should((await nodeRed.message(again.id)).payload).eql({ order: 4 });
    (await kept.page("state=failed")).deliveries.should.eql([]);
  });

  it("gives a body to the test request in the form of its node, which leads to its deliveries alone", async () => {
    await open(await sendTo("/orders", '{"order":5}'));
    await press(opened(), "delivery.useInTest");
    await result(catalogText("delivery.usedInTest", { name: "@" }).split("@")[0] ?? "").waitFor();
    await editor.editAsItIs("orders");
    await editor.sendTest();
    await nodeRed.until(
      () => nodeRed.messages.filter(({ payload }) => JSON.stringify(payload) === '{"order":5}')[1],
      "the test request",
    );
    await editor.page.locator("#webhook-trigger-deliveries").click();
    await tab.row("/totals").first().waitFor({ state: "detached" });
    await tab.row('{"order":5}').first().waitFor();
    const nodes = await tab.list.locator(".webhook-deliveries-node").allInnerTexts();
    [...new Set(nodes)].should.eql(["Orders"]);
  });

  it("has no button that pauses a node for a user who may only look, and says what a replay lacks", async () => {
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
      await press(opened(), "delivery.replay");
      await result(catalogText("delivery.forbidden")).waitFor();
    } finally {
      await editor.page.setExtraHTTPHeaders({});
    }
  });
});
