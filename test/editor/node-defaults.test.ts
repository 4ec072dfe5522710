import should from "should";
import type { SavedFields } from "../../src/config/fields";
import { catalogText, type Section } from "../harness/browser";
import { tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const newNodes = (given: Partial<SavedFields>) => ({ settings: { nodeDefaults: { "webhook-trigger": given } } });
/** Older than most fields. */
const older = { id: "older", type: "webhook-trigger", name: "", relativePath: "/older", credentials: { token } };
const flow = tab(webhook("saved", "/saved"), older);

describe("a new node, with nodeDefaults in the settings file", () => {
  const given = {
    ...{ relativePath: "/all", verificationMethod: "query", queryParameter: "key", methods: ["PUT"] },
    ...{ guaranteed: true, concurrency: 4, ignoreDuplicates: true, duplicateKey: "header:X-Id", rateLimit: 60 },
  };
  const { editor, nodeRed } = useEditor(flow, newNodes(given));

  it("has them in its fields, rows and headings, and a token of its own, and works", async () => {
    const id = await editor().drop("webhook-trigger", 500, 300);
    await editor().editAsItIs(id);
    const values = ["relativePath", "verificationMethod", "queryParameter", "concurrency", "duplicateKey"] as const;
    for (const field of values) (await editor().input(field).inputValue()).should.equal(String(given[field]));
    const text = (key: string, filled: Record<string, string>) => catalogText(`section.${key}`, filled);
    const headings: Partial<Record<Section, string>> = {
      duplicates: text("duplicatesKnown", { hours: "72", key: "header:X-Id" }),
      limits: `PUT · ${text("anyAddress", {})} · ${text("rate", { rate: "60" })}`,
      guaranteed: `${text("guaranteedInFile", {})} · ${text("concurrency", { count: "4" })}`,
    };
    for (const [section, heading] of Object.entries(headings)) {
      (
        await editor()
          .state(section as Section)
          .innerText()
      ).should.equal(heading);
    }
    (await editor().openSections()).should.eql([]);
    const made = await editor().input("token").inputValue();
    made.should.match(/^[\w-]{40}$/);
    await editor().edit(id);
    (await editor().input("queryParameter").isVisible()).should.be.true();
    (await editor().input("headerParameter").isVisible()).should.be.false();
    await editor().done();
    for (const [field, value] of Object.entries(given)) {
      should(await editor().saved(id, field)).eql(value);
    }
    (await editor().isValid(id)).should.be.true();
    await editor().deploy();
    await nodeRed().status(id, /^\/all/);
    const call = { method: "PUT", headers: { "X-Id": "1" } };
    (await send(nodeRed().node(`/all?key=${made}`), call)).json.should.have.property("status", "accepted");
  });

  it("leaves nodes as they are that are there already", async () => {
    for (const id of ["saved", "older"]) {
      await editor().edit(id);
      (await editor().input("verificationMethod").inputValue()).should.equal("header");
      (await editor().input("guaranteed").isChecked()).should.be.false();
      (await editor().input("relativePath").inputValue()).should.equal(`/${id}`);
      await editor().done();
      should([id, await editor().isChanged(id)]).eql([id, false]);
    }
  });
});

describe("a new node, with a sender in nodeDefaults", () => {
  const { editor } = useEditor(flow, newNodes({ sender: "github", headerParameter: "X-Token" }));

  it("is filled in as if that was chosen, but for the other defaults, which any other choice brings back", async () => {
    await editor().edit(await editor().drop("webhook-trigger", 500, 300));
    const values = async () => {
      const fields = ["sender", "verificationMethod", "headerParameter", "relativePath"] as const;
      return Promise.all(fields.map((field) => editor().input(field).inputValue()));
    };
    const [sender, method, header, path] = await values();
    should([sender, method, header]).eql(["github", "signature", "X-Token"]);
    should(path).match(/^\/hook-/);
    (await editor().input("secret").inputValue()).should.match(/^[\w-]{40}$/);
    for (const [chosen, filledIn, placed] of [
      ["", "header", "X-Token"],
      ["gitlab", "header", "X-Gitlab-Token"],
      ["alertmanager", "header", "Authorization"],
      ["", "header", "X-Token"],
    ] as const) {
      await editor().enter({ sender: chosen });
      should(await values()).eql([chosen, filledIn, placed, path]);
    }
  });
});
