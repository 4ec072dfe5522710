import axe from "axe-core";
import type { Locator } from "playwright-core";
import should from "should";
import type { Detail } from "../../src/deliveries/summary";
import { catalogText, Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { done, TellingRuntime } from "../harness/one-delivery";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

const text = (key: string, values?: Record<string, string>) => catalogText(`delivery.${key}`, values);

/** Eleven to two nodes, and one that repeated another. */
const chosen: Detail[] = [
  ...Array.from({ length: 8 }, (_, index): Detail => ({ ...done, id: `plain${index}` })),
  ...Array.from({ length: 3 }, (_, index): Detail => ({ ...done, id: `orders${index}`, node: "other", state: "failed" })),
  { ...done, id: "again", state: "duplicate" },
]; // prettier-ignore

describe("several deliveries that are replayed", () => {
  let editor: Editor;
  let runtime: TellingRuntime;
  let dialog: Locator;
  before(async () => {
    const flow = webhookFlow({ id: "plain", relativePath: "/plain" }, { id: "other", relativePath: "/other", name: "Orders" });
    editor = await Editor.open(await sharedBrowser(), await sharedNodeRed(flow));
    runtime = await TellingRuntime.standInFor(editor);
    dialog = editor.page.getByRole("dialog");
  });
  beforeEach(() => {
    runtime.asked.length = 0;
    runtime.failing.clear();
    runtime.most = 0;
  });
  afterEach(async () => {
    while (await dialog.isVisible()) await editor.page.keyboard.press("Escape");
  });
  after(() => editor.close());

  const ask = async (deliveries: Detail[]) => {
    const rows = await runtime.list(...deliveries);
    await rows.nth(deliveries.length - 1).waitFor();
    await rows.first().locator(".webhook-deliveries-check").click();
    await rows.nth(deliveries.length - 1).click({ modifiers: ["Shift"] });
    await editor.page.locator(".webhook-deliveries-tools button").first().click();
    await dialog.waitFor();
  };
  const press = (key: string) => dialog.getByRole("button", { name: text(key), exact: true }).click();
  const closable = () => dialog.getByRole("button", { name: text("close") }).waitFor();

  it("are asked for with each node and its number, and what is left out", async () => {
    await ask(chosen);
    (await dialog.getByRole("heading").innerText()).should.equal(text("several.ask", { count: "11" }));
    const told = await dialog.innerText();
    told.should.containEql(text("several.toNodes", { count: "2" })).and.containEql(text("several.leftOut", { count: "1" }));
    const nodes = await dialog.locator("dl > div").evaluateAll((rows) => rows.map((row) => [...row.children].map((each) => each.textContent)));
    nodes.should.eql([["/plain on Test", "8"], ["Orders on Test", "3"]]);
    await press("cancel");
    await dialog.waitFor({ state: "detached" });
    runtime.asked.should.eql([]);
  });

  it("are named by their only node where all go to one", async () => {
    await ask(chosen.slice(0, 2));
    (await dialog.innerText()).should.containEql(text("several.toNode", { name: "/plain on Test" }));
  });

  it("are sent each once, in the order in which they came, and the sum is told with what failed and why", async () => {
    runtime.failing.set("plain3", 409).set("orders1", 404).set("orders2", 404);
    await ask(chosen);
    await press("replay");
    await closable();
    (await dialog.getByRole("heading").innerText()).should.equal(text("several.sum", { count: "8" }));
    const failures = await dialog.locator("dl > div").evaluateAll((rows) => rows.map((row) => [...row.children].map((each) => each.textContent)));
    failures.sort().should.eql([[text("gone"), "2"], [`${catalogText("replay.notOpen")}.`, "1"]].sort());
    const inOrder = chosen.slice(0, 11).sort((one, other) => one.at - other.at).map(({ id }) => id);
    runtime.asked.map(([id]) => id).should.eql(inOrder);
    runtime.asked.every(([, body]) => JSON.stringify(body) === "{}").should.be.true();
    runtime.most.should.equal(1);
    await press("close");
    await dialog.waitFor({ state: "detached" });
  });

  it("can be stopped, and it is told how many were not sent", async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const begun: string[] = [];
    await editor.page.route("**/replay", async (route) => {
      begun.push(route.request().url());
      await held;
      await route.fallback();
    });
    await ask(chosen);
    await press("replay");
    await press("several.stop");
    release?.();
    await closable();
    await editor.page.unroute("**/replay");
    begun.length.should.equal(1);
    (await dialog.getByRole("heading").innerText()).should.equal(text("several.sum", { count: String(begun.length) }));
    (await dialog.innerText()).should.containEql(text("several.notSent", { count: String(11 - begun.length) }));
  });

  it("are not tried to the last where nobody may", async () => {
    for (const { id } of chosen) runtime.failing.set(id, 403);
    await ask(chosen);
    await press("replay");
    await closable();
    runtime.asked.length.should.equal(1);
    (await dialog.innerText()).should.containEql(text("forbidden"));
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`are asked for without a fault that axe-core finds, in the ${colorScheme} theme`, async () => {
      await editor.page.emulateMedia({ colorScheme });
      // It takes for unseen what lies outside a body that has no height of its own.
      await editor.page.addStyleTag({ content: "html, body { height: 100%; }" });
      await ask(chosen);
      await editor.page.evaluate(axe.source);
      const found = await dialog.evaluate(async (element) => {
        const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
        const { violations, passes } = await run(element);
        const measured = passes.find(({ id }) => id === "color-contrast")?.nodes.length ?? 0;
        return { violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]), measured };
      });
      found.violations.should.eql([]);
      found.measured.should.be.above(5);
    });
  }

  it("leave the focus where it was", async () => {
    await ask(chosen);
    should(await dialog.evaluate((element) => element.contains(document.activeElement))).be.true();
    await editor.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    (await editor.page.evaluate(() => document.activeElement?.textContent ?? "")).should.equal(catalogText("tab.replay", { count: "11" }));
  });
}); // prettier-ignore
