/** What the package adds to a Node-RED with one endpoint: to its start, to its heap, and to what it has loaded. */
import { loadedPackages, withModules } from "../test/harness/modules";
import { NodeRed, type Options } from "../test/harness/node-red";
import { inTurns, median, report, show, spread } from "./figures";
import { comments, oneWebhook } from "./subjects";

const settings = { logging: { console: { level: "warn" } } };
const withPackage: Options = { flow: oneWebhook, settings };
const without: Options = { flow: comments(1), settings, bare: true };
const libraries = ["bullmq", "node:sqlite", "jose", "@exodus/bytes", "cookie-parser", "cors"];

export async function starting(): Promise<void> {
  process.stdout.write("starting\n");
  const heaps: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
  const start = async (whose: keyof typeof heaps, options: Options) => {
    const nodeRed = await NodeRed.start({ ...options, env: { NODE_OPTIONS: "--expose-gc" } });
    const { cpu, heap } = await nodeRed.measure();
    heaps[whose].push(heap);
    await nodeRed.stop();
    // In ms of processor time: other work on the machine does not count.
    return (cpu.user + cpu.system) / 1000;
  };
  const { ours, theirs } = await inTurns("ms", {
    ours: () => start("ours", withPackage),
    theirs: () => start("theirs", without),
  });
  const above = ours.map((time, round) => time - (theirs[round] ?? NaN));
  report("processor time of a start with one endpoint, above that of Node-RED", "≤ 60 ms", `${spread(above, 0)} ms`);
  const heap = (median(heaps.ours) - median(heaps.theirs)) / 1e6;
  report("heap after the start with one endpoint, above that of Node-RED", "≤ 4 MB", `**${heap.toFixed(2)} MB**`);

  const nodeRed = await NodeRed.start({ ...withPackage, env: withModules });
  const loaded = (await loadedPackages(nodeRed)).filter((name) => libraries.includes(name));
  await nodeRed.stop();
  const figure = "loaded then, of BullMQ, SQLite, jose, @exodus/bytes, cookie-parser and cors";
  // `test/runtime/small-machines.test.ts` says which they must be.
  show(figure, loaded.join(", ") || "none");
}
