/** Nodes that lose nothing, and the stores in which a Node-RED keeps what they have. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import type { Store } from "../../src/deliveries/store";
import { clientName } from "../../src/deliveries/valkey/module";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { webhook } from "./flow";
import type { Options } from "./node-red";
import { temporaryFolder } from "./package";
import { Told } from "./stores";
import { serverIsHere, ValkeyServer } from "./valkey";
import { Wire } from "./wire";

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
  /** The Node-RED is no more: how long others wait to be sure of that is over. */
  forget(): Promise<void>;
  /** The same store in this process, while no Node-RED has it. */
  store(): Store;
  end(): Promise<void>;
}

export interface KeepKind {
  readonly name: string;
  /** Whether this machine has what it needs. */
  readonly isHere: boolean;
  begin(): Promise<Keep>;
}

export const keeps: readonly KeepKind[] = [
  {
    name: "a file",
    isHere: sqliteIsHere(),
    begin: () => {
      const folder = temporaryFolder("keep");
      const nothing = () => Promise.resolve();
      const options = { settings: { webhookTriggerStore: { type: "sqlite", folder } } };
      return Promise.resolve({ options, folder, forget: nothing, store: () => new SqliteStore(folder), end: nothing });
    },
  },
  { name: "a server", isHere: serverIsHere, begin: async () => keepIn(await ValkeyServer.start()) },
];

export function keepIn(server: ValkeyServer): Keep {
  const url = server.url();
  return {
    options: { modules: [clientName], settings: { webhookTriggerStore: { type: "valkey", url } } },
    folder: server.folder,
    forget: async () => {
      const wire = new Wire(server.port);
      await wire.send(
        "EVAL",
        "for _, key in ipairs(redis.call('KEYS', '*:alive:*')) do redis.call('DEL', key) end",
        "0",
      );
      wire.close();
    },
    store: () => new ValkeyStore({ url }),
    end: () => server.stop(),
  };
}

/** Looks into a store that no Node-RED has. */
export async function lookInto<Seen>(keep: Keep, look: (store: Store) => Promise<Seen>): Promise<Seen> {
  const store = keep.store();
  await store.open(new Told());
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
