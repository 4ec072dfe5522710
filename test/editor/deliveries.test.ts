import should from "should";
import type { Summary } from "../../src/deliveries/summary";
import { boxOf, catalogText, Editor } from "../harness/browser";
import { DeliveriesTab, summaries, summary, ToldDeliveries } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";
import { until } from "../harness/until";

const refusal = { problem: "tokenMissing", reasons: [], looksLike: null, error: null };
const failure = { problem: null, reasons: [], looksLike: null, error: "TypeError: no order" };

describe("the tab of deliveries", () => {
  let editor: Editor;
  let tab: DeliveriesTab;
  let told: ToldDeliveries;
  before(async () => {
    const nodeRed = await sharedNodeRed(
      webhookFlow(
        { id: "orders", relativePath: "/orders", name: "Orders" },
        { id: "payments", relativePath: "/payments" },
      ),
    );
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    tab = new DeliveriesTab(editor);
  });
  beforeEach(async () => {
    told = new ToldDeliveries();
    await told.serve(editor.page);
  });
  afterEach(async () => {
    await editor.leave();
    // The next test begins with nothing chosen and nothing loaded.
    told.deliveries = [];
    told.fault = undefined;
    await tab.open();
    for (const key of ["tab.back", "tab.filter.clear", "tab.unselect"]) {
      const way = button(catalogText(key));
      if (await way.isVisible()) await way.click();
    }
    await tab.stopReading();
    await tab.publish();
    await tab.notice.filter({ hasText: catalogText("tab.empty") }).waitFor();
    await tab.leave();
    await editor.page.unrouteAll({ behavior: "wait" });
  });
  after(() => editor.close());

  const button = (name: string) => tab.element.getByRole("button", { name, exact: true });
  const field = (name: string) => tab.element.getByLabel(name, { exact: true });
  const focus = () => editor.page.evaluate(() => document.activeElement?.className ?? "");
  const show = async (deliveries: Summary[]) => {
    told.deliveries = deliveries;
    await tab.open();
    await tab.rows.first().waitFor();
  };

  /** Presses the End key until a delivery is the last one in reach. */
  const goDownTo = async (last: string) => {
    await tab.list.focus();
    await until(async () => {
      await editor.page.keyboard.press("End");
      return (await tab.active()) === last;
    }, last);
  };
  const space = () => tab.list.evaluate(({ scrollHeight }) => scrollHeight);
  const come = (...ids: string[]) => {
    told.deliveries = [...ids.map((id) => summary({ id, event: `has come ${id}` })), ...told.deliveries];
    return tab.publish();
  };

  it("lists what came with its time, node, event, answer, duration and state", async () => {
    await show([
      summary({ id: "1", event: "push", milliseconds: 1234 }),
      summary({ id: "2", node: "payments", state: "refused", status: 401, cause: refusal }),
      summary({ id: "3", state: "failed", cause: failure, replayOf: "1" }),
      summary({ id: "4", node: "gone", status: null, milliseconds: null, state: "running" }),
      summary({ id: "5", words: "hello world", isTest: true }),
      summary({ id: "6", path: "/odrers", state: "refused", status: 404, cause: { ...refusal, problem: "noEndpoint" } }),
    ]);
    const texts = (await tab.rows.allInnerTexts()).map((text) => text.split("\n").map((part) => part.trim()));
    const said = (state: string) => catalogText(`tab.state.${state}`);
    texts[0]?.should.eql(["12:53:01", said("succeeded"), "Orders", "200", "1.2s", "push"]);
    texts[1]?.should.eql(["12:53:01", said("refused"), "/payments", "401", "12ms", catalogText("refused.tokenMissing")]);
    const replay = catalogText("tab.replayOf", { what: "TypeError: no order" });
    texts[2]?.should.eql(["12:53:01", said("failed"), "Orders", "200", "12ms", replay]);
    texts[3]?.should.eql(["12:53:01", said("running"), "gone", "POST /orders"]);
    texts[4]?.at(-1)?.should.equal(catalogText("tab.trial", { what: "hello world" }));
    texts[5]?.at(-1)?.should.equal(`POST /odrers: ${catalogText("refused.noEndpoint")}`);
  });

  it("tells the state by an icon and a word, and the day of what did not come today", async () => {
    const at = new Date(2024, 1, 3, 4, 5, 6).getTime();
    await show([summary({ id: "1", at }), summary({ id: "2", state: "refused", cause: refusal })]);
    (await tab.rows.first().innerText()).should.match(/^02\/03, 04:05:06/);
    for (const icon of ["fa-check", "fa-ban"]) (await tab.rows.locator(`.${icon}`).count()).should.equal(1);
  });

  it("asks for what is filtered by node, state and text, and for all again", async () => {
    await show(summaries(3));
    await field(catalogText("tab.filter.node")).selectOption({ label: catalogText("url.rival", { name: "Orders", flow: "Test" }) });
    await until(() => told.asked.at(-1)?.get("node") === "orders", "the node to be asked for");
    await field(catalogText("tab.filter.state")).selectOption({ label: catalogText("tab.state.failed") });
    await until(() => told.asked.at(-1)?.get("state") === "failed", "the state to be asked for");
    await tab.notice.filter({ hasText: catalogText("tab.noMatch") }).waitFor();
    const before = told.asked.length;
    await field(catalogText("tab.filter.text")).pressSequentially("event");
    await until(() => told.asked.at(-1)?.get("text") === "event", "the text to be asked for");
    // Not for each letter.
    told.asked.slice(before).map((query) => query.get("text") ?? "").filter((text) => text !== "event").should.eql([]); // prettier-ignore
    told.asked.at(-1)?.get("node")?.should.equal("orders");
    await button(catalogText("tab.filter.clear")).click();
    await tab.rows.first().waitFor();
    [...(told.asked.at(-1)?.keys() ?? [])].should.eql(["limit"]);
    (await editor.page.evaluate(() => document.activeElement?.tagName ?? "")).should.equal("SELECT");
  });

  it("offers a node that was deleted, if something came to it", async () => {
    await show([summary({ id: "1", node: "0123abcd" })]);
    const option = catalogText("tab.filter.deleted", { id: "0123abcd" });
    await field(catalogText("tab.filter.node")).selectOption({ label: option });
    await until(() => told.asked.at(-1)?.get("node") === "0123abcd", "the node to be asked for");
  });

  it("shows what comes while it is open", async () => {
    await show(summaries(3));
    const [first] = told.deliveries;
    should.exist(first);
    told.deliveries = [summary({ id: "new", event: "has come" }), ...told.deliveries];
    await tab.publish();
    await tab.row("has come").waitFor();
    (await tab.rows.first().innerText()).should.containEql("has come");
    told.deliveries = told.deliveries.map((each) => (each.id === "d1" ? { ...each, state: "failed", cause: failure } : each));
    await tab.publish();
    await tab.row("TypeError: no order").waitFor();
  });

  it("asks at most once a second, however much comes", async () => {
    await show(summaries(3));
    const before = told.asked.length;
    const begin = Date.now();
    for (let round = 0; round < 60; round += 1) await tab.publish();
    await until(() => told.asked.length > before, "the list to be asked for");
    const seconds = (Date.now() - begin) / 1000;
    (told.asked.length - before).should.be.belowOrEqual(1 + Math.ceil(seconds));
  });

  it("asks at most every five seconds while a text is looked for", async () => {
    await show(summaries(3));
    await field(catalogText("tab.filter.text")).fill("event");
    await until(() => told.asked.at(-1)?.get("text") === "event", "the text to be asked for");
    const before = told.asked.length;
    const begin = Date.now();
    for (; Date.now() < begin + 3000; await editor.page.waitForTimeout(100)) await tab.publish();
    const seconds = (Date.now() - begin) / 1000;
    (told.asked.length - before).should.be.belowOrEqual(1 + Math.floor(seconds / 5));
    await field(catalogText("tab.filter.text")).fill("");
    await until(() => told.asked.at(-1)?.has("text") === false, "all of them to be asked for");
  });

  it("asks for nothing while another tab is shown", async () => {
    await show(summaries(3));
    await tab.leave();
    const before = told.asked.length;
    await tab.publish();
    await editor.page.waitForTimeout(1500);
    told.asked.length.should.equal(before);
    told.deliveries = [summary({ id: "later", event: "came meanwhile" })];
    await tab.open();
    await tab.row("came meanwhile").waitFor();
  });

  it("leaves what is read where it is, and says how many are new above", async () => {
    await show(summaries(100));
    await tab.list.evaluate((list) => list.scrollTo(0, 1000));
    const row = tab.row(/event 28$/);
    await row.waitFor();
    const { y } = await boxOf(row);
    told.deliveries = [...summaries(2, { event: "new" }).map((each) => ({ ...each, id: `new${each.id}` })), ...told.deliveries];
    await tab.publish();
    await button(catalogText("tab.new", { count: "2" })).waitFor();
    (await boxOf(row)).y.should.equal(y);
    await button(catalogText("tab.new", { count: "2" })).click();
    await tab.row("new").first().waitFor();
    (await tab.list.evaluate((list) => list.scrollTop)).should.equal(0);
    (await focus()).should.containEql("webhook-deliveries-list");
  });

  it("shows what is new to whoever scrolls back to the top", async () => {
    await show(summaries(100));
    await tab.list.evaluate((list) => list.scrollTo(0, 1000));
    await tab.row(/event 28$/).waitFor();
    told.deliveries = [summary({ id: "new", event: "has come" }), ...told.deliveries];
    await tab.publish();
    await button(catalogText("tab.new", { count: "1" })).waitFor();
    await tab.list.evaluate((list) => list.scrollTo(0, 0));
    await tab.row("has come").waitFor();
  });

  it("loads further pages as the user scrolls", async () => {
    await show(summaries(1200));
    for (const last of ["event 499", "event 999", "event 1199"]) await goDownTo(last);
    (await tab.rows.count()).should.equal(1200);
    told.asked.map((query) => query.get("before")).filter((before) => before !== null).should.eql(["d500", "d1000"]); // prettier-ignore
  });

  it("holds the newest page alone once nobody reads further down, and older ones are loaded again", async () => {
    await show(summaries(1200));
    const ofPage = await space();
    await goDownTo("event 999");
    (await space()).should.be.above(1.9 * ofPage);
    await tab.stopReading();
    await come("new");
    await tab.row("has come new").waitFor();
    (await space()).should.equal(ofPage);
    await goDownTo("event 1199");
    (await tab.rows.count()).should.equal(1201);
  });

  it("lacks nothing where it began anew while older ones were on their way", async () => {
    await show(summaries(1200));
    const late = told.holdUp("d500");
    await tab.list.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await late.asked;
    await come(...Array.from({ length: 600 }, (_, index) => `n${index}`));
    await button(catalogText("tab.new", { count: "500" })).click();
    await tab.row("has come n0").waitFor();
    late.release();
    await goDownTo("event 1199");
    (await tab.rows.count()).should.equal(1800);
  });

  it("is walked through by the keyboard, and opens a delivery in its place", async () => {
    await show(summaries(100));
    await tab.list.focus();
    const press = async (key: string) => {
      await editor.page.keyboard.press(key);
      return tab.active();
    };
    (await press("ArrowDown")).should.equal("event 0");
    (await press("ArrowDown")).should.equal("event 1");
    (await press("ArrowUp")).should.equal("event 0");
    (await press("End")).should.equal("event 99");
    const pageUp = await press("PageUp");
    pageUp.should.match(/^event \d+$/).and.not.equal("event 99");
    (await press("PageDown")).should.equal("event 99");
    (await press("Home")).should.equal("event 0");
    (await press("ArrowDown")).should.equal("event 1");
    const row = tab.row(/event 1$/);
    (await row.getAttribute("aria-posinset"))?.should.equal("2");
    await editor.page.keyboard.press("Enter");
    await button(catalogText("tab.back")).waitFor();
    (await tab.list.isVisible()).should.be.false();
    (await editor.page.evaluate(() => document.activeElement?.textContent ?? "")).should.containEql(catalogText("tab.back"));
    await editor.page.keyboard.press("Escape");
    (await focus()).should.containEql("webhook-deliveries-list");
    (await tab.active()).should.equal("event 1");
  });

  it("comes back to where the list was", async () => {
    await show(summaries(100));
    await tab.list.evaluate((list) => list.scrollTo(0, 1000));
    await tab.row(/event 28$/).click();
    await button(catalogText("tab.back")).click();
    (await tab.list.evaluate((list) => list.scrollTop)).should.equal(1000);
  });

  it("selects several by keys and by the mouse, but offers to replay only what was let in", async () => {
    const [one, two, ...others] = summaries(6);
    should.exist(one && two);
    await show([...(one ? [one] : []), ...(two ? [{ ...two, state: "refused" as const }] : []), ...others]);
    const replay = (count: number) => button(catalogText("tab.replay", { count: String(count) }));
    const selected = () => tab.list.locator('[aria-selected="true"]').count();
    await tab.list.focus();
    for (const key of ["ArrowDown", "Space", "ArrowDown", "Space"]) await editor.page.keyboard.press(key);
    await replay(1).waitFor();
    (await selected()).should.equal(2);
    await tab.element.getByText(catalogText("delivery.several.leftOut", { count: "1" })).waitFor();
    await editor.page.keyboard.press("Shift+ArrowDown");
    await replay(2).waitFor();
    await tab.row("event 5").click({ modifiers: ["Shift"] });
    await replay(5).waitFor();
    await tab.row("event 4").locator(".webhook-deliveries-check").click();
    await replay(4).waitFor();
    await tab.row("event 3").click({ modifiers: ["Control"] });
    await replay(3).waitFor();
    await button(catalogText("tab.unselect")).click();
    (await selected()).should.equal(0);
    (await replay(0).isVisible()).should.be.false();
  });

  it("finds what has failed since a time, on as many pages as there are", async () => {
    const recent = summaries(700, { state: "failed" }).map((each) => ({ ...each, at: Date.now() - 3_600_000 }));
    const old = summary({ id: "old", state: "failed", at: Date.now() - 48 * 3_600_000 });
    await show([...recent, old]);
    await button(catalogText("tab.failed.open")).click();
    const before = told.asked.length;
    await button(catalogText("tab.failed.replay")).click();
    await tab.element.getByText(catalogText("tab.failed.found", { count: "700" })).waitFor();
    told.asked.slice(before).map((query) => [query.get("state"), query.get("before")]).should.eql([["failed", null], ["failed", "d500"]]); // prettier-ignore
    await editor.page.keyboard.press("Escape");
    await button(catalogText("tab.failed.open")).click();
    (await field(catalogText("tab.failed.since")).isVisible()).should.be.false();
  });

  it("says what to do where nothing has come yet", async () => {
    await tab.open();
    await tab.notice.filter({ hasText: catalogText("tab.empty") }).waitFor();
    (await tab.list.isVisible()).should.be.false();
  });

  it("says so where nothing is kept", async () => {
    const keep = (value: number | undefined) =>
      editor.page.evaluate((set) => Object.assign((globalThis as unknown as { RED: { settings: object } }).RED.settings, { webhookTriggerDeliveries: { keep: set } }), value);
    await keep(0);
    await tab.open();
    await tab.notice.filter({ hasText: catalogText("tab.trouble.notKept") }).waitFor();
    await keep(undefined);
  });

  for (const [fault, key] of [
    [403, "forbidden"],
    [401, "forbidden"],
    [404, "notKept"],
    [500, "failed"],
    ["abort", "unreachable"],
  ] as const) {
    it(`says what is in the way with ${fault}, and goes on by itself`, async () => {
      told.fault = fault;
      await tab.open();
      await tab.notice.filter({ hasText: catalogText(`tab.trouble.${key}`) }).waitFor();
      told.fault = undefined;
      told.deliveries = summaries(2);
      await tab.rows.first().waitFor();
      await tab.notice.waitFor({ state: "hidden" });
    });
  }

  it("asks less and less often while there is no answer", async () => {
    told.fault = 500;
    await tab.open();
    await until(() => told.asked.length >= 2, "a second question");
    const before = told.asked.length;
    // Messages that come do not hasten it.
    await tab.publish();
    await editor.page.waitForTimeout(1500);
    told.asked.length.should.be.belowOrEqual(before + 1);
  });

  it("warns of each sender that is silent, and shows its node", async () => {
    const since = new Date(2024, 1, 3, 4, 5).getTime();
    told.silent = [{ node: "payments", hours: 24, since }];
    await tab.open();
    const line = tab.element.locator(".webhook-deliveries-silent");
    await line.waitFor();
    (await line.innerText()).trim().should.equal(`/payments ${catalogText("tab.silent", { time: "02/03, 04:05", hours: "24" })}`);
    await button(catalogText("url.reveal", { name: "/payments" })).click();
    const highlighted = "#payments.red-ui-flow-node-highlighted, #payments .red-ui-flow-node-highlighted";
    await editor.page.locator(highlighted).first().waitFor();
  });

  it("says which nodes are paused, and resumes and pauses them", async () => {
    told.queues = [
      { node: "orders", pause: null, queued: 1, retrying: 0 },
      { node: "payments", pause: "breaker", queued: 3, retrying: 2 },
    ];
    await tab.open();
    const lines = tab.element.locator(".webhook-deliveries-queue");
    await lines.first().waitFor();
    (await lines.count()).should.equal(1);
    (await lines.innerText()).should.containEql(`/payments: ${catalogText("tab.queue.breaker", { count: "5" })}`);
    await button(`${catalogText("tab.queue.resume")}: /payments`).click();
    await lines.waitFor({ state: "detached" });
    told.controlled.should.eql(["payments resume"]);
    await editor.page.getByLabel(catalogText("tab.filter.node"), { exact: true }).selectOption("orders");
    await button(`${catalogText("tab.queue.pause")}: Orders`).click();
    await button(`${catalogText("tab.queue.resume")}: Orders`).waitFor();
    told.controlled.should.eql(["payments resume", "orders pause"]);
    told.fault = 403;
    await button(`${catalogText("tab.queue.resume")}: Orders`).click();
    const failure = tab.element.locator(".webhook-deliveries-failure");
    await failure.waitFor();
    (await failure.innerText()).should.equal(catalogText("tab.queue.forbidden"));
  });

  it("says why a node could not be resumed until it is tried again, or is resumed all the same", async () => {
    told.queues = [{ node: "payments", pause: "manual", queued: 1, retrying: 0 }];
    await tab.open();
    const failure = tab.element.locator(".webhook-deliveries-failure");
    const resume = button(`${catalogText("tab.queue.resume")}: /payments`);
    const line = tab.element.locator(".webhook-deliveries-queue");
    const wait = async (queued: number) => {
      told.queues = told.queues.map((queue) => ({ ...queue, queued }));
      await tab.publish();
      await line.filter({ hasText: catalogText("tab.queue.manual", { count: String(queued) }) }).waitFor();
    };
    const tryInVain = async () => {
      told.fault = 500;
      await resume.click();
      await failure.filter({ hasText: catalogText("tab.queue.failed") }).waitFor();
      told.fault = undefined;
    };
    await tryInVain();
    await wait(2);
    (await failure.isVisible()).should.be.true();
    told.queues = [];
    await tab.publish();
    await failure.waitFor({ state: "hidden" });
    told.queues = [{ node: "payments", pause: "manual", queued: 2, retrying: 0 }];
    await tab.publish();
    await line.waitFor();
    await tryInVain();
    await wait(3);
    await resume.click();
    await line.waitFor({ state: "detached" });
    (await failure.isVisible()).should.be.false();
  });

  it("does not say that a delivery is tried again by itself while its node is paused", async () => {
    const again = { id: "again", state: "retrying", attempt: 3, maxAttempts: 10, cause: failure } as const;
    await show([summary({ ...again, nextAt: Date.now(), pause: "manual" })]);
    await tab.row(`${catalogText("tab.attempt", { attempt: "3", max: "10" })}: ${failure.error}`).waitFor();
  });

  it("says which attempt has failed, and when the next one is", async () => {
    const nextAt = new Date(2024, 1, 3, 4, 5, 6).getTime();
    const cause = { problem: null, reasons: [], looksLike: null, error: "call: no answer" };
    await show([summary({ id: "again", state: "retrying", attempt: 3, maxAttempts: 10, nextAt, cause })]);
    const retrying = catalogText("tab.retrying", { attempt: "3", max: "10", time: "02/03, 04:05:06" });
    await tab.row(`${retrying}: call: no answer`).waitFor();
  });

  it("tells who cannot see it what came, in one sentence for all", async () => {
    await show(summaries(2));
    told.deliveries = [...summaries(3, { state: "refused", cause: refusal }).map((each) => ({ ...each, id: `r${each.id}` })), ...told.deliveries];
    await tab.publish();
    const said = tab.element.locator(".webhook-deliveries-said");
    const announced = catalogText("tab.announced", { count: String.raw`(\d+)`, refused: String.raw`(\d+)` });
    // What came before may be told first.
    await until(async () => {
      const [, count, refused] = new RegExp(announced).exec((await said.textContent()) ?? "") ?? [];
      return Number(count) >= 3 && Number(refused) === 3;
    }, "what came to be told");
  });

  it("is opened from the form of a node, with what came to it", async () => {
    await show(summaries(1));
    await tab.leave();
    await editor.editAsItIs("payments");
    await editor.page.locator("#webhook-trigger-deliveries").click();
    await tab.element.waitFor();
    await until(() => told.asked.at(-1)?.get("node") === "payments", "the node to be asked for");
    (await field(catalogText("tab.filter.node")).inputValue()).should.equal("payments");
    (await editor.input("name").isVisible()).should.be.true();
    // What is on top of it would take the click.
    await field(catalogText("tab.filter.state")).click({ trial: true });
    // The filter of the form ends with the visit.
    await editor.page.evaluate('RED.sidebar.show("info")');
    await tab.element.waitFor({ state: "hidden" });
    await tab.open();
    await until(() => told.asked.at(-1)?.get("node") !== "payments", "all nodes to be asked for");
    (await field(catalogText("tab.filter.node")).inputValue()).should.equal("");
  });

  describe("in half of a sidebar", () => {
    /** The tab as it is in a small window on Node-RED 5. */
    const shrink = async () => {
      await tab.element.evaluate((element) => Object.assign(element.style, { width: "280px", height: "290px" }));
      await until(async () => (await boxOf(tab.rows.first())).height === 38, "the rows to fit");
    };
    const room = async () => Math.floor((await boxOf(tab.list)).height / 38);
    afterEach(() => tab.element.evaluate((element) => Object.assign(element.style, { width: "", height: "" })));

    it("has five rows in sight also while failed deliveries are searched, and nothing overlaps", async () => {
      told.silent = ["orders", "payments", "gone"].map((node) => ({ node, hours: 24, since: 0 }));
      await show(summaries(100));
      await shrink();
      await tab.list.focus();
      for (const key of ["ArrowDown", "Space"]) await editor.page.keyboard.press(key);
      await button(catalogText("tab.failed.open")).click();
      (await room()).should.equal(5);
      const parts = await tab.element.locator(".webhook-deliveries-pane > *").evaluateAll((all) =>
        all.filter((part) => part.clientHeight > 0).map((part) => part.getBoundingClientRect().toJSON() as DOMRect),
      );
      parts.length.should.equal(4);
      for (const [index, { top }] of parts.slice(1).entries()) top.should.be.aboveOrEqual(parts[index]?.bottom ?? NaN);
      await tab.rows.nth(2).scrollIntoViewIfNeeded();
      await field(catalogText("tab.filter.node")).scrollIntoViewIfNeeded();
      await field(catalogText("tab.filter.node")).click({ trial: true });
      await button(catalogText("tab.failed.open")).click();
    });
  });

  for (const width of [280, 700]) {
    it(`does not scroll sideways with ${width} px`, async () => {
      const long = "x".repeat(200);
      told.silent = [{ node: "payments", hours: 24, since: 0 }];
      await show([summary({ id: "1", event: long, node: long }), summary({ id: "2", at: 0, state: "refused", cause: refusal, milliseconds: 123456 })]);
      await tab.element.evaluate((element, px) => {
        element.style.width = `${px}px`;
      }, width);
      await until(async () => (await boxOf(tab.rows.first())).height === (width === 280 ? 38 : 26), "the rows to fit");
      const [first, second] = [await boxOf(tab.rows.first()), await boxOf(tab.rows.nth(1))];
      second.y.should.be.approximately(first.y + first.height, 0.5);
      const wide = await tab.element.evaluate((element) => {
        const { right } = element.getBoundingClientRect();
        return [...element.querySelectorAll("*")]
          .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > right + 0.5)
          .map(({ outerHTML }) => outerHTML);
      });
      await tab.element.evaluate((element) => {
        element.style.width = "";
      });
      wide.should.eql([]);
    });
  }
}); // prettier-ignore

describe("the tab of deliveries of a user who may only look", () => {
  it("has no button that pauses or resumes a node", async () => {
    const code = "adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } }";
    const nodeRed = await NodeRed.start({ code, flow: webhookFlow({ id: "orders", relativePath: "/orders" }) });
    try {
      const editor = await Editor.open(await sharedBrowser(), nodeRed);
      const tab = new DeliveriesTab(editor);
      const told = new ToldDeliveries();
      told.queues = [{ node: "orders", pause: "manual", queued: 1, retrying: 0 }];
      await told.serve(editor.page);
      await tab.open();
      const line = tab.element.locator(".webhook-deliveries-queue");
      await line.filter({ hasText: catalogText("tab.queue.manual", { count: "1" }) }).waitFor();
      (await line.locator(".red-ui-button").count()).should.equal(0);
      await editor.close();
    } finally {
      await nodeRed.stop();
    }
  });
});
