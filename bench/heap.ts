/** Prints, as JSON, what the parts of an endpoint take on the heap, in bytes each. Needs `--expose-gc`. */
import type { Node, NodeAPI } from "node-red";
import { Counts } from "../nodes/runtime/counts";
import { endpointOf } from "../nodes/runtime/endpoint";
import { Report } from "../nodes/runtime/report";
import { Traffic } from "../nodes/runtime/traffic";
import { defaults } from "../src/config/fields";
import { parseConfig, type WebhookConfig } from "../src/config/parse";
import { Guarding } from "../src/deliveries/duplicate-guard";
import { MemoryDuplicates } from "../src/deliveries/memory-duplicates";
import { EndpointRegistry } from "../src/http/endpoint-registry";
import type { Gate } from "../src/trust/gate";
import { gateOf } from "../src/trust/gates";
import { MemoryRateCounter } from "../src/trust/limits";
import { StandIns } from "../src/trust/stand-ins";
import { token } from "../test/harness/flow";

const count = 10_000;
const kept: unknown[] = [];
const sizes: Record<string, number> = {};

/** Makes many of a part, keeps them, and notes what each takes. */
function measure<Part>(name: string, make: (index: number) => Part): (index: number) => Part {
  const parts: Part[] = new Array<Part>(count);
  const before = heapUsed();
  for (let index = 0; index < count; index++) parts[index] = make(index);
  sizes[name] = (heapUsed() - before) / count;
  kept.push(parts);
  return (index) => parts[index] as Part;
}

function heapUsed(): number {
  if (!globalThis.gc) throw new Error("heap.ts needs --expose-gc");
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

const node = { status: () => undefined, metric: () => false } as unknown as Node;
const RED = { events: { on: () => undefined } } as unknown as NodeAPI;
const limiting = { standIns: new StandIns(), counter: new MemoryRateCounter() };
const traffic = new Traffic(RED);
const guarding = new Guarding(new MemoryDuplicates());
const registry = new EndpointRegistry();

const config = measure("its configuration, parsed", (index) => {
  const ownToken = token.slice(5) + String(index).padStart(5, "0");
  return parseConfig({ ...defaults, relativePath: `/hook/${index}` }, { token: ownToken }, { roots: { admin: "/admin", node: "/" } }) as WebhookConfig;
}); // prettier-ignore
const gate = measure("its gate", (index) => gateOf(config(index)) as Gate);
const report = measure("its report", () => new Report(node, (key) => key, new Counts()));
measure("the endpoint, its functions and its place in the map", (index) => {
  const parts = {
    config: config(index),
    gate: gate(index),
    report: report(index),
    limit: 5_000_000,
    limiting,
    traffic,
  };
  const endpoint = endpointOf(RED, Object.assign(Object.create(node) as Node, { id: `w${index}` }), {
    ...parts,
    guarding,
    custody: undefined,
    records: undefined,
  });
  return registry.register({
    endpoint,
    onActive: () => report(index).stop(),
    onBlocked: () => report(index).stop(),
  });
});
process.stdout.write(JSON.stringify(sizes));
