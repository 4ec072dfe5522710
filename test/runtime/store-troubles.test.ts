import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import type { StoreTrouble } from "../../src/deliveries/queue";
import { fileName } from "../../src/deliveries/sqlite/sqlite-queue";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { bearer, tab, webhook } from "../harness/flow";
import { guaranteed, keepIn } from "../harness/guaranteed";
import { held, holding } from "../harness/holding";
import { type Reply, send } from "../harness/http";
import { NodeRed, type Options } from "../harness/node-red";
import { temporaryFolder } from "../harness/package";
import { until } from "../harness/until";
import { serverIsHere, ValkeyServer } from "../harness/valkey";
import { Wire } from "../harness/wire";

const flow = tab(guaranteed("safe"), held("safe"), webhook("usual", "/usual"));
const plugin = holding;
/** A text of the catalog, as far as it is the same each time. */
const constant = (text: string) => text.split("__")[0] ?? "";

/** A Node-RED whose store gets into trouble, as its callers and its operator see it. */
class Patient {
  readonly accepted: string[] = [];
  readonly #nodeRed: NodeRed;

  static async start(options: Options): Promise<Patient> {
    return new Patient(await NodeRed.start({ flow, plugin, ...options }));
  }

  private constructor(nodeRed: NodeRed) {
    this.#nodeRed = nodeRed;
  }

  get nodeRed(): NodeRed {
    return this.#nodeRed;
  }

  async post(body = "{}"): Promise<Reply> {
    const reply = await send(this.#nodeRed.node("/safe"), {
      headers: { ...bearer, "Content-Type": "text/plain" },
      body,
    });
    if (reply.status === 200) this.accepted.push(String(reply.json.id));
    return reply;
  }

  async works(): Promise<void> {
    (await this.post()).status.should.equal(200);
    await this.#nodeRed.message(this.accepted.at(-1));
  }

  /** It promises nothing that it cannot keep, says so, and the other flow runs on. */
  async isTroubled(trouble: StoreTrouble, body?: string): Promise<void> {
    const refused = await this.post(body);
    refused.status.should.equal(503);
    Number(refused.headers["retry-after"]).should.be.above(0);
    const text = catalog.status.store[trouble];
    const isShown = () => this.#nodeRed.statuses.get("safe")?.text === text;
    await this.#nodeRed.until(() => isShown() || undefined, `status "${text}"`);
    should(this.#nodeRed.statuses.get("safe")).eql({ fill: "red", shape: "ring", text });
    this.#lines(catalog.store[trouble]).should.not.be.empty();
    const other = await send(this.#nodeRed.node("/usual"), { headers: bearer });
    other.status.should.equal(200);
    await this.#nodeRed.message(other.json.id);
    should(this.#nodeRed.statuses.get("usual")?.fill).equal("green");
  }

  /** All is as before, without anybody's doing. */
  async isMended(): Promise<void> {
    await this.#nodeRed.until(() => this.#lines(catalog.store.mended)[0], "it to be mended");
    await this.works();
    await this.#nodeRed.status("safe", /^\/safe/);
    should(this.#nodeRed.statuses.get("safe")?.fill).equal("green");
  }

  /** It takes what fits, and is not green yet: larger bodies may not fit. */
  async worksWarily(): Promise<void> {
    while ((await this.post()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
    await this.#nodeRed.message(this.accepted.at(-1));
    const text = catalog.status.store.full;
    should(this.#nodeRed.statuses.get("safe")).eql({ fill: "red", shape: "ring", text });
  }

  /** What was accepted is there after a power cut, all of it. */
  async hasLostNothing(options: Options): Promise<void> {
    await this.#nodeRed.kill();
    const next = await NodeRed.start({ flow, plugin, ...options, userDir: this.#nodeRed.userDir });
    try {
      for (const id of this.accepted) should((await next.message(id)).webhook.attempt).be.above(1);
    } finally {
      await next.kill();
    }
  }

  async stop(): Promise<void> {
    await this.#nodeRed.kill();
  }

  #lines(text: string): string[] {
    return this.#nodeRed.log.split("\n").filter((line) => line.includes(constant(text)));
  }
}

if (sqliteIsHere()) {
  describe("a Node-RED whose file of deliveries", () => {
    let place: string;
    let folder: string;
    let patient: Patient;
    const options = (): Options => ({ settings: { webhookTriggerStore: { type: "sqlite", folder } } });
    beforeEach(() => {
      place = temporaryFolder("troubles");
      folder = join(place, "deliveries");
      mkdirSync(folder);
    });
    afterEach(() => patient.stop());

    it("has no folder refuses what it cannot keep until that is there", async () => {
      rmdirSync(folder);
      patient = await Patient.start(options());
      await patient.isTroubled("unreachable");
      mkdirSync(folder);
      await patient.isMended();
      await patient.hasLostNothing(options());
    });

    // Linux has a folder that nobody may write to, not even root.
    const unwritable = "/sys";
    if (existsSync(unwritable)) {
      it("may not be written refuses what it cannot keep until it may", async () => {
        const link = join(place, "link");
        symlinkSync(unwritable, link);
        const linked: Options = { settings: { webhookTriggerStore: { type: "sqlite", folder: link } } };
        patient = await Patient.start(linked);
        await patient.isTroubled("readOnly");
        rmSync(link);
        symlinkSync(folder, link);
        await patient.isMended();
        await patient.hasLostNothing(linked);
      });
    }

    it("is corrupt at the start begins a new one, and keeps that", async () => {
      const bad = "a letter to a friend ".repeat(1000);
      writeFileSync(join(folder, fileName), bad);
      patient = await Patient.start(options());
      await patient.works();
      const [aside = ""] = readdirSync(folder).filter((name) => name.includes(".corrupt-"));
      await patient.nodeRed.logged(new RegExp(`\\[error\\].*${join(folder, aside)}`));
      readFileSync(join(folder, aside), "utf8").should.equal(bad);
      await patient.hasLostNothing(options());
    });
  });
}

if (serverIsHere) {
  describe("a Node-RED whose server of deliveries", () => {
    let server: ValkeyServer;
    let patient: Patient;
    const options = (): Options => keepIn(server).options;
    afterEach(async () => {
      await patient.stop();
      await server.stop();
    });

    it("says nothing for a while refuses what it cannot keep until it speaks again", async () => {
      server = await ValkeyServer.start();
      patient = await Patient.start(options());
      await patient.works();
      server.suspend();
      await patient.isTroubled("unreachable");
      server.resume();
      await patient.isMended();
      await patient.hasLostNothing(options());
    });

    it("is killed refuses what it cannot keep until it is there again", async () => {
      server = await ValkeyServer.start();
      patient = await Patient.start(options());
      await patient.works();
      await server.kill();
      await patient.isTroubled("unreachable");
      await server.restart();
      await patient.isMended();
      await patient.hasLostNothing(options());
    });

    it("has no memory left refuses what it cannot keep until it has", async () => {
      server = await ValkeyServer.start("--maxmemory", "8mb");
      patient = await Patient.start(options());
      // What is left then is less than what the store tries by itself.
      const body = "x".repeat(30_000);
      await until(async () => (await patient.post(body)).status !== 200, "the memory to be full");
      await patient.isTroubled("full", body);
      const wire = new Wire(server.port);
      await wire.send("CONFIG", "SET", "maxmemory", "100mb");
      wire.close();
      await patient.worksWarily();
      await patient.hasLostNothing(options());
    });

    it("has another password refuses what it cannot keep, and tells nobody the wrong one", async () => {
      server = await ValkeyServer.start("--requirepass", "the-right-one");
      const url = server.url(":hunter2-and-more");
      patient = await Patient.start({ ...options(), settings: { webhookTriggerStore: { type: "bullmq", url } } });
      await patient.isTroubled("denied");
      patient.nodeRed.log.should.not.containEql("hunter2");
      const wire = new Wire(server.port);
      await wire.send("AUTH", "the-right-one");
      await wire.send("CONFIG", "SET", "requirepass", "hunter2-and-more");
      wire.close();
      await patient.isMended();
    });

    it("needs a client that is not there refuses all, and says how to install it", async () => {
      server = await ValkeyServer.start();
      patient = await Patient.start({ ...options(), modules: [] });
      await patient.isTroubled("clientMissing");
      const { userDir } = patient.nodeRed;
      await patient.nodeRed.logged(new RegExp(`npm install bullmq ioredis in ${userDir},`));
    });
  });
}
