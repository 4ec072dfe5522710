/** Nodes that lose nothing, and the stores in which a Node-RED keeps what they have. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BullQueue } from "../../src/deliveries/bullmq/bull-queue";
import type { DeliveryQueue } from "../../src/deliveries/queue";
import { SqliteQueue } from "../../src/deliveries/sqlite/sqlite-queue";
import { sqliteIsHere } from "../../src/deliveries/sqlite/tables";
import { webhook } from "./flow";
import { Listener } from "./listener";
import type { Options } from "./node-red";
import { temporaryFolder } from "./package";
import { serverIsHere, ValkeyServer } from "./valkey";

/** Five attempts, soon after each other. */
export const soonAgain = { attempts: 5, backoffFirst: 1, backoffLongest: 60 };

/** A node that loses nothing, wired to a node that holds what comes. */
export const guaranteed = (id: string, fields: Record<string, unknown> = {}) =>
  webhook(id, `/${id}`, { guaranteed: true, ...soonAgain, wires: [[`hold-${id}`]], ...fields });

/** A store of a Node-RED that is started again and again. */
export interface Keep {
  /** What the Node-RED is to be started with. */
  readonly options: Pick<Options, "settings" | "modules">;
  /** Where all is that is kept. */
  readonly folder: string;
  /** The same store in this process, while no Node-RED has it. */
  store(): DeliveryQueue;
  end(): Promise<void>;
}

export interface KeepKind {
  readonly name: string;
  /** Whether this machine has what it needs. */
  readonly isHere: boolean;
  /** Whether what a crash has ended comes again in order of arrival: several instances share the others. */
  readonly isOrdered: boolean;
  begin(): Promise<Keep>;
}

export const keeps: readonly KeepKind[] = [
  {
    name: "a file",
    isHere: sqliteIsHere(),
    isOrdered: true,
    begin: () => {
      const folder = temporaryFolder("keep");
      const nothing = () => Promise.resolve();
      const options = { settings: { webhookTriggerStore: { type: "sqlite", folder } } };
      return Promise.resolve({ options, folder, store: () => new SqliteQueue(folder), end: nothing });
    },
  },
  { name: "a server", isHere: serverIsHere, isOrdered: false, begin: async () => keepIn(await ValkeyServer.start()) },
];

export function keepIn(server: ValkeyServer): Keep {
  const url = server.url();
  return {
    options: { modules: ["bullmq", "ioredis"], settings: { webhookTriggerStore: { type: "bullmq", url } } },
    folder: server.folder,
    store: () => new BullQueue({ url }),
    end: () => server.stop(),
  };
}

/** Looks into a store that no Node-RED has. */
export async function lookInto<Seen>(keep: Keep, look: (queue: DeliveryQueue) => Promise<Seen>): Promise<Seen> {
  const store = keep.store();
  await store.open(new Listener());
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** All bytes of a store, each a character. */
export function bytesOf({ folder }: Keep): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "latin1")).join(""); // prettier-ignore
}
