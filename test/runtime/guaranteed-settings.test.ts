import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { sqliteIsHere } from "../../src/config/stores";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { guaranteed } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";

const flow = tab(webhook("safe", "/safe", { guaranteed: true }), webhook("usual", "/usual"));

/** What the settings for the editor say: the text, and which store there is. */
async function readSettings(nodeRed: NodeRed) {
  const { body, json } = await send(nodeRed.admin("/settings"), { method: "GET" });
  return { text: body, store: json.webhookTriggerGuaranteed };
}

describe("guaranteed delivery where Node.js has no SQLite, and the settings file names no server", () => {
  const nodeRed = useNodeRed({ flow, env: sqliteIsHere() ? { NODE_OPTIONS: "--no-experimental-sqlite" } : {} });

  it("keeps the node closed, says which Node.js it needs, also in the form and to a test request, and runs the other nodes", async () => {
    const text = catalog.rules.storeMissing.replace("__value__", process.versions.node);
    text.should.containEql("22.13");
    should(await nodeRed().status("safe", /./)).eql({ fill: "red", shape: "ring", text });
    nodeRed().log.split("\n").filter((line) => line.includes(text) && line.includes("[error]")).should.have.length(1); // prettier-ignore
    (await send(nodeRed().node("/safe"), { headers: bearer })).status.should.equal(404);
    (await send(nodeRed().node("/usual"), { headers: bearer })).status.should.equal(200);
    should((await readSettings(nodeRed())).store).equal("none");
    const { json } = await command(nodeRed().admin("/webhook-trigger/safe/test"));
    should(json).eql({ outcome: "closed", rule: "storeMissing", value: process.versions.node });
  });
});

describe("guaranteed delivery in a server that the settings file names", () => {
  const url = "redis://keeper:hunter2-and-more@127.0.0.1:1/0";
  const nodeRed = useNodeRed({ settings: { webhookTriggerStore: { type: "bullmq", url } } });

  it("shows neither the editor nor the log the user and the password of the server", async () => {
    const { text, store } = await readSettings(nodeRed());
    should(store).equal("server");
    text.should.containEql("redis://[redacted]@127.0.0.1:1/0");
    for (const part of ["hunter2-and-more", "keeper"]) `${text}${nodeRed().log}`.should.not.containEql(part);
  });
});

describe("guaranteed delivery with a store that is not understood", () => {
  const nodeRed = useNodeRed({
    flow,
    settings: { webhookTriggerStore: { type: "mysql", url: "mysql://me:password@h" } },
  });

  it("keeps the node closed, and names the setting but not its password", async () => {
    const { fill, text } = await nodeRed().status("safe", /webhookTriggerStore\.type is/);
    should(fill).equal("red");
    text.should.not.containEql("password");
    (await send(nodeRed().node("/safe"), { headers: bearer })).status.should.equal(404);
  });
});

if (sqliteIsHere()) {
  describe("guaranteed delivery that is switched off", () => {
    it("finishes what it has begun in its file, and stores nothing more", async () => {
      const settings = { webhookTriggerStore: { type: "sqlite" } };
      const options = (on: boolean) => ({ flow: tab(...guaranteed("safe", { guaranteed: on })), plugin: moduleOf("hold"), settings }); // prettier-ignore
      const attempt = (from: NodeRed, number: number) =>
        from.until(() => from.messages.find(({ webhook: { attempt } }) => attempt === number), `attempt ${number}`);
      const first = await NodeRed.start(options(true));
      try {
        should((await readSettings(first)).store).equal("file");
        (await send(first.node("/safe"), { headers: bearer, body: "kept" })).status.should.equal(200);
        await attempt(first, 1);
      } finally {
        await first.kill();
      }
      const next = await NodeRed.start({ ...options(false), userDir: first.userDir });
      try {
        should((await attempt(next, 2)).payload).equal("kept");
        const { json } = await send(next.node("/safe"), { headers: bearer, body: "not kept" });
        should((await next.message(json.id)).webhook).not.have.property("attempt");
      } finally {
        await next.stop();
      }
    });
  });
}
