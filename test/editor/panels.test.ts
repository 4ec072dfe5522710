import type { Locator } from "playwright-core";
import should from "should";
import { boxOf, catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, summaries, trafficOf } from "../harness/deliveries-tab";
import { tab, webhook } from "../harness/flow";
import { done, failed } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";

const flow = tab(
  webhook("orders", "/orders", { name: "Orders of our customers", y: 100, info: "Described **here**." }),
);
/** A Node-RED of its own: it keeps where tabs are, for every editor. */
const options = { settings: { webhookTriggerDeliveries: { keep: 101 } } };

describe("in Node-RED 5", () => {
  let editor: Editor;
  let deliveries: DeliveriesTab;
  let runtime: FakeRuntime;
  before(async () => {
    ({ editor } = await openEditor(flow, options));
    deliveries = new DeliveriesTab(editor);
    runtime = await FakeRuntime.serve(editor.page);
    runtime.deliveries = [{ ...done, node: "orders" }, failed, ...summaries(50, { words: "first words of a body" })];
    runtime.queues = [{ node: "orders", pause: "manual", queued: 3, retrying: 1 }];
    runtime.traffic = trafficOf({ accepted: [3], refused: [1], failed: [2], waiting: [4] });
    await deliveries.open();
  });

  /** Drags the middle of something to a place, or to the middle of something else. */
  const drag = async (what: Locator, to: Locator | { byX: number }) => {
    const middleOf = ({ x, y, width, height }: Awaited<ReturnType<typeof boxOf>>) => [x + width / 2, y + height / 2] as const;
    const [x, y] = middleOf(await boxOf(what));
    const { mouse } = editor.page;
    await mouse.move(x, y);
    await mouse.down();
    const [toX, toY] = "byX" in to ? [x + to.byX, y] : middleOf(await boxOf(to));
    await mouse.move(toX, toY, { steps: 5 });
    await mouse.up();
  };
  const half = (place: string) => editor.page.locator(`#red-ui-${place}`);
  for (const [place, width, source, target] of [
    ["upper", 204, "sidebar > .red-ui-sidebar-section-top", "sidebar-left > .red-ui-sidebar-section-top"],
    ["lower", 174, "sidebar-left > .red-ui-sidebar-section-top", "sidebar-left > .red-ui-sidebar-section-bottom"],
  ] as const) {
    it(`the tab of deliveries fits into the ${place} half of a left sidebar, with five rows in sight, a list that scrolls, and all of a delivery in reach`, async () => {
      const to = half(target);
      await drag(half(source).locator(".red-ui-sidebar-banner"), to);
      if (width < 204) await drag(editor.page.locator("#red-ui-sidebar-left-separator"), { byX: -50 });
      await to.locator(".webhook-deliveries").waitFor();
      await deliveries.publish();
      await deliveries.rows.first().waitFor();
      const { width: found, y, height } = await boxOf(deliveries.element);
      should(found).equal(width);
      await deliveries.fits();
      const list = await boxOf(deliveries.list);
      should(list.height).be.aboveOrEqual(5 * 38);
      should(list.y + list.height).be.belowOrEqual(y + height + 1);
      await deliveries.list.focus();
      await editor.page.keyboard.press("End");
      await deliveries.row("event 49").waitFor();
      (await boxOf(deliveries.row("event 49"))).y.should.be.within(list.y, list.y + list.height);
      await editor.page.keyboard.press("Home");
      await deliveries.rows.first().click();
      await deliveries.element.locator(".webhook-delivery details").first().waitFor();
      await deliveries.fits();
      const last = deliveries.element.locator(".webhook-delivery > :visible").last();
      await last.scrollIntoViewIfNeeded();
      const end = await boxOf(last);
      should(end.y + end.height).be.belowOrEqual(y + height + 1);
      await deliveries.button(catalogText("tab.back")).click();
    });
  }

  it("the form opens as ever from the badge of a node with a description, whose tab is shown first", async () => {
    await editor.page.locator('[id="orders"] .red-ui-flow-node-docs rect').click();
    const popover = editor.page.locator(".red-ui-flow-annotation-popover");
    (await popover.locator("strong").innerText()).should.equal("here");
    await popover.locator("button").click();
    await editor.page.locator('.red-ui-tab-link-buttons [href="#editor-tab-properties"]').click();
    (await editor.input("relativePath").inputValue()).should.equal("/orders");
    (await editor.state("limits").innerText()).should.startWith("POST");
    await editor.done();
    (await editor.isChanged("orders")).should.be.false();
  });
}); // prettier-ignore
