import axe, { type AxeResults } from "axe-core";
import should from "should";
import type { Browser } from "playwright-core";
import { Editor, startBrowser } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { NodeRed, nodeRedVersion } from "../harness/node-red";

/** What the form can look like: as it opens, with everything in it, and with all that can be wrong. */
const looks: Record<string, (editor: Editor) => Promise<void>> = {
  "a saved node": (editor) => editor.edit("saved"),
  "a new node": async (editor) => editor.edit(await editor.drop("webhook-trigger", 300, 300)),
  "everything filled in and tried": async (editor) => {
    await editor.edit("saved");
    await editor.tokenButton("make").click();
    await editor.input("verificationMethod").selectOption("query");
    await editor.input("returnQueryParams").check();
    await editor.input("name").fill("Orders");
    await editor.sendTest();
  },
  "another node in the way and everything wrong": async (editor) => {
    await editor.edit("saved");
    await editor.input("relativePath").fill("/rival");
    await editor.input("token").fill("short");
    await editor.input("headerParameter").fill("X Token");
    await editor.rival.waitFor();
  },
};

describe("the form, for everyone", () => {
  let browser: Browser;
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  for (const colorScheme of ["light", "dark"] as const) {
    describe(`in the ${colorScheme} theme`, () => {
      before(async () => {
        nodeRed = await NodeRed.start({
          flow: webhookFlow({ id: "saved", relativePath: "/saved" }, { id: "rival", relativePath: "/rival", name: "Rival" }),
        });
      });
      beforeEach(async () => {
        editor = await Editor.open(browser, nodeRed, { colorScheme });
        // Node-RED 4.1 has no dark theme of its own.
        const isDark = await editor.page.locator("html.nr-theme-dark").count();
        isDark.should.equal(colorScheme === "dark" && !nodeRedVersion.startsWith("4.") ? 1 : 0);
      });
      afterEach(() => editor.close());
      after(() => nodeRed.stop());

      for (const [what, show] of Object.entries(looks)) {
        it(`has no fault that axe-core finds, with ${what}`, async () => {
          await show(editor);
          await editor.page.evaluate(axe.source);
          const { violations, passes } = await editor.page.evaluate<AxeResults>(
            () => (globalThis as unknown as { axe: typeof axe }).axe.run(".webhook-trigger-form"),
          );
          passes.map(({ id }) => id).should.containEql("color-contrast");
          violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]).should.eql([]);
        });
      }

      it("fits into 400 px", async () => {
        await looks["another node in the way and everything wrong"]?.(editor);
        const widths = await editor.page.locator(".webhook-trigger-form").evaluate((form) => {
          (form as HTMLElement).style.width = "360px";
          const right = form.getBoundingClientRect().right;
          return [...form.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > right + 0.5).map(({ outerHTML }) => outerHTML);
        });
        widths.should.eql([]);
      });
    });
  }

  describe("by the keyboard", () => {
    before(async () => {
      nodeRed = await NodeRed.start({ flow: webhookFlow({ id: "saved" }, { id: "rival", relativePath: "/rival" }) });
      editor = await Editor.open(browser, nodeRed);
    });
    after(async () => {
      await editor.close();
      await nodeRed.stop();
    });

    it("goes from field to field in the order of reading", async () => {
      await editor.edit("saved");
      await editor.input("relativePath").fill("/rival");
      await editor.tokenButton("make").click();
      const controls = editor.page.locator(".webhook-trigger-form").locator("input:visible, select:visible, button:visible, [tabindex]:visible");
      const expected = await controls.evaluateAll((elements) =>
        elements
          .map((element) => ({ id: element.id, box: element.getBoundingClientRect() }))
          // A row of controls is read from left to right.
          .sort((a, b) => (Math.abs(a.box.top - b.box.top) < 25 ? a.box.left - b.box.left : a.box.top - b.box.top))
          .map(({ id }) => id),
      );
      expected.length.should.be.above(10);
      await editor.input("relativePath").focus();
      const visited: (string | undefined)[] = [];
      while (visited.length < expected.length) {
        visited.push(await editor.page.evaluate(() => document.activeElement?.id));
        await editor.page.keyboard.press("Tab");
      }
      should(visited).eql(expected);
    });
  });
}); // prettier-ignore
