/** Prints, as JSON, what the parts of an endpoint take on the heap, in bytes each. Needs `--expose-gc`. */
import type { Node, NodeAPI } from "node-red";
import { Observers } from "../src/admin/observers";
import type { Authenticator } from "../src/auth/authenticator";
import { createAuthenticator } from "../src/auth/create-authenticator";
import { MemoryRateCounter } from "../src/auth/limits";
import { TestCredentials } from "../src/auth/test-credentials";
import { defaults } from "../src/config/fields";
import { parseConfig, type WebhookConfig } from "../src/config/parse";
import { Guarding } from "../src/deliveries/duplicate-guard";
import { MemoryDuplicates } from "../src/deliveries/duplicates";
import { EndpointRegistry } from "../src/flow/endpoints";
import { createEndpoint } from "../src/flow/message";
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

const nothing = () => undefined;
const node = { status: nothing, metric: () => false } as unknown as Node;
const RED = {
  events: { on: nothing },
  httpAdmin: { get: nothing, post: nothing },
  auth: { needsPermission: nothing },
  settings: {},
} as unknown as NodeAPI;
const nodeAt = (index: number) => Object.assign(Object.create(node) as Node, { id: `w${index}` });
const limiting = { testCredentials: new TestCredentials(), counter: new MemoryRateCounter() };
const observers = new Observers(RED);
const { outcomes } = observers;
const guarding = new Guarding(new MemoryDuplicates());
const registry = new EndpointRegistry();

const config = measure("its configuration, parsed", (index) => {
  const ownToken = token.slice(5) + String(index).padStart(5, "0");
  return parseConfig({ ...defaults, relativePath: `/hook/${index}` }, { token: ownToken }, { roots: { admin: "/admin", node: "/" } }) as WebhookConfig;
}); // prettier-ignore
const authenticator = measure("its authenticator", (index) => createAuthenticator(config(index)) as Authenticator);
measure("its counts and its health", (index) => {
  const own = nodeAt(index);
  observers.begin(own);
  return own;
});
measure("the endpoint, its functions and its place in the map", (index) => {
  const parts = {
    config: config(index),
    authenticator: authenticator(index),
    limit: 5_000_000,
    limiting,
    outcomes,
    guarding,
  };
  const endpoint = createEndpoint(RED, nodeAt(index), { ...parts, guaranteed: undefined, records: undefined });
  return registry.register({ endpoint, onActive: nothing, onBlocked: nothing });
});
process.stdout.write(JSON.stringify(sizes));
