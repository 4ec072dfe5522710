import should from "should";
import { catalogText, type Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import { openEditor, useEditor } from "../harness/stage";

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
  ),
  { id: "disabledTab", type: "tab", label: "Disabled", disabled: true },
  { id: "put", type: "http in", url: "/put", method: "put", ...hidden },
  { id: "get", type: "http in", url: "/got", method: "get", ...hidden },
  { id: "off", type: "http in", url: "/off", method: "post", d: true, ...hidden },
];

describe("the box with what to give to the sender", () => {
  const { editor, nodeRed } = useEditor(flow);
  beforeEach(() => editor().edit("edited"));

  const text = async (note: "seen" | "yours" | "closed") => (await editor().note(note).innerText()).trim();
  const replacing = (placeholder: string, button: string, key = "replace") =>
    catalogText(`handover.${key}`, { placeholder: catalogText(`testRequest.${placeholder}`), button: catalogText(`make.${button}`) });
  /** Opens the form anew, with another setting. */
  const reopen = async (...setting: Parameters<Editor["set"]>) => {
    await editor().cancel();
    await editor().set(...setting);
    await editor().edit("edited");
  };

  it("has the URL, as the path is typed, but not for a path from the environment", async () => {
    for (const [relativePath, path] of [["orders/new", "/orders/new"], ["/orders/", "/orders"]] as const) {
      await editor().enter({ relativePath });
      (await editor().given("url").innerText()).should.equal(nodeRed().node(path));
      (await editor().copyGiven("url")).should.equal(nodeRed().node(path));
    }
    for (const [relativePath, key] of [["/orders/*", "correctPath"], ["${HOOK}", "pathFromEnvironment"]] as const) {
      await editor().enter({ relativePath });
      (await editor().given("url").isVisible()).should.be.false();
      await editor().page.getByText(catalogText(`handover.${key}`)).waitFor();
    }
    await editor().enter({ relativePath: "/orders/:id" });
    await editor().makeToken();
    (await editor().given("url").innerText()).should.equal(nodeRed().node("/orders/:id"));
    (await text("yours")).should.equal(catalogText("handover.parameters"));
  });

  it("has the token where it goes, in a header or in the URL, hides it with its field, and copies it as a whole", async () => {
    const token = await editor().makeToken();
    (await editor().given("header").innerText()).should.equal(`Authorization: Bearer ${token}`);
    await editor().enter({ headerParameter: "X-Token" });
    (await editor().copyGiven("header")).should.equal(`X-Token: ${token}`);
    await editor().enter({ verificationMethod: "query" });
    (await editor().given("url").innerText()).should.equal(`${nodeRed().node("/edited")}?state=${token}`);
    (await editor().given("header").isVisible()).should.be.false();
    await editor().tokenButton("show").click();
    (await editor().given("url").innerText()).should.match(/\?state=•+$/);
    await editor().enter({ queryParameter: "a key" });
    (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/edited")}?a+key=${token}`);
    await editor().enter({ verificationMethod: "header" });
    (await editor().given("header").innerText()).should.match(/^X-Token: •+$/);
    (await editor().copyGiven("header")).should.equal(`X-Token: ${token}`);
  });

  it("has a placeholder for a credential that is saved or from the environment, and says what to do", async () => {
    (await editor().copyGiven("header")).should.equal(`Authorization: Bearer ${placeholder}`);
    (await text("yours")).should.equal(replacing("placeholder", "token"));
    (await editor().note("seen").isVisible()).should.be.false();
    await editor().enter({ token: "${TOKEN}" });
    (await text("yours")).should.equal(catalogText("handover.fromEnvironment", { placeholder, variable: "${TOKEN}" }));
    await editor().enter({ verificationMethod: "query" });
    (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/edited")}?state=${placeholder}`);
    await editor().enter({ sender: "custom" });
    (await editor().copyGiven("secret")).should.equal(catalogText("testRequest.secretPlaceholder"));
    (await text("yours")).should.equal(replacing("secretPlaceholder", "secret", "missing"));
  });

  it("says to copy in time what Node-RED will not show again, and not what the sender shows", async () => {
    const secret = "0123456789abcdef0123456789abcdef";
    await editor().enter({ token: "x".repeat(40) });
    (await text("seen")).should.equal(catalogText("handover.tokenSeen"));
    await editor().enter({ sender: "slack", secret });
    (await editor().note("seen").isVisible()).should.be.false();
    // It shows the secret, and asks for a word besides.
    await editor().enter({ sender: "meta", secret });
    (await text("seen")).should.equal(catalogText("handover.tokenSeen"));
    await editor().enter({ verifyToken: "" });
    (await editor().note("seen").isVisible()).should.be.false();
    await editor().enter({ sender: "github" });
    (await text("seen")).should.equal(catalogText("handover.secretSeen"));
  });

  it("says who cannot reach the address, and where to read on, or that HTTP nodes are switched off", async () => {
    const reach = () => editor().note("reach").locator("> span > span").innerText();
    (await reach()).should.equal(catalogText("url.computer", { host: "127.0.0.1" }));
    should(await editor().note("reach").locator("a").getAttribute("href")).endWith("/docs/reaching-node-red.md");
    for (const [base, key] of [
      ["http://192.168.1.7:1880", "url.network"],
      ["http://localhost:1880", "url.computer"],
      ["https://nodered.example", undefined],
    ] as const) {
      await reopen("webhookTriggerBaseUrl", base);
      (await editor().note("reach").isVisible()).should.equal(key !== undefined);
      if (key) (await reach()).should.equal(catalogText(key, { host: new URL(base).hostname }));
    }
    await reopen("webhookTriggerRoots", { admin: "/", node: false });
    (await text("closed")).should.equal(catalogText("url.closed"));
    (await editor().given("url").isVisible()).should.be.false();
    await editor().set("webhookTriggerBaseUrl", undefined);
    await editor().set("webhookTriggerRoots", { admin: "/", node: "/" });
  });

  it("warns that another node has the path, names it and its flow, and shows it", async () => {
    await editor().input("methods").locator("[value=PUT]").check();
    for (const [path, key, name] of [
      ["/named", "url.takenByWebhook", 'Shop & "more" <b>'],
      ["/nameless", "url.takenByWebhook", catalogText("paletteLabel")],
      ["NAMED/", "url.takenByWebhook", 'Shop & "more" <b>'],
      ["/put", "url.takenByHttpIn", "http in"],
    ] as const) {
      await editor().enter({ relativePath: path });
      const named = catalogText("url.rival", { name, flow: "Test" });
      const said = await editor().note("taken").locator("> span > span").innerText();
      said.should.equal(catalogText(key, { name: named, method: "PUT" }));
    }
    const revealed = editor().revealed();
    await editor().note("taken").locator("button").click();
    (await revealed).should.equal("put");
    // Not of the node itself, of disabled nodes, and of those for other methods.
    for (const path of ["/edited", "/got", "/disabled", "/elsewhere", "/off", ""]) {
      await editor().enter({ relativePath: "/named" });
      await editor().note("taken").waitFor();
      await editor().enter({ relativePath: path });
      (await editor().note("taken").isVisible()).should.be.false(path);
    }
  });
}); // prettier-ignore

describe("the URL in the form", () => {
  it("begins with webhookTriggerBaseUrl and the root of HTTP nodes", async () => {
    const settings = { webhookTriggerBaseUrl: "https://example.com/node-red/", httpAdminRoot: "/admin", httpNodeRoot: "/api" };
    const { editor } = await openEditor(webhookFlow({ id: "hook", relativePath: "/orders" }), { settings });
    await editor.edit("hook");
    const url = await editor.given("url").innerText();
    url.should.equal("https://example.com/node-red/api/orders");
    (await editor.part("command").innerText()).should.containEql(`"${url}"`);
    // A path of the editor's API is free below another root.
    await editor.enter({ relativePath: "/flows" });
    (await editor.message("relativePath").innerText()).should.equal("");
    await editor.cancel();
    // Where that setting is no URL, it is the editor's address.
    await editor.set("webhookTriggerBaseUrl", "hooks.example.com");
    await editor.set("webhookTriggerRoots", { admin: "/admin", node: "/" });
    await editor.edit("hook");
    (await editor.given("url").innerText()).should.equal(`${new URL(editor.page.url()).origin}/orders`);
    await editor.enter({ relativePath: "/admin/flows" });
    (await editor.message("relativePath").innerText()).should.equal(catalogText("rules.relativePath.admin"));
  });
}); // prettier-ignore
