import { readdirSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { catalogText, sections } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, states, summary } from "../harness/deliveries-tab";
import { handlingFields, token, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { root } from "../harness/package";
import { useEditor } from "../harness/stage";

const languages = readdirSync(join(root, "locales"));
const paths = ["saved", "rival", "orders"].map((id) => ({ id, relativePath: `/${id}` }));
/** With them the form has all of its fields. */
const callers = JSON.stringify([{ name: "Door", digest: "0".repeat(64) }]);
const refusal = { problem: "tokenMissing", reasons: [], looksLike: null, error: null };

/** The labels of the fields that the form has, whatever stands in it, and of those for duplicates. */
const labels = [
  ...["relativePath", "token", "verificationMethod", "headerParameter", "returnQueryParams", "name"],
  ...handlingFields.filter((field) => field !== "replyTimeout"),
];

describe("in German", () => {
  const text = (key: string, values: Record<string, string> = {}) => catalogText(key, values, "de");
  const flow = webhookFlow(...paths, { id: "late", relativePath: "/saved" }).map((node) => node.id === "saved" ? { ...node, credentials: { token, callers } } : node);
  const { editor, nodeRed } = useEditor(flow, { settings: { lang: "de" } }, { locale: "de" });

  it("are the form, with its messages and its help, the status and the log", async () => {
    await editor().edit("saved");
    (await editor().state("reply").innerText()).should.equal(text("section.atOnce", { status: "200" }));
    (await editor().hint("token").innerText()).should.equal(text("credential.kept"));
    (await editor().sendTest()).should.equal(text("testRequest.accepted"));
    await editor().enter({ relativePath: "/rival" });
    const name = text("url.rival", { name: text("paletteLabel"), flow: "Test" });
    (await editor().note("taken").innerText()).should.containEql(text("url.takenByWebhook", { name }));
    await editor().enter({ relativePath: "/a b" });
    (await editor().message("relativePath").innerText()).should.equal(text("rules.relativePath.characters"));
    await editor().page.locator(".red-ui-tray-footer .fa-book").click();
    const help = editor().page.locator(".red-ui-help .red-ui-help b", { hasText: text("label.returnQueryParams") });
    await help.first().waitFor();
    await nodeRed().status("late", new RegExp(text("status.waiting", { path: "/saved" })));
    await send(nodeRed().node("/saved"));
    await nodeRed().until(() => nodeRed().log.includes(text("refused.tokenMissing")) || undefined, "the refusal in the log");
  });

  it("and in each other language, texts fit into one line beside the fields and in the headings of the form", async () => {
    await editor().edit("saved");
    await editor().enter({ ignoreDuplicates: true, guaranteed: true });
    const isRotation = (section: string) => Number(section === "rotation");
    const places = [
      ...labels.map((field) => [`label[for="node-input-${field}"]`, `label.${field}`] as const),
      ...sections.toSorted((one, other) => isRotation(one) - isRotation(other)).map((section) => [`#webhook-trigger-heading-${section} > span`, `section.${section}`] as const),
    ];
    for (const [place, key] of places) {
      // With a token, there is no second credential.
      if (key === "section.rotation") await editor().enter({ verificationMethod: "basic" });
      const label = editor().page.locator(place).first();
      (await label.innerText()).trim().should.equal(text(key));
      const texts = languages.map((language) => catalogText(key, {}, language));
      const heights = await label.evaluate((element, shown) => {
        return shown.map((each) => {
          element.textContent = each;
          return [each, element.getBoundingClientRect().height] as const;
        });
      }, texts);
      for (const [shown, height] of heights) should(height).be.within(5, 30, shown);
    }
  });

  it("is the tab of deliveries, which fits into a narrow sidebar, and so do the states of each other language", async () => {
    const runtime = await FakeRuntime.serve(editor().page);
    const node = "a node with a name that is too long";
    runtime.deliveries = [summary({ id: "1", state: "refused", cause: refusal, node }), summary({ id: "2" })];
    runtime.silent = [{ node: "orders", hours: 24, since: 0 }];
    const tab = new DeliveriesTab(editor());
    await tab.open();
    await tab.row(text("refused.tokenMissing")).filter({ hasText: text("tab.state.refused") }).waitFor();
    await tab.row(text("tab.state.succeeded")).locator(".webhook-deliveries-check").click();
    await tab.fitInto(280);
    const words = languages.flatMap((language) => states.map((state) => catalogText(`tab.state.${state}`, {}, language)));
    const cut = await tab.rows.first().evaluate((row, all) => {
      const place = row.querySelector(".webhook-deliveries-state > span");
      const parts = [...row.querySelectorAll("[class$=time], [class$=state], [class$=status], [class$=took]")];
      return all.filter((word) => {
        if (!place) throw new Error("no state");
        place.textContent = word;
        return parts.some((part) => part.scrollWidth > part.clientWidth);
      });
    }, words);
    cut.should.eql([]);
  });
}); // prettier-ignore
