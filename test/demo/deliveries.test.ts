import { runInNewContext } from "node:vm";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { maxPageSize, defaultPageSize } from "../../src/admin/deliveries-api";
import { parseDeliverySettings } from "../../src/config/stores";
import { finished, unfinished } from "../../src/deliveries/delivery";
import { maxRecentStarts, maxRefusedPerSecond } from "../../src/deliveries/delivery-log";
import { maxShownBytes } from "../../src/deliveries/lists";
import { maxLogBytes, maxLogPerNode } from "../../src/deliveries/memory-log";
import { maxAge, maxBytes } from "../../src/deliveries/sqlite/sqlite-queue";
import { paste } from "../harness/curl";
import { bearer, webhook, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { Page } from "../harness/pages";
import { section } from "../harness/readme";
import { ShownDeliveries } from "../harness/shown-deliveries";

const page = new Page("deliveries.md");
const megabyte = 1024 * 1024;

describe("the page of deliveries", () => {
  it("has the figures of the code", () => {
    maxRefusedPerSecond.should.equal(10);
    for (const figure of [
      `the last ${maxLogPerNode} of each node`,
      `${maxLogBytes / megabyte} MB`,
      `${maxAge / 86_400_000} days`,
      `${maxBytes / megabyte / 1024} GB`,
      `\`limit\`: ${defaultPageSize}, at most ${maxPageSize}`,
      `${maxShownBytes / megabyte} MB at most`,
      `the last ${maxRecentStarts.toLocaleString("en-US")}`,
    ]) {
      page.text.includes(figure).should.be.true(figure);
    }
  });

  it("has each state, by the word that the tab has for it", () => {
    for (const state of [...unfinished, ...finished]) {
      page.source.should.match(new RegExp(`^\\| ${catalog.tab.state[state]} +\\|`, "m"));
    }
  });

  it("sets what the code understands, as the README does", () => {
    const { webhookTriggerDeliveries: set } = runInNewContext(`({ ${page.block("js")} })`) as Record<string, unknown>;
    should(parseDeliverySettings(JSON.parse(JSON.stringify(set)))).eql({ keep: 1000, bytes: 50_000_000, bodies: false });
    const [, inReadme = ""] = /^\| `webhookTriggerDeliveries` +\| `([^`]+)`/m.exec(section("Settings")) ?? [];
    const usual = { keep: maxLogPerNode, bytes: maxLogBytes, bodies: true };
    should(JSON.parse(JSON.stringify(runInNewContext(`(${inReadme})`)))).eql(usual);
  });

  it("asks for what has failed, by a line for a terminal", async () => {
    const failing = { id: "f", type: "function", z: "tab", func: 'throw new Error("no");', wires: [[]] };
    const code = "adminAuth: { type: 'credentials', users: [], tokens: async () => ({ username: 'me', permissions: '*' }) }"; // prettier-ignore
    const nodeRed = await NodeRed.start({ flow: [...webhookFlow(webhook("a", "/a", { wires: [["f"]] })), failing], code });
    try {
      await send(nodeRed.node("/a"), { headers: bearer });
      await new ShownDeliveries(nodeRed, { Authorization: "Bearer any" }).find(({ state }) => state === "failed");
      const line = page.block("sh").replace("http://127.0.0.1:1880", nodeRed.origin);
      const { status, json } = await paste(["ADMIN_TOKEN=any", line]);
      status.should.equal(200);
      should(json.deliveries).match([{ node: "a", state: "failed" }]);
    } finally {
      await nodeRed.stop();
    }
  });
}); // prettier-ignore
