/** Guaranteed delivery, and the stores of a Node-RED. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { BullQueue } from "../../src/deliveries/bullmq/bull-queue";
import type { DeliveryQueue } from "../../src/deliveries/queue";
import { sqliteIsHere } from "../../src/config/stores";
import { webhook } from "./flow";
import { Listener } from "./listener";
import type { NodeRed, Options } from "./node-red";
import { temporaryFolder } from "./package";
import { openFile } from "./queues";
import { serverIsHere, ValkeyServer } from "./valkey";

/** Five attempts, soon after each other. */
const soonAgain = { attempts: 5, backoffFirst: 1, backoffLongest: 60 };

/** A node with guaranteed delivery, and one that holds its messages until `endHeld`. */
export const guaranteed = (id: string, fields: Record<string, unknown> = {}, wires: string[] = []) => [
  webhook(id, `/${id}`, { guaranteed: true, ...soonAgain, wires: [[`hold-${id}`]], ...fields }),
  { id: `hold-${id}`, type: "hold", wires: [wires] },
];

/** Has the flow of a node be done with the messages that it has. */
export async function endHeld(nodeRed: NodeRed, id: string, error?: string): Promise<void> {
  await nodeRed.tell({ end: { id: `hold-${id}`, error } }, `hold-${id} ended`);
}

/** A store of a Node-RED that is started again and again. */
export interface TestStore {
  /** What the Node-RED is started with. */
  readonly options: Pick<Options, "settings" | "modules">;
  /** The folder of its files. */
  readonly folder: string;
  /** The same store in this process, while no Node-RED has it. */
  open(): DeliveryQueue;
  /** What the Node-RED did before it was killed is taken over now, and not only when its locks have expired. */
  expireLocks(): Promise<void>;
  end(): Promise<void>;
}

export interface StoreKind {
  readonly name: string;
  /** Whether this machine has what it needs. */
  readonly isHere: boolean;
  /** Whether what a crash has ended is started again in order of arrival. */
  readonly isOrdered: boolean;
  begin(): Promise<TestStore>;
}

export const storeKinds: readonly StoreKind[] = [
  {
    name: "a file",
    isHere: sqliteIsHere(),
    isOrdered: true,
    begin: () => {
      const folder = temporaryFolder("store");
      const nothing = () => Promise.resolve();
      const options = { settings: { webhookTriggerStore: { type: "sqlite", folder } } };
      return Promise.resolve({ options, folder, open: () => openFile(folder), expireLocks: nothing, end: nothing });
    },
  },
  { name: "a server", isHere: serverIsHere, isOrdered: false, begin: async () => storeIn(await ValkeyServer.start()) },
];

export function storeIn(server: ValkeyServer): TestStore {
  const url = server.url();
  return {
    options: { modules: ["bullmq", "ioredis"], settings: { webhookTriggerStore: { type: "bullmq", url } } },
    folder: server.folder,
    open: () => new BullQueue({ url }),
    expireLocks: () => expireLocks(url),
    end: () => server.stop(),
  };
}

/** Has the locks of a process that is no more expire at once, which else takes 20 s. */
export async function expireLocks(url: string): Promise<void> {
  const client = new Redis(url);
  const locks = await client.keys("*:lock");
  if (locks.length > 0) await client.del(locks);
  client.disconnect();
}

/** Looks into a store that no Node-RED has. */
export async function lookInto<Seen>(store: TestStore, look: (queue: DeliveryQueue) => Promise<Seen>): Promise<Seen> {
  const queue = store.open();
  await queue.open(new Listener());
  try {
    return await look(queue);
  } finally {
    await queue.close();
  }
}

/** All bytes of a store, each a character. */
export function bytesOf({ folder }: TestStore): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "latin1")).join(""); // prettier-ignore
}
