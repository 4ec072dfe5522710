/** What the package adds to a Node-RED with one endpoint, and a thousand callers to it: to its start, and to its heap. */
import { NodeRed, type Options } from "../test/harness/node-red";
import { tab } from "../test/harness/flow";
import { inTurns, median, report, spread } from "./figures";
import { oneWebhook, oneWithCallers } from "./subjects";

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
  /** What one of them takes more than the other. */
  const difference = async (what: string, flow: Options, other: Options, [ms, megabytes]: [string, string]) => {
    const [ours, theirs]: [number[], number[]] = [[], []];
    const pairs = await inTurns(start(flow, ours), start(other, theirs));
    const above = pairs.map(([more, less]) => more - less);
    report(`processor time of a start with ${what}`, ms, `${spread(above, 0)} ms`);
    const heap = (median(ours) - median(theirs)) / 1e6;
    report(`heap after the start with ${what}`, megabytes, `**${heap.toFixed(2)} MB**`);
  };
  const [one, nothing] = [{ flow: oneWebhook }, { flow: tab(comment), bare: true }];
  await difference("one endpoint, above that of Node-RED", one, nothing, ["≤ 60 ms", "≤ 4 MB"]);
  await difference("1,000 callers, above that with one token", { flow: oneWithCallers }, one, ["≤ 20 ms", "≤ 1 MB"]);
}
