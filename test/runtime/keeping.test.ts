import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { bearer, tab, webhook, webhookFlow } from "../harness/flow";
import { held, holding } from "../harness/holding";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

const flow = webhookFlow(
  { id: "safe", relativePath: "/safe", guaranteed: true },
  { id: "usual", relativePath: "/usual", guaranteed: false },
);

async function settingsTold(nodeRed: NodeRed): Promise<string> {
  return (await fetch(nodeRed.admin("/settings"))).text();
}

function keepingIn(settings: string): unknown {
  return (JSON.parse(settings) as Record<string, unknown>).webhookTriggerGuaranteed;
}

describe("Guaranteed delivery", () => {
  describe("where this Node.js has no SQLite, and the settings file names no server", () => {
    let nodeRed: NodeRed;
    before(async () => {
      nodeRed = await NodeRed.start({ flow, env: sqliteIsHere() ? { NODE_OPTIONS: "--no-experimental-sqlite" } : {} });
    });
    after(() => nodeRed.stop());

    it("leaves the endpoint closed, and says which Node.js it needs and which one runs", async () => {
      const text = catalog.rules.storeMissing.replace("__value__", process.versions.node);
      text.should.containEql("22.13");
      should(await nodeRed.status("safe", /./)).eql({ fill: "red", shape: "ring", text });
      nodeRed.log.split("\n").filter((line) => line.includes(text) && line.includes("[error]")).should.have.length(1); // prettier-ignore
      (await send(nodeRed.node("/safe"), { headers: bearer })).status.should.equal(404);
    });

    it("lets the nodes run that may lose something", async () => {
      (await send(nodeRed.node("/usual"), { headers: bearer })).status.should.equal(200);
    });

    it("tells the form that nothing can be kept", async () => {
      should(keepingIn(await settingsTold(nodeRed))).equal("none");
    });

    it("tells in the form why a test request does not come", async () => {
      const response = await fetch(nodeRed.admin("/webhook-trigger/safe/test"), { method: "POST" });
      should(await response.json()).eql({ outcome: "closed", rule: "storeMissing", value: process.versions.node });
    });
  });

  describe("where the settings file names a server", () => {
    const password = "hunter2-and-more";
    let nodeRed: NodeRed;
    before(async () => {
      const webhookTriggerStore = { type: "bullmq", url: `redis://keeper:${password}@127.0.0.1:1/0` };
      nodeRed = await NodeRed.start({ settings: { webhookTriggerStore } });
    });
    after(() => nodeRed.stop());

    it("tells the form that it is kept there, and neither the editor nor the log by which password", async () => {
      const settings = await settingsTold(nodeRed);
      should(keepingIn(settings)).equal("server");
      for (const part of [password, "webhookTriggerStore", "redis://", "keeper"]) {
        should(settings.includes(part)).equal(false, part);
        if (part !== "webhookTriggerStore") should(nodeRed.log.includes(part)).equal(false, part);
      }
    });
  });

  it("stays closed where what the settings file says of it is not understood", async () => {
    const webhookTriggerStore = { type: "mysql", url: "mysql://me:password@127.0.0.1" };
    const nodeRed = await NodeRed.start({ flow, settings: { webhookTriggerStore } });
    try {
      const { fill, text } = await nodeRed.status("safe", /webhookTriggerStore.*type$/);
      should(fill).equal("red");
      text.should.not.containEql("password");
      (await send(nodeRed.node("/safe"), { headers: bearer })).status.should.equal(404);
    } finally {
      await nodeRed.stop();
    }
  });

  const itInFile = sqliteIsHere() ? it : () => undefined;
  itInFile("ends what it has begun after it was switched off, and keeps no more then", async () => {
    const flowWith = (on: boolean) =>
      tab(webhook("safe", "/safe", { guaranteed: on, wires: [["hold-safe"]] }), held("safe"));
    const [before, after] = [flowWith(true), flowWith(false)];
    const nodeRed = await NodeRed.start({ flow: before, plugin: holding });
    const attempt = (from: NodeRed, number: number) =>
      from.until(() => from.messages.find(({ webhook }) => webhook.attempt === number), `attempt ${number}`);
    try {
      await send(nodeRed.node("/safe"), { headers: bearer, body: "kept" });
      await attempt(nodeRed, 1);
    } finally {
      await nodeRed.kill();
    }
    const next = await NodeRed.start({ flow: after, plugin: holding, userDir: nodeRed.userDir });
    try {
      should((await attempt(next, 2)).payload).equal("kept");
      const { json } = await send(next.node("/safe"), { headers: bearer, body: "not kept" });
      should((await next.message(json.id)).webhook).not.have.property("attempt");
    } finally {
      await next.stop();
    }
  });

  itInFile("is kept in a file where this Node.js has SQLite, and the settings file names that", async () => {
    const nodeRed = await NodeRed.start({ flow, settings: { webhookTriggerStore: { type: "sqlite" } } });
    try {
      should(keepingIn(await settingsTold(nodeRed))).equal("file");
      (await send(nodeRed.node("/safe"), { headers: bearer })).status.should.equal(200);
    } finally {
      await nodeRed.stop();
    }
  });
});
