/** What the heap holds: after many requests, and for each endpoint. */
import { buildSync } from "esbuild";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Flow } from "../test/harness/node-red";
import { connections, detail, report } from "./figures";
import { fullLoad } from "./load";
import { accepted, signed, small, withWrongToken } from "./requests";
import { injects, nodeRed, oneWebhook, runtimeOf, signedByGitHub, webhooks } from "./subjects";

const collectable = { env: { NODE_OPTIONS: "--expose-gc" } };
const requests = Number(process.env.REQUESTS ?? 1_000_000);

export async function memory(): Promise<void> {
  process.stdout.write("memory\n");
  const count = requests.toLocaleString("en");
  const growth = await heapGrowth(oneWebhook, accepted(small), withWrongToken(small));
  report(`heap after ${count} accepted and as many refused requests`, "within 3 MB", megabytesMore(growth));
  const signedGrowth = await heapGrowth(webhooks(1, signedByGitHub), signed(small), signed(small, { key: "another" }));
  detail("the same with signatures, right and wrong", megabytesMore(signedGrowth));
  const [ours, theirs] = [await heapOf(webhooks(10_000)), await heapOf(injects(10_000))];
  report("heap per idle endpoint, above an `inject` node's", "–", kilobytes((ours - theirs) / 10_000));
  for (const [part, size] of Object.entries(heapOfParts())) detail(`of it, ${part}`, kilobytes(size));
}

function megabytesMore(bytes: number): string {
  return `**${(bytes / 1e6).toFixed(2)} MB** more`;
}

async function heapGrowth(flow: Flow, right: Buffer, wrong: Buffer): Promise<number> {
  const subject = await nodeRed(flow, collectable);
  const send = async (request: Buffer, howMany: number) => {
    for (let sent = 0; sent < howMany;) {
      const { statuses } = await fullLoad(subject.port, request, connections, 1000);
      sent += Object.values(statuses).reduce((sum, each) => sum + each, 0);
    }
  };
  const heapAfter = async (howMany: number) => {
    await send(right, howMany);
    await send(wrong, howMany);
    return (await runtimeOf(subject).measure()).heap;
  };
  const before = await heapAfter(50_000);
  const after = await heapAfter(requests);
  await subject.stop();
  return after - before;
}

async function heapOf(flow: Flow): Promise<number> {
  const subject = await nodeRed(flow, collectable);
  const { heap } = await runtimeOf(subject).measure();
  await subject.stop();
  return heap;
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

function kilobytes(bytes: number): string {
  return `**${(bytes / 1000).toFixed(2)} kB**`;
}
