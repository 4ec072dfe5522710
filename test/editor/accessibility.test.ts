import axe from "axe-core";
import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import type { SenderId } from "../../src/auth/senders/table";
import { boxOf, catalogText, Editor, setKeeping } from "../harness/browser";
import { DeliveriesTab, summaries, summary, ToldDeliveries } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { nodeRedVersion } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";
import { uncalled } from "../harness/standing";

/** What the runtime tells of a node, with everything that there can be. */
const standing: NodeReport = {
  ...uncalled,
  accepted: 14,
  refused: 2,
  handshakes: 1,
  duplicates: 3,
  withoutKey: 4,
  unanswered: 5,
  last: { at: 0, outcome: "refused" },
  lastRefused: { at: 0, problem: "addressNotAllowed", ip: "203.0.113.9", reasons: [], looksLike: "stripe" },
  credential: "second",
  hasSecret: true,
  hasOnlyLoopback: true,
  trustsEveryProxy: true,
};

/** The form of a saved node, set up for a sender, with all sections open. */
const setUpFor = (sender: SenderId) => async (editor: Editor) => {
  await editor.edit("saved");
  await editor.input("sender").selectOption(sender);
};

/** What the form can look like: as it opens, with each kind of sender, with everything in it, with all that can be wrong. */
const looks: Record<string, (editor: Editor) => Promise<void>> = {
  "a saved node": (editor) => editor.edit("saved"),
  "a new node": async (editor) => editor.editAsItIs(await editor.drop("webhook-trigger", 300, 300)),
  "a sender that signs with a secret of its user": setUpFor("github"),
  "a sender that shows its secret": setUpFor("stripe"),
  "a sender that sends a token": setUpFor("gitlab"),
  "a sender with a second secret": setUpFor("meta"),
  "a sender that brings its secret": setUpFor("notion"),
  "a sender with many settings": setUpFor("grafana-timestamp"),
  "a custom sender": setUpFor("custom"),
  "a request that was refused and recognised": async (editor) => {
    let hasSecret = true;
    await editor.page.route("**/standing", (route) => route.fulfill({ json: { ...standing, hasSecret } }));
    await editor.page.route("**/secret", (route) => {
      hasSecret = false;
      return route.fulfill({ status: 404 });
    });
    await editor.editAsItIs("saved");
    await editor.page.locator("#webhook-trigger-brought button").click();
    await editor.page.locator("#webhook-trigger-fetch-failed").waitFor();
    await editor.page.locator("#webhook-trigger-brought").waitFor({ state: "hidden" });
  },
  "everything filled in and tried": async (editor) => {
    await editor.edit("saved");
    await editor.tokenButton("make").click();
    await editor.input("verificationMethod").selectOption("query");
    await editor.input("returnQueryParams").check();
    await editor.input("replyBody").fill("no JSON");
    await editor.note("json").waitFor();
    await editor.input("name").fill("Orders");
    await editor.sendTest();
  },
  "a flow that answers, duplicates that are known by nothing, and limits that hit a proxy": async (editor) => {
    await editor.page.route("**/standing", (route) => route.fulfill({ json: standing }));
    await editor.edit("saved");
    await editor.input("reply").selectOption("flow");
    await editor.input("ignoreDuplicates").check();
    await editor.note("no-id").waitFor();
    await editor.note("without-key").waitFor();
    await editor.input("allowFrom").fill("192.0.2.1, 2001:db8::/32");
    await editor.input("rateLimit").fill("60");
    await editor.note("loopback").waitFor();
    await editor.note("forgeable").waitFor();
  },
  "guaranteed delivery, on a server": async (editor) => {
    await setKeeping(editor, "server");
    await editor.edit("saved");
    await editor.input("sender").selectOption("stripe");
    await editor.input("reply").selectOption("flow");
    await editor.input("guaranteed").check();
    await editor.note("guaranteed-duplicates").waitFor();
  },
  "guaranteed delivery, where nothing can be kept": async (editor) => {
    await setKeeping(editor, "none");
    await editor.edit("saved");
    await editor.input("guaranteed").check();
    await editor.message("guaranteed").filter({ hasText: /./ }).waitFor();
    await editor.note("no-store").waitFor();
  },
  "another node in the way and everything wrong": async (editor) => {
    await editor.edit("saved");
    await editor.input("relativePath").fill("/rival");
    await editor.input("token").fill("short");
    await editor.input("headerParameter").fill("X Token");
    await editor.input("replyStatus").fill("404");
    await editor.input("replyType").fill("text");
    await editor.input("ignoreDuplicates").check();
    await editor.input("duplicateKey").fill("header:");
    await editor.input("duplicateWindow").fill("0");
    await editor.input("allowFrom").fill("somewhere");
    await editor.input("rateLimit").fill("many");
    await editor.rival.waitFor();
  },
};

/**
 * What axe-core needs in order to see the form. It takes for unseen what lies outside a box whose overflow is hidden:
 * the editor's body has no height of its own, and what has to be scrolled to is outside as well.
 */
const inSight = {
  // Node-RED 5 gives a part of its sidebar to each tab, where most rows of a list would have to be scrolled to.
  style:
    "html, body { height: 100%; } .red-ui-sidebar-section-top { flex: none !important; height: 1400px !important; }",
  viewport: { width: 1280, height: 2800 },
};

/** What axe-core finds in the form or in the tab, and the visible texts of which it did not find out their contrast. */
async function examine({ page }: Editor, part = ".webhook-trigger-form") {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (examined) => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    const { violations, passes } = await run(examined, { elementRef: true });
    const measured = [...violations, ...passes]
      .filter(({ id }) => id === "color-contrast")
      .flatMap(({ nodes }) => nodes)
      .filter(({ any }) => (any[0]?.data as { contrastRatio?: number } | null)?.contrastRatio !== undefined)
      .map(({ element }) => element);
    const texts = [...document.querySelectorAll(`${examined} *:not(option)`)].filter((element) => {
      const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      const isHeardOnly = element.matches(".webhook-deliveries-said");
      return element.checkVisibility() && !isHeardOnly && own.some(({ textContent }) => textContent?.trim());
    });
    const unmeasured = texts.filter((element) => !measured.includes(element as HTMLElement));
    return {
      violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]),
      texts: texts.length,
      unmeasured: unmeasured.map(({ outerHTML }) => outerHTML),
    };
  }, part);
}

/** A Node-RED of its own: it keeps how high the parts of the sidebars were, for every editor. */
const ofItsOwn = { webhookTriggerDeliveries: { keep: 100 } };

/** What the tab can look like: with a list of all states, and with nothing in it. */
const tabLooks: Record<string, (editor: Editor, told: ToldDeliveries) => Promise<void>> = {
  "deliveries of each state, one selected, a silent sender and a paused queue": async (editor, told) => {
    const states = [
      "refused",
      "failed",
      "queued",
      "running",
      "retrying",
      "succeeded",
      "duplicate",
      "handshake",
    ] as const;
    told.deliveries = [...states.map((state) => summary({ id: state, state })), ...summaries(10)];
    told.silent = [{ node: "rival", hours: 24, since: 0 }];
    told.queues = [{ node: "rival", pause: "breaker", queued: 3, retrying: 2 }];
    const tab = new DeliveriesTab(editor);
    await tab.open();
    await tab.row("event 9").waitFor();
    await tab.list.press("ArrowDown");
    await tab.list.press("Space");
    await tab.element.getByRole("button", { name: catalogText("tab.failed.open"), exact: true }).click();
  },
  "something in the way": async (editor, told) => {
    told.fault = 403;
    const tab = new DeliveriesTab(editor);
    await tab.open();
    await tab.notice.waitFor();
  },
};

describe("the form, for everyone", () => {
  let editor: Editor;
  const open = async (look = {}) => {
    const flow = webhookFlow({ id: "saved", relativePath: "/saved" }, { id: "rival", relativePath: "/rival", name: "Rival" });
    editor = await Editor.open(await sharedBrowser(), await sharedNodeRed(flow, { settings: ofItsOwn }), look);
  };

  // Node-RED 4.1 has no dark theme of its own.
  const themes = nodeRedVersion.startsWith("4.") ? (["light"] as const) : (["light", "dark"] as const);
  for (const colorScheme of themes) {
    describe(`in the ${colorScheme} theme`, () => {
      before(async () => {
        await open({ colorScheme, ...inSight });
        (await editor.page.locator("html.nr-theme-dark").count()).should.equal(colorScheme === "dark" ? 1 : 0);
      });
      afterEach(async () => {
        await editor.page.unrouteAll();
        await editor.leave();
        // Takes a node back that was dropped.
        await editor.invoke("core:undo");
      });
      after(() => editor.close());

      for (const [what, show] of Object.entries(looks)) {
        // The senders differ in their fields, not in their colours.
        if (colorScheme === "dark" && what.startsWith("a sender ")) continue;
        it(`has no fault that axe-core finds, with ${what}`, async () => {
          await show(editor);
          const { violations, texts, unmeasured } = await examine(editor);
          violations.should.eql([]);
          texts.should.be.above(10);
          unmeasured.should.eql([]);
        });
      }

      for (const [what, show] of Object.entries(tabLooks)) {
        it(`has no fault that axe-core finds in the tab of deliveries, with ${what}`, async () => {
          const told = new ToldDeliveries();
          await told.serve(editor.page);
          await show(editor, told);
          const { violations, texts, unmeasured } = await examine(editor, ".webhook-deliveries");
          await editor.invoke("core:show-info-tab");
          violations.should.eql([]);
          texts.should.be.above(3);
          unmeasured.should.eql([]);
        });
      }
    });
  }

  describe("in a window of 360 px", () => {
    const toggleSides = async () => {
      for (const side of ["sidebar", "palette"]) await editor.invoke(`core:toggle-${side}`);
    };
    before(async () => {
      await open();
      // Whoever has as little room closes what stands beside the form.
      await toggleSides();
      await editor.page.setViewportSize({ width: 360, height: 800 });
    });
    afterEach(async () => {
      await editor.page.unrouteAll();
      await editor.leave();
    });
    after(async () => {
      // Node-RED keeps what its user has closed, for the tests that follow as well.
      const kept = editor.page.waitForResponse("**/settings/user");
      await toggleSides();
      await kept;
      await editor.close();
    });

    for (const [what, show] of Object.entries(looks).filter(([name]) => name !== "a new node")) {
      it(`fits, and scrolls in one direction only, with ${what}`, async () => {
        await show(editor);
        const form = editor.page.locator(".red-ui-tray-body");
        const [width, needed, wide] = await form.evaluate((body) => {
          const { right } = body.getBoundingClientRect();
          const all = [...body.querySelectorAll(".webhook-trigger-form *")];
          const wider = all.filter((each) => each.getBoundingClientRect().right > right + 0.5);
          return [body.clientWidth, body.scrollWidth, wider.map(({ outerHTML }) => outerHTML)] as const;
        });
        width.should.be.above(200);
        needed.should.equal(width);
        wide.should.eql([]);
        // A label stands above its field.
        const label = await boxOf(editor.page.locator('label[for="node-input-relativePath"]'));
        const field = await boxOf(editor.input("relativePath"));
        (label.y + label.height).should.be.belowOrEqual(field.y + 1);
      });
    }

    it("has what is said of a box beside it, however often it wraps, and the message below both of its boxes", async () => {
      await editor.edit("saved");
      let above = 0;
      for (const field of ["returnQueryParams", "rawBody"] as const) {
        const box = await boxOf(editor.input(field));
        const hint = await boxOf(editor.hint(field));
        hint.x.should.be.aboveOrEqual(box.x + box.width);
        above = hint.y + hint.height;
      }
      (await boxOf(editor.picture)).y.should.be.aboveOrEqual(above);
      const described = `[aria-describedby~="${await editor.picture.getAttribute("id") ?? ""}"]`;
      (await editor.page.locator(described).count()).should.equal(2);
    });

    it("has what guaranteed delivery promises below all that is said beside its box", async () => {
      await editor.edit("saved");
      const hint = await boxOf(editor.hint("guaranteed"));
      hint.x.should.be.above((await boxOf(editor.input("guaranteed"))).x);
      (await boxOf(editor.page.locator("#webhook-trigger-guaranteed"))).y.should.be.aboveOrEqual(hint.y + hint.height);
    });
  });

  describe("by the keyboard", () => {
    before(() => open());
    after(() => editor.close());

    it("goes from field to field in the order of reading", async () => {
      await editor.edit("saved");
      await editor.input("relativePath").fill("/rival");
      await editor.tokenButton("make").click();
      await editor.input("ignoreDuplicates").check();
      await editor.page.locator("#webhook-trigger-deliveries").waitFor();
      const controls = editor.page.locator(".webhook-trigger-form").locator("input:visible, select:visible, textarea:visible, a:visible, button:not(:disabled):visible, summary:visible, [tabindex]:visible");
      const expected = await controls.evaluateAll((elements) =>
        elements
          .map((element) => ({ id: element.id, box: element.getBoundingClientRect() }))
          // A row of controls is read from left to right.
          .sort((a, b) => (Math.abs(a.box.top - b.box.top) < 25 ? a.box.left - b.box.left : a.box.top - b.box.top))
          .map(({ id }) => id),
      );
      expected.length.should.be.above(10);
      await editor.input("sender").focus();
      const visited: (string | undefined)[] = [];
      while (visited.length < expected.length) {
        visited.push(await editor.page.evaluate(() => document.activeElement?.id));
        await editor.page.keyboard.press("Tab");
      }
      should(visited).eql(expected);
    });

    it("walks from the sender to a test request and back to the flow", async () => {
      const { page } = editor;
      const focus = () => page.evaluate(() => document.activeElement?.id ?? "");
      const tabTo = async (id: string) => {
        for (let steps = 0; (await focus()) !== id && steps < 40; steps += 1) await page.keyboard.press("Tab");
        (await focus()).should.equal(id);
      };
      await editor.cancel();
      await editor.editAsItIs("saved");
      await tabTo("node-input-sender");
      await page.keyboard.type("GitH");
      (await editor.input("sender").inputValue()).should.equal("github");
      await tabTo("webhook-trigger-given-secret-copy");
      await page.keyboard.press("Enter");
      const secret = await editor.input("secret").inputValue();
      (await page.evaluate(() => navigator.clipboard.readText())).should.equal(secret);
      await tabTo("webhook-trigger-send");
      await page.keyboard.press("Enter");
      await page.locator("#webhook-trigger-changed").waitFor();
      await tabTo("webhook-trigger-heading-message");
      await page.keyboard.press("Enter");
      await tabTo("node-input-returnQueryParams");
      await page.keyboard.press("Space");
      await page.keyboard.press("Control+Enter");
      await editor.input("name").waitFor({ state: "detached" });
      should(await editor.saved("saved", "sender")).equal("github");
      should(await editor.saved("saved", "returnQueryParams")).equal(true);
    });
  });
}); // prettier-ignore
