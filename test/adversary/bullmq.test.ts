import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { scheduler } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import should from "should";
import { type BullOptions, BullQueue } from "../../src/deliveries/bullmq/bull-queue";
import { StoreError } from "../../src/deliveries/queue";
import { delivered, fastTiming, Queues, succeeded, TestFlow } from "../harness/queues";
import { freePort } from "../harness/free-port";
import { temporaryFolder } from "../harness/package";
import { until } from "../harness/until";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

const body = Buffer.from("{}");
const troubleOf = async (work: Promise<unknown>) => {
  const error = await work.catch((reason: unknown) => reason);
  return error instanceof StoreError ? error.trouble : error;
};

/** @returns the paths of a new key and of its certificate, which nobody has signed */
function createCertificate(): { key: string; cert: string } {
  const folder = temporaryFolder("tls");
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" }); // prettier-ignore
  return { key, cert };
}

// Without a server they would all be left out.
if (serverIsHere) describe("BullMQ with its server", testServer);

function testServer(): void {
  let server: ValkeyServer | undefined;
  let queues: Queues;
  beforeEach(() => {
    queues = new Queues();
  });
  afterEach(async () => {
    await queues.clear();
    await server?.stop();
    server = undefined;
  });
  const open = async (options: Partial<BullOptions> = {}) =>
    queues.open(new BullQueue({ ...(server && { url: server.url() }), ...fastTiming, ...options }));

  for (const [what, leave, come] of [
    ["is stopped", async () => server?.kill(), async () => server?.restart()],
    ["hangs", () => server?.suspend(), () => server?.resume()],
  ] as const) {
    it(`refuses what comes while it ${what}, writes then how attempts have ended, and runs none twice`, async () => {
      server = await ValkeyServer.start();
      // Locks that outlast a busy machine's pauses.
      const options = { timeLimit: 2500, lockDuration: 4000 };
      const [queue, other] = [await open(options), await open(options)];
      const ends: (() => void)[] = [];
      const flow = new TestFlow(() => new Promise((resolve) => ends.push(() => resolve(succeeded()))));
      for (const each of [queue, other]) each.process("n", flow);
      for (const id of ["1", "2", "3", "4"]) await queue.add(delivered(id), body);
      await until(() => flow.starts.length === 4, "the flows");
      await leave();
      const began = performance.now();
      should(await troubleOf(queue.add(delivered("5"), body))).equal("unreachable");
      (performance.now() - began).should.be.below(60_000);
      for (const end of ends.slice(0, 2)) end();
      // Longer than locks last.
      await scheduler.wait(5000);
      should(await troubleOf(queue.list({ limit: 1 }))).equal("unreachable");
      await come();
      await until(() => flow.ends.length === 2, "the first two");
      await until(() => queues.told.said.filter((said) => said === "up").length === 2, "both queues");
      await queue.add(delivered("6"), body);
      await until(() => flow.starts.filter(({ id }) => id === "6").length === 1, "another");
      // Both have looked for attempts whose locks have ended.
      await scheduler.wait(6000);
      for (const end of ends.slice(2)) end();
      await until(async () => ((await queue.counts("n")).succeeded ?? 0) >= 5, "all");
      flow.ids.filter((id) => id !== "5").sort().should.eql(["1", "2", "3", "4", "6"]); // prettier-ignore
      queues.told.said.should.eql(["unreachable", "unreachable", "up", "up"]);
    });
  }

  it("opens by itself when the server comes later", async () => {
    const port = await freePort();
    const queue = new BullQueue({ url: `redis://127.0.0.1:${port}`, ...fastTiming, timeLimit: 2500 });
    const flow = new TestFlow();
    queue.process("n", flow);
    should(await troubleOf(queues.open(queue))).equal("unreachable");
    queue.release();
    should(await troubleOf(queue.add(delivered("1"), body))).equal("unreachable");
    server = await ValkeyServer.start("--port", `${port}`);
    await until(() => queues.told.said.includes("up"), "the server");
    await queue.add(delivered("1"), body);
    await until(() => flow.ends.length === 1, "the flow");
    queues.told.said.should.eql(["unreachable", "up"]);
  });

  it("speaks TLS", async () => {
    const { key, cert } = createCertificate();
    const port = await freePort();
    server = await ValkeyServer.start("--tls-port", `${port}`, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no", "--requirepass", "p"); // prettier-ignore
    const url = `rediss://:p@127.0.0.1:${port}`;
    should(await troubleOf(open({ url }))).equal("unreachable");
    const queue = await open({ url, connection: { tls: { ca: readFileSync(cert) } } });
    const flow = new TestFlow();
    queue.process("n", flow);
    await queue.add(delivered("1"), body);
    await until(() => flow.ends.length === 1, "the flow");
  });

  it("survives a server that it does not trust and that sends on", async () => {
    const { key, cert } = createCertificate();
    const untrusted = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }).on(
      "tlsClientError",
      () => 0,
    );
    // In front of it, one that adds an alert to all that it sends.
    const alert = Buffer.from([21, 3, 3, 0, 2, 2, 50]);
    let connections = 0;
    const front = createServer((client) => {
      connections++;
      const behind = connect((untrusted.address() as AddressInfo).port, "127.0.0.1");
      client.pipe(behind).on("data", (sent: Buffer) => client.write(Buffer.concat([sent, alert])));
      for (const socket of [client, behind]) socket.on("error", () => undefined);
    });
    for (const each of [untrusted, front]) await once(each.listen(0, "127.0.0.1"), "listening");
    const { port } = front.address() as AddressInfo;
    should(await troubleOf(open({ url: `rediss://127.0.0.1:${port}`, timeLimit: 1000 }))).equal("unreachable");
    should(await troubleOf(open({ cluster: [{ host: "127.0.0.1", port }], connection: { tls: {} }, timeLimit: 1000 }))).equal("unreachable"); // prettier-ignore
    await until(() => connections >= 6, "other connections");
    for (const each of [front, untrusted]) each.close();
  });

  it("speaks to a cluster", async () => {
    server = await ValkeyServer.start("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1");
    execFileSync("redis-cli", ["-p", `${server.port}`, "CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    const { port } = server;
    await until(() => execFileSync("redis-cli", ["-p", `${port}`, "CLUSTER", "INFO"]).includes("cluster_state:ok"), "the cluster"); // prettier-ignore
    const queue = await open({ cluster: [{ host: "127.0.0.1", port }] });
    const flow = new TestFlow();
    queue.process("n", flow);
    for (const id of ["1", "2", "3"]) await queue.add(delivered(id), body);
    await until(() => flow.ends.length === 3, "the flows");
    (await queue.list({ limit: 5, text: "hook" })).should.have.length(3);
  });

  for (const [args, warnings] of [
    [[], []],
    [["--appendonly", "no"], ["notPersistent"]],
    [
      ["--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru"],
      ["everySecond", "evicts"],
    ],
  ] as const) {
    it(`warns of ${warnings.join(" and ") || "nothing"} with ${args.join(" ") || "what is durable"}`, async () => {
      server = await ValkeyServer.start(...args);
      const { warn } = console;
      let said = 0;
      console.warn = () => said++;
      await open().finally(() => (console.warn = warn));
      queues.told.warnings.should.eql([...warnings]);
      // BullMQ would say it again, past Node-RED's log.
      said.should.equal(0);
    });
  }

  it("counts requests over all instances, and alone while the server is away", async () => {
    server = await ValkeyServer.start();
    const [queue, other] = [await open(), await open()];
    const count = () => other.rates.count("192.0.2.1 n");
    for (let index = 0; index < 100; index++) queue.rates.count("192.0.2.1 n");
    await until(() => count().requests > 100, "the news");
    count().leftMs.should.be.within(1, 60_000);
    await server.kill();
    const { requests } = count();
    count().requests.should.equal(requests + 1);
  });
}
