import should from "should";
import type { Browser } from "playwright-core";
import { catalogText, Editor, startBrowser } from "../harness/browser";
import { paste } from "../harness/curl";
import { token, webhookFlow } from "../harness/flow";
import { NodeRed, type Options } from "../harness/node-red";

const flow = [
  ...webhookFlow(
    { id: "orders", relativePath: "/orders" },
    { id: "tokenless", relativePath: "/tokenless", credentials: {} },
    { id: "late", relativePath: "/orders" },
    { id: "by-environment", relativePath: "/by-environment", verificationMethod: "${METHOD}" },
  ),
  { id: "subflow", type: "subflow", name: "Subflow", in: [], out: [], env: [] },
  { ...webhookFlow({ id: "inner", relativePath: "${WHERE}" })[1], z: "subflow", wires: [[]] },
];

describe("the panel to try an endpoint", () => {
  let browser: Browser;
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    browser = await startBrowser();
    nodeRed = await NodeRed.start({ flow });
  });
  beforeEach(async () => {
    editor = await Editor.open(browser, nodeRed);
  });
  afterEach(() => editor.close());
  after(async () => {
    await browser.close();
    await nodeRed.stop();
  });

  const hint = () => editor.page.locator("#webhook-trigger-command-token").innerText();

  for (const [what, fields] of [
    ["in Authorization", { method: "header" }],
    ["in another header", { method: "header", headerParameter: "X-Token" }],
    ["in the query", { method: "query" }],
    ["in a parameter that has to be encoded", { method: "query", queryParameter: "a key & more" }],
  ] as const) {
    for (const [kind, typed] of [
      ["made here", undefined],
      ["of every kind of character", `'"$(x)\`y\`!%&<>|;#?*[]{}~^\\${"z".repeat(14)}`],
    ] as const) {
      it(`has a line that works as it stands, with a token ${kind} ${what}`, async () => {
        await editor.edit("orders");
        await editor.input("verificationMethod").selectOption(fields.method);
        if ("headerParameter" in fields) await editor.input("headerParameter").fill(fields.headerParameter);
        if ("queryParameter" in fields) await editor.input("queryParameter").fill(fields.queryParameter);
        if (typed === undefined) await editor.tokenButton("make").click();
        else await editor.input("token").fill(typed);
        (await editor.message("token").isVisible()).should.be.false();
        await editor.page.locator("#webhook-trigger-command-copy").click();
        const line = await editor.page.evaluate(() => navigator.clipboard.readText());
        should(await editor.command.innerText()).equal(line);
        (await hint()).should.equal("");
        await editor.done();
        await editor.deploy();
        await nodeRed.logged(/Started flows/);
        const { status, json } = await paste([line]);
        status.should.equal(200);
        should((await nodeRed.message(json.id)).payload).equal("hello world");
        await nodeRed.deploy(flow);
      });
    }
  }

  it("has a placeholder in the line for a token that is saved or missing, and says so", async () => {
    for (const [id, key] of [
      ["orders", "trial.tokenHidden"],
      ["tokenless", "trial.tokenMissing"],
    ] as const) {
      await editor.edit(id);
      (await editor.command.innerText()).should.containEql(`Bearer ${catalogText("trial.placeholder")}"`);
      (await hint()).should.equal(catalogText(key));
      await editor.cancel();
    }
  });

  for (const value of ["${TOKEN}", "short"]) {
    it(`never puts ${value} in the place of the token, nor says to copy it`, async () => {
      await editor.edit("orders");
      await editor.input("token").fill(value);
      (await editor.command.innerText()).should.containEql(`Bearer ${catalogText("trial.placeholder")}"`);
      (await editor.page.locator("#webhook-trigger-token-hint").innerText()).should.equal("");
    });
  }

  for (const [what, field, value] of [
    ["there is no URL", "relativePath", ""],
    ["an environment variable has the path", "relativePath", "${HOOK}"],
    ["an environment variable has the name of the header", "headerParameter", "${HEADER}"],
    ["the name of the header is none", "headerParameter", "X Token"],
  ] as const) {
    it(`has no line while ${what}`, async () => {
      await editor.edit("orders");
      await editor.command.waitFor();
      await editor.input(field).fill(value);
      await editor.page.locator(".webhook-trigger-command").waitFor({ state: "hidden" });
    });
  }

  it("has no line while an environment variable has the method", async () => {
    await editor.edit("by-environment");
    (await editor.page.locator(".webhook-trigger-command").isVisible()).should.be.false();
  });

  it("keeps the keyboard on its button while it sends", async () => {
    await editor.edit("orders");
    await editor.page.locator("#webhook-trigger-send").focus();
    await editor.page.keyboard.press("Enter");
    await editor.page.locator(".webhook-trigger-result.good").waitFor();
    should(await editor.page.evaluate(() => document.activeElement?.id)).equal("webhook-trigger-send");
  });

  it("sends a test request that starts the flow, without the browser knowing the token", async () => {
    const seen: string[] = [];
    editor.page.on("request", (request) => seen.push(request.url(), request.postData() ?? ""));
    await editor.edit("orders");
    const result = await editor.sendTest();
    const id = /[0-9a-f]{16}/.exec(result)?.[0] ?? "";
    result.trim().should.equal(catalogText("trial.accepted", { id }));
    should((await nodeRed.message(id)).payload).equal("hello world");
    seen.join("\n").should.not.containEql(token);
  });

  for (const [what, id, key, values] of [
    ["the node has no token", "tokenless", "trial.closed", { reason: catalogText("rules.token.required") }],
    ["another node has the path", "late", "trial.taken", {}],
  ] as const) {
    it(`tells what to do when ${what}`, async () => {
      await editor.edit(id);
      (await editor.sendTest()).trim().should.equal(catalogText(key, values));
    });
  }

  it("tells that a new node has to be deployed first", async () => {
    const id = await editor.drop("webhook-trigger", 500, 300);
    await editor.edit(id);
    (await editor.sendTest()).should.containEql(catalogText("trial.notDeployed"));
  });

  for (const [what, change] of [
    ["a new path", () => editor.input("relativePath").fill("/changed")],
    ["a new token", () => editor.tokenButton("make").click()],
    ["another method", () => editor.input("verificationMethod").selectOption("query")],
    ["another message", () => editor.input("returnQueryParams").check()],
    ["an emptied token", () => editor.input("token").fill("")],
  ] as const) {
    it(`tells that ${what} was not tested before it is deployed`, async () => {
      await editor.edit("orders");
      (await editor.sendTest()).should.not.containEql(catalogText("trial.changed"));
      await change();
      (await editor.sendTest()).should.containEql(catalogText("trial.changed"));
    });
  }

  it("tells that a new wire was not tested before it is deployed", async () => {
    const debug = await editor.drop("debug", 600, 300);
    await editor.wire("tokenless", debug);
    await editor.edit("orders");
    (await editor.sendTest()).should.containEql(catalogText("trial.changed"));
  });

  it("shows the result also in a small window, and takes it back when the form changes", async () => {
    await editor.page.setViewportSize({ width: 1280, height: 500 });
    await editor.edit("orders");
    await editor.sendTest();
    const result = editor.page.locator(".webhook-trigger-result");
    const footer = await editor.page.locator(".red-ui-tray-footer").boundingBox();
    const box = await result.boundingBox();
    // Positions are fractions of a pixel.
    should((box?.y ?? Infinity) + (box?.height ?? 0)).be.belowOrEqual((footer?.y ?? 0) + 1);
    await editor.input("relativePath").fill("/elsewhere");
    (await result.isVisible()).should.be.false();
  });

  it("offers no test inside a subflow, and says why", async () => {
    await editor.edit("inner");
    (await editor.page.locator("#webhook-trigger-send").isDisabled()).should.be.true();
    (await editor.page.locator("#webhook-trigger-send-hint").innerText()).should.equal(catalogText("trial.subflow"));
  });

  for (const [what, options, text] of [
    ["httpNodeAuth is in the way", { code: "httpNodeAuth: { user: 'u', pass: 'p' }" }, catalogText("trial.blocked")],
    ["a middleware answers", { code: "httpNodeMiddleware: (req, res) => res.sendStatus(403)" }, catalogText("trial.otherwise", { status: "403" })],
    ["the user may not write", { code: "adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } }" }, catalogText("trial.forbidden")],
  ] as [string, Options, string][]) {
    it(`tells what to do when ${what}`, async () => {
      const other = await NodeRed.start({ ...options, flow });
      try {
        const there = await Editor.open(browser, other);
        await there.edit("orders");
        (await there.sendTest()).trim().should.equal(text);
        await there.close();
      } finally {
        await other.stop();
      }
    });
  }

  it("tells when Node-RED cannot be reached", async () => {
    await editor.edit("orders");
    await editor.page.route("**/test", (route) => route.abort());
    await editor.page.locator("#webhook-trigger-send").click();
    await editor.page.getByText(catalogText("trial.failed")).waitFor();
  });
}); // prettier-ignore

describe("what the form shows of the message", () => {
  let browser: Browser;
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    browser = await startBrowser();
    nodeRed = await NodeRed.start({ flow: webhookFlow({ id: "plain" }, { id: "open", returnQueryParams: "${RETURN}" }) });
    editor = await Editor.open(browser, nodeRed);
  });
  after(async () => {
    await browser.close();
    await nodeRed.stop();
  });

  it("follows Return Query Params", async () => {
    await editor.edit("plain");
    (await editor.picture.innerText()).should.equal('msg.payload = { "order": 42 }');
    await editor.input("returnQueryParams").check();
    (await editor.picture.innerText()).should.equal('msg.payload = { "body": { "order": 42 }, "query": { "shop": "7" } }');
    await editor.input("returnQueryParams").uncheck();
    (await editor.picture.innerText()).should.equal('msg.payload = { "order": 42 }');
    await editor.cancel();
    await editor.edit("open");
    (await editor.picture.isVisible()).should.be.false();
  });
}); // prettier-ignore
