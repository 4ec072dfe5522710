import { createHmac } from "node:crypto";
import should from "should";
import { catalogText } from "../harness/browser";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const github = { sender: "github", verificationMethod: "signature", credentials: { secret: "key" } };
const saved = {
  events: ["push", "issues", "star"],
  // As they may be written by hand.
  conditions: [{ place: "json:n", operator: "above", value: 5 }, { place: "json: a", operator: "exists" }],
  ...{ outputPerEvent: true, outputs: 3, wires: [["one"], ["two"], ["three"]] },
}; // prettier-ignore
const text = (key: string, values: Record<string, string> = {}) => catalogText(`filter.${key}`, values);

describe("the section Filter of the form", () => {
  const flow = tab(
    webhook("new", "/new", github),
    webhook("filled", "/filled", { ...github, ...saved }),
    webhook("corrected", "/corrected", {
      ...{ ...github, events: ["psh", "release"], outputPerEvent: true, outputs: 2, wires: [["one"], ["two"]] },
    }),
    webhook("seen", "/seen", { ...github, events: ["push"] }),
    webhook("shared", "/shared", { ...github, events: ["issue*", "push"], outputPerEvent: true, outputs: 2 }),
    webhook("any", "/any", { events: ["push"], conditions: [{ place: "json:n", operator: "exists" }] }),
    webhook("tried", "/tried", { conditions: [{ place: "json:n", operator: "above", value: 1 }] }),
    webhook("fresh", "/fresh", { conditions: [{ place: "json:n", operator: "above", value: 1 }] }),
    webhook("written", "/written", { ...github, conditions: { place: "event", operator: "exists" } }),
    ...["one", "two", "three"].map((id) => ({ id, type: "sink", wires: [] })),
  );
  const { editor, nodeRed } = useEditor(flow);
  const rows = (list: "events" | "conditions") => editor().part(list).locator(".webhook-trigger-filter-row");
  const remove = (row: number) => editor().part("events").getByLabel(text("remove")).nth(row);
  const place = (row: number) => rows("conditions").nth(row).locator(".red-ui-typedInput-container");
  const offered = (group: "received" | "documented") => editor().part(`offered-${group}`).locator("button");

  it("offers the events and places of what the sender sends, before its first request, takes others, and has an output for each event", async () => {
    await editor().edit("new");
    (await editor().state("filter").innerText()).should.equal(text("none"));
    (await editor().input("outputPerEvent").isVisible()).should.be.true();
    (await offered("documented").allInnerTexts()).slice(0, 2).should.eql(["push", "pull_request"]);
    await offered("documented").filter({ hasText: "ping" }).waitFor();
    const offers = editor().part("places").locator('option[value="json:repository.full_name"]');
    await offers.waitFor({ state: "attached" });
    (await editor().page.getByText(text("received")).isVisible()).should.be.false();
    await offered("documented").filter({ hasText: "release" }).click();
    await editor().part("add-event").click();
    await editor().page.keyboard.type("issue*");
    (await editor().state("filter").innerText()).should.equal(text("only", { events: "release, issue*" }));
    await editor().enter({ outputPerEvent: true });
    await editor().part("add-condition").click();
    await editor().page.keyboard.type("action");
    await editor().page.keyboard.press("Tab");
    await editor().page.keyboard.press("Tab");
    await editor().page.keyboard.type("opened");
    await editor().done();
    should(await editor().savedFields("new", ["events", "conditions", "outputs"])).eql({
      events: ["release", "issue*"],
      conditions: [{ place: "json:action", operator: "is", value: "opened" }],
      outputs: 2,
    });
    (await editor().outputLabels("new", 2)).should.eql(["release", "issue*"]);
  });

  it("leaves a node unchanged that is opened and closed, also one with conditions that were written by hand, with which it says what is wrong", async () => {
    const heading = [
      text("only", { events: "push, issues, star" }),
      text("conditions_other", { count: "2" }),
      text("outputs"),
    ];
    for (const [id, state, said] of [
      ["filled", heading.join(" · "), ""],
      ["written", catalogText("section.broken"), catalogText("rules.conditions")],
    ] as const) {
      await editor().edit(id);
      (await editor().state("filter").innerText()).should.equal(state, id);
      (await editor().message("conditions").innerText()).should.equal(said, id);
      await editor().done();
      (await editor().isChanged(id)).should.be.false(id);
    }
  });

  it("keeps the wire of each event where it was, also of one whose name is corrected, and drops that of one which is removed", async () => {
    const expectSaved = async (id: string, outputs: number, ...wires: [number, string][]) => {
      await editor().done();
      should(await editor().saved(id, "outputs")).equal(outputs);
      (await editor().wires(id)).should.eql(wires);
    };
    const add = async (event: string) => {
      await editor().part("add-event").click();
      await editor().page.keyboard.type(event);
    };
    await editor().edit("filled");
    await remove(0).click();
    await add("release");
    await expectSaved("filled", 3, [0, "two"], [1, "three"]);
    should(await editor().saved("filled", "events")).eql(["issues", "star", "release"]);
    await editor().edit("filled");
    await editor().enter({ outputPerEvent: false });
    await expectSaved("filled", 1, [0, "two"]);
    await editor().edit("corrected");
    await rows("events").nth(0).locator("input").fill("push");
    await add("release");
    await expectSaved("corrected", 3, [0, "one"], [1, "two"]);
    // It has no output more after a duplicate is removed.
    await editor().edit("corrected");
    await remove(2).click();
    await expectSaved("corrected", 2, [0, "one"], [1, "two"]);
  });

  it("warns where the sender names no event, and of events that were chosen for another one, says what is wrong with an event or a condition, and takes the values of variables", async () => {
    await editor().edit("any");
    (await editor().note("no-event").isVisible()).should.be.true();
    await editor().enter({ sender: "github" });
    (await editor().note("no-event").isVisible()).should.be.false();
    (await editor().note("foreign").isVisible()).should.be.false();
    await editor().enter({ sender: "stripe" });
    (await editor().note("foreign").innerText()).trim().should.equal(text("foreign", { events: "push" }));
    await rows("events").nth(0).locator("input").fill("re*lease");
    (await editor().message("events").innerText()).should.equal(catalogText("rules.events"));
    await rows("events").nth(0).locator("input").fill("${EVENT}");
    (await editor().message("events").innerText()).should.equal("");
    await rows("conditions").nth(0).locator("select").selectOption("above");
    for (const [value, expected] of [
      ["100,00 €", text("notNumber", { value: "100,00 €" })],
      ["", catalogText("rules.conditions")],
    ] as const) {
      await rows("conditions").nth(0).getByLabel(text("value")).fill(value);
      (await editor().message("conditions").innerText()).should.equal(expected);
    }
    (await editor().state("filter").innerText()).should.containEql(catalogText("section.broken"));
    await rows("conditions").nth(0).locator("select").selectOption("exists");
    (await editor().message("conditions").innerText()).should.equal("");
    (await rows("conditions").nth(0).getByLabel(text("value")).isVisible()).should.be.false();
  });

  it("takes the place of a value by a choice, and as it is written out", async () => {
    const places = [
      ["header", "X-Kind", "header:X-Kind"],
      ["written", "${PLACE}", "${PLACE}"],
      ["json", "query:room", "query:room"],
      ["json", "msg.payload.order.total", "json:order.total"],
      ["body", "", "body"],
    ] as const;
    await editor().edit("seen");
    for (const [row, [kind, typed]] of places.entries()) {
      await editor().part("add-condition").click();
      await place(row).locator("button").first().click();
      await editor().page.locator(`.red-ui-typedInput-options:visible [value=${kind}]`).click();
      if (typed !== "") await place(row).locator("input:visible").fill(typed);
      await rows("conditions").nth(row).locator("select").selectOption("exists");
    }
    await editor().done();
    const saved = (await editor().saved("seen", "conditions")) as { place: string }[];
    saved.map((condition) => condition.place).should.eql(places.map(([, , expected]) => expected));
    await editor().invoke("core:undo");
  });

  it("offers events that were filtered or delivered apart from those that the sender documents", async () => {
    for (const event of ["merge_group", "push"]) {
      const signature = createHmac("sha256", "key").update("{}").digest("hex");
      const headers = { "X-Hub-Signature-256": `sha256=${signature}`, "X-GitHub-Event": event };
      (await send(nodeRed().node("/seen"), { headers, body: "{}" })).status.should.equal(200);
    }
    await editor().edit("seen");
    await offered("received").filter({ hasText: "merge_group" }).click();
    await remove(0).click();
    await offered("received").filter({ hasText: /^push$/ }).waitFor(); // prettier-ignore
    should((await offered("documented").allInnerTexts()).at(0)).equal("pull_request");
    (await editor().state("filter").innerText()).should.equal(text("only", { events: "merge_group" }));
  });

  it("says as one types how many of the last requests would start the flow, why the others would not, and offers places", async () => {
    const body = (n: number) => JSON.stringify({ n, customer: { country: n === 1 ? "DE" : "FR" } });
    for (const n of [1, 2, 3]) {
      const headers = { ...bearer, "Content-Type": "application/json", "X-Shop": "main" };
      (await send(nodeRed().node("/tried"), { headers, body: body(n) })).status.should.equal(200);
    }
    const tried = editor().part("tried");
    const lines = async (passing: number, of: number) =>
      tried.getByText(text("tried", { passing: String(passing), of: String(of) })).waitFor();
    await editor().edit("tried");
    await lines(2, 3);
    (await tried.locator("li").allInnerTexts()).should.eql([
      `1 × ${text("why.condition", { condition: `json:n ${text("operators.above")} 1`, found: "1" })}`,
    ]);
    await rows("conditions").nth(0).getByLabel(text("value")).fill("2");
    await lines(1, 3);
    (await tried.locator("li").allInnerTexts()).should.have.length(2);
    const places = await editor()
      .part("places")
      .locator("option")
      .evaluateAll((all) => all.map((each) => each.getAttribute("value")));
    places.should.containDeep(["json:n", "json:customer.country", "header:x-shop"]);
    await editor().part("add-condition").click();
    await editor().page.keyboard.type("json:customer.country");
    for (let tabs = 0; tabs < 2; tabs++) await editor().page.keyboard.press("Tab");
    await editor().page.keyboard.type("FR");
    await lines(1, 3);
    await rows("conditions").nth(0).getByLabel(text("value")).fill("${LIMIT}");
    await tried.locator("li").first().waitFor({ state: "detached" });
    await editor().done();
    should(await editor().saved("tried", "conditions")).match([{}, { place: "json:customer.country", value: "FR" }]);
  });

  it("tries the filter again when another request has come, once for each", async () => {
    let asked = 0;
    const isTrial = (url: string) => url.endsWith("/fresh/filter");
    editor().page.on("request", (request) => isTrial(request.url()) && asked++);
    const opened = editor().page.waitForResponse((response) => isTrial(response.url()));
    await editor().edit("fresh");
    await opened;
    for (const of of ["1", "2"]) {
      (await editor().sendTest()).should.startWith(catalogText("testRequest.filtered", { status: "200" }));
      await editor()
        .part("tried")
        .getByText(text("tried", { passing: "0", of }))
        .waitFor();
    }
    asked.should.equal(3);
  });

  it("sends a test that fits the events, and says by which output the message leaves, or why it is filtered", async () => {
    await editor().edit("shared");
    const left = catalogText("testRequest.output", { number: "1", event: "issue*" });
    (await editor().sendTest()).should.equal(`${catalogText("testRequest.accepted")} ${left}`);
    await editor().cancel();
    await editor().edit("seen");
    (await editor().sendTest()).should.startWith(catalogText("testRequest.accepted"));
    const conditions = [{ place: "json:no", operator: "is", value: "1" }];
    await nodeRed().deploy(tab(webhook("seen", "/seen", { ...github, conditions })));
    const condition = `json:no ${catalogText("filter.operators.is")} 1`;
    const why = `${catalogText("filter.why.missing", { condition })}.`;
    const filtered = catalogText("testRequest.filtered", { status: "200" });
    (await editor().sendTest()).should.equal(`${filtered} ${why} ${catalogText("testRequest.filteredFix")}`);
  });
});
