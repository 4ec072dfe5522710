import { createHmac } from "node:crypto";
import type { Locator } from "playwright-core";
import should from "should";
import { catalogText, Editor } from "../harness/browser";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { bearer, tab as flowTab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import type { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";
import { until } from "../harness/until";

const secret = "a secret of ours";
const missing = "the order has no total";
const flow = flowTab(
  webhook("github", "/github", { sender: "github", verificationMethod: "signature", credentials: { secret } }),
  webhook("orders", "/orders", { name: "Orders" }),
  webhook("totals", "/totals", { wires: [["check"]] }),
  { id: "check", type: "function", func: `if (!msg.payload.total) throw new Error("${missing}");\nreturn msg;` },
);
/** Everybody may do everything, but who says what he may. */
const code = `adminAuth: {
  type: "credentials", users: [], default: { permissions: "*" }, tokens: async (permissions) => ({ username: "me", permissions }),
}`;

const json = { "Content-Type": "application/json" };
const push = '{"ref":"main","commits":[]}';

/** A request as GitHub signs it. */
function signedBy(key: string, body: string): Record<string, string> {
  const signature = createHmac("sha256", key).update(body).digest("hex");
  return {
    ...json,
    "User-Agent": "GitHub-Hookshot/1",
    "X-GitHub-Event": "push",
    "X-Hub-Signature-256": `sha256=${signature}`,
  };
}

const sentence = (text: string) => catalogText("standing.sentence", { sentence: text });

/** What goes wrong at the sender, on the way and in the flow: what is sent, and what the tab says of it. */
const mistakes: Record<
  string,
  { path: string; headers: Record<string, string>; body: string; reason: string; fix: string }
> = {
  "the secret of GitHub is another one": {
    path: "/github",
    headers: signedBy("another secret", push),
    body: push,
    reason: catalogText("refused.signatureInvalid"),
    fix: sentence(catalogText("whyNot.signatureWrong")),
  },
  "the path lacks a letter": {
    path: "/ordrs",
    headers: { ...json, ...bearer },
    body: "{}",
    reason: catalogText("refused.noEndpoint"),
    fix: sentence(catalogText("whyNot.pathNear", { path: "/orders" })),
  },
  "the token comes in another header field": {
    path: "/orders",
    headers: { ...json, "X-Token": token },
    body: "{}",
    reason: catalogText("refused.tokenMissing"),
    fix: sentence(catalogText("whyNot.tokenElsewhere", { place: "X-Token" })),
  },
  "the flow throws an error": {
    path: "/totals",
    headers: { ...json, ...bearer },
    body: '{"order":17}',
    reason: `function: ${missing}`,
    fix: sentence(catalogText("fix.flow")),
  },
  "a proxy writes the signed JSON anew": {
    path: "/github",
    headers: signedBy(secret, push),
    body: JSON.stringify(JSON.parse(push), null, 2),
    reason: catalogText("refused.signatureInvalid"),
    fix: sentence(catalogText("whyNot.bodyChanged.json")),
  },
};

describe("it does not arrive: the tab of deliveries, with a real runtime", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  let tab: DeliveriesTab;
  let kept: ShownDeliveries;
  before(async () => {
    nodeRed = await sharedNodeRed(flow, { code });
    kept = new ShownDeliveries(nodeRed);
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    tab = new DeliveriesTab(editor);
  });
  beforeEach(() => tab.open());
  afterEach(async () => {
    await editor.leave();
    await tab.open();
    for (const key of ["tab.back", "tab.filter.clear"]) {
      const way = tab.element.getByRole("button", { name: catalogText(key), exact: true });
      if (await way.isVisible()) await way.click();
    }
  });
  after(() => editor.close());

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
  /** The id of the replay of a delivery, of which the tab tells. */
  const replayed = async (of: unknown) => {
    const { id } = await kept.find(({ replayOf }) => replayOf === of);
    await result(catalogText("delivery.replayed", { id })).waitFor();
    return id;
  };

  for (const [what, { path, headers, body, reason, fix }] of Object.entries(mistakes)) {
    it(`names the cause and the fix where ${what}`, async () => {
      await tab.leave();
      await send(nodeRed.node(path), { headers, body });
      await tab.open();
      await tab.rows.first().getByText(reason).click();
      await opened().locator("details").first().waitFor();
      const told = await opened().locator(".webhook-delivery-cause p").allInnerTexts();
      told.should.eql([reason, fix]);
    });
  }

  it("shows a request as it comes, and sends it to its flow again", async () => {
    const before = await kept.page();
    const reply = await sendTo("/orders", '{"order":1}');
    await tab.row('{"order":1}').first().waitFor();
    (await tab.rows.count()).should.equal(before.deliveries.length + 1);
    await open(reply);
    await press(opened(), "delivery.replay");
    const { webhook: told, payload } = await nodeRed.message(await replayed(reply.json.id));
    should(payload).eql({ order: 1 });
    should(told).match({ replay: true });
  });

  it("mends what has failed, by a payload that was changed", async () => {
    const reply = await sendTo("/totals", '{"order":2}');
    await open(reply);
    await press(opened(), "delivery.replayChanged");
    await opened().getByLabel(catalogText("delivery.payload"), { exact: true }).fill('{"order":2,"total":3}');
    await press(opened(), "delivery.replayThis");
    const { webhook: told, payload } = await nodeRed.message(await replayed(reply.json.id));
    should(payload).eql({ order: 2, total: 3 });
    should(told).match({ replay: true });
  });

  it("sends all again that has failed, once somebody has said yes", async () => {
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

  it("gives a body to the test request of the node's form, whose deliveries it shows alone", async () => {
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
    await tab.row("/github").waitFor({ state: "detached" });
    await tab.row('{"order":5}').first().waitFor();
    const nodes = await tab.list.locator(".webhook-deliveries-node").allInnerTexts();
    [...new Set(nodes)].should.eql(["Orders"]);
  });

  it("tells a user who may only look what is missing", async () => {
    const reply = await sendTo("/orders", '{"order":6}');
    await editor.page.setExtraHTTPHeaders({ Authorization: "Bearer read" });
    try {
      await open(reply);
      await press(opened(), "delivery.replay");
      await result(catalogText("delivery.forbidden")).waitFor();
    } finally {
      await editor.page.setExtraHTTPHeaders({});
    }
  });
});
