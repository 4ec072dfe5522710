import should from "should";
import { catalogText } from "../harness/browser";
import { bearer, token, webhook, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

/** The part of the editor's global that selects and copies. */
declare const RED: {
  view: { select(selection: object): void };
  nodes: {
    node(id: string): Record<string, unknown> | null;
    filterNodes(filter: { type: string }): { id: string }[];
    createExportableNodeSet(nodes: object[]): object[];
  };
};

/** What a node keeps; there is one for each test that leaves it otherwise than it was. */
const settingsOf = (id: string) => ({
  relativePath: `/${id}`,
  verificationMethod: "query",
  queryParameter: "key",
  headerParameter: "X-Token",
  returnQueryParams: true,
  name: `Kept as ${id}`,
});
const kept = ["cancelled", "undone", "copied", "exported"];

const flow = [
  ...webhookFlow(...kept.map((id) => ({ id, ...settingsOf(id) }))),
  { id: "off", type: "tab", label: "Off", disabled: true },
  { ...webhook("sleeping", "/sleeping"), z: "off", x: 200, y: 100, wires: [[]] },
  { id: "group", type: "group", z: "tab", name: "Group", nodes: ["grouped"], style: {}, x: 100, y: 300, w: 200, h: 80 },
  { ...webhook("grouped", "/grouped"), z: "tab", g: "group", x: 200, y: 340, wires: [["sink"]] },
  { id: "subflow", type: "subflow", name: "Hook", in: [], out: [{ x: 300, y: 40, wires: [{ id: "inner", port: 0 }] }], env: [{ name: "WHERE", type: "str", value: "/default" }] },
  { ...webhook("inner", "${WHERE}"), z: "subflow", x: 150, y: 40, wires: [[]] },
  { id: "instance", type: "subflow:subflow", z: "tab", x: 200, y: 500, env: [{ name: "WHERE", type: "str", value: "/instance" }], wires: [["sink"]] },
  { ...webhook("environment", "${HOOK}"), z: "tab", x: 200, y: 600, wires: [["sink"]] },
]; // prettier-ignore

describe("the configuration of a webhook trigger", () => {
  const { editor, nodeRed } = useEditor(flow);

  const fieldsOf = (id: string) =>
    editor().page.evaluate(
      ([wanted, names]) => {
        const node = RED.nodes.node(wanted) ?? {};
        return Object.fromEntries(names.map((name) => [name, node[name]]));
      },
      [id, Object.keys(settingsOf(id))] as const,
    );
  const select = (id: string) =>
    editor().page.evaluate((wanted) => RED.view.select({ nodes: [RED.nodes.node(wanted) ?? {}] }), id);
  const webhooks = () =>
    editor().page.evaluate(() => RED.nodes.filterNodes({ type: "webhook-trigger" }).map(({ id }) => id));

  it("is not touched by Cancel after changes, and comes back with undo, its token included", async () => {
    for (const [id, end] of [
      ["cancelled", () => editor().cancel()],
      ["undone", () => editor().done().then(() => editor().invoke("core:undo"))],
    ] as const) {
      await editor().edit(id);
      await editor().enter({ relativePath: "/other", verificationMethod: "header", returnQueryParams: false });
      if (id === "cancelled") await editor().tokenButton("make").click();
      await end();
      (await editor().isChanged(id)).should.be.false(id);
      should(await fieldsOf(id)).eql(settingsOf(id));
      await editor().edit(id);
      (await editor().hint("token").innerText()).should.equal(catalogText("credential.kept"));
      await editor().cancel();
    }
  });

  it("is copied and pasted, but for the token, which the form says", async () => {
    const before = await webhooks();
    await select("copied");
    await editor().invoke("core:copy-selection-to-internal-clipboard");
    await editor().invoke("core:paste-from-internal-clipboard");
    await editor().page.mouse.click(700, 500);
    const copy = (await webhooks()).find((id) => !before.includes(id)) ?? "";
    should(await fieldsOf(copy)).eql(settingsOf("copied"));
    await editor().edit(copy);
    (await editor().input("token").inputValue()).should.equal("");
    (await editor().hint("token").innerText()).should.equal(catalogText("token.lost"));
    const named = { name: "Kept as copied", flow: "Test" };
    (await editor().note("taken").innerText()).should.containEql(catalogText("url.rival", named));
  });

  it("is exported without the token, also without one that is not deployed yet", async () => {
    await editor().edit("exported");
    await editor().tokenButton("make").click();
    const made = await editor().input("token").inputValue();
    await editor().done();
    const exported = await editor().page.evaluate(() =>
      JSON.stringify(RED.nodes.createExportableNodeSet([RED.nodes.node("exported") ?? {}])),
    );
    (JSON.parse(exported) as object[])[0]?.should.containEql(settingsOf("exported"));
    exported.should.not.containEql(made).and.not.containEql(token).and.not.containEql("credentials");
  });

  it("works with a path from the environment, in groups, in subflows and once its flow is enabled", async () => {
    const works = async (path: string) => (await send(nodeRed().node(path), { headers: bearer })).status;
    for (const path of ["/by-environment", "/grouped", "/instance"]) (await works(path)).should.equal(200, path);
    for (const path of ["/default", "/sleeping"]) (await works(path)).should.equal(404, path);
    await nodeRed().deploy(flow.map((node) => (node.id === "off" ? { ...node, disabled: false } : node)));
    (await works("/sleeping")).should.equal(200);
  });
}); // prettier-ignore
