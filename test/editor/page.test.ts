import axe from "axe-core";
import { setTimeout as wait } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import should from "should";
import { answersInFront, isOfApi } from "../harness/answers-in-front";
import { catalogText, patience } from "../harness/browser";
import { callers, callerToken } from "../harness/callers";
import { DeliveriesTab } from "../harness/deliveries-tab";
import { bearer, tab as flowTab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { roots } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";
import { sharedBrowser } from "../harness/stage";
import { until } from "../harness/until";

/** Of a caller. */
const longName = "W".repeat(64);
const flow = flowTab(webhook("orders", "/orders", { name: "Orders", credentials: { token, ...callers(longName) } }));
/** The password of each is "right"; `other` may see nothing. Once it was told to, it lets everybody look. */
const accounts = `...(() => {
  let anonymous = null;
  process.on("message", ({ look }) => {
    if (!look) return;
    anonymous = { anonymous: true, permissions: "read" };
    process.send({ trace: "looking" });
  });
  const permissions = { admin: "*", reader: ["webhook-trigger.read"], other: "flows.read" };
  const users = async (username) => ({ username, permissions: permissions[username] });
  const authenticate = async (username, password) => (password === "right" ? users(username) : null);
  return { adminAuth: { type: "credentials", default: async () => anonymous, users, authenticate } };
})()`;
/** A login at another service, and tokens. */
const elsewhere = `adminAuth: {
  type: "strategy",
  strategy: { name: "other", label: "Other", strategy: class { name = "other"; authenticate() { this.fail(); } }, options: {} },
  users: async (username) => ({ username, permissions: "*" }),
  tokens: async (token) => (token === "right" ? { username: "robot", permissions: "*" } : null),
}`;
const json = { "Content-Type": "application/json" };
const withoutEditor = { settings: roots.separate };

/** The page of a Node-RED of its own, in a browser that has never shown it. */
class OpenPage {
  readonly errors: string[] = [];
  private constructor(
    readonly nodeRed: NodeRed,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    // Also of its content policy, but no refusals of the API, and nothing of the editor's: its tips fail where it loads slowly.
    const isForeign = (text: string) => text.startsWith("Failed to load resource") || text.includes("/red/red.min.js");
    const note = (text: string) => isForeign(text) || this.errors.push(text);
    page.on("console", (message) => message.type() === "error" && note(message.text()));
    page.on("pageerror", ({ message }) => note(message));
  }

  static async open(nodeRed: NodeRed, locale = "en-US"): Promise<OpenPage> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const context = await (
      await sharedBrowser()
    ).newContext({ locale, permissions, viewport: { width: 1000, height: 700 } });
    context.setDefaultTimeout(patience);
    const opened = new OpenPage(nodeRed, context, await context.newPage());
    await opened.page.clock.install();
    await opened.page.goto(nodeRed.admin("/webhook-trigger/"));
    return opened;
  }

  /** Waits for what comes with time, and lets seconds of the page's clock pass in a moment meanwhile. */
  async inTime(coming: Promise<unknown>): Promise<void> {
    const here = coming.then(() => true);
    for (let seconds = 0; seconds < 20; seconds++) {
      await this.page.clock.fastForward(1000);
      if (await Promise.race([here, wait(100, false)])) return;
    }
    await here;
  }

  get list(): DeliveriesTab {
    return new DeliveriesTab({ page: this.page, invoke: () => Promise.reject(new Error("there is no editor")) });
  }

  /** The button that deletes the succeeded ones, which are filtered by then. */
  async offerOfDeletion() {
    await this.list.element.getByLabel(catalogText("tab.filter.state"), { exact: true }).selectOption("succeeded");
    return this.button("tab.delete");
  }

  button(key: string, values?: Record<string, string>) {
    return this.page.getByRole("button", { name: catalogText(key, values), exact: true });
  }

  text(key: string, language?: string) {
    return this.page.getByText(catalogText(key, {}, language), { exact: true });
  }

  async logIn(user: string, password: string): Promise<void> {
    await this.page.getByLabel(catalogText("page.user"), { exact: true }).fill(user);
    await this.page.getByLabel(catalogText("page.password"), { exact: true }).fill(password);
    await this.page.keyboard.press("Enter");
  }
}

describe("the page of deliveries", () => {
  let nodeRed: NodeRed;
  let opened: OpenPage[] = [];
  const open = async (locale?: string) => {
    const page = await OpenPage.open(nodeRed, locale);
    opened.push(page);
    return page;
  };
  const start = (options: Options) => {
    before(async () => (nodeRed = await NodeRed.start({ flow, ...options })));
    after(() => nodeRed.stop());
    afterEach(async () => {
      const errors = opened.flatMap((each) => each.errors);
      for (const { context } of opened) await context.close();
      opened = [];
      errors.should.eql([]);
    });
  };
  const order = (path: string, body: string, headers = bearer) =>
    send(nodeRed.node(path), { headers: { ...json, ...headers }, body });

  describe("without the editor and without accounts", () => {
    start(withoutEditor);

    it("lists what comes, as it comes, by the names of the nodes, also of those deployed meanwhile, and starts the flow again", async () => {
      const each = await open();
      const { list, page } = each;
      await list.notice.filter({ hasText: catalogText("tab.empty") }).waitFor();
      const { json: sent } = await order("/orders", '{"order":1}');
      const row = list.row("order: 1");
      await row.filter({ hasText: "Orders" }).waitFor();
      await row.locator(".webhook-deliveries-what").click();
      const shown = list.element.locator(".webhook-delivery");
      await shown.getByText("Orders on Test").waitFor();
      await shown.locator("pre").filter({ hasText: '"order": 1' }).waitFor();
      await each.button("delivery.curl").click();
      await list.element.locator(".webhook-delivery-result").filter({ hasText: catalogText("delivery.curlCopied") }).waitFor(); // prettier-ignore
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      copied.should.containEql(nodeRed.node("/orders")).and.containEql("Authorization: Bearer YOUR_TOKEN");
      await each.button("delivery.replay").click();
      const again = await nodeRed.until(() => nodeRed.messages.find(({ _msgid }) => _msgid !== sent.id), "the replay");
      again.should.match({ payload: { order: 1 }, webhook: { replay: true } });
      await send(nodeRed.node("/invoices"), { headers: json });
      await each.button("tab.back").click();
      await list.row("POST /api/invoices").locator(".webhook-deliveries-what").click();
      await shown.locator('[data-section="body"]').waitFor();
      for (const key of ["delivery.useInTest", "newNode.make"]) (await each.button(key).count()).should.equal(0);
      await each.button("tab.back").click();
      await nodeRed.deploy(flow.map((node) => (node.id === "orders" ? { ...node, name: "Shop" } : node)));
      await row.filter({ hasText: "Shop" }).first().waitFor();
      await nodeRed.deploy(flow);
    });

    it("has an address for each delivery and filter, which is copied, opens it, and which Back leaves", async () => {
      const { json: sent } = await order("/orders", '{"order":7}');
      const each = await open();
      const { list, page } = each;
      const shown = list.element.locator(".webhook-delivery");
      await list.row("order: 7").locator(".webhook-deliveries-what").click();
      await each.button("delivery.copyLink").click();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      link.should.equal(nodeRed.admin(`/webhook-trigger/#${String(sent.id)}`));
      page.url().should.equal(link);
      await page.goBack();
      await shown.waitFor({ state: "detached" });
      await list.rows.first().waitFor();
      await page.goForward();
      await shown.locator("pre").filter({ hasText: '"order": 7' }).waitFor();
      await page.reload();
      await shown.locator("pre").filter({ hasText: '"order": 7' }).waitFor();
      await each.button("tab.back").click();
      page.url().should.equal(nodeRed.admin("/webhook-trigger/"));
      const chosen = (name: string) => list.element.getByLabel(catalogText(name), { exact: true });
      await chosen("tab.filter.state").selectOption("failed");
      await list.notice.filter({ hasText: catalogText("tab.noMatch") }).waitFor();
      page.url().should.equal(nodeRed.admin("/webhook-trigger/#?state=failed"));
      await page.goBack();
      await list.rows.first().waitFor();
      await page.evaluate(() => location.assign("#?state=unknown&text=order%3A+7&node=orders"));
      await until(async () => (await chosen("tab.filter.text").inputValue()) === "order: 7", "the search");
      (await chosen("tab.filter.node").inputValue()).should.equal("orders");
      (await chosen("tab.filter.state").inputValue()).should.equal("");
      await page.reload();
      await list.row("order: 7").waitFor();
      (await list.rows.count()).should.equal(1);
      await page.evaluate(() => location.assign("#gone"));
      await shown.getByText(catalogText("delivery.gone")).waitFor();
      // Cut off in the middle of a character.
      await page.evaluate(() => location.assign("#%E2%8"));
      await shown
        .filter({ hasText: catalogText("delivery.gone") })
        .and(page.getByLabel("%E2%8"))
        .waitFor();
      await page.reload();
      await shown.getByText(catalogText("delivery.gone")).waitFor();
    });

    it("says within seconds that Node-RED is gone or that something in front answers, and goes on when it is back", async () => {
      await order("/orders", '{"order":4}');
      const each = await open();
      const { page, list } = each;
      await list.rows.first().waitFor();
      for (const { trouble, answer } of answersInFront) {
        await page.route(isOfApi, answer);
        await each.inTime(list.notice.filter({ hasText: catalogText(`tab.trouble.${trouble}`) }).waitFor());
        await page.unroute(isOfApi, answer);
        await each.inTime(list.notice.waitFor({ state: "hidden" }));
      }
      await list.rows.first().locator(".webhook-deliveries-what").click();
      const failure = list.element.locator(".webhook-delivery > [role=status]");
      // It answers nothing, and the connection stays.
      const hold = () => undefined;
      await page.route(isOfApi, hold);
      await failure.filter({ hasText: catalogText("testRequest.failed") }).waitFor();
      await page.unroute(isOfApi, hold);
      await each.inTime(failure.locator("p").waitFor({ state: "detached" }));
    });

    it("begins as soon as Node-RED answers instead of something in front", async () => {
      await order("/orders", '{"order":4}');
      const each = await open();
      const [login, json] = answersInFront;
      for (const [file, of] of [
        ...["page.json", "auth/login", "session", "changes", "nodes"].map((each) => [each, login] as const),
        // Without a login, Node-RED's own answer is any object.
        ...["page.json", "session", "changes", "nodes"].map((each) => [each, json] as const),
      ]) {
        const isMeant = (url: URL) => url.pathname.endsWith(`/${file}`);
        if (of) await each.page.route(isMeant, of.answer);
        await each.page.reload();
        await each.page.getByRole("alert").filter({ hasText: /./ }).waitFor();
        if (of) await each.page.unroute(isMeant, of.answer);
        await each.inTime(each.list.rows.first().waitFor());
      }
    });

    it("fetches nothing while nothing is new, also where several Node-REDs answer in turns", async () => {
      await order("/orders", '{"order":4}');
      const each = await open();
      await each.list.rows.first().waitFor();
      let answered = 0;
      let listed = 0;
      await each.page.route("**/webhook-trigger/changes", (route) => {
        const numbers = { deliveries: 7, nodes: 3 };
        return route.fulfill({ json: { instance: `i${answered++ % 3}`, ...numbers } });
      });
      await each.inTime(until(() => answered > 3, "each to have answered"));
      each.page.on("request", (request) => (listed += request.url().includes("/deliveries") ? 1 : 0));
      await each.inTime(until(() => answered > 7, "each to have answered again"));
      listed.should.equal(0);
    });

    it("is in the language of the browser", async () => {
      const each = await open("de-AT");
      await each.page.locator('html[lang="de"]').waitFor({ state: "attached" });
      await each.text("tab.filter.allNodes", "de").first().waitFor({ state: "attached" });
    });

    it("has enough contrast and a name for each control in light and dark, icons in forced colors, fits into 360 px also with a long name of a caller, and is used by keyboard", async () => {
      await order("/orders", '{"order":4}', { Authorization: `Bearer ${callerToken(longName)}` });
      const { page, list } = await open();
      await list.rows.first().waitFor();
      await page.evaluate(axe.source);
      const faults = async () => {
        const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
        return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
      };
      const expectToFit = async () => {
        const beyond = await page.evaluate(() => {
          const { scrollWidth, scrollHeight } = document.documentElement;
          return { wide: scrollWidth - innerWidth, high: scrollHeight - innerHeight };
        });
        beyond.should.eql({ wide: 0, high: 0 });
      };
      await page.setViewportSize({ width: 360, height: 700 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        (await faults()).should.eql([]);
        await expectToFit();
        await list.list.focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        const shown = list.element.locator(".webhook-delivery");
        await shown.locator('[data-section="body"]').waitFor();
        (await faults()).should.eql([]);
        await expectToFit();
        const pictures = await shown.locator(".fa").evaluateAll((all) =>
          all.map((icon) => getComputedStyle(icon).getPropertyValue("--webhook-page-icon")),
        ); // prettier-ignore
        pictures.should.not.containEql("");
        await page.keyboard.press("Escape");
        await shown.waitFor({ state: "detached" });
      }
      await page.emulateMedia({ forcedColors: "active" });
      const icons = await list.element.locator(".fa").filter({ visible: true }).evaluateAll((all) =>
        all.map((icon) => [getComputedStyle(icon).backgroundColor, getComputedStyle(icon.parentElement ?? icon).color]),
      ); // prettier-ignore
      icons.length.should.be.above(1);
      for (const [icon, text] of icons) should(icon).equal(text);
    });
  });

  describe("with accounts", () => {
    start({ code: accounts });
    before(() => order("/orders", '{"order":3}'));

    it("asks for user and password, says when they are wrong, lets the user out again, and offers no change to one who may only look", async () => {
      const each = await open();
      await each.text("page.needed").waitFor();
      (await each.button("delivery.cancel").isVisible()).should.be.false();
      (await each.page.locator("main").innerText()).should.not.containEql("order");
      await each.logIn("admin", "wrong");
      await each.text("page.wrong").waitFor();
      await each.logIn("other", "right");
      await each.text("tab.trouble.forbidden").waitFor();
      await each.logIn("admin", "right");
      await each.list.row("order: 3").waitFor();
      await each.page.getByText("admin", { exact: true }).waitFor();
      await each.offerOfDeletion().then((button) => button.waitFor());
      await each.page.reload();
      await each.list.row("order: 3").waitFor();
      await each.button("page.logOut").click();
      await each.text("page.needed").waitFor();
      await each.logIn("reader", "right");
      await each.list.row("order: 3").locator(".webhook-deliveries-what").click();
      await each.text("delivery.forbidden").waitFor();
      await each.button("delivery.curl").waitFor();
      const changes = each.page.locator(".fa-repeat, .fa-pencil, .fa-pause, .fa-trash");
      (await changes.filter({ visible: true }).count()).should.equal(0);
    });

    it("says where another Node-RED answers than the one that the user has logged in to", async () => {
      const each = await open();
      await each.page.route("**/auth/token", async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        const json = { ...answer, access_token: "unknown" };
        await route.fulfill({ json });
      });
      await each.logIn("admin", "right");
      await each.text("page.otherInstance").waitFor();
      await each.page.unrouteAll();
      await each.logIn("admin", "right");
      await each.list.row("order: 3").waitFor();
    });

    it("asks again when the token is valid no more, and nothing else", async () => {
      const each = await open();
      await each.logIn("admin", "right");
      await each.offerOfDeletion().then((button) => button.click());
      await each.page.getByRole("dialog").waitFor();
      await each.page.evaluate(() => localStorage.setItem("auth-tokens", '{"access_token":"old"}'));
      await each.text("page.needed").waitFor();
      (await each.page.getByRole("dialog").count()).should.equal(0);
    });

    it("needs no login where the editor has one, whose tab leads to it", async () => {
      const { page, context } = await open();
      await page.goto(nodeRed.admin("/"));
      await page.locator("#node-dialog-login-username").fill("admin");
      await page.locator("#node-dialog-login-password").fill("right");
      await page.locator("#node-dialog-login-submit").click();
      await page.locator('.red-ui-palette-node[data-palette-type="webhook-trigger"]').waitFor();
      await page.evaluate(() => {
        const { RED } = globalThis as unknown as { RED: { actions: { invoke(action: string): void } } };
        RED.actions.invoke("webhook-trigger:show-deliveries");
      });
      const popup = context.waitForEvent("page");
      await page.getByRole("link", { name: catalogText("page.open") }).click();
      const own = await popup;
      await own.locator("h1", { hasText: catalogText("tab.label") }).waitFor();
      await own.locator(".webhook-deliveries-row", { hasText: "order: 3" }).waitFor();
      await own.getByRole("link", { name: catalogText("page.editor") }).waitFor();
    });

    describe("once everybody may look", () => {
      before(() => nodeRed.tell({ look: true }, "looking"));

      it("shows the list at once, and lets a user log in who may do more", async () => {
        const each = await open();
        await each.list.row("order: 3").waitFor();
        (await (await each.offerOfDeletion()).isVisible()).should.be.false();
        await each.button("page.logIn").click();
        await each.button("delivery.cancel").click();
        await each.list.row("order: 3").waitFor();
        await each.button("page.logIn").click();
        await each.logIn("admin", "right");
        await each.offerOfDeletion().then((button) => button.waitFor());
        await each.button("page.logOut").waitFor();
      });

      it("offers the login again when a change is refused, as the token is valid no more", async () => {
        await order("/orders", '{"order":5}');
        const each = await open();
        await each.button("page.logIn").click();
        await each.logIn("admin", "right");
        const remove = await each.offerOfDeletion();
        await each.page.evaluate(() => localStorage.setItem("auth-tokens", '{"access_token":"old"}'));
        await remove.click();
        await each.page
          .getByRole("dialog")
          .getByRole("button", { name: catalogText("delivery.delete") })
          .click();
        await each.button("page.logIn").waitFor();
        (await each.button("page.logOut").count()).should.equal(0);
      });
    });
  });

  describe("with the login of another service", () => {
    start({ code: elsewhere });

    it("says to log in to the editor first, or takes a token", async () => {
      const each = await open();
      await each.text("page.elsewhere").waitFor();
      const field = each.page.getByLabel(catalogText("page.token"), { exact: true });
      await field.fill("wrong");
      await each.page.keyboard.press("Enter");
      await each.text("tab.trouble.forbidden").waitFor();
      await field.fill("right");
      await each.page.keyboard.press("Enter");
      await each.list.notice.filter({ hasText: catalogText("tab.empty") }).waitFor();
    });
  });
});
