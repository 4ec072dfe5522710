import type { Locator } from "playwright-core";
import should from "should";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { handlingDefaults } from "../../src/config/fields";
import { catalogText, Editor, sections } from "../harness/browser";
import { DeliveriesTab, summary, ToldDeliveries } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { root } from "../harness/package";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

const languages = readdirSync(join(root, "locales"));

/** The fields that the form has, whatever stands in it, and those that it has with duplicates that are ignored. */
const fields = [
  ...["relativePath", "token", "verificationMethod", "headerParameter", "returnQueryParams", "name"],
  ...Object.keys(handlingDefaults).filter((field) => field !== "replyTimeout"),
];

for (const locale of languages) {
  describe(`the editor in ${locale}`, () => {
    let nodeRed: NodeRed;
    let editor: Editor;
    const text = (key: string, values: Record<string, string> = {}) => catalogText(key, values, locale);
    before(async () => {
      const paths = ["saved", "rival", "orders"].map((id) => ({ id, relativePath: `/${id}` }));
      nodeRed = await sharedNodeRed(webhookFlow(...paths));
      editor = await Editor.open(await sharedBrowser(), nodeRed, { locale });
    });
    after(() => editor.close());

    it("has a form whose labels fit into their column", async () => {
      // One line of text: nothing is so long that it wraps.
      const fits = async (label: Locator, key: string) => {
        should((await label.innerText()).trim()).equal(text(key));
        should((await label.boundingBox())?.height).be.below(30);
      };
      const fieldFits = (field: string) =>
        fits(editor.page.locator(`label[for="node-input-${field}"]`), `label.${field}`);
      await editor.edit("saved");
      await editor.input("ignoreDuplicates").check();
      await editor.input("guaranteed").check();
      for (const field of fields) await fieldFits(field);
      await editor.input("reply").selectOption("flow");
      await fieldFits("replyTimeout");
      for (const section of sections)
        await fits(editor.heading(section).locator("> span").first(), `section.${section}`);
      (await editor.state("reply").innerText()).should.equal(text("section.byFlow", { seconds: "10" }));
      (await editor.hint("token").innerText()).should.equal(text("credential.kept"));
      (await editor.tokenButton("make").innerText()).should.equal(text("make.token"));
      (await editor.sendTest()).should.equal(text("trial.accepted"));
      await editor.input("relativePath").fill("/rival");
      (await editor.warning.innerText()).should.equal(text("url.takenByWebhook"));
      await editor.input("relativePath").fill("/a b");
      (await editor.message("relativePath").innerText()).should.equal(text("rules.relativePath.characters"));
      await editor.page.locator(".red-ui-tray-footer .fa-book").click();
      await editor.page
        .locator(".red-ui-help .red-ui-help b", { hasText: text("label.returnQueryParams") })
        .first()
        .waitFor();
      await editor.leave();
    });

    it("has a tab of deliveries that fits into 280 px", async () => {
      const told = new ToldDeliveries();
      const cause = { problem: "tokenMissing", reasons: [], looksLike: null, error: null };
      told.deliveries = [summary({ id: "1", state: "refused", status: 401, cause }), summary({ id: "2" })];
      told.silent = [{ node: "orders", hours: 24, since: 0 }];
      await told.serve(editor.page);
      const tab = new DeliveriesTab(editor);
      await tab.open();
      await tab
        .row(text("tab.state.refused"))
        .filter({ hasText: text("refused.tokenMissing") })
        .waitFor();
      await tab.row(text("tab.state.succeeded")).locator(".webhook-deliveries-check").click();
      await tab.element.evaluate((element) => {
        element.style.width = "280px";
      });
      const [wide, cut] = await tab.element.evaluate((element) => {
        const { right } = element.getBoundingClientRect();
        const all = [...element.querySelectorAll<HTMLElement>("*")].filter((each) => each.checkVisibility());
        const wider = all.filter((each) => each.getBoundingClientRect().right > right + 0.5);
        // The node is what gives way; the rest of a row's first line is there as a whole.
        const firm = all.filter((each) =>
          each.matches("[class$=time], [class$=state], [class$=status], [class$=took]"),
        );
        const shortened = firm.filter((each) => each.scrollWidth > each.clientWidth);
        return [wider, shortened].map((some) => some.map(({ outerHTML }) => outerHTML));
      });
      should(wide).eql([]);
      should(cut).eql([]);
    });
  });
}

describe("the runtime in another language", () => {
  for (const lang of ["de", "ja"]) {
    it(`has status and log in ${lang}`, async () => {
      const nodeRed = await NodeRed.start({ settings: { lang }, flow: webhookFlow({ id: "hook" }, { id: "late" }) });
      try {
        const text = (key: string, values: Record<string, string> = {}) => catalogText(key, values, lang);
        await nodeRed.deploy(webhookFlow({ id: "hook" }, { id: "late" }));
        await nodeRed.status("late", new RegExp(text("status.waiting", { path: "/hook" })));
        await send(nodeRed.node("/hook"));
        await nodeRed.until(() => nodeRed.log.includes(text("refused.tokenMissing")) || undefined, "the refusal in the log");
      } finally {
        await nodeRed.stop();
      }
    });
  }
}); // prettier-ignore
