import { setTimeout as wait } from "node:timers/promises";
import type { Locator } from "playwright-core";
import should from "should";
import type { Summary } from "../../src/admin/summary";
import { answersInFront, isOfApi } from "../harness/answers-in-front";
import { boxOf, catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, noon, summaries, summary, trafficOf } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { uncalled } from "../harness/node-report";
import { done } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";
import { until } from "../harness/until";

const flow = webhookFlow(
  { id: "orders", relativePath: "/orders", name: "Orders" },
  { id: "payments", relativePath: "/payments" },
);
const hour = 3_600_000;
const refusal = { problem: "tokenMissing", reasons: [], looksLike: null, error: null };
const failure = { problem: null, reasons: [], looksLike: null, error: "TypeError: no order" };

describe("the tab of deliveries", () => {
  let editor: Editor;
  let tab: DeliveriesTab;
  let runtime: FakeRuntime;
  before(async () => {
    ({ editor } = await openEditor(flow));
    tab = new DeliveriesTab(editor);
  });
  beforeEach(async () => {
    runtime = await FakeRuntime.serve(editor.page);
    await editor.leave();
    await tab.open();
    for (const key of ["tab.filter.clear", "tab.unselect"]) {
      const way = tab.button(catalogText(key));
      if (await way.isVisible()) await way.click();
    }
    await tab.stopReading();
    await tab.publish();
    // What the runtime before it was asked for has come.
    await until(() => runtime.asked.length > 0, "the list to be asked for");
    await tab.notice.filter({ hasText: catalogText("tab.empty") }).waitFor();
  });

  const field = (name: string) => tab.element.getByLabel(catalogText(name), { exact: true });
  const last = (name: string) => runtime.asked.at(-1)?.get(name) ?? "";
  const show = async (deliveries: Summary[]) => {
    runtime.deliveries = deliveries;
    await tab.publish();
    await tab.rows.first().waitFor();
  };
  const come = async (...deliveries: Summary[]) => {
    runtime.deliveries = [...deliveries, ...runtime.deliveries];
    await tab.publish();
  };
  const scrollTo = (top: number) => tab.list.evaluate((list, to) => list.scrollTo(0, to), top);
  const scrolled = () => tab.list.evaluate((list) => list.scrollTop);
  const press = async (key: string) => {
    await editor.page.keyboard.press(key);
    return tab.active();
  };

  it("lists what came with its time, state, node, answer, duration, caller, event or reason, and which attempt has failed", async () => {
    await show([
      summary({ id: "1", event: "push", milliseconds: 1234, at: Date.now() - 2.5 * hour }),
      summary({ id: "2", node: "payments", state: "refused", status: 401, cause: refusal }),
      summary({ id: "3", state: "failed", cause: failure, replayOf: "1" }),
      summary({ id: "4", node: "gone", status: null, milliseconds: null, state: "running" }),
      summary({ id: "5", words: "hello world", isTest: true }),
      summary({ id: "6", path: "/odrers", state: "refused", status: 404, cause: { ...refusal, problem: "noEndpoint" } }),
      summary({ id: "8", event: "pull", replayedBy: "9", caller: `<b>Tür 1</b>${"!".repeat(51)}` }),
      summary({ id: "7", event: "old", at: new Date(2024, 1, 3, 4, 5, 6).getTime() }),
    ]);
    const texts = (await tab.rows.allInnerTexts()).map((text) => text.split("\n").map((part) => part.trim()));
    const state = (name: string) => catalogText(`tab.state.${name}`);
    const [ago, exact, ...others] = texts[0] ?? [];
    should(ago).equal("2 hr. ago");
    should(exact).match(/^(\d\d\/\d\d, )?\d\d:\d\d:\d\d$/);
    others.should.eql([state("succeeded"), "Orders", "200", "1.2s", "push"]);
    texts[1]?.slice(2).should.eql([state("refused"), "/payments", "401", "12ms", catalogText("refused.tokenMissing")]);
    const replay = catalogText("tab.replayOf", { what: "TypeError: no order" });
    texts[2]?.slice(2).should.eql([state("failed"), "Orders", "12ms", replay]);
    texts[3]?.slice(2).should.eql([state("running"), "gone", "POST /orders"]);
    texts[4]?.at(-1)?.should.equal(catalogText("tab.testRequest", { what: "hello world" }));
    texts[5]?.at(-1)?.should.equal(`POST /odrers: ${catalogText("refused.noEndpoint")}`);
    texts[6]?.slice(2).should.eql([state("replayed"), "Orders", "200", "12ms", `<b>Tür 1</b>${"!".repeat(51)} pull`]);
    texts[7]?.slice(0, 2).should.eql(["02/03, 04:05", "02/03, 04:05:06"]);
    (await tab.rows.nth(1).locator(".fa-ban").count()).should.equal(1);

    const nextAt = new Date(2024, 1, 3, 4, 5, 6).getTime();
    const again = summary({ id: "again", state: "retrying", attempt: 3, maxAttempts: 10, nextAt, cause: failure });
    await show([again, { ...again, id: "paused", pause: "manual", caller: "W".repeat(64) }]);
    await tab.row(`${state("retrying")} 3/10`).nth(1).waitFor();
    (await tab.rows.locator(".webhook-deliveries-what").first().innerText()).should.equal(failure.error);
    await tab.element.evaluate((element) => element.setAttribute("style", "width: 300px"));
    const width = async (part: string) => (await boxOf(tab.rows.first().locator(`.webhook-deliveries-${part}`))).width;
    (await width("word")).should.be.belowOrEqual(40);
    (await width("node")).should.be.above(30);
    const what = await boxOf(tab.rows.nth(1).locator(".webhook-deliveries-what"));
    (await boxOf(tab.rows.nth(1).locator("bdi"))).width.should.be.within(what.width / 2, what.width * 0.65);
    await tab.element.evaluate((element) => element.removeAttribute("style"));
  });

  it("filters by node, state and text, also by a node that was deleted", async () => {
    await show([...summaries(3), summary({ id: "1", node: "0123abcd" })]);
    const deleted = catalogText("tab.filter.deleted", { id: "0123abcd" });
    await field("tab.filter.node").selectOption({ label: deleted });
    await until(() => last("node") === "0123abcd", "the deleted node to be asked for");
    const orders = catalogText("url.rival", { name: "Orders", flow: "Test" });
    await field("tab.filter.node").selectOption({ label: orders });
    await until(() => last("node") === "orders", "the node to be asked for");
    await field("tab.filter.state").selectOption({ label: catalogText("tab.state.failed") });
    await until(() => last("state") === "failed", "the state to be asked for");
    await tab.notice.filter({ hasText: catalogText("tab.noMatch") }).waitFor();
    await field("tab.filter.text").pressSequentially("event ");
    await until(() => last("text") === "event", "the text to be asked for");
    (await field("tab.filter.text").inputValue()).should.equal("event ");
    last("node").should.equal("orders");
    await tab.button(catalogText("tab.filter.clear")).click();
    await tab.row("event 2").waitFor();
    [...(runtime.asked.at(-1)?.keys() ?? [])].should.eql(["limit"]);
    await tab.element.locator("select:focus").waitFor();
  });

  it("has a picture of the last hour with its figures, of all nodes or of one, folded as it was left", async () => {
    runtime.traffic = trafficOf({ accepted: [3, 0, 5], waiting: [4, 2] });
    await tab.element.evaluate((element) => element.setAttribute("style", "height: 500px"));
    await tab.open();
    const figures = (name: string, count: string, most: string) => {
      const text = `${catalogText(`tab.traffic.${name}`, { count })}, ${catalogText("tab.traffic.most", { count: most })}`;
      return tab.traffic.getByRole("img", { name: text, exact: true });
    };
    await figures("accepted", "8", "5").waitFor();
    await figures("waiting", "2", "4").waitFor();
    const pictures = tab.traffic.locator("svg");
    (await pictures.count()).should.equal(2);
    const { width = 0, height = 0 } = (await pictures.first().locator("path").boundingBox()) ?? {};
    [width > 100, Math.round(height)].should.eql([true, 18]);
    runtime.traffic = trafficOf({ refused: [1] });
    await field("tab.filter.node").selectOption("orders");
    await figures("refused", "1", "1").waitFor();
    await tab.traffic.locator("summary").click();
    const folded = `${catalogText("tab.traffic.lastHour")}: ${catalogText("tab.traffic.refused", { count: "1" })}`;
    await tab.traffic.getByText(folded, { exact: true }).waitFor();
    runtime.traffic = trafficOf({});
    await tab.button(catalogText("tab.filter.clear")).click();
    await tab.traffic.waitFor({ state: "hidden" });
    runtime.traffic = trafficOf({ refused: [1] });
    await tab.open();
    await tab.traffic.getByText(folded, { exact: true }).waitFor();
    await tab.traffic.locator("summary").click();
    await figures("refused", "1", "1").waitFor();
    await tab.element.evaluate((element) => element.setAttribute("style", "height: 390px"));
    await tab.traffic.waitFor({ state: "hidden" });
    await tab.element.evaluate((element) => element.removeAttribute("style"));
  });

  it("shows what has failed by its cause, filters by one, replays it part by part until nothing is left, and finds what has failed since a time", async () => {
    const group = { node: "orders", error: "HTTP 504", count: 250, last: 1000 };
    runtime.failures = { groups: [group], causes: 1, failures: 250, hasMore: false };
    const left = { code: "bodyMissing", message: "in another language", count: 30 } as const;
    runtime.groupReplays.push({ replayed: 100, left: [], next: "p1" }, { replayed: 70, left: [left], next: "p2" });
    const { node, error, last: until1000 } = group;
    await tab.publish();
    await tab.unfoldFailures();
    await tab.failures.getByText(catalogText("refused.flowLate")).waitFor();
    await tab.failures.getByRole("button", { name: catalogText("failures.show") }).click();
    await until(() => last("error") === error, "the error to be asked for");
    [last("node"), last("state")].should.eql([node, "failed"]);
    await tab.failures.getByRole("button", { name: catalogText("tab.replay", { count: "250" }) }).click();
    const dialog = editor.page.getByRole("dialog");
    const press = (key: string) => dialog.getByRole("button", { name: catalogText(key), exact: true }).click();
    await dialog.getByText(catalogText("failures.cause", { error: catalogText("refused.flowLate") })).waitFor();
    (await dialog.evaluate(() => String(document.activeElement?.tagName))).should.equal("BUTTON");
    await press("delivery.replay");
    await dialog.getByText(catalogText("delivery.several.sum", { count: "170" })).waitFor();
    const said = await dialog.innerText();
    // The third part has met an error.
    for (const part of [catalogText("replay.bodyMissing"), "30", "503", catalogText("delivery.several.left", { count: "50" })]) {
      said.should.containEql(part);
    }
    await press("delivery.close");
    const asked = { node, error, last: until1000 };
    runtime.groupsReplayed.should.eql([asked, { ...asked, after: "p1" }, { ...asked, after: "p2" }]);
    // All that have failed since a time are searched on as many pages as there are.
    const recent = summaries(700, { state: "failed" }).map((each) => ({ ...each, at: Date.now() - hour }));
    runtime.deliveries = [...recent, summary({ id: "old", state: "failed", at: Date.now() - 48 * hour })];
    await tab.button(catalogText("tab.failed.replay")).click();
    await tab.element.getByText(catalogText("tab.failed.found", { count: "700" })).waitFor();
    [last("node"), last("error")].should.eql([node, error]);
    await editor.page.keyboard.press("Escape");
    await field("tab.filter.state").selectOption("");
    await until(() => last("error") === "", "the error to be forgotten");
  });

  it("shows what comes and changes while it is open, and says so to screen readers in one sentence", async () => {
    await show(summaries(3));
    const said = await tab.listen();
    await come(...summaries(3, { state: "refused", cause: refusal }).map((each) => ({ ...each, id: `r${each.id}` })));
    await tab.row(catalogText("refused.tokenMissing")).first().waitFor();
    runtime.deliveries = runtime.deliveries.map((each) => (each.id === "d1" ? { ...each, state: "failed", cause: failure } : each));
    await tab.publish();
    await tab.row("TypeError: no order").waitFor();
    const announced = catalogText("tab.announced", { count: String.raw`(\d+)`, refused: String.raw`(\d+)` });
    const isWanted = (text: string) => {
      const [, count, refused] = new RegExp(announced).exec(text) ?? [];
      // What came before may be said with it.
      return Number(count) >= 3 && Number(refused) === 3;
    };
    await until(async () => (await said()).some(isWanted), "what came to be said");
  });

  /** How often the list is asked for while a delivery comes each 50 ms, for as many ms or more. */
  const askedWithin = async (ms: number) => {
    const before = runtime.asked.length;
    const begin = Date.now();
    for (; Date.now() < begin + ms; await wait(50)) await tab.publish();
    return { asked: runtime.asked.length - before, seconds: Math.ceil((Date.now() - begin) / 1000) };
  };

  it("asks at most once a second, every five seconds while a text is looked for, and not while another tab is shown", async () => {
    await show(summaries(3));
    const { length } = runtime.asked;
    const usual = await askedWithin(1500);
    usual.asked.should.be.belowOrEqual(1 + usual.seconds);
    await until(() => runtime.asked.length > length, "the list to be asked for");
    await field("tab.filter.text").fill("event");
    await until(() => last("text") === "event", "the text to be asked for");
    const searching = await askedWithin(1500);
    searching.asked.should.be.belowOrEqual(1 + Math.floor(searching.seconds / 5));
    await tab.button(catalogText("tab.filter.clear")).click();
    await until(() => last("text") === "", "all to be asked for");
    await tab.leave();
    (await askedWithin(1500)).asked.should.equal(0);
    await come(summary({ id: "later", event: "came meanwhile" }));
    await tab.open();
    await tab.row("came meanwhile").waitFor();
  });

  it("leaves what is read or under a finger where it is, and says how many are new above", async () => {
    await show(summaries(100));
    await scrollTo(1000);
    const row = tab.row(/event 28$/);
    await row.waitFor();
    const { y } = await boxOf(row);
    await come(summary({ id: "n1", event: "new 1" }), summary({ id: "n2", event: "new 2" }));
    await tab.button(catalogText("tab.new", { count: "2" })).click();
    await tab.row("new 1").waitFor();
    (await scrolled()).should.equal(0);
    await scrollTo(1000);
    (await boxOf(row)).y.should.be.above(y);
    await come(summary({ id: "n3", event: "new 3" }));
    await tab.button(catalogText("tab.new", { count: "1" })).waitFor();
    await scrollTo(0);
    await tab.row("new 3").waitFor();

    const { x, y: top } = await boxOf(tab.row("new 3"));
    const touch = await editor.page.context().newCDPSession(editor.page);
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: x + 5, y: top + 5 }] });
    await come(summary({ id: "n4", event: "new 4" }));
    await tab.button(catalogText("tab.new", { count: "1" })).waitFor();
    await touch.send("Input.dispatchTouchEvent", { type: "touchCancel", touchPoints: [] });
    await touch.detach();
    await come(summary({ id: "n5", event: "new 5" }));
    await tab.row("new 5").waitFor();
  });

  it("loads older deliveries as the user scrolls, and lacks none where many came while these were on their way", async () => {
    await show(summaries(1200));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await editor.page.route(/before=d500/, async (route) => {
      await held;
      await route.fallback();
    });
    const asked = editor.page.waitForRequest(/before=d500/);
    await tab.list.focus();
    await press("End");
    await asked;
    await come(...summaries(600, { event: "new" }).map((each) => ({ ...each, id: `new-${each.id}` })));
    await tab.button(catalogText("tab.new", { count: "500" })).click();
    await tab.row("new").first().waitFor();
    const { length } = runtime.asked;
    await press("End");
    release();
    // What was on its way does not follow any more: what does is asked for at once.
    await until(() => runtime.asked.length >= length + 2, "the next page to be asked for");
    const pages = runtime.asked.slice(length, length + 2).map((query) => query.get("before"));
    pages.should.eql(["d500", "new-d500"]);
    await until(async () => (await press("End")) === "event 1199", "the oldest");
    (await tab.loaded()).should.equal(1800);
    const [position, size] = await Promise.all(["posinset", "setsize"].map((name) => tab.rows.last().getAttribute(`aria-${name}`)));
    [position, size].should.eql(["1800", "1800"]);
    (await tab.rows.count()).should.be.below(100);
    // Whoever reads no further needs the newest alone.
    await tab.stopReading();
    await come(summary({ id: "newest", event: "has come" }));
    await tab.row("has come").waitFor();
    await until(async () => (await tab.loaded()) === 500, "older ones to be let go");
  });

  it("is walked through by the keyboard, and comes back from a delivery to where the list was", async () => {
    await show(summaries(100));
    await tab.list.focus();
    (await press("ArrowDown")).should.equal("event 0");
    (await tab.row(/event 0$/).evaluate((row) => getComputedStyle(row).outlineStyle)).should.equal("solid");
    (await press("ArrowDown")).should.equal("event 1");
    (await press("ArrowUp")).should.equal("event 0");
    (await press("End")).should.equal("event 99");
    (await press("Home")).should.equal("event 0");
    (await press("ArrowDown")).should.equal("event 1");
    await editor.page.keyboard.press("Enter");
    await tab.button(catalogText("tab.back")).waitFor();
    (await tab.list.isVisible()).should.be.false();
    (await press("Escape")).should.equal("event 1");
    (await press("ArrowDown")).should.equal("event 2");
    await scrollTo(1000);
    await tab.row(/event 28$/).click();
    await tab.button(catalogText("tab.back")).click();
    await until(async () => (await scrolled()) === 1000, "the list to be where it was");
    (await press("Home")).should.equal("event 0");
    runtime.deliveries = summaries(100).slice(1);
    await tab.publish();
    await tab.row(/event 0$/).waitFor({ state: "detached" });
    should(await tab.list.getAttribute("aria-activedescendant")).be.null();
    (await press("End")).should.equal("event 99");
  });

  it("selects several by keys and by the mouse, and offers to replay only what was accepted", async () => {
    await show(summaries(6).map((each, index) => (index === 1 ? { ...each, state: "refused" } : each)));
    const replay = (count: number) => tab.button(catalogText("tab.replay", { count: String(count) }));
    await tab.list.focus();
    for (const key of ["ArrowDown", "Space", "ArrowDown", "Space"]) await press(key);
    await replay(1).waitFor();
    await tab.element.getByText(catalogText("delivery.several.leftOut", { count: "1" })).waitFor();
    await press("Shift+ArrowDown");
    await replay(2).waitFor();
    await tab.row("event 5").click({ modifiers: ["Shift"] });
    await replay(5).waitFor();
    await tab.row("event 4").locator(".webhook-deliveries-check").click();
    await replay(4).waitFor();
    await tab.row("event 3").click({ modifiers: ["Control"] });
    await replay(3).waitFor();
    await tab.button(catalogText("tab.unselect")).click();
    (await tab.list.locator('[aria-selected="true"]').count()).should.equal(0);
  });

  /** Presses on something, has a change drawn, and releases. */
  const pressDuring = async (pressed: Locator, by: "mouse" | "Space", change: () => Promise<void>) => {
    const { mouse, keyboard } = editor.page;
    if (by === "mouse") await pressed.hover();
    else await pressed.focus();
    await (by === "mouse" ? mouse.down() : keyboard.down(by));
    await change();
    await (by === "mouse" ? mouse.up() : keyboard.up(by));
  };

  it("loses no press on a button, a cause of failures or a row that changes between press and release, and does what is shown then", async () => {
    const queue = { node: "orders", pause: "manual", queued: 7, retrying: 0 } as const;
    const resume = tab.button(`${catalogText("tab.queue.resume")}: Orders`);
    const line = tab.element.locator(".webhook-deliveries-queue");
    const isPaused = (count: string) => line.filter({ hasText: catalogText("tab.queue.manual", { count }) }).waitFor();
    for (const by of ["mouse", "Space"] as const) {
      runtime.queues = [queue];
      await tab.publish();
      await isPaused("7");
      await pressDuring(resume, by, async () => {
        runtime.queues = [{ ...queue, queued: 8 }];
        await tab.publish();
        await isPaused("8");
      });
      await line.waitFor({ state: "detached" });
    }
    runtime.controlled.should.eql(["orders resume", "orders resume"]);

    await show(summaries(3, { state: "running" }));
    await pressDuring(tab.row("event 1").locator(".webhook-deliveries-state"), "mouse", async () => {
      await come(summary({ id: "new", event: "has just come" }));
      runtime.deliveries = runtime.deliveries.map((each) => ({ ...each, state: "failed", cause: failure }));
      await tab.publish();
      await tab.row("TypeError: no order").nth(2).waitFor();
    });
    await tab.button(catalogText("tab.back")).click();
    (await tab.active()).should.equal("TypeError: no order");

    const fail = (count: number) => {
      const group = { node: "orders", error: "no order", count, last: count };
      const smaller = { ...group, error: "no customer", count: 1 };
      runtime.failures = { groups: [group, smaller], causes: 2, failures: count + 1, hasMore: false };
      return tab.publish();
    };
    const replay = (count: number) => tab.button(`${catalogText("tab.replay", { count: String(count) })}: no order`);
    await fail(4);
    await tab.unfoldFailures();
    await pressDuring(replay(4), "mouse", async () => {
      await fail(5);
      await replay(5).waitFor();
    });
    await editor.page.getByRole("dialog").getByText(catalogText("delivery.several.ask", { count: "5" })).waitFor();
    await editor.page.keyboard.press("Escape");
    await pressDuring(tab.button(`${catalogText("failures.show")}: no order`), "mouse", async () => {
      await fail(6);
      await replay(6).waitFor();
    });
    await until(() => last("error") === "no order", "the error to be asked for");
  });

  it("deletes what the filter shows, and a cause of failures, after a question that names their number", async () => {
    const dialog = editor.page.getByRole("dialog");
    const answer = (key: string) => dialog.getByRole("button", { name: catalogText(key), exact: true }).click();
    const remove = tab.button(catalogText("tab.delete"));
    const others = [summary({ id: "p", node: "payments", event: "kept" }), summary({ id: "r", state: "running" })];
    await show([...summaries(600, { state: "retrying" }), ...others]);
    (await remove.isVisible()).should.be.false();
    const said = await tab.listen();
    await field("tab.filter.text").fill("event");
    await field("tab.filter.node").selectOption("orders");
    await until(() => last("text") === "event", "the text to be asked for");
    // What is searched for cannot be deleted at once.
    (await remove.isVisible()).should.be.false();
    await field("tab.filter.text").fill("");
    await remove.click();
    await dialog.getByText(catalogText("delivery.removal.ask", { count: "600" })).waitFor();
    const asked = await dialog.innerText();
    const name = catalogText("url.rival", { name: "Orders", flow: "Test" });
    for (const part of [name, catalogText("delivery.removal.waiting"), catalogText("delivery.removal.running")]) {
      asked.should.containEql(part);
    }
    await answer("delivery.cancel");
    runtime.deleted.should.eql([]);
    await remove.click();
    await answer("delivery.delete");
    await dialog.waitFor({ state: "detached" });
    runtime.deleted.should.eql(["?node=orders"]);
    await until(async () => (await tab.rows.count()) === 1, "the running one to be left");
    await until(async () => (await said()).includes(catalogText("delivery.removal.sum", { count: "600" })), "its sum");
    await tab.button(catalogText("tab.filter.clear")).click();

    const group = { node: "orders", error: "no order", count: 2, last: noon };
    const failed = summaries(3, { state: "failed", cause: { ...failure, error: group.error } });
    runtime.failures = { groups: [group], causes: 1, failures: 2, hasMore: false };
    await show(failed.map((each, index) => ({ ...each, at: noon + 1 - index })));
    await tab.unfoldFailures();
    runtime.failing.set("d2", 409);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await editor.page.route(/error=no/, async (route) => {
      await held;
      await route.fallback();
    });
    const counting = editor.page.waitForRequest(/error=no/);
    await tab.button(`${catalogText("delivery.delete")}: no order`).click();
    await counting;
    await tab.button(`${catalogText("tab.replay", { count: "2" })}: no order`).click();
    await dialog.getByText(catalogText("delivery.several.ask", { count: "2" })).waitFor();
    const counted = editor.page.waitForResponse(/error=no/);
    release();
    await counted;
    // What is counted by now does not take the place of the question that the user is about to answer.
    await answer("delivery.cancel");
    await dialog.getByText(catalogText("delivery.removal.ask", { count: "2" })).waitFor();
    await dialog.getByText(catalogText("failures.cause", { error: "no order" })).waitFor();
    await answer("delivery.delete");
    await dialog.getByText(`${catalogText("deletion.running")}.`).waitFor();
    await answer("delivery.close");
    runtime.deleted.slice(1).should.eql(["d1", "d2"]);
    await tab.row("no order").nth(1).waitFor();
  });

  it("warns of each sender that is silent, and shows its node", async () => {
    runtime.silent = [{ node: "payments", hours: 24, since: new Date(2024, 1, 3, 4, 5).getTime() }];
    await tab.open();
    const line = tab.element.locator(".webhook-deliveries-silent");
    const silent = catalogText("tab.silent", { time: "02/03, 04:05", hours: "24" });
    await line.waitFor();
    (await line.innerText()).trim().should.equal(`/payments ${silent}`);
    runtime.silent = [];
    runtime.silentCallers = ["<b>", "2", "3", "4", "5", "6", "7"].map((caller) => ({ node: "payments", caller, hours: 24, since: 0 }));
    await tab.publish();
    const callers = catalogText("tab.silentCallers", { hours: "24", names: "<b>, 2, 3, 4, 5, +2" });
    await line.getByText(callers).waitFor();
    (await line.count()).should.equal(1);
    await tab.button(catalogText("url.reveal", { name: "/payments" })).click();
    const highlighted = "#payments.red-ui-flow-node-highlighted, #payments .red-ui-flow-node-highlighted";
    await editor.page.locator(highlighted).first().waitFor();
  });

  it("says which nodes are paused, resumes and pauses them, and says why that was not possible", async () => {
    runtime.queues = [
      { node: "orders", pause: null, queued: 1, retrying: 0 },
      { node: "payments", pause: "breaker", queued: 3, retrying: 2 },
    ];
    await tab.open();
    const lines = tab.element.locator(".webhook-deliveries-queue");
    await lines.first().waitFor();
    (await lines.count()).should.equal(1);
    (await lines.innerText()).should.containEql(`/payments: ${catalogText("tab.queue.breaker", { count: "5" })}`);
    await tab.button(`${catalogText("tab.queue.resume")}: /payments`).click();
    await lines.waitFor({ state: "detached" });
    await field("tab.filter.node").selectOption("orders");
    await tab.button(`${catalogText("tab.queue.pause")}: Orders`).click();
    const resume = tab.button(`${catalogText("tab.queue.resume")}: Orders`);
    await resume.waitFor();
    runtime.controlled.should.eql(["payments resume", "orders pause"]);
    runtime.fault = 403;
    const isNotified = await editor.noteNotifications();
    await resume.click();
    await isNotified(catalogText("tab.queue.forbidden"));
    runtime.fault = undefined;
    runtime.queues = [{ node: "orders", pause: "manual", queued: 7, retrying: 0 }];
    await tab.publish();
    await lines.filter({ hasText: catalogText("tab.queue.manual", { count: "7" }) }).waitFor();
  });

  it("has rows of two lines in a narrow sidebar and of one in a wide one, with headings, a line for each day, and none lies on another", async () => {
    const long = "x".repeat(200);
    const [before, at] = [noon - 24 * hour, new Date(2024, 1, 3, 4, 5, 6).getTime()];
    await show([summary({ id: "1", event: long, node: long }), summary({ id: "2", at: before }), summary({ id: "3", at }), summary({ id: "4", at: at - 1, state: "refused", cause: refusal })]);
    const days = tab.list.locator(".webhook-deliveries-day");
    const heading = tab.element.getByText(catalogText("tab.column.node"), { exact: true });
    for (const [width, height] of [[280, 38], [700, 26]] as const) {
      await tab.fitInto(width);
      await until(async () => (await boxOf(tab.rows.first())).height === height, "the rows to fit");
      (await heading.isVisible()).should.equal(width > 500);
      const { y } = await boxOf(tab.rows.first());
      const lines = [days.first(), tab.rows.nth(1), days.nth(1), tab.rows.nth(2), tab.rows.nth(3)];
      for (const [above, line] of lines.entries()) (await boxOf(line)).y.should.be.approximately(y + (above + 1) * height, 0.5);
    }
    (await days.nth(1).innerText()).should.equal("Saturday, February 3, 2024");
    const { x } = await boxOf(heading);
    (await boxOf(tab.rows.nth(1).locator(".webhook-deliveries-node"))).x.should.be.approximately(x, 0.5);
    await tab.list.focus();
    for (const key of ["ArrowDown", "ArrowDown", "End"]) await press(key);
    (await tab.active()).should.equal(catalogText("refused.tokenMissing"));
    await tab.element.evaluate((element) => element.removeAttribute("style"));
  });

  it("has five rows in sight in a small sidebar beside what it warns of and one that is selected, and nothing overlaps", async () => {
    runtime.silent = ["orders", "payments", "gone"].map((node) => ({ node, hours: 24, since: 0 }));
    await show(summaries(100));
    await tab.element.evaluate((element) => element.setAttribute("style", "width: 280px; height: 290px"));
    await until(async () => (await boxOf(tab.rows.first())).height === 38, "the rows to fit");
    await tab.list.focus();
    for (const key of ["ArrowDown", "Space"]) await press(key);
    await until(async () => Math.floor((await boxOf(tab.list)).height / 38) === 5, "five rows in sight");
    const edges = await tab.element.locator(".webhook-deliveries-pane > *").evaluateAll((all) =>
      all.filter((part) => part.clientHeight > 0).flatMap((part) => [part.getBoundingClientRect().top, part.getBoundingClientRect().bottom]),
    );
    edges.length.should.equal(8);
    edges.should.eql(edges.slice().sort((one, other) => one - other));
    await field("tab.filter.node").click({ trial: true });
    await tab.element.evaluate((element) => element.removeAttribute("style"));
  });

  it("is opened from the form of a node, with the deliveries of that node until it is left", async () => {
    await show(summaries(1));
    await tab.leave();
    await editor.editAsItIs("payments");
    await editor.part("deliveries").click();
    await tab.element.waitFor();
    await until(() => last("node") === "payments", "the node to be asked for");
    (await field("tab.filter.node").inputValue()).should.equal("payments");
    (await editor.input("name").isVisible()).should.be.true();
    // What is on top of it would take the click.
    await field("tab.filter.state").click({ trial: true });
    await tab.open();
    await until(() => last("node") === "", "all nodes to be asked for");
    (await field("tab.filter.node").inputValue()).should.equal("");
  });

  describe("while something else answers than is wanted", () => {
    type Answer = (typeof answersInFront)[number];
    /** One for each of what is said; all are tried on the list. */
    const oneOfEach = answersInFront.filter(({ trouble }, index) => answersInFront.findIndex((each) => each.trouble === trouble) === index);
    /** Has it answer all calls, from the next one on. */
    const during = async ({ answer }: Answer, act: () => Promise<void>, isMeant = isOfApi) => {
      await editor.page.route(isMeant, answer);
      await act();
      await editor.page.unroute(isMeant, answer);
    };
    /** Has the tab ask at once. */
    const lookAgain = async () => {
      await tab.leave();
      await editor.invoke("webhook-trigger:show-deliveries");
      await tab.element.waitFor();
    };
    const say = ({ trouble }: Answer, others: Partial<Record<Answer["trouble"], string>> = {}) =>
      others[trouble] ?? catalogText(`tab.trouble.${trouble}`);
    const failed = catalogText("delivery.otherwise", { status: "502" });
    const unreachable = catalogText("testRequest.failed");

    it("says so above the list and of a press on a button, and goes on by itself when Node-RED answers again", async () => {
      runtime.queues = [{ node: "orders", pause: "manual", queued: 1, retrying: 0 }];
      await show(summaries(2));
      const resume = tab.button(`${catalogText("tab.queue.resume")}: Orders`);
      const pressed = catalogText("tab.queue.failed");
      for (const each of answersInFront) {
        await during(each, async () => {
          await lookAgain();
          await tab.notice.filter({ hasText: say(each) }).waitFor();
          const isNotified = await editor.noteNotifications();
          await resume.click();
          await isNotified(say(each, { failed: pressed, unreachable: pressed }));
        });
      }
      await come(summary({ id: "later", event: "came later" }));
      await tab.row("came later").waitFor();
      await tab.notice.waitFor({ state: "hidden" });
      await resume.click();
      await resume.waitFor({ state: "detached" });
    });

    it("says why there is no list, asks less often meanwhile, and shows it by itself as soon as the runtime answers", async () => {
      const isSaid = (key: string) => tab.notice.filter({ hasText: catalogText(`tab.trouble.${key}`) }).waitFor();
      await editor.set("webhookTriggerDeliveries", { keep: 0 });
      await tab.open();
      await isSaid("notKept");
      await editor.set("webhookTriggerDeliveries", {});
      for (const [fault, key] of [[403, "forbidden"], [401, "forbidden"], [404, "notKept"], [500, "failed"]] as const) {
        runtime.fault = fault;
        await tab.open();
        await isSaid(key);
      }
      const { length } = runtime.asked;
      await until(() => runtime.asked.length > length + 1, "the list to be asked for again");
      const { asked, seconds } = await askedWithin(1500);
      asked.should.be.belowOrEqual(Math.ceil(seconds / 2));
      runtime.fault = undefined;
      runtime.deliveries = summaries(2);
      await tab.rows.first().waitFor();
      await tab.notice.waitFor({ state: "hidden" });
    });

    it("lists what comes where only what is around the list is missing", async () => {
      const isBeside = (url: URL) => /\/webhook-trigger\/(?:silent|queues|failures|traffic)$/.test(url.pathname);
      for (const each of oneOfEach) {
        const asked = editor.page.waitForRequest((request) => isBeside(new URL(request.url())));
        await during(
          each,
          async () => {
            await lookAgain();
            await asked;
            await come(summary({ id: each.name.replaceAll(" ", "-"), event: `during ${each.name}` }));
            await tab.row(`during ${each.name}`).waitFor();
          },
          isBeside,
        );
      }
    });

    it("says so in an opened delivery, of its replay and its deletion, does neither, and follows it by itself afterwards", async () => {
      const shown = await tab.openDelivery(runtime, { ...done, node: "orders" });
      const problem = shown.locator(":scope > [role=status]");
      const dialog = editor.page.getByRole("dialog");
      const press = (key: string, within: Locator = shown) =>
        within.getByRole("button", { name: catalogText(`delivery.${key}`), exact: true }).click();
      for (const each of oneOfEach) {
        const said = say(each, { unreachable, failed });
        await during(each, async () => {
          await lookAgain();
          await problem.filter({ hasText: said }).waitFor();
          await press("replay");
          await shown.locator(".webhook-delivery-result").filter({ hasText: said }).waitFor();
          await press("delete");
          await press("delete", dialog);
          await dialog.getByText(said).waitFor();
          await press("close", dialog);
        });
        await lookAgain();
        await problem.filter({ hasText: said }).waitFor({ state: "hidden" });
      }
      [runtime.replayed, runtime.deleted].should.eql([[], []]);
      const [login] = oneOfEach;
      if (login) await during(login, lookAgain);
      runtime.deliveries = runtime.deliveries.map((each) => ({ ...each, answer: { status: 202, milliseconds: 1, body: null } }));
      await shown.locator('[data-section="answer"] summary').filter({ hasText: "202" }).waitFor();
    });

    it("goes on in the form of a node, whose test request says so", async () => {
      const report = { ...uncalled, accepted: 5, last: { at: noon, outcome: "accepted" } };
      await editor.page.route("**/lastRequest", (route) => route.fulfill({ json: report }));
      await editor.editAsItIs("orders");
      for (const each of oneOfEach) {
        const asked = editor.page.waitForRequest("**/lastRequest");
        await during(each, async () => {
          await editor.part("send").click();
          const said = say(each, { failed: unreachable, unreachable });
          await editor.part("result").filter({ hasText: said }).waitFor();
          await asked;
        });
      }
      report.accepted = 7;
      await editor.part("last-request").filter({ hasText: "7" }).waitFor();
    });
  });
}); // prettier-ignore
