/** What the heap holds: after many requests, and for each endpoint. */
import type { Flow } from "../test/harness/node-red";
import { connections, report, show } from "./figures";
import { fullLoad } from "./load";
import { accepted, small, withWrongToken } from "./requests";
import { injects, nodeRed, oneWebhook, runtimeOf, webhooks } from "./subjects";

const collectable = { env: { NODE_OPTIONS: "--expose-gc" } };
const requests = Number(process.env.REQUESTS ?? 1_000_000);

export async function memory(): Promise<void> {
  process.stdout.write("memory\n");
  const growth = await heapGrowth();
  const count = requests.toLocaleString("en");
  report(`heap after ${count} accepted and as many refused requests`, "within 3 MB", `**${(growth / 1e6).toFixed(2)} MB** more`); // prettier-ignore
  const [ours, theirs] = [await heapOf(webhooks(10_000)), await heapOf(injects(10_000))];
  const each = (ours - theirs) / 10_000;
  show("heap per idle endpoint, above an `inject` node's", `**${(each / 1000).toFixed(2)} kB**`);
}

async function heapGrowth(): Promise<number> {
  const subject = await nodeRed(oneWebhook, collectable);
  const send = async (request: Buffer, howMany: number) => {
    for (let sent = 0; sent < howMany;) {
      const { statuses } = await fullLoad(subject.port, request, connections, 1000);
      sent += Object.values(statuses).reduce((sum, each) => sum + each, 0);
    }
  };
  const heapAfter = async (howMany: number) => {
    await send(accepted(small), howMany);
    await send(withWrongToken(small), howMany);
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
