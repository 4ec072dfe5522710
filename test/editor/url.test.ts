import should from "should";
import { boxOf, catalogText, Editor } from "../harness/browser";
import { webhookFlow } from "../harness/flow";
import type { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

/** Where the apps are mounted, and a path that the editor's API answers there, or that looks like one. */
const layouts = [
  { name: "both roots are /", settings: {}, root: "", apiPath: "/flows", refused: true },
  {
    name: "the roots are separate",
    settings: { httpAdminRoot: "/admin", httpNodeRoot: "/api" },
    root: "/api",
    apiPath: "/flows",
    refused: false,
  },
  {
    name: "the editor is below the nodes",
    settings: { httpAdminRoot: "/admin" },
    root: "",
    apiPath: "/admin/flows",
    refused: true,
  },
];

describe("the URL under the Relative Path", () => {
  let nodeRed: NodeRed;
  let editor: Editor;

  /** Has every test of a suite start in the form of a webhook trigger, in a Node-RED with these settings. */
  function editWith(settings: Record<string, unknown>) {
    before(async () => {
      nodeRed = await sharedNodeRed(webhookFlow({ id: "webhook", relativePath: "/orders" }), { settings });
      editor = await Editor.open(await sharedBrowser(), nodeRed);
    });
    beforeEach(() => editor.edit("webhook"));
    afterEach(() => editor.cancel());
    after(() => editor.close());
  }

  for (const { name, settings, root, apiPath, refused } of layouts) {
    describe(`when ${name}`, () => {
      editWith(settings);

      it("is the one that callers use, as the path is typed", async () => {
        (await editor.url.innerText()).should.equal(`${nodeRed.origin}${root}/orders`);
        for (const [typed, path] of [
          ["orders/new", "/orders/new"],
          ["/orders/", "/orders"],
        ] as const) {
          await editor.input("relativePath").fill(typed);
          (await editor.url.innerText()).should.equal(`${nodeRed.origin}${root}${path}`);
        }
      });

      it("is copied by its button", async () => {
        (await editor.copyGiven("url")).should.equal(`${nodeRed.origin}${root}/orders`);
      });

      for (const path of ["/orders/*", "${ORDERS}"]) {
        it(`is not shown for ${path}`, async () => {
          await editor.input("relativePath").fill(path);
          (await editor.url.isVisible()).should.be.false();
        });
      }

      it(`${refused ? "may not" : "may"} end in ${apiPath}, as at run time`, async () => {
        await editor.input("relativePath").fill(apiPath);
        const message = refused ? catalogText("rules.relativePath.admin") : "";
        (await editor.message("relativePath").innerText()).should.equal(message);
      });
    });
  }

  for (const [setting, base] of [
    ["https://example.com/node-red/", "https://example.com/node-red"],
    ["hooks.example.com", undefined],
  ] as const) {
    describe(`when webhookTriggerBaseUrl is ${setting}`, () => {
      editWith({ webhookTriggerBaseUrl: setting, httpNodeRoot: "/api" });

      it(base === undefined ? "is not misled, and the log says so" : "begins with it", async () => {
        (await editor.url.innerText()).should.equal(`${base ?? nodeRed.origin}/api/orders`);
        (await editor.command.innerText()).should.containEql(`"${base ?? nodeRed.origin}/api/orders"`);
        nodeRed.log.includes(catalogText("settings.baseUrl")).should.equal(base === undefined);
      });
    });
  }

  describe("when HTTP nodes are switched off", () => {
    editWith({ httpNodeRoot: false });

    it("gives way to a warning", async () => {
      (await editor.note("closed").innerText()).trim().should.equal(catalogText("url.closed"));
      (await editor.url.isVisible()).should.be.false();
    });
  });
});

describe("a path that another node has", () => {
  let editor: Editor;
  before(async () => {
    const nodeRed = await sharedNodeRed([
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
      { id: "post", type: "http in", z: "tab", x: 100, y: 300, url: "/posted", method: "post", name: "", wires: [[]] },
      { id: "get", type: "http in", z: "tab", x: 100, y: 300, url: "/got", method: "get", name: "", wires: [[]] },
      {
        id: "off",
        type: "http in",
        z: "tab",
        x: 100,
        y: 300,
        url: "/off",
        method: "post",
        name: "",
        d: true,
        wires: [[]],
      },
    ]);
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    await editor.edit("edited");
  });
  after(() => editor.close());

  for (const [what, path, key, name] of [
    ["another webhook trigger, by its name", "/named", "url.takenByWebhook", 'Shop & "more" <b>'],
    [
      "another webhook trigger, by its type if it has no name",
      "/nameless",
      "url.takenByWebhook",
      catalogText("paletteLabel"),
    ],
    ["another webhook trigger in another letter case", "/NAMED", "url.takenByWebhook", 'Shop & "more" <b>'],
    ["another webhook trigger with a trailing slash", "/named/", "url.takenByWebhook", 'Shop & "more" <b>'],
    ["another webhook trigger without the leading slash", "named", "url.takenByWebhook", 'Shop & "more" <b>'],
    ["an http in for POST", "/posted", "url.takenByHttpIn", "http in"],
  ] as const) {
    it(`is pointed out for ${what}`, async () => {
      await editor.input("relativePath").fill(path);
      (await editor.warning.innerText()).should.equal(catalogText(key));
      const named = catalogText("url.rival", { name, flow: "Test" });
      (await editor.rival.innerText()).should.equal(named);
      should(await editor.rival.getAttribute("aria-label")).equal(catalogText("url.reveal", { name: named }));
    });
  }

  it("is shown in the workspace, on its own flow, by a click", async () => {
    await editor.input("relativePath").fill("/far");
    await editor.rival.click();
    await editor.page.locator(".red-ui-tab.active", { hasText: "Far away" }).waitFor();
    await editor.page
      .locator("#far.red-ui-flow-node-highlighted, #far .red-ui-flow-node-highlighted")
      .first()
      .waitFor();
    // The form lies over the middle of the flow.
    const { x, width } = await boxOf(editor.page.locator("#far"));
    (x + width).should.be.below((await boxOf(editor.page.locator(".red-ui-tray"))).x);
    // The form stays open, and knows its node still.
    (await editor.input("relativePath").inputValue()).should.equal("/far");
    await editor.input("relativePath").fill("/edited");
    (await editor.rival.isVisible()).should.be.false();
  });

  for (const [what, path] of [
    ["the node itself", "/edited"],
    ["an http in for GET", "/got"],
    ["a disabled webhook trigger", "/disabled"],
    ["a webhook trigger on a disabled flow", "/elsewhere"],
    ["a disabled http in", "/off"],
    ["a webhook trigger without a path", ""],
  ] as const) {
    it(`is not pointed out for ${what}`, async () => {
      await editor.input("relativePath").fill("/named");
      await editor.warning.waitFor();
      await editor.input("relativePath").fill(path);
      (await editor.warning.isVisible()).should.be.false();
    });
  }
});
