import type { Locator } from "playwright-core";
import should from "should";
import { boxOf, catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, summaries, trafficOf } from "../harness/deliveries-tab";
import { tab, webhook } from "../harness/flow";
import { done, failed } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";

declare const RED: { nodes: { node(id: string): object | null }; view: { redraw(): void } };

const flow = tab(
  webhook("orders", "/orders", { name: "Orders of our customers", y: 100, info: "Described **here**." }),
  webhook("broken", "/no path", { y: 200, info: "Described, too." }),
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
  /** Whether one of two that are visible begins below or beside the end of the other. */
  const areApart = async (...both: [Locator, Locator]) => {
    const [one, other] = [await boxOf(both[0]), await boxOf(both[1])];
    const isBefore = (a: typeof one, b: typeof one) => a.x + a.width <= b.x || a.y + a.height <= b.y;
    return isBefore(one, other) || isBefore(other, one);
  };

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

  it("a node with a description has a badge that nothing of ours covers, and from which the form opens as ever", async () => {
    const part = (id: string, name: string) => editor.page.locator(`[id="${id}"] .red-ui-flow-node-${name}`);
    await editor.page.evaluate(() => {
      const node = RED.nodes.node("broken") ?? {};
      Object.assign(node, { changed: true, dirty: true });
      RED.view.redraw();
    });
    for (const id of ["orders", "broken"]) {
      for (const other of ["label", "status-group", "icon-group", "changed", "error"]) {
        if (!(await part(id, other).isVisible())) continue;
        (await areApart(part(id, "docs"), part(id, other))).should.be.true(`${id}, ${other}`);
      }
    }
    (await part("broken", "changed").isVisible()).should.be.true();
    (await part("broken", "error").isVisible()).should.be.true();
    await part("orders", "docs").locator("rect").click();
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
