// Deliveries in a file of the user directory, which outlives the process.

import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import type { Delivery, Kept, State } from "./delivery";
import type { Duplicates } from "./duplicates";
import type { WrittenKept } from "./sqlite/operations";
import { FileDuplicates } from "./sqlite/duplicates";
import { Thread } from "./sqlite/thread";
import { bufferOf, read, write } from "./written";
import {
  type Change,
  type Claim,
  isOver,
  type Page,
  type Query,
  type Store,
  StoreError,
  type StoreEvents,
} from "./store";

/** The name of the file in its folder. */
export const fileName = "webhook-trigger.sqlite";
/** How long finished deliveries are kept, in ms. */
export const maxAge = 7 * 24 * 3_600_000;
/** How much of the file is filled at most, in bytes. */
export const maxBytes = 1024 * 1024 * 1024;
/** The compiled one beside the compiled store; where TypeScript is run as it is, the worker runs it the same way. */
const workerFile = join(__dirname, "sqlite", `worker${extname(__filename)}`);

export interface SqliteOptions {
  /** How long finished deliveries are kept, in ms. */
  maxAge?: number;
  /** How much of the file is filled at most, in bytes. */
  maxBytes?: number;
  /** The file that the worker runs. */
  worker?: string;
}

/**
 * The file is that of a thread of its own, as SQLite is synchronous. What comes while that syncs a transaction is in the
 * next one, and a promise is fulfilled when its transaction is synced. Only a Node.js for which `sqliteIsHere` can open
 * it.
 */
export class SqliteStore implements Store {
  readonly outlives = true;
  readonly isShared = false;
  readonly #folder: string;
  readonly #options: SqliteOptions;
  #opened: Thread | undefined;
  #duplicates: FileDuplicates | undefined;

  /** @param folder where the file is, or is to be */
  constructor(folder: string, options: SqliteOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Whether there is a file already. */
  get exists(): boolean {
    return existsSync(join(this.#folder, fileName));
  }

  async open(events: StoreEvents): Promise<void> {
    const { worker = workerFile, ...limits } = this.#options;
    const path = join(this.#folder, fileName);
    this.#opened = new Thread(worker, { path, maxAge, maxBytes, ...limits }, events);
    this.#duplicates = new FileDuplicates(this.#opened);
    this.#duplicates.opened(await this.#opened.ask("open", undefined));
  }

  async close(): Promise<void> {
    await this.#opened?.stop();
  }

  /** @throws {StoreError} where the store was not opened before */
  get duplicates(): Duplicates {
    if (!this.#duplicates) throw new StoreError("unreachable");
    return this.#duplicates;
  }

  async add(delivery: Delivery, body: Buffer): Promise<void> {
    const written = write(delivery, body);
    await this.#thread.ask("add", written, body, { size: written.rest.length + written.searched.length });
  }

  async change(id: string, change: Change): Promise<void> {
    await this.#thread.ask("change", { id, change }, undefined, { canWait: isOver(change) });
  }

  async claim(node: string, most: number, known: ReadonlySet<string>, after = "0"): Promise<Claim> {
    const { kept, next } = await this.#thread.ask("claim", { node, most, after: Number(after) });
    const deliveries: Kept[] = [];
    for (const each of kept) {
      const found = known.has(each.written.id) ? undefined : keptOf(each);
      if (found) deliveries.push(found);
      // What nobody can read, no flow can be started with.
      else if (!known.has(each.written.id)) await this.change(each.written.id, { state: "failed" });
    }
    return { deliveries, next: next?.toString() };
  }

  async find(id: string): Promise<Kept | undefined> {
    const kept = await this.#thread.ask("find", id);
    return kept && keptOf(kept);
  }

  async look(id: string): Promise<Delivery | undefined> {
    const written = await this.#thread.ask("look", id);
    return written && read(written);
  }

  /** Step by step, between which others have their turn. */
  async page({ node, state, text = "", since, before, limit }: Query): Promise<Page> {
    const deliveries: Delivery[] = [];
    const query = { node, state, text: text.toLowerCase(), since };
    for (let from = Number(before ?? Number.MAX_SAFE_INTEGER); ;) {
      const { found, next } = await this.#thread.ask("page", {
        ...query,
        before: from,
        limit: limit - deliveries.length,
      });
      deliveries.push(...found.map(read).filter((delivery) => delivery !== undefined));
      if (next === undefined || deliveries.length >= limit) return { deliveries, next: next?.toString() };
      from = next;
    }
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    return this.#thread.ask("counts", node);
  }

  get #thread(): Thread {
    if (!this.#opened) throw new StoreError("unreachable");
    return this.#opened;
  }
}

function keptOf({ written, body, attempts }: WrittenKept): Kept | undefined {
  const delivery = read(written);
  return delivery && { delivery, body: bufferOf(body), attempts };
}
