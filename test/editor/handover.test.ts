import should from "should";
import { tokenLength } from "../../src/config/fields";
import { catalogText, type Entered } from "../harness/browser";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const hidden = { z: "tab", x: 100, y: 300, name: "", wires: [[]] };

const flow = [
  ...webhookFlow(
    ...["edited", "saved", "renamed", "replaced"].map((id) => ({ id, relativePath: `/${id}` })),
    { id: "deployed", relativePath: "/deployed", credentials: {} },
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

describe("the token in the form, and the box with what to give to the sender", () => {
  const { editor, nodeRed } = useEditor(flow);

  const note = async (name: "seen" | "yours" | "closed") => (await editor().note(name).innerText()).trim();
  const type = () => editor().input("token").getAttribute("type");

  it("has the URL, as the path is typed, but not for a path from the environment", async () => {
    await editor().editAsItIs("edited");
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
    (await note("yours")).should.equal(catalogText("handover.parameters"));
  });

  it("has the token where it goes, in a header or in the URL, hides it with its field, and copies it as a whole", async () => {
    await editor().editAsItIs("edited");
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

  it("has a placeholder for a credential that it does not know, in the line for a terminal as well, and says what to do", async () => {
    const placeholder = catalogText("testRequest.placeholder");
    const button = catalogText("make.token");
    await editor().edit("edited");
    for (const [entered, key, values] of [
      [{}, "replace", { button }],
      [{ token: "${TOKEN}" }, "fromEnvironment", { variable: "${TOKEN}" }],
      [{ token: "short" }, "missing", { button }],
      [{ token: "" }, "missing", { button }],
    ] as [Entered, string, Record<string, string>][]) {
      await editor().enter(entered);
      const said = catalogText(`handover.${key}`, { placeholder, ...values });
      (await editor().copyGiven("header")).should.equal(`Authorization: Bearer ${placeholder}`);
      (await note("yours")).should.equal(said);
      (await editor().part("command").innerText()).should.containEql(`Bearer ${placeholder}"`);
      (await editor().part("command-token").innerText()).should.equal(said);
      (await editor().note("seen").isVisible()).should.be.false();
    }
    await editor().enter({ verificationMethod: "query" });
    (await editor().copyGiven("url")).should.equal(`${nodeRed().node("/edited")}?state=${placeholder}`);
    await editor().enter({ sender: "custom" });
    const secret = { placeholder: catalogText("testRequest.secretPlaceholder"), button: catalogText("make.secret") };
    (await editor().copyGiven("secret")).should.equal(secret.placeholder);
    (await note("yours")).should.equal(catalogText("handover.missing", secret));
  });

  it("says to copy in time what Node-RED will not show again, and not what the sender shows", async () => {
    const secret = "0123456789abcdef0123456789abcdef";
    await editor().editAsItIs("edited");
    for (const [entered, key] of [
      [{ token: "x".repeat(40) }, "tokenSeen"],
      [{ sender: "slack", secret }, undefined],
      // It shows the secret, and asks for a word besides.
      [{ sender: "meta", secret }, "tokenSeen"],
      [{ verifyToken: "" }, undefined],
      [{ sender: "github" }, "secretSeen"],
    ] as const) {
      await editor().enter(entered);
      (await editor().note("seen").isVisible()).should.equal(key !== undefined, JSON.stringify(entered));
      if (key) (await note("seen")).should.equal(catalogText(`handover.${key}`));
    }
  });

  it("follows webhookTriggerBaseUrl and the roots, and says who cannot reach the address, or that HTTP nodes are switched off", async () => {
    const url = () => editor().given("url").innerText();
    const reach = editor().note("reach");
    const root = "/";
    await editor().editAsItIs("edited");
    for (const [base, node, shown, key] of [
      ["", root, nodeRed().node(""), "computer"],
      ["http://192.168.1.7:1880", root, "http://192.168.1.7:1880", "network"],
      ["http://localhost:1880", root, "http://localhost:1880", "computer"],
      ["https://example.com/node-red/", "/api", "https://example.com/node-red/api", undefined],
      // Where that setting is no URL, it is the editor's address.
      ["hooks.example.com", root, nodeRed().node(""), "computer"],
    ] as const) {
      await editor().set("webhookTriggerBaseUrl", base);
      await editor().set("webhookTriggerRoots", { admin: "/admin", node });
      // A path of the editor's API is free below another root.
      for (const [relativePath, isFree] of [["/flows", true], ["/admin/flows", node !== root], ["/orders", true]] as const) {
        await editor().enter({ relativePath });
        const rule = isFree ? "" : catalogText("rules.relativePath.admin");
        (await editor().message("relativePath").textContent() ?? "").should.equal(rule, `${base} ${relativePath}`);
      }
      (await url()).should.equal(`${shown}/orders`);
      (await editor().part("command").textContent() ?? "").should.containEql(`"${shown}/orders"`);
      (await reach.isVisible()).should.equal(key !== undefined, base);
      if (!key) continue;
      const host = new URL(shown).hostname;
      (await reach.locator("> span > span").innerText()).should.equal(catalogText(`url.${key}`, { host }));
      should(await reach.locator("a").getAttribute("href")).endWith("/docs/reaching-node-red.md");
    }
    await editor().set("webhookTriggerRoots", { admin: "/", node: false });
    await editor().enter({ relativePath: "/orders/new" });
    (await note("closed")).should.equal(catalogText("url.closed"));
    (await editor().given("url").isVisible()).should.be.false();
    await editor().set("webhookTriggerBaseUrl", undefined);
    await editor().set("webhookTriggerRoots", { admin: "/", node: "/" });
  });

  it("warns that another node has the path, names it and its flow, and shows it", async () => {
    await editor().edit("edited");
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

  it("keeps the token without showing it once it is saved, and replaces it as a whole by typing", async () => {
    await editor().editAsItIs("saved");
    (await type())?.should.equal("password");
    (await editor().message("token").isVisible()).should.be.false();
    (await editor().hint("token").innerText()).should.equal(catalogText("credential.kept"));
    (await editor().tokenButton("show").isDisabled()).should.be.true();
    await editor().input("token").focus();
    await editor().page.keyboard.type("typed");
    (await editor().input("token").inputValue()).should.equal("typed");
    (await editor().tokenButton("show").isDisabled()).should.be.false();
    (await editor().message("token").innerText()).should.equal(catalogText("rules.token.length"));
  });

  it("makes a token of 40 base64url characters, which can be shown again until it is deployed, stays when another field is changed, and replaces another", async () => {
    const status = async (path: string, headers: Record<string, string>) =>
      (await send(nodeRed().node(path), { headers })).status;
    await editor().editAsItIs("renamed");
    await editor().enter({ relativePath: "/other" });
    await editor().done();
    await editor().editAsItIs("replaced");
    const replacing = await editor().makeToken();
    await editor().done();
    await editor().editAsItIs("deployed");
    const token = await editor().makeToken();
    token.should.match(/^[\w-]*$/).and.have.length(tokenLength).and.not.equal(replacing);
    (await type())?.should.equal("text");
    await editor().done();
    await editor().editAsItIs("deployed");
    for (const [label, now, next] of [["credential.show", "password", "text"], ["credential.hide", "text", "password"]] as const) {
      (await type())?.should.equal(now);
      const name = catalogText(label, { name: catalogText("label.token") });
      (await editor().tokenButton("show").getAttribute("aria-label"))?.should.equal(name);
      await editor().tokenButton("show").click();
      (await type())?.should.equal(next);
    }
    (await editor().input("token").inputValue()).should.equal(token);
    await editor().done();
    await editor().deploy();
    await nodeRed().status("renamed", /other/);
    (await status("/other", bearer)).should.equal(200);
    (await status("/deployed", { Authorization: `Bearer ${token}` })).should.equal(200);
    (await status("/replaced", { Authorization: `Bearer ${replacing}` })).should.equal(200);
    (await status("/replaced", bearer)).should.equal(401);
    await editor().editAsItIs("deployed");
    (await editor().tokenButton("show").isDisabled()).should.be.true();
    (await editor().input("token").inputValue()).should.not.equal(token);
  });
}); // prettier-ignore
