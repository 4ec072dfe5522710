import should from "should";
import { watchEvents } from "../../src/config/watch";
import { catalogText } from "../harness/browser";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const text = (key: string, values: Record<string, string> = {}) => catalogText(`watch.${key}`, values);

describe("the form of the webhook watch", () => {
  const flow = tab(
    webhook("shop", "/shop", { name: "Shop" }),
    webhook("bank", "/bank"),
    webhook("failing", "/failing", { wires: [["thrower"]] }),
    { id: "thrower", type: "function", func: "throw new Error('out of stock')", outputs: 1, libs: [], wires: [[]] },
    { id: "left", type: "webhook-watch", name: "", scope: ["deleted"], events: null, wires: [[]] },
    { id: "all", type: "webhook-watch", name: "", scope: null, events: null, wires: [[]] },
    {
      id: "some",
      type: "webhook-watch",
      name: "",
      scope: ["shop", "bank"],
      events: ["silent", "delivery-failed"],
      wires: [[]],
    },
  );
  const { editor, nodeRed } = useEditor(flow);
  const boxes = (list: "triggers" | "events") => editor().page.locator(`#webhook-trigger-watch-${list} label`);
  const ticked = (list: "triggers" | "events") =>
    editor().page.locator(`#webhook-trigger-watch-${list} label:has(:checked)`);
  const property = (id: string, name: string) => editor().saved(id, name);

  it("shows what is watched, and leaves it as it was", async () => {
    await editor().editAsItIs("all");
    (await editor().page.locator("#webhook-trigger-watch-triggers").isVisible()).should.be.false();
    (await boxes("events").allInnerTexts()).should.eql(watchEvents.map((event) => text(`when.${event}`)));
    (await ticked("events").count()).should.equal(watchEvents.length);
    await editor().done();
    await editor().editAsItIs("some");
    (await boxes("triggers").allInnerTexts()).should.eql(["/bank (Test)", "/failing (Test)", "Shop (Test)"]);
    (await ticked("triggers").allInnerTexts()).should.eql(["/bank (Test)", "Shop (Test)"]);
    (await ticked("events").allInnerTexts())
      .sort()
      .should.eql(["when.delivery-failed", "when.silent"].map((key) => text(key)));
    await editor().done();
    await editor().editAsItIs("left");
    await editor().page.locator("#webhook-trigger-watch-no-triggers").waitFor();
    await editor().done();
    for (const id of ["all", "some", "left"]) (await editor().isChanged(id)).should.be.false(id);
  });

  it("takes chosen webhook triggers and alerts, by keyboard as well, and all of them again", async () => {
    await editor().editAsItIs("all");
    await editor().page.locator("#webhook-trigger-watch-from").selectOption("chosen");
    const note = editor().page.locator("#webhook-trigger-watch-no-triggers");
    (await note.innerText()).trim().should.equal(text("noneChosen"));
    await boxes("triggers").nth(2).locator("input").focus();
    await editor().page.keyboard.press("Space");
    (await note.isVisible()).should.be.false();
    const noEvents = editor().page.locator("#webhook-trigger-watch-no-events");
    (await noEvents.isVisible()).should.be.false();
    await editor()
      .page.getByRole("button", { name: text("tickNone"), exact: true })
      .click();
    (await noEvents.innerText()).trim().should.equal(text("noneChosen"));
    await boxes("events").nth(0).click();
    (await noEvents.isVisible()).should.be.false();
    await editor().done();
    should([await property("all", "scope"), await property("all", "events")]).eql([["shop"], ["delivery-failed"]]);
    await editor().editAsItIs("all");
    await editor().page.locator("#webhook-trigger-watch-from").selectOption("all");
    await editor()
      .page.getByRole("button", { name: text("tickAll"), exact: true })
      .click();
    await editor().done();
    should([await property("all", "scope"), await property("all", "events")]).eql([null, null]);
  });

  it("is copied together with the webhook triggers that it watches, and then watches the copies", async () => {
    const copies = await editor().copy(["bank", "shop", "some"]);
    const idsOf = (type: string) => copies.filter((copy) => copy.type === type).map(({ id }) => id);
    const scope = (await property(idsOf("webhook-watch")[0] ?? "", "scope")) as string[];
    scope.sort().should.eql(idsOf("webhook-trigger").sort());
  });

  it("sends a message to a debug node that it is wired to, from the palette on, when the shop's flow fails", async () => {
    const watch = await editor().drop("webhook-watch", 200, 300);
    const debug = await editor().drop("debug", 500, 300);
    await editor().wire(watch, debug);
    await editor().deploy();
    await nodeRed().status("failing", /accepted/);
    (await send(nodeRed().node("/failing"), { headers: bearer })).status.should.equal(200);
    // Node-RED 4.1 shows another tab first.
    await editor().invoke("core:show-debug-tab");
    const shown = editor().page.locator(".red-ui-debug-msg", { hasText: "delivery-failed" });
    await shown.first().waitFor();
    (await shown.first().innerText()).should.containEql('node: "failing"');
  });
});
