/**
 * Everything at once for a long time: accepted and refused requests, aborted and slow uploads and hostile heads on many
 * connections, with deploys of all kinds. Every answer must be the one that its request calls for, every 200 exactly one
 * message, genuine requests may not wait for long, and neither memory nor connections may grow.
 */
import { once } from "node:events";
import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { createHistogram } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { bearer, tab, token, webhook } from "../test/harness/flow";
import { type Flow, type Measure, NodeRed } from "../test/harness/node-red";
import { Connection, requestBytes } from "./load";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "600" } } });
const duration = Number(values.seconds) * 1000;
if (!(duration > 0)) throw new Error("--seconds takes how long to run, in seconds");

/** After this part of the time everything is warm: caches are full, code is compiled. */
const warmUp = duration / 4;
const connections = 8;
/** The address that strangers upload from. */
const stranger = "127.0.0.2";
/** How many of strangers' uploads are under way at a time: more than there is memory for, for one address. */
const slowUploads = 12;
/** How long 99 of 100 genuine requests may take at most, in ms, also where they wait for a deploy. */
const maxP99 = 250;
/** How much the heap may grow after the warm-up, in bytes. */
const mostGrowth = 3 * 1024 * 1024;
/** The socket that the server listens on. */
const onlyListening = 1;
/** How long it takes from one deploy to the next, in ms. */
const betweenDeploys = 250;

const json = { ...bearer, "Content-Type": "application/json" };
const path = "/hook";

const secret = "It's a Secret to Everybody";
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

/** An upload of a stranger of which the last byte never comes. */
const upload = requestBytes("/signed", signed("another"), "x".repeat(95_000)).subarray(0, -1);
/** Heads that strangers may find costly to read: 15 kB of each. */
const hostile = [" ", "\t", ",", "t=1,", "v1=", '"', "%", "=", "0", "[", ";a=b"].flatMap((part) => {
  const value = `t=1${part.repeat(15_000 / part.length)}x`;
  return [
    requestBytes("/stripe", { "Stripe-Signature": value }, "{}"),
    requestBytes("/signed", { "X-Hub-Signature-256": value }, "{}"),
    requestBytes(path, { Authorization: value }, "{}"),
  ];
});

const wired = { wires: [["count"]] };
const flow: Flow = tab(
  webhook("hook", path, wired),
  webhook("by-header", "/by-header", { ...wired, headerParameter: "X-Token" }),
  webhook("signed", "/signed", {
    ...wired,
    verificationMethod: "signature",
    sender: "github",
    credentials: { secret },
  }),
  webhook("stripe", "/stripe", {
    ...wired,
    verificationMethod: "signature",
    sender: "stripe",
    credentials: { secret },
  }),
  { id: "count", type: "count", wires: [] },
);
const kinds = ["full", "flows", "nodes", "reload"] as const;
const targets = [["hook"], ["count"], ["sink"], ["hook", "count", "sink"]];

async function main(): Promise<string[]> {
  const nodeRed = await NodeRed.start({
    flow,
    settings: { apiMaxLength: "100kb", webhookTriggerMemory: "4mb", logging: { console: { level: "fatal" } } },
    env: { NODE_OPTIONS: "--expose-gc" },
  });
  const port = Number(new URL(nodeRed.origin).port);
  const violations: string[] = [];
  const answers: Record<string, number> = {};
  let [deploys, aborts, running] = [0, 0, true];
  let [refused, slow, full, heads] = [0, 0, 0, 0];
  /** How long genuine requests took, in µs. */
  const times = createHistogram();

  const call = async (caller: number) => {
    const connection = await Connection.open(port);
    for (let turn = caller; running; turn++) {
      const [expected, request] = exchanges[turn % exchanges.length] ?? ["", Buffer.alloc(0)];
      const start = performance.now();
      const status = await connection.exchange(request);
      if (expected === "200") times.record(Math.ceil((performance.now() - start) * 1000));
      if (expected === "200" && status !== expected) refused++;
      answers[status] = (answers[status] ?? 0) + 1;
      if (status !== expected) violations.push(`${status} instead of ${expected}`);
    }
    connection.close();
  };
  const abort = async () => {
    while (running) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      await new Promise((resolve) => socket.write(aborted, resolve));
      socket.destroy();
      await once(socket, "close");
      aborts++;
      await pass(20);
    }
  };
  const isOver = () => !running;
  /** Sends a little at a time, and begins anew when nothing is left or the server has ended it. */
  const uploadSlowly = async () => {
    for (; running; slow++) {
      const socket = connect({ port, host: "127.0.0.1", localAddress: stranger }).on("error", () => undefined);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
      for (let sent = 0; !isOver() && sent < upload.length && answer === "" && !socket.closed; sent += 10_000) {
        socket.write(upload.subarray(sent, sent + 10_000));
        await pass(200);
      }
      if (answer.startsWith("HTTP/1.1 503")) full++;
      socket.destroy();
    }
  };
  const attack = async () => {
    const connection = await Connection.open(port);
    for (; running; heads++) {
      const status = await connection.exchange(hostile[heads % hostile.length] ?? Buffer.alloc(0));
      if (status !== "401") violations.push(`${status} instead of 401 for a hostile head`);
      await pass(20);
    }
    connection.close();
  };
  const deploy = async () => {
    for (; running; deploys++) {
      const changed = targets[deploys % targets.length] ?? [];
      const next = flow.map(({ credentials, ...node }) =>
        changed.includes(String(node.id)) ? { ...node, name: `${deploys}` } : node,
      );
      await nodeRed.deploy(next, kinds[Math.floor(deploys / targets.length) % kinds.length]);
      await pass(betweenDeploys);
    }
  };
  /** Everything at once; then, in silence, what is left of it. */
  const phase = async (milliseconds: number): Promise<Measure> => {
    running = true;
    const all = [...Array.from({ length: connections }, (_, caller) => call(caller)), abort(), attack(), deploy()];
    all.push(...Array.from({ length: slowUploads }, uploadSlowly));
    const stop = () => (running = false);
    const failed = Promise.all(all).catch((error: unknown) => {
      stop();
      throw error;
    });
    await Promise.race([pass(milliseconds), failed]);
    stop();
    await failed;
    return quiet(nodeRed);
  };

  try {
    const before = await phase(warmUp);
    const after = await phase(duration - warmUp);
    const accepted = answers["200"] ?? 0;
    const growth = after.heap - before.heap;
    if (after.counted !== accepted) violations.push(`${after.counted} messages of ${accepted} accepted requests`);
    if (growth > mostGrowth) violations.push(`the heap grew by ${megabytes(growth)}`);
    if (after.sockets > onlyListening) violations.push(`${after.sockets - onlyListening} connections are left open`);
    const [p50, p99, longest] = [times.percentile(50), times.percentile(99), times.max].map((us) => us / 1000);
    if (refused > 0) violations.push(`${refused} genuine requests were refused`);
    if (p99 === undefined || p99 > maxP99) violations.push(`99 of 100 genuine requests took up to ${p99} ms`);
    if (full === 0) violations.push("strangers' uploads never had to wait for memory");
    process.stdout.write(
      [
        `${values.seconds} s, ${connections} connections, ${deploys} deploys, ${aborts} aborted uploads`,
        `answers: ${Object.entries(answers).map(([status, count]) => `${status}: ${count}`).join(", ")}`,
        `strangers: ${slow} slow uploads, of which ${full} found no memory, ${heads} hostile heads`,
        `genuine requests: p50 ${p50} ms, p99 ${p99} ms, at most ${longest} ms; ${refused} refused`,
        `messages: ${after.counted} of ${accepted} accepted requests`,
        `heap: ${megabytes(before.heap)} after the warm-up, ${megabytes(after.heap)} at the end`,
        `sockets: ${before.sockets} after the warm-up, ${after.sockets} at the end\n`,
      ].join("\n"),
    ); // prettier-ignore
  } finally {
    await nodeRed.stop();
  }
  return violations;
}

/** Measures when the last connections are closed and two measures are alike; if that takes too long, as it is then. */
async function quiet(nodeRed: NodeRed): Promise<Measure> {
  const limit = performance.now() + 15_000;
  for (let last = await nodeRed.measure(); ;) {
    await pass(500);
    const measure = await nodeRed.measure();
    const still = measure.sockets === onlyListening && measure.counted === last.counted;
    if ((still && Math.abs(measure.heap - last.heap) < 100_000) || performance.now() > limit) return measure;
    last = measure;
  }
}

function pass(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

void main().then((violations) => {
  for (const violation of new Set(violations)) process.stderr.write(`violation: ${violation}\n`);
  process.stdout.write(violations.length === 0 ? "All of it is as it should be.\n" : "");
  process.exitCode = violations.length === 0 ? 0 : 1;
});
