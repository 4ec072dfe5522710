import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import type { StoreTrouble } from "../../src/deliveries/queue";
import { fileName, sqliteIsHere } from "../../src/config/stores";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { expireLocks, guaranteed, storeIn } from "../harness/guaranteed";
import { type Reply, send } from "../harness/http";
import { NodeRed, type Options } from "../harness/node-red";
import { temporaryFolder } from "../harness/package";
import { until } from "../harness/until";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

const base: Options = { flow: tab(...guaranteed("safe"), webhook("usual", "/usual")), plugin: moduleOf("hold") };

/** A Node-RED whose store gets into trouble, as its senders and its operator see it. */
class TroubledNodeRed {
  readonly #accepted: string[] = [];

  static async start(options: Options): Promise<TroubledNodeRed> {
    return new TroubledNodeRed(await NodeRed.start({ ...base, ...options }), options);
  }

  private constructor(
    readonly nodeRed: NodeRed,
    readonly options: Options,
  ) {}

  async post(body = "{}"): Promise<Reply> {
    const headers = { ...bearer, "Content-Type": "text/plain" };
    const reply = await send(this.nodeRed.node("/safe"), { headers, body });
    if (reply.status === 200) this.#accepted.push(String(reply.json.id));
    return reply;
  }

  async works(): Promise<void> {
    (await this.post()).status.should.equal(200);
    await this.nodeRed.message(this.#accepted.at(-1));
  }

  /** It refuses requests, shows and logs why, and runs the other flow. */
  async isTroubled(trouble: StoreTrouble, refused?: Reply): Promise<void> {
    refused ??= await this.post();
    refused.status.should.equal(503);
    Number(refused.headers["retry-after"]).should.be.above(0);
    await this.#shows(trouble);
    this.#lines(catalog.store[trouble]).should.not.be.empty();
    const { status, json } = await send(this.nodeRed.node("/usual"), { headers: bearer });
    status.should.equal(200);
    await this.nodeRed.message(json.id);
    should(this.nodeRed.statuses.get("usual")?.fill).equal("green");
  }

  /** All is as before, by itself. */
  async recovers(): Promise<void> {
    await this.nodeRed.until(() => this.#lines(catalog.store.restored)[0], "the store to be back");
    await this.works();
    (await this.nodeRed.status("safe", /^\/safe/)).fill.should.equal("green");
  }

  /** It accepts what fits, and is not green yet: larger bodies may not fit. */
  async acceptsSmallBodies(): Promise<void> {
    await until(async () => (await this.post()).status === 200, "a small body to be accepted");
    await this.nodeRed.message(this.#accepted.at(-1));
    await this.#shows("full");
  }

  /** After a power cut all of what was accepted starts the flow, where the flow had not ended or not even begun. */
  async hasLostNothing(server?: ValkeyServer): Promise<void> {
    const { userDir } = this.nodeRed;
    await this.nodeRed.kill();
    if (server) await expireLocks(server.url());
    const next = await NodeRed.start({ ...base, ...this.options, userDir });
    try {
      for (const id of this.#accepted) await next.message(id);
    } finally {
      await next.kill();
    }
  }

  async #shows(trouble: StoreTrouble): Promise<void> {
    const text = catalog.status.store[trouble];
    const isShown = () => this.nodeRed.statuses.get("safe")?.text === text || undefined;
    await this.nodeRed.until(isShown, `status "${text}"`);
    should(this.nodeRed.statuses.get("safe")).eql({ fill: "red", shape: "ring", text });
  }

  #lines(text: string): string[] {
    const [constant = ""] = text.split("__");
    return this.nodeRed.log.split("\n").filter((line) => line.includes(constant));
  }
}

if (sqliteIsHere()) {
  describe("guaranteed delivery in a file", () => {
    let folder: string;
    let troubled: TroubledNodeRed;
    const start = async (place = folder) => {
      troubled = await TroubledNodeRed.start({ settings: { webhookTriggerStore: { type: "sqlite", folder: place } } });
    };
    beforeEach(() => {
      folder = join(temporaryFolder("troubles"), "deliveries");
      mkdirSync(folder);
    });
    afterEach(() => troubled.nodeRed.kill());

    it("refuses requests with 503 while its folder is missing or read-only, and goes on when it is neither", async () => {
      const link = join(folder, "..", "link");
      await start(link);
      await troubled.isTroubled("unreachable");
      // Linux has a folder that nobody may write to, not even root.
      if (existsSync("/sys")) {
        symlinkSync("/sys", link);
        await troubled.isTroubled("readOnly");
        rmSync(link);
      }
      symlinkSync(folder, link);
      await troubled.recovers();
      await troubled.hasLostNothing();
    });

    it("moves a corrupt file aside, logs where, and begins a new one", async () => {
      const bad = "a letter to a friend ".repeat(1000);
      writeFileSync(join(folder, fileName), bad);
      await start();
      await troubled.works();
      const [aside = ""] = readdirSync(folder).filter((name) => name.includes(".corrupt-"));
      await troubled.nodeRed.logged(new RegExp(`\\[error\\].*${join(folder, aside)}`));
      readFileSync(join(folder, aside), "utf8").should.equal(bad);
      await troubled.hasLostNothing();
    });
  });
}

if (serverIsHere) {
  describe("guaranteed delivery in a server", () => {
    let server: ValkeyServer;
    let troubled: TroubledNodeRed;
    const start = async (args: string[] = [], options: Options = {}) => {
      server = await ValkeyServer.start(...args);
      troubled = await TroubledNodeRed.start({ ...storeIn(server).options, ...options });
    };
    const configure = async (name: string, value: string, url = server.url()) => {
      const client = new Redis(url);
      await client.config("SET", name, value);
      client.disconnect();
    };
    afterEach(async () => {
      await troubled.nodeRed.kill();
      await server.stop();
    });

    it("refuses requests with 503 while the server hangs or is dead, and goes on when it is back", async () => {
      await start();
      await troubled.works();
      server.suspend();
      await troubled.isTroubled("unreachable");
      server.resume();
      await troubled.recovers();
      troubled.nodeRed.log = "";
      await server.kill();
      await troubled.isTroubled("unreachable");
      await server.restart();
      await troubled.recovers();
      await troubled.hasLostNothing(server);
    });

    it("refuses requests with 503 while the server has no memory left, and accepts small ones first when it has", async () => {
      await start(["--maxmemory", "8mb"]);
      // What is left then is less than what the store tries by itself.
      const body = "x".repeat(30_000);
      let last = await troubled.post(body);
      await until(async () => {
        last = await troubled.post(body);
        return last.status !== 200;
      }, "the memory to be full");
      // The server may take the next one again: it frees what it sends.
      await troubled.isTroubled("full", last);
      await configure("maxmemory", "100mb");
      await troubled.acceptsSmallBodies();
      await troubled.hasLostNothing(server);
    });

    it("refuses requests with 503 while the server has another password, and logs neither", async () => {
      server = await ValkeyServer.start("--requirepass", "the-right-one");
      const url = server.url(":hunter2-and-more");
      const settings = { webhookTriggerStore: { type: "bullmq", url } };
      troubled = await TroubledNodeRed.start({ ...storeIn(server).options, settings });
      await troubled.isTroubled("denied");
      troubled.nodeRed.log.should.not.containEql("hunter2");
      await configure("requirepass", "hunter2-and-more", server.url(":the-right-one"));
      await troubled.recovers();
    });

    it("refuses requests with 503 where BullMQ is not installed, and logs how to install it", async () => {
      await start([], { modules: [] });
      await troubled.isTroubled("clientMissing");
      const { userDir } = troubled.nodeRed;
      await troubled.nodeRed.logged(new RegExp(`npm install bullmq@6 ioredis in ${userDir},`));
    });
  });
}
