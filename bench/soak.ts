/**
 * Accepted and refused requests, aborted uploads and deploys of all kinds at once, for a long time. Every answer must be the
 * one that its request calls for, every 200 exactly one message, and neither memory nor connections may grow.
 */
import { once } from "node:events";
import { createHmac } from "node:crypto";
import { scheduler } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { bearer, tab, token, webhook } from "../test/harness/flow";
import { dial } from "../test/harness/http";
import { type Flow, type Measure, NodeRed } from "../test/harness/node-red";
import { Connection, requestBytes } from "./load";
import { end, secret, signedByGitHub } from "./subjects";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "600" } } });
const duration = Number(values.seconds) * 1000;
if (!(duration > 0)) throw new Error("--seconds takes how long to run, in seconds");

/** After this part of the time everything is warm: caches are full, code is compiled. */
const warmUp = duration / 4;
const connections = 8;
/** How much the heap may grow after the warm-up, in bytes. */
const maxGrowth = 3 * 1024 * 1024;
/** The socket that the server listens on. */
const onlyListening = 1;

const json = { ...bearer, "Content-Type": "application/json" };
const path = "/hook";
const signed = (body: string) => ({
  "Content-Type": "text/plain",
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
});

/** What callers send, and the answer that it calls for. Most of it is in order. */
const exchanges: [status: string, request: Buffer][] = [
  ...Array.from({ length: 12 }, (_, index): [string, Buffer] => [
    "200",
    requestBytes(path, json, JSON.stringify({ index, padding: "x".repeat(index * 100) })),
  ]),
  ["200", requestBytes(`${path}?a=1&b=2`, { ...bearer, "Content-Type": "text/plain" }, "hello world")],
  ["200", requestBytes(path, { ...json, "Content-Encoding": "gzip" }, gzipSync(JSON.stringify("x".repeat(10_000))))],
  ["200", requestBytes("/by-header", { "X-Token": token }, Buffer.alloc(20_000, 255))],
  ...["x", "y".repeat(90_000)].map((body): [string, Buffer] => ["200", requestBytes("/signed", signed(body), body)]),
  ["401", requestBytes("/signed", signed("another"), "x")],
  ["401", requestBytes(path, { "Content-Type": "application/json" }, "{}")],
  ["401", requestBytes(path, { Authorization: "Bearer wrong" }, "x".repeat(5000))],
  ["400", requestBytes(path, json, "{oops")],
  ["400", requestBytes(path, { ...bearer, "Content-Encoding": "gzip" }, "not gzip")],
  ["413", requestBytes(path, { ...bearer, "Content-Encoding": "gzip" }, gzipSync(Buffer.alloc(200_000)))],
  ["415", requestBytes(path, { ...bearer, "Content-Encoding": "zstd" }, "x")],
  ["404", requestBytes("/nobody", { ...bearer, "Content-Type": "text/plain" }, "x")],
];
const aborted = requestBytes(path, bearer, "x".repeat(1000)).subarray(0, -500);

const wired = { wires: [["count"]] };
const flow: Flow = tab(
  webhook("hook", path, wired),
  webhook("by-header", "/by-header", { ...wired, headerParameter: "X-Token" }),
  webhook("signed", "/signed", { ...wired, ...signedByGitHub }),
  end,
);
const kinds = ["full", "flows", "nodes", "reload"] as const;
const targets = [["hook"], ["count"], ["sink"], ["hook", "count", "sink"]];

/** @returns what was not as it should be */
async function soak(nodeRed: NodeRed): Promise<ReadonlySet<string>> {
  const port = Number(new URL(nodeRed.origin).port);
  const violations = new Set<string>();
  const answers: Record<string, number> = {};
  let [deploys, aborts, running] = [0, 0, true];

  const call = async (caller: number) => {
    const connection = await Connection.open(port);
    for (let turn = caller; running; turn++) {
      const [expected, request] = exchanges[turn % exchanges.length] ?? ["", Buffer.alloc(0)];
      const status = await connection.exchange(request);
      answers[status] = (answers[status] ?? 0) + 1;
      if (status !== expected) violations.add(`${status} instead of ${expected}`);
    }
    connection.close();
  };
  const abort = async () => {
    for (; running; aborts++) {
      const socket = dial(nodeRed.origin);
      await once(socket, "connect");
      await new Promise((resolve) => socket.write(aborted, resolve));
      await once(socket.destroy(), "close");
      await scheduler.wait(20);
    }
  };
  const deploy = async () => {
    for (; running; deploys++) {
      const changed = targets[deploys % targets.length] ?? [];
      const next = flow.map(({ credentials, ...node }) =>
        changed.includes(String(node.id)) ? { ...node, name: `${deploys}` } : node,
      );
      await nodeRed.deploy(next, kinds[Math.floor(deploys / targets.length) % kinds.length]);
      await scheduler.wait(250);
    }
  };
  /** Everything at once; then, in silence, what is left of it. */
  const phase = async (milliseconds: number): Promise<Measure> => {
    running = true;
    const all = Promise.all([...Array.from({ length: connections }, (_, caller) => call(caller)), abort(), deploy()]);
    await Promise.race([scheduler.wait(milliseconds), all]);
    running = false;
    await all;
    return quiet(nodeRed);
  };

  const before = await phase(warmUp);
  const after = await phase(duration - warmUp);
  const accepted = answers["200"] ?? 0;
  const growth = after.heap - before.heap;
  if (after.counted !== accepted) violations.add(`${after.counted} messages of ${accepted} accepted requests`);
  if (growth > maxGrowth) violations.add(`the heap grew by ${growth} bytes`);
  if (after.sockets > onlyListening) violations.add(`${after.sockets - onlyListening} connections are left open`);
  process.stdout
    .write(`${values.seconds} s, ${deploys} deploys, ${aborts} aborted uploads, answers: ${JSON.stringify(answers)}
heap: ${before.heap} bytes after the warm-up, ${after.heap} at the end\n`);
  return violations;
}

/** Measures when the last connections are closed and two measures are alike; if that takes too long, as it is then. */
async function quiet(nodeRed: NodeRed): Promise<Measure> {
  const limit = performance.now() + 15_000;
  for (let last = await nodeRed.measure(); ;) {
    await scheduler.wait(500);
    const measure = await nodeRed.measure();
    const still = measure.sockets === onlyListening && measure.counted === last.counted;
    if ((still && Math.abs(measure.heap - last.heap) < 100_000) || performance.now() > limit) return measure;
    last = measure;
  }
}

async function main(): Promise<void> {
  const nodeRed = await NodeRed.start({
    flow,
    settings: { apiMaxLength: "100kb", logging: { console: { level: "fatal" } } },
    env: { NODE_OPTIONS: "--expose-gc" },
  });
  try {
    const violations = await soak(nodeRed);
    for (const violation of violations) process.stderr.write(`violation: ${violation}\n`);
    if (violations.size > 0) process.exitCode = 1;
  } finally {
    await nodeRed.stop();
  }
}

void main();
