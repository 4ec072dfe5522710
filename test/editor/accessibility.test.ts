import axe, { type RunOptions } from "axe-core";
import type { Locator } from "playwright-core";
import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import { boxOf, catalogText, type Editor } from "../harness/browser";
import { DeliveriesTab, FakeRuntime, states, summaries, summary, trafficOf } from "../harness/deliveries-tab";
import { webhookFlow } from "../harness/flow";
import { nodeRedVersion } from "../harness/node-red";
import { done, failed, refused } from "../harness/one-delivery";
import { openEditor } from "../harness/stage";
import { uncalled } from "../harness/node-report";

const flow = [
  ...webhookFlow({ id: "saved", relativePath: "/saved" }, { id: "rival", relativePath: "/rival", name: "Rival" }),
  { id: "watch", type: "webhook-watch", z: "tab", x: 200, y: 200, scope: ["saved"], events: null, wires: [[]] },
];
/** A Node-RED of its own: it keeps how high the parts of the sidebars were, for every editor. */
const options = { settings: { webhookTriggerDeliveries: { keep: 100 } } };

/** What the runtime says of a node, with everything that there can be. */
const report: NodeReport = {
  ...uncalled,
  accepted: 14,
  refused: 2,
  handshakes: 1,
  duplicates: 3,
  withoutKey: 4,
  unanswered: 5,
  last: { at: 0, outcome: "refused" },
  lastRefused: {
    at: 0,
    problem: "addressNotAllowed",
    status: 403,
    from: "203.0.113.9",
    reasons: [],
    looksLike: "stripe",
  },
  credential: "second",
  hasSecret: true,
  hasOnlyLoopback: true,
  trustsEveryProxy: true,
};

/** What the form can look like. */
const formLooks: Record<string, (editor: Editor) => Promise<void>> = {
  "with everything switched on, warnings, the result of a test request with a new token, and its request written":
    async (editor) => {
      await editor.page.route("**/lastRequest", (route) => route.fulfill({ json: report }));
      await editor.set("webhookTriggerGuaranteed", "server");
      await editor.edit("saved");
      await editor.makeToken();
      await editor.enter({ verificationMethod: "query", replyBody: "no JSON" });
      await editor.note("json").waitFor();
      await editor.enter({ reply: "flow", ignoreDuplicates: true, guaranteed: true, rateLimit: "60" });
      await editor.enter({ allowFrom: "192.0.2.1, 2001:db8::/32" });
      await editor.sendTest();
      for (const note of ["no-id", "without-key", "loopback", "forgeable"] as const) await editor.note(note).waitFor();
      await editor.page.locator("#webhook-trigger-brought button").waitFor();
      await editor.part("console-open").click();
      await editor.page.locator(".webhook-trigger-console-editor .red-ui-editor-text-container").waitFor();
    },
  "with callers, whose tokens it shows, and a name that is taken": async (editor) => {
    await editor.editAsItIs("saved");
    await editor.part("heading-callers").click();
    const add = async (names: string) => {
      await editor.part("caller-names").fill(names);
      await editor.page.getByRole("button", { name: catalogText("callers.add"), exact: true }).click();
    };
    await add(Array.from({ length: 21 }, (_, index) => `Device ${index}`).join("\n"));
    await editor.page.locator("#webhook-trigger-callers code").first().waitFor();
    await editor.page.getByRole("button", { name: catalogText("callers.remove", { name: "Device 10" }) }).click();
    await add("Device 2");
    await editor.part("caller-trouble").filter({ hasText: "Device 2" }).waitFor();
  },
  "with events and conditions": async (editor) => {
    await editor.page.route("**/lastRequest", (route) => {
      return route.fulfill({ json: { ...report, filteredEvents: ["x".repeat(60), "push"] } });
    });
    await editor.edit("saved");
    await editor.part("offered-received").locator("button").nth(1).click();
    await editor.enter({ outputPerEvent: true });
    for (let each = 0; each < 2; each++) await editor.part("add-condition").click();
    await editor.page.locator("#webhook-trigger-conditions input:visible").first().fill("payload.a");
    await editor.message("conditions").waitFor();
    await editor.note("no-event").waitFor();
  },
  "of a webhook watch": async (editor) => {
    await editor.editAsItIs("watch");
    await editor.page.locator("#webhook-trigger-watch-triggers").waitFor();
  },
  "while senders are searched": async (editor) => {
    await editor.editAsItIs("saved");
    await editor.part("search").fill("git");
    await editor.part("found").waitFor();
  },
  "with everything wrong, after another user has taken over the secret": async (editor) => {
    let hasSecret = true;
    await editor.page.route("**/lastRequest", (route) => route.fulfill({ json: { ...report, hasSecret } }));
    await editor.page.route("**/secret", (route) => {
      hasSecret = false;
      return route.fulfill({ status: 404 });
    });
    await editor.set("webhookTriggerGuaranteed", "none");
    await editor.edit("saved");
    await editor.page.locator("#webhook-trigger-brought button").click();
    await editor.part("fetch-failed").waitFor();
    await editor.part("brought").waitFor({ state: "hidden" });
    await editor.enter({
      ...{ relativePath: "/rival", token: "short", headerParameter: "X Token", replyStatus: "404", replyType: "text" },
      ...{ ignoreDuplicates: true, guaranteed: true, duplicateKey: "header:", duplicateWindow: "0" },
      ...{ allowFrom: "somewhere", rateLimit: "many" },
    });
    await editor.note("taken").waitFor();
    await editor.note("no-store").waitFor();
  },
};

/** Senders that have among them each field that a sender can have. */
const senders = ["meta", "notion", "square", "grafana-timestamp", "websub", "gitlab", "custom"];

const unfold = (shown: Locator) =>
  shown.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")));

/** What the tab can look like. */
const tabLooks: Record<string, (tab: DeliveriesTab, runtime: FakeRuntime) => Promise<void>> = {
  "with deliveries of each state, a silent sender and a paused node": async (tab, runtime) => {
    runtime.deliveries = [...states.map((state) => summary({ id: state, state })), ...summaries(10)];
    runtime.silent = [{ node: "rival", hours: 24, since: 0 }];
    runtime.queues = [{ node: "rival", pause: "breaker", queued: 3, retrying: 2 }];
    runtime.traffic = trafficOf({ accepted: [30, 12], refused: [1], failed: [2, 0], waiting: [2, 5] });
    await tab.open();
    await tab.row("event 9").waitFor();
    await tab.traffic.waitFor();
    await tab.list.press("ArrowDown");
    await tab.list.press("Space");
  },
  "with what has failed by its cause, one of which is filtered": async (tab, runtime) => {
    const group = { node: "saved", error: "call the shop: Error: ECONNREFUSED 127.0.0.1:5432", count: 400, last: 0 };
    runtime.failures = { groups: [group, { ...group, error: "timedOut", count: 12 }], causes: 120, failures: 10_000, hasMore: true }; // prettier-ignore
    await tab.open();
    await tab.failures.locator("summary").click();
    await tab.failures.getByRole("button", { name: catalogText("failures.show") }).first().click(); // prettier-ignore
    await tab.element.locator(".webhook-deliveries-error").filter({ hasText: group.error }).waitFor();
  },
  "without an answer of the runtime": async (tab, runtime) => {
    runtime.fault = 403;
    await tab.open();
    await tab.notice.filter({ hasText: catalogText("tab.trouble.forbidden") }).waitFor();
  },
  "with all of a delivery, and a payload to change": async (tab, runtime) => {
    const shown = await tab.openDelivery(runtime, { ...done, attempt: 2, replayOf: "earlier" });
    await unfold(shown);
    await shown.getByRole("button", { name: /^order: object/ }).click();
    await shown.getByRole("button", { name: catalogText("delivery.replayChanged") }).click();
    await shown.locator("textarea").fill("{");
    await shown.getByRole("button", { name: catalogText("delivery.curl") }).click();
  },
  "with a refused delivery": async (tab, runtime) => unfold(await tab.openDelivery(runtime, refused)),
  "with a failed delivery that is no text": async (tab, runtime) => unfold(await tab.openDelivery(runtime, failed)),
};

/**
 * What axe-core needs in order to see all. It takes for unseen what lies outside a box whose overflow is hidden: the
 * editor's body has no height of its own, and what has to be scrolled to is outside as well.
 */
const inSight = {
  // Node-RED 5 gives a part of its sidebar to each tab.
  style:
    "html, body { height: 100%; } .red-ui-sidebar-section-top { flex: none !important; height: 3900px !important; }",
  viewport: { width: 1280, height: 4000 },
};

/** What axe-core finds in a part of the page, and the visible texts of which it did not find out their contrast. */
async function examine({ page }: Editor, part: string, options: RunOptions = {}) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(
    async ([examined, more]) => {
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
      // The code editor is Node-RED's: its lines are a million pixels wide and high, below which texts near it seem to be.
      const code = document.querySelector<HTMLElement>(".webhook-trigger-console-editor");
      code?.style.setProperty("display", "none");
      // It goes through the whole document, most of which are menus and tabs that are not shown. Styles stand in such, too.
      const unseen = [...document.querySelectorAll<HTMLElement>("body *:not(style, :has(style))")].filter(
        (each) =>
          getComputedStyle(each).display === "none" && each.parentElement?.checkVisibility() && !each.closest(examined),
      );
      const places = unseen.map(() => new Comment());
      for (const [index, each] of unseen.entries()) each.replaceWith(places[index] ?? each);
      const { violations, passes } = await run(
        { include: [examined] },
        { elementRef: true, selectors: false, preload: false, ...more },
      );
      for (const [index, each] of unseen.entries()) places[index]?.replaceWith(each);
      const measured = [...violations, ...passes]
        .filter(({ id }) => id === "color-contrast")
        .flatMap(({ nodes }) => nodes)
        .filter(({ any }) => (any[0]?.data as { contrastRatio?: number } | null)?.contrastRatio !== undefined)
        .map(({ element }) => element);
      // It covers what is below it.
      const list = document.querySelector(".webhook-trigger-senders");
      const cover = list?.getBoundingClientRect() ?? new DOMRect();
      const texts = [...document.querySelectorAll(`${examined} *:not(option)`)].filter((element) => {
        const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
        // Contrast matters to what can be seen, is text, and is not switched off.
        const isLeftOut = element.matches(".webhook-deliveries-said, [aria-disabled=true] *");
        const { top, bottom } = element.getBoundingClientRect();
        const isCovered = !list?.contains(element) && top < cover.bottom && bottom > cover.top;
        return (
          element.checkVisibility() &&
          !isLeftOut &&
          !isCovered &&
          own.some(({ textContent }) => /\p{L}/u.test(textContent ?? ""))
        );
      });
      const unmeasured = texts.filter((element) => !measured.includes(element as HTMLElement));
      code?.style.removeProperty("display");
      return {
        violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]),
        hasTexts: texts.length > 0,
        unmeasured: unmeasured.map(({ outerHTML }) => outerHTML),
      };
    },
    [part, options] as const,
  );
}

/** Node-RED 4.1 has no dark theme of its own. Names and roles do not depend on the theme. */
const themes: Record<string, RunOptions> = {
  ...(!nodeRedVersion.startsWith("4.") && { dark: { runOnly: ["color-contrast"] } }),
  light: {},
};

/** Sees that each control in a part of the page has a name, and each text enough contrast in each theme. */
async function expectNoFault(editor: Editor, part: string): Promise<void> {
  for (const [theme, options] of Object.entries(themes)) {
    await editor.page.evaluate(
      (dark) => document.documentElement.classList.toggle("nr-theme-dark", dark),
      theme === "dark",
    );
    (await examine(editor, part, options)).should.eql({ violations: [], hasTexts: true, unmeasured: [] }, theme);
  }
}

describe("the editor, for users of keyboards, screen readers and small windows", () => {
  let editor: Editor;
  before(async () => {
    ({ editor } = await openEditor(flow, options, inSight));
  });
  afterEach(async () => {
    await editor.page.unrouteAll();
    await editor.leave();
    await editor.page.setViewportSize(inSight.viewport);
  });

  for (const [look, show] of Object.entries(tabLooks)) {
    it(`shows the tab ${look}, with enough contrast and a name for each control, and fits into a narrow sidebar`, async () => {
      const tab = new DeliveriesTab(editor);
      await show(tab, await FakeRuntime.serve(editor.page));
      await expectNoFault(editor, ".webhook-deliveries");
      // Node-RED 5's left sidebar may be as narrow as the last one.
      for (const width of [280, 174]) await tab.fitInto(width);
      await tab.element.evaluate((element) => element.removeAttribute("style"));
      const clear = tab.button(catalogText("tab.filter.clear"));
      if (await clear.isVisible()) await clear.click();
    });
  }

  it("asks before several deliveries are replayed, with enough contrast and a name for each control", async () => {
    const runtime = await FakeRuntime.serve(editor.page);
    runtime.deliveries = summaries(3, { node: "rival" }).map((each) => ({ ...each, event: `chosen ${each.id}` }));
    const tab = new DeliveriesTab(editor);
    await tab.open();
    await tab.row("chosen d0").locator(".webhook-deliveries-check").click();
    await tab.button(catalogText("tab.replay", { count: "1" })).click();
    await editor.page.getByRole("dialog").waitFor();
    await expectNoFault(editor, "dialog");
    await editor.page.keyboard.press("Escape");
  });

  it("goes from field to field in the order of reading by the Tab key", async () => {
    await editor.edit("saved");
    await editor.enter({ relativePath: "/rival", ignoreDuplicates: true });
    await editor.tokenButton("make").click();
    await editor.part("deliveries").waitFor();
    const controls = editor.page.locator(".webhook-trigger-form").locator("input:visible, select:visible, textarea:visible, a:visible, button:not(:disabled):visible, summary:visible, [tabindex]:visible");
    const expected = await controls.evaluateAll((elements) =>
      elements
        .map((element) => ({ id: element.id, box: element.getBoundingClientRect() }))
        // A row of controls is read from left to right.
        .sort((a, b) => (Math.abs(a.box.top - b.box.top) < 25 ? a.box.left - b.box.left : a.box.top - b.box.top))
        .map(({ id }) => id),
    );
    expected.length.should.be.above(10);
    await editor.part("search").focus();
    const visited: string[] = [];
    while (visited.length < expected.length) {
      visited.push(await editor.focus());
      await editor.page.keyboard.press("Tab");
    }
    should(visited).eql(expected);
  }); // prettier-ignore

  it("is filled in, tested and closed by keyboard alone", async () => {
    const { keyboard } = editor.page;
    await editor.editAsItIs("saved");
    await editor.tabTo("webhook-trigger-search");
    // The first one below any sender.
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await keyboard.press(key);
    (await editor.input("sender").inputValue()).should.equal("github");
    await editor.tabTo("webhook-trigger-given-secret-copy");
    await keyboard.press("Enter");
    (await editor.clipboard()).should.equal(await editor.input("secret").inputValue());
    await editor.tabTo("webhook-trigger-send");
    await keyboard.press("Enter");
    await editor.part("changed").waitFor();
    (await editor.focus()).should.equal("webhook-trigger-send");
    await editor.tabTo("webhook-trigger-heading-message");
    await keyboard.press("Enter");
    (await editor.openSections()).should.containEql("message");
    await editor.tabTo("node-input-returnQueryParams");
    await keyboard.press("Space");
    await keyboard.press("Control+Enter");
    await editor.input("name").waitFor({ state: "detached" });
    should(await editor.saved("saved", "sender")).equal("github");
    should(await editor.saved("saved", "returnQueryParams")).equal(true);
    await editor.invoke("core:undo");
  });

  it("has the result of a test request in sight in a window of 500 px height", async () => {
    await editor.page.setViewportSize({ width: 1280, height: 500 });
    await editor.edit("saved");
    await editor.sendTest();
    const result = await boxOf(editor.part("result"));
    const footer = await boxOf(editor.page.locator(".red-ui-tray-footer"));
    // Positions are fractions of a pixel.
    should(result.y + result.height).be.belowOrEqual(footer.y + 1);
  });

  describe("in a window of 360 px, the form", () => {
    const toggleSides = async () => {
      for (const side of ["sidebar", "palette"]) await editor.invoke(`core:toggle-${side}`);
    };
    // Whoever has as little room closes what stands beside the form.
    before(() => toggleSides());
    after(async () => {
      // Node-RED keeps what its user has closed, for the tests that follow as well.
      const kept = editor.page.waitForResponse("**/settings/user");
      await toggleSides();
      await kept;
    });

    const narrow = async () => {
      await editor.page.setViewportSize({ width: 360, height: 800 });
      await editor.page.waitForFunction(() => (document.querySelector(".red-ui-tray-body")?.clientWidth ?? 0) <= 360);
    };
    const expectToFit = async (what: string) => {
      const [needed, wide] = await editor.page.locator(".red-ui-tray-body").evaluate((body) => {
        const { right } = body.getBoundingClientRect();
        // Node-RED's code editor scrolls by itself.
        const all = [...body.querySelectorAll(".webhook-trigger-form *:not(.webhook-trigger-console-editor *)")];
        const wider = all.filter((each) => each.getBoundingClientRect().right > right + 0.5);
        return [body.scrollWidth - body.clientWidth, wider.map(({ outerHTML }) => outerHTML)] as const;
      });
      [needed, wide].should.eql([0, []], what);
    };

    for (const [look, show] of Object.entries(formLooks)) {
      it(`does not scroll sideways ${look}, with enough contrast and a name for each field`, async () => {
        await show(editor);
        await expectNoFault(editor, ".webhook-trigger-form");
        await narrow();
        await expectToFit(look);
      });
    }

    it("has labels above fields, hints beside boxes and what belongs to both below, fits with any sender, and has a name for each field", async () => {
      await editor.edit("saved");
      await narrow();
      const label = await boxOf(editor.page.locator('label[for="node-input-relativePath"]'));
      (label.y + label.height).should.be.belowOrEqual((await boxOf(editor.input("relativePath"))).y + 1);
      for (const [field, below] of [["returnQueryParams", "picture"], ["rawBody", "picture"], ["guaranteed", "guaranteed"]] as const) {
        const box = await boxOf(editor.input(field));
        const hint = await boxOf(editor.hint(field));
        hint.x.should.be.aboveOrEqual(box.x + box.width, field);
        (await boxOf(editor.part(below))).y.should.be.aboveOrEqual(hint.y + hint.height, field);
      }
      (await editor.page.locator('[aria-describedby~="webhook-trigger-picture"]').count()).should.equal(2);
      for (const sender of senders) {
        await editor.enter({ sender });
        await expectToFit(sender);
        const runOnly = ["cat.forms", "cat.name-role-value", "cat.aria"];
        (await examine(editor, ".webhook-trigger-form", { runOnly })).violations.should.eql([], sender);
      }
    }); // prettier-ignore
  });
});
