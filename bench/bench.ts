/** Measures the figures that bench/README.md shows, and writes them into it. */
import { buildSync } from "esbuild";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { bearer, token } from "../test/harness/flow";
import { behindLayer } from "../test/harness/layouts";
import { NodeRed, nodeRedVersion } from "../test/harness/node-red";
import { Connection, fullLoad, latencyAt, type Load, requestBytes } from "./load";
import {
  baseline,
  comments,
  httpIns,
  httpInsWithChecks,
  injects,
  nodeRed,
  oneHttpIn,
  oneWebhook,
  type Subject,
  webhooks,
} from "./subjects";

const rounds = Number(process.env.ROUNDS ?? 7);
const milliseconds = Number(process.env.MILLISECONDS ?? 2000);
const connections = 32;

const headers = { ...bearer, "Content-Type": "application/json", "User-Agent": "bench" };
const small = JSON.stringify({ text: "x".repeat(89) });
const large = JSON.stringify({
  orders: Array.from({ length: 61 }, (_, id) => ({ id, item: `item ${id}`, price: id * 1.1, tags: ["a", "b"], note: "please ring twice, thanks" })),
}); // prettier-ignore
const accepted = requestBytes("/hook/0", headers, small);
const acceptedLarge = requestBytes("/hook/0", headers, large);
const wrong = { ...headers, Authorization: `Bearer ${"x".repeat(token.length)}` };
const refused = requestBytes("/hook/0", wrong, small);

const rows: string[] = [];
const notes = new Map<string, number>();

/** A line of the table: what was measured, what it had to reach, and what it was. */
function report(figure: string, target: string, result: string): void {
  rows.push(`| ${figure} | ${target} | ${result} |`);
  process.stdout.write(`${figure}: ${result} (${target})\n`);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** The median of some ratios, with the lowest and the highest. */
function spread(ratios: number[], digits = 2): string {
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  return `**${median(ratios).toFixed(digits)}** (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

interface Loaded {
  subject: Subject;
  request: Buffer;
  status: string;
}

/** Loads each in turn, round after round, after one round to warm up, and answers with the rates of each round. */
async function rates(loads: Record<string, Loaded>): Promise<Record<string, number[]>> {
  const results: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { subject, request, status }] of Object.entries(loads)) {
      const load: Load = await fullLoad(subject.port, request, connections, milliseconds);
      const others = Object.keys(load.statuses).filter((other) => other !== status);
      if (others.length > 0) throw new Error(`${name} answered ${others.join(", ")} instead of ${status}`);
      notes.set("generator", Math.max(notes.get("generator") ?? 0, load.generatorCpu));
      if (round > 0) (results[name] ??= []).push(load.rate);
    }
  }
  for (const [name, each] of Object.entries(results))
    process.stdout.write(`  ${name}: ${Math.round(median(each))}/s\n`);
  return results;
}

function ratio(results: Record<string, number[]>, of: string, to: string): number[] {
  return (results[of] ?? []).map((rate, round) => rate / (results[to]?.[round] ?? NaN));
}

async function stop(subjects: Subject[]): Promise<void> {
  for (const subject of subjects) await subject.stop();
}

async function throughput(): Promise<void> {
  const [http, fast, behind, httpIn] = [
    await baseline(),
    await nodeRed(oneWebhook),
    await nodeRed(oneWebhook, behindLayer),
    await nodeRed(oneHttpIn),
  ];
  const of = (request: Buffer, status = "200") => ({
    http: { subject: http, request, status },
    fast: { subject: fast, request, status },
    behind: { subject: behind, request, status },
    httpIn: { subject: httpIn, request, status },
  });

  process.stdout.write("100 B of JSON, accepted\n");
  const one = await rates(of(accepted));
  report("accepted, 100 B JSON, vs `node:http`", "≥ 0.8", spread(ratio(one, "fast", "http")));
  report("the same vs the `http in` flow", "≥ 7", spread(ratio(one, "fast", "httpIn")));
  report("the same, `node:http` vs the `http in` flow", "–", spread(ratio(one, "http", "httpIn")));
  report("the ordinary way vs `node:http`", "–", spread(ratio(one, "behind", "http")));
  report("the ordinary way vs the `http in` flow", "≥ 1.7", spread(ratio(one, "behind", "httpIn")));

  process.stdout.write(`${large.length} B of JSON, accepted\n`);
  const six = await rates(of(acceptedLarge));
  report(
    `accepted, ${(large.length / 1000).toFixed(1)} kB JSON, vs \`node:http\``,
    "≥ 0.75",
    spread(ratio(six, "fast", "http")),
  );

  process.stdout.write("wrong token\n");
  const tokens = await rates({
    refused: { subject: fast, request: refused, status: "401" },
    accepted: { subject: fast, request: accepted, status: "200" },
  });
  report("wrong token vs accepted", "≥ 1.0", spread(ratio(tokens, "refused", "accepted")));

  process.stdout.write("latency\n");
  const rate = median(one.http ?? []) / 2;
  const ratios: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const theirs = await latencyAt(http.port, accepted, Math.min(rate, median(one.fast ?? []) / 2), milliseconds);
    const ours = await latencyAt(fast.port, accepted, Math.min(rate, median(one.fast ?? []) / 2), milliseconds);
    if (round > 0) ratios.push(ours / theirs);
  }
  report("99th percentile of latency at half the top rate, vs `node:http`", "≤ 2", spread(ratios));
  await largeRefusals(fast, http);
  await stop([http, fast, behind, httpIn]);
}

/** What a refused upload costs the server in processor time, each on a connection of its own. */
async function largeRefusals(ours: Subject, http: Subject): Promise<void> {
  const flood = async ({ port }: Subject, body: Buffer) => {
    const request = requestBytes("/hook/0", wrong, body);
    for (let sent = 0; sent < 1000; sent++) {
      const connection = await Connection.open(port);
      // In such a flood, some of those who do not stop sending lose the connection, and so their answer.
      const status = await connection.exchange(request).catch(() => "401");
      if (status !== "401") throw new Error(`a wrong token was answered ${status}`);
      connection.close();
    }
    // What the server does for those who have left belongs to the cost. To ask it meanwhile would cost more.
    await new Promise((resolve) => setTimeout(resolve, 1500));
  };
  const ratios: [ours: number[], http: number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    for (const [index, subject] of [ours, http].entries()) {
      const little = await costOf(subject, () => flood(subject, Buffer.alloc(100)));
      const much = await costOf(subject, () => flood(subject, Buffer.alloc(5_000_000)));
      if (round > 0) ratios[index]?.push(much / little);
    }
  }
  await runtimeOf(ours.nodeRed).connections(0);
  report("processor time of a wrong token with 5 MB vs with 100 B", "≤ 1.5", spread(ratios[0]));
  report("the same in `node:http`, which reads it all", "–", spread(ratios[1]));
}

function runtimeOf(runtime: NodeRed | undefined): NodeRed {
  if (!runtime) throw new Error("only a Node-RED can measure itself");
  return runtime;
}

async function manyEndpoints(): Promise<void> {
  process.stdout.write("10,000 endpoints\n");
  const [one, many] = [await nodeRed(webhooks(1)), await nodeRed(webhooks(10_000))];
  const results = await rates({
    one: { subject: one, request: accepted, status: "200" },
    many: { subject: many, request: requestBytes("/hook/9999", headers, small), status: "200" },
  });
  report("10,000 endpoints vs 1", "≥ 0.95", spread(ratio(results, "many", "one")));
  await stop([one, many]);
}

async function deploying(): Promise<void> {
  process.stdout.write("deploying 3,000\n");
  const subject = await nodeRed([]);
  const runtime = runtimeOf(subject.nodeRed);
  const flows = { comments, webhooks, httpIns, httpInsWithChecks };
  const openings: Record<string, number[]> = {};
  const closings: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, flow] of Object.entries(flows)) {
      const opening = await costOf(subject, () => runtime.deploy(flow(3000)));
      const closing = await costOf(subject, () => runtime.deploy([]));
      if (round === 0) continue;
      (openings[name] ??= []).push(opening / 1000);
      (closings[name] ??= []).push(closing / 1000);
    }
  }
  for (const name of Object.keys(flows)) {
    process.stdout.write(`  ${name}: ${median(openings[name] ?? []).toFixed(0)} ms, closing ${median(closings[name] ?? []).toFixed(0)} ms\n`); // prettier-ignore
  }
  // What Node-RED itself needs for so many nodes is taken off both.
  const timesFaster = (costs: Record<string, number[]>, than: string) =>
    ratio(above(costs, "comments"), than, "webhooks");
  const figures = [
    ["opening 3,000 endpoints, vs 3,000 `http in`", openings, "httpIns", "≥ 8"],
    ["the same, vs 3,000 `http in` each with its token check and answer", openings, "httpInsWithChecks", "–"],
    ["closing them, vs 3,000 `http in`", closings, "httpIns", "≥ 8"],
    ["the same, vs 3,000 `http in` each with its token check and answer", closings, "httpInsWithChecks", "–"],
  ] as const;
  for (const [figure, costs, than, target] of figures) report(figure, target, spread(timesFaster(costs, than), 1));
  await subject.stop();
}

/** What is above one of the costs, in each round. */
function above(costs: Record<string, number[]>, base: string): Record<string, number[]> {
  const rest = (values: number[]) => values.map((value, round) => value - (costs[base]?.[round] ?? NaN));
  return Object.fromEntries(Object.entries(costs).map(([name, values]) => [name, rest(values)]));
}

/** The processor time that a subject takes for something, in µs. */
async function costOf(subject: Subject, act: () => Promise<void>): Promise<number> {
  const before = await subject.cpu();
  await act();
  const after = await subject.cpu();
  return after.user + after.system - before.user - before.system;
}

async function memory(): Promise<void> {
  process.stdout.write("memory\n");
  const collectable = { env: { NODE_OPTIONS: "--expose-gc" } };
  const subject = await nodeRed(oneWebhook, collectable);
  const runtime = runtimeOf(subject.nodeRed);
  const count = Number(process.env.REQUESTS ?? 1_000_000);
  const send = async (request: Buffer, howMany: number) => {
    for (let sent = 0; sent < howMany;) {
      const { statuses } = await fullLoad(subject.port, request, connections, 1000);
      sent += Object.values(statuses).reduce((sum, each) => sum + each, 0);
    }
  };
  await send(accepted, 50_000);
  await send(refused, 50_000);
  const { heap: before } = await runtime.measure();
  await send(accepted, count);
  await send(refused, count);
  const { heap: after } = await runtime.measure();
  report(
    `heap after ${count.toLocaleString("en")} accepted and as many refused requests`,
    "within 3 MB",
    `**${((after - before) / 1e6).toFixed(2)} MB** more`,
  );
  await subject.stop();

  const heapOf = async (flow: Parameters<NodeRed["deploy"]>[0]) => {
    const { nodeRed: other } = await nodeRed(flow, collectable);
    const { heap } = await runtimeOf(other).measure();
    await runtimeOf(other).stop();
    return heap;
  };
  const [ours, theirs] = [await heapOf(webhooks(10_000)), await heapOf(injects(10_000))];
  report(
    "heap per idle endpoint, above an `inject` node's",
    "–",
    `**${((ours - theirs) / 10_000 / 1000).toFixed(2)} kB**`,
  );
  for (const [part, size] of Object.entries(heapOfParts())) {
    report(`of it, ${part}`, "–", `**${(size / 1000).toFixed(2)} kB**`);
  }
}

/** What heap.ts measures, as plain JavaScript: what runs TypeScript makes every function larger. */
function heapOfParts(): Record<string, number> {
  const entry = join(__dirname, "heap.ts");
  const { outputFiles } = buildSync({ entryPoints: [entry], bundle: true, platform: "node", write: false });
  const input = outputFiles.map(({ text }) => text).join("");
  return JSON.parse(execFileSync(process.execPath, ["--expose-gc"], { input, encoding: "utf8" })) as Record<
    string,
    number
  >;
}

async function main(): Promise<void> {
  await throughput();
  await manyEndpoints();
  await deploying();
  await memory();

  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.versions.node}, Node-RED ${nodeRedVersion}`;
  const table = [
    `Measured on ${machine}; ${rounds} interleaved rounds of ${milliseconds / 1000} s each, ${connections} connections.`,
    `The load generator used at most ${((notes.get("generator") ?? NaN) * 100).toFixed(0)} % of a processor core.`,
    "",
    "| figure | must reach | median (lowest–highest) |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
  const readme = join(__dirname, "README.md");
  const text = readFileSync(readme, "utf8");
  writeFileSync(readme, text.replace(/(<!-- results -->\n)[^]*(\n<!-- end of results -->)/, `$1\n${table}\n$2`));
}

void main();
