import should from "should";
import { boxOf, catalogText, type Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { openEditor } from "../harness/stage";

/** What the form cannot show of a saved token. */
const placeholder = catalogText("testRequest.placeholder");
const hidden = { z: "tab", x: 100, y: 300, name: "", wires: [[]] };

const flow = [
  ...webhookFlow(
    { id: "edited", relativePath: "/edited" },
    { id: "named", relativePath: "/named", name: 'Shop & "more" <b>' },
    { id: "nameless", relativePath: "/nameless" },
    { id: "disabled", relativePath: "/disabled", d: true },
    { id: "elsewhere", relativePath: "/elsewhere", z: "disabledTab" },
    { id: "pathless", relativePath: "" },
    { id: "far", relativePath: "/far", z: "farTab", x: 1500, y: 900, wires: [[]] },
  ),
  { id: "farTab", type: "tab", label: "Far away" },
  { id: "disabledTab", type: "tab", label: "Disabled", disabled: true },
  { id: "post", type: "http in", url: "/posted", method: "post", ...hidden },
  { id: "get", type: "http in", url: "/got", method: "get", ...hidden },
  { id: "off", type: "http in", url: "/off", method: "post", d: true, ...hidden },
];

describe("the box with what to give to the sender", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    ({ editor, nodeRed } = await openEditor(flow));
  });
  beforeEach(() => editor.edit("edited"));
  afterEach(() => editor.leave());

  const makeToken = async () => {
    await editor.tokenButton("make").click();
    return editor.input("token").inputValue();
  };
  const seen = async () => (await editor.note("seen").innerText()).trim();

  it("has the URL, as the path is typed", async () => {
    for (const [typed, path] of [
      ["orders/new", "/orders/new"],
      ["/orders/", "/orders"],
    ] as const) {
      await editor.input("relativePath").fill(typed);
      (await editor.given("url").innerText()).should.equal(nodeRed.node(path));
      (await editor.copyGiven("url")).should.equal(nodeRed.node(path));
    }
    await editor.input("relativePath").fill("/orders/*");
    (await editor.given("url").isVisible()).should.be.false();
  });

  it("has no URL for a path from the environment, and says so", async () => {
    await editor.input("relativePath").fill("${HOOK}");
    (await editor.given("url").isVisible()).should.be.false();
    (await editor.note("yours").innerText()).trim().should.equal(catalogText("handover.pathFromEnvironment"));
  });

  it("has the header with the token, spelled out", async () => {
    const token = await makeToken();
    (await editor.given("header").innerText()).should.equal(`Authorization: Bearer ${token}`);
    await editor.input("headerParameter").fill("X-Token");
    (await editor.copyGiven("header")).should.equal(`X-Token: ${token}`);
  });

  it("has the token in the URL where it goes into the query", async () => {
    const token = await makeToken();
    await editor.input("verificationMethod").selectOption("query");
    (await editor.given("url").innerText()).should.equal(`${nodeRed.node("/edited")}?state=${token}`);
    (await editor.given("header").isVisible()).should.be.false();
    await editor.input("queryParameter").fill("a key");
    (await editor.copyGiven("url")).should.equal(`${nodeRed.node("/edited")}?a+key=${token}`);
  });

  it("hides the token with its field, and copies it as a whole all the same", async () => {
    const token = await makeToken();
    await editor.tokenButton("show").click();
    (await editor.given("header").innerText()).should.match(/^Authorization: Bearer •+$/);
    (await editor.copyGiven("header")).should.equal(`Authorization: Bearer ${token}`);
    await editor.input("verificationMethod").selectOption("query");
    (await editor.given("url").innerText()).should.match(/\?state=•+$/);
    (await editor.copyGiven("url")).should.containEql(token);
  });

  it("has a placeholder for a token that is saved, and says so", async () => {
    (await editor.copyGiven("header")).should.equal(`Authorization: Bearer ${placeholder}`);
    (await editor.note("yours").innerText()).trim().should.equal(catalogText("handover.yourToken"));
    (await editor.note("seen").isVisible()).should.be.false();
    await editor.input("verificationMethod").selectOption("query");
    (await editor.copyGiven("url")).should.equal(`${nodeRed.node("/edited")}?state=${placeholder}`);
  });

  it("says to copy in time what Node-RED will not show again, and not what the sender shows", async () => {
    await editor.input("secondToken").fill("x".repeat(40));
    (await seen()).should.equal(catalogText("handover.tokenSeen"));
    await editor.input("sender").selectOption("slack");
    await editor.input("secret").fill("0123456789abcdef0123456789abcdef");
    (await editor.note("seen").isVisible()).should.be.false();
    // It shows the secret, and asks for a word besides.
    await editor.input("sender").selectOption("meta");
    await editor.input("secret").fill("0123456789abcdef0123456789abcdef");
    (await seen()).should.equal(catalogText("handover.tokenSeen"));
    await editor.input("verifyToken").fill("");
    (await editor.note("seen").isVisible()).should.be.false();
    await editor.input("sender").selectOption("github");
    (await seen()).should.equal(catalogText("handover.secretSeen"));
  });

  it("says who cannot reach the address, and where to read on", async () => {
    const reach = () => editor.part("reach").innerText();
    (await reach()).should.equal(catalogText("url.computer", { host: "127.0.0.1" }));
    should(await editor.note("reach").locator("a").getAttribute("href")).endWith("/docs/reaching-node-red.md");
    for (const [base, key] of [
      ["http://192.168.1.7:1880", "url.network"],
      ["http://localhost:1880", "url.computer"],
      ["https://nodered.example", undefined],
    ] as const) {
      await editor.cancel();
      await editor.set("webhookTriggerBaseUrl", base);
      await editor.edit("edited");
      (await editor.note("reach").isVisible()).should.equal(key !== undefined);
      if (key) (await reach()).should.equal(catalogText(key, { host: new URL(base).hostname }));
    }
    await editor.set("webhookTriggerBaseUrl", undefined);
  });

  it("has a warning in its place where HTTP nodes are switched off", async () => {
    const setRoot = (node: string | false) => editor.set("webhookTriggerRoots", { admin: "/", node });
    await editor.cancel();
    await setRoot(false);
    await editor.edit("edited");
    (await editor.note("closed").innerText()).trim().should.equal(catalogText("url.closed"));
    (await editor.given("url").isVisible()).should.be.false();
    await setRoot("/");
  });

  for (const [path, key, name] of [
    ["/named", "url.takenByWebhook", 'Shop & "more" <b>'],
    ["/nameless", "url.takenByWebhook", catalogText("paletteLabel")],
    ["NAMED/", "url.takenByWebhook", 'Shop & "more" <b>'],
    ["/posted", "url.takenByHttpIn", "http in"],
  ] as const) {
    it(`warns that another node has the path ${path}, and names it`, async () => {
      await editor.input("relativePath").fill(path);
      (await editor.part("warning").innerText()).should.equal(catalogText(key));
      const named = catalogText("url.rival", { name, flow: "Test" });
      (await editor.part("rival").innerText()).should.equal(named);
      should(await editor.part("rival").getAttribute("aria-label")).equal(catalogText("url.reveal", { name: named }));
    });
  }

  it("does not warn of the node itself, of disabled nodes, and of those for other methods", async () => {
    for (const path of ["/edited", "/got", "/disabled", "/elsewhere", "/off", ""]) {
      await editor.input("relativePath").fill("/named");
      await editor.part("warning").waitFor();
      await editor.input("relativePath").fill(path);
      (await editor.part("warning").isVisible()).should.be.false(path);
    }
  });

  it("shows the other node beside the form, on its own flow", async () => {
    await editor.input("relativePath").fill("/far");
    await editor.part("rival").click();
    await editor.page.locator(".red-ui-tab.active", { hasText: "Far away" }).waitFor();
    const far = editor.page.locator("#far");
    await editor.page.locator("#far.red-ui-flow-node-highlighted, #far .red-ui-flow-node-highlighted").first().waitFor();
    const { x, width } = await boxOf(far);
    (x + width).should.be.below((await boxOf(editor.page.locator(".red-ui-tray"))).x);
    (await editor.input("relativePath").inputValue()).should.equal("/far");
  });
}); // prettier-ignore

describe("the URL in the form", () => {
  const address = async (settings: Record<string, unknown>) => {
    const { editor, nodeRed } = await openEditor(webhookFlow({ id: "hook", relativePath: "/orders" }), { settings });
    await editor.edit("hook");
    const url = await editor.given("url").innerText();
    (await editor.part("command").innerText()).should.containEql(`"${url}"`);
    return { editor, nodeRed, url };
  };

  it("begins with webhookTriggerBaseUrl and the root of HTTP nodes", async () => {
    const settings = { webhookTriggerBaseUrl: "https://example.com/node-red/", httpAdminRoot: "/admin", httpNodeRoot: "/api" };
    const { editor, url } = await address(settings);
    url.should.equal("https://example.com/node-red/api/orders");
    // A path of the editor's API is free below another root.
    await editor.input("relativePath").fill("/flows");
    (await editor.message("relativePath").innerText()).should.equal("");
  });

  it("begins with the editor's address where webhookTriggerBaseUrl is no URL, which the log says", async () => {
    const { editor, nodeRed, url } = await address({ webhookTriggerBaseUrl: "hooks.example.com", httpAdminRoot: "/admin" });
    url.should.equal(`${nodeRed.origin}/orders`);
    nodeRed.log.should.containEql(catalogText("settings.baseUrl"));
    await editor.input("relativePath").fill("/admin/flows");
    (await editor.message("relativePath").innerText()).should.equal(catalogText("rules.relativePath.admin"));
  });
}); // prettier-ignore
