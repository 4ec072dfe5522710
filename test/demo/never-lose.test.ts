import should from "should";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { roundInterval } from "../../nodes/runtime/completion";
import { parseStoreSettings, type StoreSettings } from "../../nodes/runtime/store-settings";
import { mostRounds } from "../../nodes/runtime/trails";
import { handlingDefaults } from "../../src/config/fields";
import { backoffAfter } from "../../src/config/handling";
import { timing } from "../../src/deliveries/ground";
import { claimEvery } from "../../src/deliveries/keeper";
import { mostAtOnce, mostWaiting, step } from "../../src/deliveries/line";
import { mostBytesOfAnswers, mostKeys } from "../../src/deliveries/memory-duplicates";
import { mostBytesInMemory, mostOfNode } from "../../src/deliveries/memory-store";
import { fileName, maxAge, maxBytes } from "../../src/deliveries/sqlite-store";
import { mostWaiting as mostWaitingForFile } from "../../src/deliveries/sqlite/thread";
import { mostWaiting as mostWaitingForServer } from "../../src/deliveries/valkey/adding";
import { clientIsHere, clientName } from "../../src/deliveries/valkey/module";
import { beatEvery, beatLasts, ValkeyStore } from "../../src/deliveries/valkey-store";
import { problems } from "../../src/problem";
import { mostRefusedASecond } from "../../src/records";
import { holdTimeoutMs } from "../../src/http/deploy-gate";
import { paste } from "../harness/curl";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { Nginx, nginxIsHere } from "../harness/nginx";
import { NodeRed } from "../harness/node-red";
import { Page } from "../harness/pages";
import { readme } from "../harness/readme";
import { Told } from "../harness/stores";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

const page = new Page("never-lose.md");
const megabyte = 1024 * 1024;
const seconds = (milliseconds: number) => milliseconds / 1000;

/** What a line of a settings file sets. */
function settingsIn(code: string, env: Record<string, string> = {}): unknown {
  return (runInNewContext(`({ ${code} })`, { process: { env } }) as Record<string, unknown>).webhookTriggerStore;
}

describe("the page of what is never lost", () => {
  it("has the figures of the code", () => {
    const number = (value: number) => value.toLocaleString("en-US");
    const { attempts, backoffFirst, backoffLongest } = handlingDefaults;
    let span = 0;
    for (let failures = 1; failures < attempts; failures++) span += backoffAfter(handlingDefaults, failures);
    mostWaitingForFile.should.equal(mostWaitingForServer);
    for (const figure of [
      `has ${attempts} attempts: the flow is started again ${backoffFirst} seconds after the first failure`,
      `up to ${backoffLongest} seconds. So it is tried for ${Math.round(span / 60)} minutes`,
      `At most ${number(mostWaiting)} wait in memory`,
      `with ${seconds(timing.alone)} seconds before the next`,
      `done after ${(mostRounds * roundInterval) / 60_000} minutes`,
      `the last ${mostOfNode} a node, ${mostBytesInMemory / megabyte} MB in all`,
      `finished for ${maxAge / 86_400_000} days; ${maxBytes / megabyte / 1024} GB in all`,
      `refused requests up to ${mostRefusedASecond} a second`,
      `at most ${mostWaitingForFile / megabyte} MB of memory`,
      `${number(mostKeys)} at most, with answers of ${mostBytesOfAnswers / megabyte} MB`,
      `At most ${number(mostAtOnce)} deliveries that run`,
      `${step / seconds(timing.patience)} a second`,
      `\`Retry-After: ${problems.storeTroubled.headers["Retry-After"]}\``,
      `${fileName}.corrupt-<time>`,
      `every ${seconds(beatEvery)} seconds that it lives; it is held to live for ${seconds(beatLasts)} seconds`,
      `look every ${seconds(claimEvery)} seconds`,
      `${seconds(beatLasts - beatEvery)} to ${seconds(beatLasts + claimEvery)} seconds after its end`,
      `busy for more than ${seconds(beatLasts - beatEvery)} seconds`,
      `each tells every ${seconds(beatEvery)} s that it lives, and asks every ${seconds(claimEvery)} s`,
      `requests wait for up to ${seconds(holdTimeoutMs)} seconds`,
    ]) {
      page.text.includes(figure).should.be.true(figure);
    }
  });

  it("has each status of a store, and what to do", () => {
    const rows = page.source.split("\n").filter((line) => line.startsWith("|"));
    for (const status of Object.values(catalog.status.store)) {
      rows.filter((row) => row.includes(` ${status} `)).should.have.length(1, status);
    }
  });

  it("has settings that are understood", () => {
    const url = "redis://:secret@127.0.0.1:6379";
    const given = page.blocks("js").map((code) => parseStoreSettings(settingsIn(code, { WEBHOOK_STORE_URL: url })));
    const expected: StoreSettings[] = [
      { type: "sqlite", folder: "/var/lib/node-red" },
      { type: "valkey", url, namespace: "orders" },
    ];
    should(given).eql(expected);
  });

  it("names the client that has to be installed", () => {
    page.block("sh", "npm").trim().should.equal(`npm install ${clientName}`);
  });

  it("is led to by the README, which has the setting and the count of attempts", () => {
    for (const text of [
      "(docs/never-lose.md)",
      "`webhookTriggerStore`",
      "`attempt`",
      "npm run demo -- --instances 3",
    ]) {
      readme.includes(text).should.be.true(text);
    }
  });

  it("has a line that has an instance read its flow file anew", async () => {
    const nodeRed = await NodeRed.start({ flow: tab(webhook("old", "/old")) });
    try {
      const [, line = ""] = /`(curl [^`]+)`/.exec(page.text) ?? [];
      const [{ credentials, ...node }] = [webhook("new", "/new")];
      writeFileSync(join(nodeRed.userDir, "flows.json"), JSON.stringify(tab(node)));
      writeFileSync(join(nodeRed.userDir, "flows_cred.json"), JSON.stringify({ new: credentials }));
      await paste([line.replace("http://10.0.0.12:1880", nodeRed.origin)]);
      await nodeRed.status("new", /^\/new/);
      (await send(nodeRed.node("/new"), { headers: bearer })).status.should.equal(200);
      (await send(nodeRed.node("/old"), { headers: bearer })).status.should.equal(404);
    } finally {
      await nodeRed.stop();
    }
  });

  if (serverIsHere && clientIsHere()) {
    it("has a configuration with which a server loses nothing, and no other is that", async () => {
      const lines = page.block("conf").trim().split("\n");
      const args = lines.flatMap((line) => line.split(" ").map((part, index) => (index === 0 ? `--${part}` : part)));
      const password = lines.find((line) => line.startsWith("requirepass"))?.split(" ")[1] ?? "";
      const warningsWith = async (...more: string[]) => {
        const server = await ValkeyServer.start(...args, ...more);
        const [store, told] = [new ValkeyStore({ url: server.url(`:${password}`) }), new Told()];
        await store.open(told);
        await store.close();
        await server.stop();
        return told.warnings;
      };
      should(await warningsWith()).eql([]);
      should(await warningsWith("--appendonly", "no")).eql(["notPersistent"]);
      should(await warningsWith("--appendfsync", "everysec")).eql(["everySecond"]);
      should(await warningsWith("--maxmemory-policy", "allkeys-lru")).eql(["evicts"]);
    });
  }

  if (nginxIsHere) {
    describe("is right about nginx, which", () => {
      const servers: Server[] = [];
      let nginx: Nginx | undefined;
      afterEach(async () => {
        await nginx?.stop();
        for (const server of servers.splice(0)) server.close();
      });

      /** An instance that ends the connection instead of answering. */
      const listening = async (answers: boolean) => {
        const server = createServer((_request, response) => (answers ? response.end() : response.destroy()));
        servers.push(server.listen(0, "127.0.0.1"));
        await once(server, "listening");
        return `server 127.0.0.1:${(server.address() as AddressInfo).port};`;
      };
      /** The statuses of as many requests as there are instances, the first of which goes away. */
      const statuses = async (more: string) => {
        const instances = [await listening(false), await listening(true)];
        nginx = await Nginx.start((port) =>
          page
            .block("nginx", "upstream")
            .replace(/( *server 10\..*\n)+/, instances.join("\n"))
            .replace("listen 80;", `listen 127.0.0.1:${port};`)
            .replace("proxy_pass", `${more} proxy_pass`),
        );
        const { origin } = nginx;
        return [await send(origin + "/hook"), await send(origin + "/hook")].map(({ status }) => status);
      };
      const [, directive = ""] = /`(proxy_next_upstream [^`]+)`/.exec(page.text) ?? [];

      it("does not send a request to another instance that was on its way to one", async () => {
        should((await statuses("")).sort()).eql([200, 502]);
      });

      it("does that where it is told to", async () => {
        directive.should.containEql("non_idempotent");
        should(await statuses(directive)).eql([200, 200]);
      });
    });
  }
});
