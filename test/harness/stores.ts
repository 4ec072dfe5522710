/** The engines that keep deliveries, and what is kept in them by tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Delivery } from "../../src/deliveries/delivery";
import { MemoryStore, mostOfNode } from "../../src/deliveries/memory-store";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import type { Query, Store, StoreEvents, Trouble, Warning } from "../../src/deliveries/store";
import { clientIsHere } from "../../src/deliveries/valkey/module";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { serverIsHere, ValkeyServer } from "./valkey";

/** An engine; a new one needs nothing but a row in `engines`. */
export interface Engine {
  readonly name: string;
  readonly outlives: boolean;
  /** Whether this machine has what it needs. */
  readonly isHere: boolean;
  /** Called before the first store is created, and after the last one. */
  begin?(): Promise<void>;
  end?(): Promise<void>;
  /**
   * @param place what tells one store from another: an empty folder, whose name is nobody else's
   * @param mostBytes how much it keeps
   */
  create(place: string, mostBytes?: number): Store;
}

let server: ValkeyServer | undefined;

export const engines: readonly Engine[] = [
  {
    name: "in memory",
    outlives: false,
    isHere: true,
    create: (_place, mostBytes) => new MemoryStore(mostOfNode, mostBytes),
  },
  {
    name: "in a file",
    outlives: true,
    isHere: sqliteIsHere(),
    create: (place, mostBytes) =>
      new SqliteStore(place, { maxAge: Infinity, ...(mostBytes && { maxBytes: mostBytes }) }),
  },
  {
    name: "in a server",
    outlives: true,
    isHere: serverIsHere && clientIsHere(),
    begin: async () => {
      server = await ValkeyServer.start();
    },
    end: async () => server?.stop(),
    create: (place, mostBytes) => {
      const url = server?.url() ?? "";
      return new ValkeyStore({ url, namespace: basename(place), maxAge: Infinity, ...(mostBytes && { maxBytes: mostBytes }) }); // prettier-ignore
    },
  },
];

/** What a store has told of how it fares. */
export class Told implements StoreEvents {
  readonly said: string[] = [];
  readonly causes: unknown[] = [];
  readonly aside: string[] = [];
  readonly warnings: Warning[] = [];

  troubled(trouble: Trouble, cause: unknown): void {
    this.said.push(trouble);
    this.causes.push(cause);
  }

  mended(): void {
    this.said.push("mended");
  }

  movedAside(path: string, cause: unknown): void {
    this.said.push("moved aside");
    this.aside.push(path);
    this.causes.push(cause);
  }

  warned(warning: Warning): void {
    this.warnings.push(warning);
  }
}

/** The stores of a test, which are let go of after it. */
export class Shelf {
  readonly place = mkdtempSync(join(tmpdir(), "webhook-trigger-store-"));
  readonly told = new Told();
  readonly #open = new Set<Store>();

  async opened<Each extends Store>(store: Each): Promise<Each> {
    this.#open.add(store);
    await store.open(this.told);
    return store;
  }

  async closed(store: Store): Promise<void> {
    this.#open.delete(store);
    await store.close();
  }

  async clear(): Promise<void> {
    for (const store of this.#open) await this.closed(store);
    rmSync(this.place, { recursive: true, force: true });
  }
}

export const bytes = Buffer.from('{"a":1}');

/** A body that no other delivery has. */
export function bodyOf(id: string): Buffer {
  return Buffer.from(id.repeat(100));
}

export function delivered(id: string, rest: Partial<Delivery> = {}): Delivery {
  const head = { method: "POST", path: "/hook", search: "", headers: { host: "example.com" }, ip: "192.0.2.1" };
  return { id, node: "n", at: 1_700_000_000_000, state: "succeeded", head, size: bytes.length, attempt: 0, ...rest };
}

/** The ids of all pages of a query, page by page. */
export async function pagesOf(store: Store, query: Query): Promise<string[][]> {
  const pages: string[][] = [];
  let before: string | undefined;
  do {
    const { deliveries, next } = await store.page({ ...query, before });
    pages.push(deliveries.map(({ id }) => id));
    before = next;
  } while (before !== undefined);
  return pages;
}

/** The ids of all that is unfinished, step by step. */
export async function claimsOf(
  store: Store,
  node: string,
  most: number,
  known = new Set<string>(),
): Promise<string[][]> {
  const steps: string[][] = [];
  let after: string | undefined;
  do {
    const { deliveries, next } = await store.claim(node, most, known, after);
    steps.push(deliveries.map(({ delivery }) => delivery.id));
    after = next;
  } while (after !== undefined);
  return steps;
}
