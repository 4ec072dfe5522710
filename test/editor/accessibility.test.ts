import axe from "axe-core";
import should from "should";
import { Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { nodeRedVersion } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

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

/**
 * What axe-core needs in order to see the form. It takes for unseen what lies outside a box whose overflow is hidden:
 * the editor's body has no height of its own, and what has to be scrolled to is outside as well.
 */
const inSight = { style: "html, body { height: 100%; }", viewport: { width: 1280, height: 1200 } };

/** What axe-core finds in the form, and the visible texts of which it did not find out their contrast. */
async function examine({ page }: Editor) {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    const { violations, passes } = await run(".webhook-trigger-form", { elementRef: true });
    const measured = [...violations, ...passes]
      .filter(({ id }) => id === "color-contrast")
      .flatMap(({ nodes }) => nodes)
      .filter(({ any }) => (any[0]?.data as { contrastRatio?: number } | null)?.contrastRatio !== undefined)
      .map(({ element }) => element);
    const texts = [...document.querySelectorAll(".webhook-trigger-form *:not(option)")].filter((element) => {
      const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      return element.checkVisibility() && own.some(({ textContent }) => textContent?.trim());
    });
    const unmeasured = texts.filter((element) => !measured.includes(element as HTMLElement));
    return {
      violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]),
      texts: texts.length,
      unmeasured: unmeasured.map(({ outerHTML }) => outerHTML),
    };
  });
}

describe("the form, for everyone", () => {
  let editor: Editor;
  const open = async (look = {}) => {
    const flow = webhookFlow({ id: "saved", relativePath: "/saved" }, { id: "rival", relativePath: "/rival", name: "Rival" });
    editor = await Editor.open(await sharedBrowser(), await sharedNodeRed(flow), look);
  };

  for (const colorScheme of ["light", "dark"] as const) {
    describe(`in the ${colorScheme} theme`, () => {
      before(async () => {
        await open({ colorScheme, ...inSight });
        // Node-RED 4.1 has no dark theme of its own.
        const isDark = await editor.page.locator("html.nr-theme-dark").count();
        isDark.should.equal(colorScheme === "dark" && !nodeRedVersion.startsWith("4.") ? 1 : 0);
      });
      afterEach(async () => {
        await editor.leave();
        // Takes a node back that was dropped.
        await editor.invoke("core:undo");
      });
      after(() => editor.close());

      for (const [what, show] of Object.entries(looks)) {
        it(`has no fault that axe-core finds, with ${what}`, async () => {
          await show(editor);
          const { violations, texts, unmeasured } = await examine(editor);
          violations.should.eql([]);
          texts.should.be.above(10);
          unmeasured.should.eql([]);
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
    before(() => open());
    after(() => editor.close());

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
