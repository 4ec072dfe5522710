import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { handlingDefaults } from "../../src/config/fields";
import { backoffAfter } from "../../src/config/parse";
import { handlingFields } from "../../src/config/rules";
import { parseStoreSettings, type StoreSettings } from "../../src/config/stores";
import { clientPackages } from "../../src/deliveries/bullmq/server";
import { unfinished } from "../../src/deliveries/delivery";
import { maxRefusedPerSecond } from "../../src/deliveries/delivery-log";
import { maxAnswersBytes, maxKeys } from "../../src/deliveries/duplicates";
import { breakerIntervalMs } from "../../src/deliveries/queue";
import { maxWaitingBytes } from "../../src/deliveries/sqlite/file-thread";
import { fileName, maxAge, maxBytes } from "../../src/deliveries/sqlite/sqlite-queue";
import { holdTimeoutMs } from "../../src/flow/deploy-gate";
import { problems } from "../../src/request/problem";
import { paste } from "../harness/curl";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { root } from "../harness/package";
import { Page } from "../harness/pages";
import { readme } from "../harness/readme";
import { ShownDeliveries } from "../harness/shown-deliveries";

const page = new Page("guaranteed-delivery.md");
const megabyte = 1024 * 1024;
const number = (value: number) => value.toLocaleString("en-US");
const [check = ""] = page.blocks("js").filter((code) => code.includes("statusCode"));

describe("the guide of guaranteed delivery", () => {
  it("has the fields of the form, with their defaults and values", () => {
    const rows = page.source.replace(/ +/g, " ");
    const names = ["attempts", "backoffFirst", "backoffLongest", "attemptTimeout", "concurrency", "ratePerMinute", "breaker"] as const; // prettier-ignore
    for (const name of names) {
      const { default: usual, min, max } = handlingFields[name];
      rows.should.containEql(`\n| **${catalog.label[name]}** | ${usual} | ${min} to ${max} |`);
    }
  });

  it("has the figures of the code", () => {
    const { attempts: all, backoffFirst, backoffLongest, attemptTimeout } = handlingDefaults;
    let seconds = 0;
    for (let failures = 1; failures < all; failures++) seconds += backoffAfter(handlingDefaults, failures);
    breakerIntervalMs.should.equal(60_000);
    for (const figure of [
      `has ${all} attempts. The second one starts ${backoffFirst} seconds after the first failure`,
      `up to ${backoffLongest} seconds. So a delivery is tried for ${Math.round(seconds / 60)} minutes`,
      `${attemptTimeout / 60} minutes by default`,
      `for ${maxAge / 86_400_000} days, and all deliveries take ${maxBytes / megabyte / 1024} GB at most`,
      `without bodies, ${maxRefusedPerSecond} a second`,
      `At most ${maxWaitingBytes / megabyte} MB wait to be written`,
      `${number(maxKeys)} keys of duplicates are stored at most, with ${maxAnswersBytes / megabyte} MB of replies`,
      `\`Retry-After: ${problems.storeTroubled.headers["Retry-After"]}\``,
      `\`Retry-After: ${problems.paused.headers["Retry-After"]}\` while it is paused`,
      `${fileName}.corrupt-<time>`,
      `wait for up to ${holdTimeoutMs / 1000} seconds`,
    ]) {
      page.text.includes(figure).should.be.true(figure);
    }
  });

  it("has the states of a stored delivery", () => {
    for (const state of [...unfinished, "succeeded", "failed"]) {
      page.source.should.match(new RegExp(`^\\| \`${state}\` +\\|`, "m"));
    }
  });

  it("has each status of a store, and what to do", () => {
    const rows = page.source.split("\n").filter((line) => line.startsWith("|"));
    for (const status of Object.values(catalog.status.store)) {
      rows.filter((row) => row.includes(` ${status} `)).should.have.length(1, status);
    }
  });

  it("has settings that are understood", () => {
    const env = { WEBHOOK_STORE_URL: "redis://:secret@127.0.0.1:6379", WEBHOOK_STORE_PASSWORD: "secret" };
    const lines = page.blocks("js").filter((code) => code.startsWith("webhookTriggerStore"));
    const parsed = lines.map((code) => {
      const { webhookTriggerStore } = runInNewContext(`({ ${code} })`, { process: { env } }) as Record<string, unknown>;
      return parseStoreSettings(JSON.parse(JSON.stringify(webhookTriggerStore)));
    });
    const password = env.WEBHOOK_STORE_PASSWORD;
    const host = (address: string, port: number) => ({ host: address, port });
    const sentinels = [host("10.0.0.21", 26379), host("10.0.0.22", 26379)];
    const cluster = [host("10.0.0.31", 6379), host("10.0.0.32", 6379)];
    const expected: StoreSettings[] = [
      { type: "sqlite", folder: "/var/lib/node-red" },
      { type: "bullmq", url: env.WEBHOOK_STORE_URL },
      { type: "bullmq", connection: { sentinels, name: "primary", password }, namespace: "orders" },
      { type: "bullmq", cluster, connection: { password, tls: {} } },
    ];
    should(parsed).eql(expected);
  });

  it("has the command that installs what a server needs", () => {
    page.block("sh", "npm").trim().should.equal(`npm install ${clientPackages}`);
  });

  it("has the check of the example", () => {
    const name = "API call, retried until it succeeds";
    page.text.should.containEql(`**${name}**`);
    const nodes = JSON.parse(readFileSync(join(root, "examples", `${name}.json`), "utf8")) as Record<string, unknown>[];
    should(nodes.filter(({ func }) => func === check)).have.length(1);
  });

  it("is led to by the README", () => {
    for (const text of ["(docs/guaranteed-delivery.md)", "`webhookTriggerStore`", "--instances 3"]) {
      readme.includes(text).should.be.true(text);
    }
  });

  describe("is right about a flow", () => {
    let nodeRed: NodeRed;
    before(async () => {
      const code = (id: string, func: string, wires: string[]) => ({ id, type: "function", func, outputs: 1, wires: [wires] }); // prettier-ignore
      const api = `const isBusy = msg.webhook.attempt === 1;
        msg.statusCode = isBusy ? 503 : 200;
        msg.headers = isBusy ? { "retry-after": "0" } : {};
        return msg;`;
      nodeRed = await NodeRed.start({
        flow: tab(
          webhook("calls", "/calls", { guaranteed: true, wires: [["api"]] }),
          code("api", api, ["check"]),
          code("check", check, ["sink"]),
        ),
      });
    });
    after(() => nodeRed.stop());

    it("that checks the status and chooses the delay of the next attempt", async () => {
      const { json } = await send(nodeRed.node("/calls"), { headers: bearer });
      const { webhook: known } = await nodeRed.message(json.id);
      should(known).containEql({ attempt: 2 });
      const delivery = await new ShownDeliveries(nodeRed).find(({ state }) => state === "succeeded");
      delivery.should.have.property("attempt", 2);
    });

    it("that another instance reads anew", async () => {
      const line = page.block("sh", "curl").replace("http://10.0.0.12:1880", nodeRed.origin);
      (await paste([line.trim()])).status.should.equal(204);
    });
  });
});
