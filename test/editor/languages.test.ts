import { readdirSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { handlingDefaults } from "../../src/config/fields";
import { catalogText, type Editor, sections } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, states, summary } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { root } from "../harness/package";
import { openEditor, sharedNodeRed } from "../harness/stage";

const languages = readdirSync(join(root, "locales"));
const paths = ["saved", "rival", "orders"].map((id) => ({ id, relativePath: `/${id}` }));
const refusal = { problem: "tokenMissing", reasons: [], looksLike: null, error: null };

/** The labels of the fields that the form has, whatever stands in it, and of those for duplicates. */
const labels = [
  ...["relativePath", "token", "verificationMethod", "headerParameter", "returnQueryParams", "name"],
  ...Object.keys(handlingDefaults).filter((field) => field !== "replyTimeout"),
];

describe("the editor in German", () => {
  let editor: Editor;
  const text = (key: string, values: Record<string, string> = {}) => catalogText(key, values, "de");
  before(async () => {
    ({ editor } = await openEditor(webhookFlow(...paths), {}, { locale: "de" }));
  });
  afterEach(() => editor.leave());

  it("has the form in German, with its messages and its help", async () => {
    await editor.edit("saved");
    (await editor.state("reply").innerText()).should.equal(text("section.atOnce", { status: "200" }));
    (await editor.hint("token").innerText()).should.equal(text("credential.kept"));
    (await editor.sendTest()).should.equal(text("testRequest.accepted"));
    await editor.input("relativePath").fill("/rival");
    (await editor.part("warning").innerText()).should.equal(text("url.takenByWebhook"));
    await editor.input("relativePath").fill("/a b");
    (await editor.message("relativePath").innerText()).should.equal(text("rules.relativePath.characters"));
    await editor.page.locator(".red-ui-tray-footer .fa-book").click();
    const help = editor.page.locator(".red-ui-help .red-ui-help b", { hasText: text("label.returnQueryParams") });
    await help.first().waitFor();
  });

  it("has the tab of deliveries in German, which fits into a narrow sidebar", async () => {
    const runtime = await FakeRuntime.serve(editor.page);
    runtime.deliveries = [summary({ id: "1", state: "refused", status: 401, cause: refusal }), summary({ id: "2" })];
    runtime.silent = [{ node: "orders", hours: 24, since: 0 }];
    const tab = new DeliveriesTab(editor);
    await tab.open();
    const row = tab.row(text("refused.tokenMissing"));
    await row.filter({ hasText: text("tab.state.refused") }).waitFor();
    await tab.row(text("tab.state.succeeded")).locator(".webhook-deliveries-check").click();
    await tab.fitInto(280);
  });
});

describe("the texts of each language", () => {
  let editor: Editor;
  before(async () => {
    ({ editor } = await openEditor(webhookFlow(...paths)));
  });
  after(() => editor.leave());

  for (const language of languages) {
    it(`fit into one line beside the fields and in the headings of the form in ${language}`, async () => {
      await editor.leave();
      await editor.edit("saved");
      await editor.input("ignoreDuplicates").check();
      await editor.input("guaranteed").check();
      const places = [
        ...labels.map((field) => [`label[for="node-input-${field}"]`, `label.${field}`] as const),
        ...sections.map((section) => [`#webhook-trigger-heading-${section} > span`, `section.${section}`] as const),
      ];
      for (const [place, key] of places) {
        const label = editor.page.locator(place).first();
        (await label.innerText()).trim().should.equal(catalogText(key));
        const height = await label.evaluate(
          (element, text) => {
            element.textContent = text;
            return element.getBoundingClientRect().height;
          },
          catalogText(key, {}, language),
        );
        should(height).be.within(5, 30, key);
      }
    });
  }

  it("fit into the rows of the tab of deliveries, where the name of the node gives way", async () => {
    await editor.leave();
    const runtime = await FakeRuntime.serve(editor.page);
    runtime.deliveries = [summary({ id: "1", state: "refused", node: "a node with a name that is too long" })];
    const tab = new DeliveriesTab(editor);
    await tab.open();
    await tab.rows.first().waitFor();
    await tab.element.evaluate((element) => element.setAttribute("style", "width: 280px"));
    for (const language of languages) {
      for (const state of states) {
        const word = catalogText(`tab.state.${state}`, {}, language);
        const cut = await tab.rows.first().evaluate((row, shown) => {
          const place = row.querySelector(".webhook-deliveries-state > span");
          if (place) place.textContent = shown;
          const parts = row.querySelectorAll("[class$=time], [class$=state], [class$=status], [class$=took]");
          return [...parts].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent);
        }, word);
        cut.should.eql([], word);
      }
    }
  });
});

describe("the runtime in German", () => {
  it("has its status and its log in German", async () => {
    const text = (key: string, values: Record<string, string> = {}) => catalogText(key, values, "de");
    const nodeRed = await sharedNodeRed(webhookFlow({ id: "hook" }, { id: "late" }), { settings: { lang: "de" } });
    await nodeRed.status("late", new RegExp(text("status.waiting", { path: "/hook" })));
    await send(nodeRed.node("/hook"));
    await nodeRed.until(() => nodeRed.log.includes(text("refused.tokenMissing")) || undefined, "the refusal in the log");
  });
}); // prettier-ignore
