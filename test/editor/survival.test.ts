import should from "should";
import type { SavedFields } from "../../src/config/fields";
import { watchEvents } from "../../src/config/watch";
import { catalogText, type Section } from "../harness/browser";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

/** The part of the editor's global that selects and copies. */
declare const RED: {
  view: { select(selection: object): void };
  nodes: {
    node(id: string): Record<string, unknown> | null;
    filterNodes(filter: { type: string }): { id: string }[];
    createExportableNodeSet(nodes: object[]): object[];
  };
};

/** What a node keeps; there is one for each test that leaves it otherwise than it was. */
const settingsOf = (id: string) => ({
  relativePath: `/${id}`,
  verificationMethod: "query",
  queryParameter: "key",
  headerParameter: "X-Token",
  returnQueryParams: true,
  name: `Kept as ${id}`,
});
const watch = { type: "webhook-watch", name: "", scope: null, events: null, wires: [[]] };

const flow = tab(
  ...["undone", "copied"].map((id) => webhook(id, `/${id}`, settingsOf(id))),
  webhook("saved", "/saved"),
  // Older than most fields.
  { id: "older", type: "webhook-trigger", name: "", relativePath: "/older", credentials: { token } },
  webhook("shop", "/shop", { name: "Shop" }),
  webhook("failing", "/failing", { wires: [["thrower"]] }),
  { id: "thrower", type: "function", func: "throw new Error('out of stock')", outputs: 1, libs: [], wires: [[]] },
  { ...watch, id: "left", scope: ["deleted"] },
  { ...watch, id: "all" },
  { ...watch, id: "some", scope: ["shop", "saved"], events: ["silent", "delivery-failed"] },
);

/** The defaults of new nodes that the operator has chosen. */
const given = {
  ...{ relativePath: "/all", verificationMethod: "query", queryParameter: "key", methods: ["PUT"] },
  ...{ guaranteed: true, concurrency: 4, ignoreDuplicates: true, duplicateKey: "header:X-Id", rateLimit: 60 },
};
const newNodes = (fields: Partial<SavedFields>) => ({ settings: { nodeDefaults: { "webhook-trigger": fields } } });

describe("the configuration of a node", () => {
  const { editor, nodeRed } = useEditor(flow, newNodes(given));

  const fieldsOf = (id: string) => editor().savedFields(id, Object.keys(settingsOf(id)));
  const state = (section: Section) => editor().state(section).innerText();
  const webhooks = () =>
    editor().page.evaluate(() => RED.nodes.filterNodes({ type: "webhook-trigger" }).map(({ id }) => id));

  it("is not touched by Cancel after changes, and comes back with undo, its token included", async () => {
    const id = "undone";
    await editor().edit(id);
    for (const end of ["cancel", "undo"]) {
      await editor().enter({ relativePath: "/other", verificationMethod: "header", returnQueryParams: false });
      if (end === "cancel") {
        await editor().makeToken();
        await editor().cancel();
      } else {
        await editor().done();
        (await editor().isChanged(id)).should.be.true();
        await editor().invoke("core:undo");
      }
      (await editor().isChanged(id)).should.be.false(end);
      should(await fieldsOf(id)).eql(settingsOf(id));
      await editor().edit(id);
      (await editor().hint("token").innerText()).should.equal(catalogText("credential.kept"));
    }
  });

  it("is copied and exported but for the token, also one that is not deployed yet, which the form of a copy says", async () => {
    const before = await webhooks();
    await editor().page.evaluate(() => RED.view.select({ nodes: [RED.nodes.node("copied") ?? {}] }));
    await editor().invoke("core:copy-selection-to-internal-clipboard");
    await editor().invoke("core:paste-from-internal-clipboard");
    await editor().page.mouse.click(700, 500);
    const copy = (await webhooks()).find((id) => !before.includes(id)) ?? "";
    should(await fieldsOf(copy)).eql(settingsOf("copied"));
    await editor().editAsItIs(copy);
    (await editor().input("token").inputValue()).should.equal("");
    (await editor().hint("token").innerText()).should.equal(catalogText("token.lost"));
    const named = { name: "Kept as copied", flow: "Test" };
    (await editor().note("taken").innerText()).should.containEql(catalogText("url.rival", named));
    await editor().cancel();
    await editor().editAsItIs("copied");
    const made = await editor().makeToken();
    await editor().done();
    const exported = await editor().page.evaluate(() =>
      JSON.stringify(RED.nodes.createExportableNodeSet([RED.nodes.node("copied") ?? {}])),
    );
    (JSON.parse(exported) as object[])[0]?.should.containEql(settingsOf("copied"));
    exported.should.not.containEql(made).and.not.containEql(token).and.not.containEql("credentials");
  });

  it("that is new has nodeDefaults of the settings file in its fields, rows and headings, and a token of its own, and works; others are left as they are", async () => {
    const id = await editor().drop("webhook-trigger", 500, 300);
    await editor().edit(id);
    const values = ["relativePath", "verificationMethod", "queryParameter", "concurrency", "duplicateKey"] as const;
    for (const field of values) (await editor().input(field).inputValue()).should.equal(String(given[field]));
    const text = (key: string, filled: Record<string, string> = {}) => catalogText(`section.${key}`, filled);
    const headings: Partial<Record<Section, string>> = {
      duplicates: text("duplicatesKnown", { hours: "72", key: "header:X-Id" }),
      limits: `PUT · ${text("anyAddress")} · ${text("rate", { rate: "60" })}`,
      guaranteed: `${text("guaranteedInFile")} · ${text("concurrency", { count: "4" })}`,
    };
    for (const [section, heading] of Object.entries(headings)) {
      should(await state(section as Section)).equal(heading);
    }
    const made = await editor().input("token").inputValue();
    made.should.match(/^[\w-]{40}$/);
    (await editor().input("headerParameter").isVisible()).should.be.false();
    await editor().done();
    should(await editor().savedFields(id, Object.keys(given))).eql(given);
    for (const old of ["saved", "older"]) {
      await editor().edit(old);
      (await editor().input("verificationMethod").inputValue()).should.equal("header");
      (await editor().input("guaranteed").isChecked()).should.be.false();
      await editor().done();
      should([old, await editor().isChanged(old)]).eql([old, false]);
    }
    await editor().deploy();
    await nodeRed().status(id, /^\/all/);
    const call = { method: "PUT", headers: { "X-Id": "1" } };
    (await send(nodeRed().node(`/all?key=${made}`), call)).json.should.have.property("status", "accepted");
  });

  describe("of the type webhook watch", () => {
    const text = (key: string) => catalogText(`watch.${key}`);
    const boxes = (list: "triggers" | "events") => editor().page.locator(`#webhook-trigger-watch-${list} label`);
    const ticked = (list: "triggers" | "events") => boxes(list).and(editor().page.locator(":has(:checked)"));
    const part = (name: string) => editor().page.locator(`#webhook-trigger-watch-${name}`);
    const press = (key: string) =>
      editor()
        .page.getByRole("button", { name: text(key), exact: true })
        .click();
    const saved = () => editor().savedFields("all", ["scope", "events"]);

    it("shows what is watched, and stays as it was", async () => {
      await editor().editAsItIs("all");
      (await part("triggers").isVisible()).should.be.false();
      (await boxes("events").allInnerTexts()).should.eql(watchEvents.map((event) => text(`when.${event}`)));
      (await ticked("events").count()).should.equal(watchEvents.length);
      await editor().done();
      await editor().editAsItIs("some");
      (await boxes("triggers").allInnerTexts()).should.containDeep(["/failing (Test)", "/saved (Test)", "Shop (Test)"]);
      (await ticked("triggers").allInnerTexts()).should.eql(["/saved (Test)", "Shop (Test)"]);
      const chosen = ["when.delivery-failed", "when.silent"].map(text);
      (await ticked("events").allInnerTexts()).sort().should.eql(chosen);
      await editor().done();
      await editor().editAsItIs("left");
      await part("no-triggers").waitFor();
      await editor().done();
      for (const id of ["all", "some", "left"]) (await editor().isChanged(id)).should.be.false(id);
    });

    it("takes chosen webhook triggers and alerts, by keyboard as well, and all of them again", async () => {
      await editor().editAsItIs("all");
      await part("from").selectOption("chosen");
      (await part("no-triggers").innerText()).trim().should.equal(text("noneChosen"));
      await boxes("triggers").filter({ hasText: "Shop" }).locator("input").focus();
      await editor().page.keyboard.press("Space");
      (await part("no-triggers").isVisible()).should.be.false();
      (await part("no-events").isVisible()).should.be.false();
      await press("tickNone");
      (await part("no-events").innerText()).trim().should.equal(text("noneChosen"));
      await boxes("events").nth(0).click();
      (await part("no-events").isVisible()).should.be.false();
      await editor().done();
      should(await saved()).eql({ scope: ["shop"], events: ["delivery-failed"] });
      await editor().editAsItIs("all");
      await part("from").selectOption("all");
      await press("tickAll");
      await editor().done();
      should(await saved()).eql({ scope: null, events: null });
    });

    it("is copied together with the webhook triggers that it watches, and then watches the copies", async () => {
      const copies = await editor().copy(["saved", "shop", "some"]);
      const idsOf = (type: string) => copies.filter((copy) => copy.type === type).map(({ id }) => id);
      const scope = (await editor().saved(idsOf("webhook-watch")[0] ?? "", "scope")) as string[];
      scope.sort().should.eql(idsOf("webhook-trigger").sort());
    });

    it("sends a message to a debug node that it is wired to, from the palette on, when the shop's flow fails", async () => {
      await editor().wire(await editor().drop("webhook-watch", 200, 300), await editor().drop("debug", 500, 300));
      await editor().deploy();
      await nodeRed().status("failing", /accepted/);
      (await send(nodeRed().node("/failing"), { headers: bearer })).status.should.equal(200);
      await editor().invoke("core:show-debug-tab");
      const shown = editor().page.locator(".red-ui-debug-msg", { hasText: "delivery-failed" });
      await shown.first().waitFor();
      (await shown.first().innerText()).should.containEql('node: "failing"');
    });
  });

  describe("of a new node, with a sender in nodeDefaults", () => {
    it("is filled in as if that was chosen, but for the other defaults, which any other choice brings back", async () => {
      const nodeDefaults = { "webhook-trigger": { sender: "github", headerParameter: "X-Token" } };
      // All that a runtime does with them is to answer the editor with them, which has them when it registers the type.
      await editor().page.route(/\/settings(\?|$)/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as object), nodeDefaults } });
      });
      await editor().page.reload();
      await editor().loaded();
      await editor().edit(await editor().drop("webhook-trigger", 500, 300));
      const fields = ["sender", "verificationMethod", "headerParameter"] as const;
      const expectValues = async (...expected: string[]) =>
        should(await Promise.all(fields.map((field) => editor().input(field).inputValue()))).eql(expected);
      const path = await editor().input("relativePath").inputValue();
      path.should.match(/^\/hook-/);
      await expectValues("github", "signature", "X-Token");
      (await editor().input("secret").inputValue()).should.match(/^[\w-]{40}$/);
      for (const [sender, header] of [
        ["", "X-Token"],
        ["gitlab", "X-Gitlab-Token"],
        ["alertmanager", "Authorization"],
        ["", "X-Token"],
      ] as const) {
        await editor().enter({ sender });
        await expectValues(sender, "header", header);
      }
      (await editor().input("relativePath").inputValue()).should.equal(path);
    });
  });
});
