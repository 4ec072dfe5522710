import { createHmac } from "node:crypto";
import should from "should";
import { catalogText } from "../harness/browser";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const github = { sender: "github", verificationMethod: "signature", credentials: { secret: "key" } };
const saved = {
  events: ["push", "issues", "star"],
  conditions: [{ place: "json:n", operator: "above", value: 5 }, { place: "query:a", operator: "exists" }],
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
    webhook("blank", "/blank", { ...github, conditions: [{ place: "json: a", operator: "exists" }] }),
    webhook("seen", "/seen", { ...github, events: ["push"] }),
    webhook("shared", "/shared", { ...github, events: ["issue*", "push"], outputPerEvent: true, outputs: 2 }),
    webhook("any", "/any", { events: ["push"] }),
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

  it("offers events that the sender documents, takes others, and has an output for each", async () => {
    await editor().edit("new");
    (await editor().state("filter").innerText()).should.equal(text("none"));
    (await editor().input("outputPerEvent").isVisible()).should.be.true();
    (await offered("documented").allInnerTexts()).slice(0, 2).should.eql(["push", "pull_request"]);
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
    should(await editor().saved("new", "events")).eql(["release", "issue*"]);
    should(await editor().saved("new", "conditions")).eql([{ place: "json:action", operator: "is", value: "opened" }]);
    should(await editor().saved("new", "outputs")).equal(2);
    (await editor().outputLabels("new", 2)).should.eql(["release", "issue*"]);
  });

  it("leaves a node unchanged that is opened and closed", async () => {
    await editor().edit("filled");
    (await editor().state("filter").innerText()).should.equal(
      [text("only", { events: "push, issues, star" }), text("conditions_other", { count: "2" }), text("outputs")].join(
        " · ",
      ),
    );
    await editor().done();
    (await editor().isChanged("filled")).should.be.false();
    await editor().edit("blank");
    await editor().done();
    (await editor().isChanged("blank")).should.be.false();
  });

  it("says what is wrong with conditions that were written by hand, and leaves them", async () => {
    await editor().edit("written");
    (await editor().message("conditions").innerText()).should.equal(catalogText("rules.conditions"));
    await editor().done();
    (await editor().isChanged("written")).should.be.false();
  });

  it("keeps the wire of each event where it was, and drops that of one which is removed", async () => {
    await editor().edit("filled");
    await remove(0).click();
    await editor().part("add-event").click();
    await editor().page.keyboard.type("release");
    await editor().done();
    should(await editor().saved("filled", "events")).eql(["issues", "star", "release"]);
    should(await editor().saved("filled", "outputs")).equal(3);
    (await editor().wires("filled")).should.eql([
      [0, "two"],
      [1, "three"],
    ]);
    await editor().edit("filled");
    await editor().enter({ outputPerEvent: false });
    await editor().done();
    should(await editor().saved("filled", "outputs")).equal(1);
    (await editor().wires("filled")).should.eql([[0, "two"]]);
  });

  it("keeps the wire of an event whose name is corrected, and has no output more after a duplicate is removed", async () => {
    await editor().edit("corrected");
    await rows("events").nth(0).locator("input").fill("push");
    await editor().part("add-event").click();
    await editor().page.keyboard.type("release");
    await editor().done();
    (await editor().wires("corrected")).should.eql([
      [0, "one"],
      [1, "two"],
    ]);
    should(await editor().saved("corrected", "outputs")).equal(3);
    await editor().edit("corrected");
    await remove(2).click();
    await editor().done();
    should(await editor().saved("corrected", "outputs")).equal(2);
    (await editor().wires("corrected")).length.should.equal(2);
  });

  it("says what is wrong with an event or a condition, and takes the values of variables", async () => {
    await editor().edit("new");
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
    const placed = async () => (await editor().saved("new", "conditions")) as { place: string }[];
    for (const [kind, typed, expected] of [
      ["header", "X-Kind", "header:X-Kind"],
      ["written", "${PLACE}", "${PLACE}"],
      ["json", "query:room", "query:room"],
      ["json", "msg.payload.order.total", "json:order.total"],
      ["body", "", "body"],
    ] as const) {
      await editor().edit("new");
      await place(0).locator("button").first().click();
      await editor().page.locator(`.red-ui-typedInput-options:visible [value=${kind}]`).click();
      if (typed !== "") await place(0).locator("input:visible").fill(typed);
      await editor().done();
      should((await placed())[0]?.place).equal(expected);
    }
  });

  it("warns where the sender names no event, and of events that were chosen for another one", async () => {
    await editor().edit("any");
    (await editor().note("no-event").isVisible()).should.be.true();
    await editor().enter({ sender: "github" });
    (await editor().note("no-event").isVisible()).should.be.false();
    (await editor().note("foreign").isVisible()).should.be.false();
    await editor().enter({ sender: "stripe" });
    (await editor().note("foreign").innerText()).trim().should.equal(text("foreign", { events: "push" }));
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

  it("offers the events and the places of what the sender sends, before its first request", async () => {
    await editor().edit("written");
    const offers = editor().part("places").locator('option[value="json:repository.full_name"]');
    await offers.waitFor({ state: "attached" });
    await offered("documented").filter({ hasText: "ping" }).waitFor();
    await editor().cancel();
  });

  it("says by which output the message of a test leaves, that of its event", async () => {
    await editor().edit("shared");
    const accepted = catalogText("testRequest.accepted");
    const left = catalogText("testRequest.output", { number: "1", event: "issue*" });
    (await editor().sendTest()).should.equal(`${accepted} ${left}`);
  });

  it("sends a test that fits the events, and says when it is filtered", async () => {
    await editor().edit("seen");
    (await editor().sendTest()).should.containEql(catalogText("testRequest.accepted").slice(0, 10));
    const conditions = [{ place: "json:no", operator: "is", value: "1" }];
    await nodeRed().deploy(tab(webhook("seen", "/seen", { ...github, conditions })));
    const condition = `json:no ${catalogText("filter.operators.is")} 1`;
    const why = `${catalogText("filter.why.missing", { condition })}.`;
    const filtered = catalogText("testRequest.filtered", { status: "200" });
    (await editor().sendTest()).should.equal(`${filtered} ${why} ${catalogText("testRequest.filteredFix")}`);
  });
});
