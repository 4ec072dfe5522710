/** What the package adds to a Node-RED with one endpoint: to its start, and to its heap. */
import { NodeRed, type Options } from "../test/harness/node-red";
import { tab } from "../test/harness/flow";
import { inTurns, median, report, spread } from "./figures";
import { oneWebhook } from "./subjects";

const settings = { logging: { console: { level: "warn" } } };
const comment = { id: "comment", type: "comment", name: "", info: "", wires: [] };

export async function starting(): Promise<void> {
  /** @returns ms of processor time: other work on the machine does not count */
  const start = (options: Options, heaps: number[]) => async () => {
    const nodeRed = await NodeRed.start({ ...options, settings, env: { NODE_OPTIONS: "--expose-gc" } });
    const { cpu, heap } = await nodeRed.measure();
    heaps.push(heap);
    await nodeRed.stop();
    return (cpu.user + cpu.system) / 1000;
  };
  const [ours, theirs]: [number[], number[]] = [[], []];
  const pairs = await inTurns(start({ flow: oneWebhook }, ours), start({ flow: tab(comment), bare: true }, theirs));
  const above = pairs.map(([withPackage, without]) => withPackage - without);
  report("processor time of a start with one endpoint, above that of Node-RED", "≤ 60 ms", `${spread(above, 0)} ms`);
  const heap = (median(ours) - median(theirs)) / 1e6;
  report("heap after the start with one endpoint, above that of Node-RED", "≤ 4 MB", `**${heap.toFixed(2)} MB**`);
}
