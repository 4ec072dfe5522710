// Deliveries in a server, Valkey or Redis, that several instances share.

import { randomUUID } from "node:crypto";
import { Condition } from "./condition";
import { type Delivery, finished, type Kept, type State, unfinished } from "./delivery";
import type { Duplicates } from "./duplicates";
import { maxAge, maxBytes } from "./sqlite-store";
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
import { Adding } from "./valkey/adding";
import { deliveryOfRow, keptOf } from "./valkey/fields";
import { rate, SharedRateCounter } from "./valkey/rates";
import * as repeatScripts from "./valkey/duplicate-scripts";
import { SharedDuplicates } from "./valkey/duplicates";
import { Script } from "./valkey/script";
import * as scripts from "./valkey/scripts";
import { Server } from "./valkey/server";
import { Together } from "./valkey/together";
import * as upkeep from "./valkey/upkeep-scripts";

/** How often an instance tells that it lives, in ms. */
export const beatEvery = 4000;
/** For how long an instance is held to live without another word, in ms. */
export const beatLasts = 20_000;
/** How long the server may take for a command, in ms. */
export const timeLimit = 5000;
/** How often it looks for what is too old, in ms. */
const tidyEvery = 60_000;
/** How long others have their turn between two steps of dropping what is too old, in ms. */
const betweenSteps = 20;
/** How many deliveries are looked through for a text, or claimed, in one step. */
const scanned = 500;
/** How many bytes are read in one step, unless one delivery alone has more. */
const mostRead = 4 * 1024 * 1024;
const states = [...unfinished, ...finished];

export interface ValkeyOptions {
  /** `redis://` or, for TLS, `rediss://`, with the user, the password and the number of the database, where needed. */
  url: string;
  /** What tells its deliveries from those of others in the same server. */
  namespace?: string;
  /** How long finished deliveries are kept, in ms. */
  maxAge?: number;
  /** How much deliveries take at most, in bytes. */
  maxBytes?: number;
  beatEvery?: number;
  beatLasts?: number;
  timeLimit?: number;
}

/** What it is made of. */
interface Parts {
  readonly server: Server;
  readonly adding: Adding;
  readonly changes: Together;
  readonly duplicates: SharedDuplicates;
}

/**
 * Each instance tells again and again that it lives. What it adds or claims is its own, for as long as a flow may take,
 * until it says no more: then any other may claim it. One that comes back after that, from a suspended process or a
 * network that was cut, has lost what others have claimed: its changes of that are ignored. The flow may then have been
 * started by both.
 *
 * Unlike others, `change` may have happened although it is rejected: where the connection has ended before the answer.
 */
export class ValkeyStore implements Store {
  readonly outlives = true;
  readonly isShared = true;
  /** How many requests come from where, to all instances; to this one alone while the server is away. */
  readonly rates: SharedRateCounter;
  readonly #options: Required<ValkeyOptions>;
  #opened: Parts | undefined;
  #tidying: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ValkeyOptions) {
    this.#options = { namespace: "", maxAge, maxBytes, beatEvery, beatLasts, timeLimit, ...options };
    this.rates = new SharedRateCounter();
  }

  async open(events: StoreEvents): Promise<void> {
    const { namespace, ...rest } = this.#options;
    const condition = new Condition<"connection" | "server" | "queue">(events);
    const root = `{webhook-trigger${namespace && `:${namespace}`}}`;
    const all = Object.values({ ...scripts, ...repeatScripts, ...upkeep, rate }).filter(
      (each) => each instanceof Script,
    );
    const server = new Server({ ...rest, root, instance: randomUUID(), scripts: all }, events, condition);
    const changes = new Together(server, scripts.change);
    this.#opened = {
      server,
      changes,
      adding: new Adding(server, condition, rest.maxBytes, changes),
      duplicates: new SharedDuplicates(server),
    };
    this.rates.share(server);
    try {
      await server.start();
    } finally {
      this.#tidyAfter(0);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#tidying);
    this.rates.close();
    this.#opened?.duplicates.close();
    this.#opened?.adding.flush();
    this.#opened?.changes.flush();
    await this.#opened?.server.stop();
  }

  /** @throws {StoreError} where the store was not opened before */
  get duplicates(): Duplicates {
    return this.#parts.duplicates;
  }

  async add(delivery: Delivery, body: Buffer): Promise<void> {
    await this.#parts.adding.add(delivery, body);
  }

  async change(id: string, change: Change): Promise<void> {
    const { run, ...fields } = change;
    const known = Object.entries(fields).flatMap(([name, value]) => [name, `${value}`]);
    const error = run?.error;
    if (error !== undefined) known.push("failed", error.toLowerCase());
    // That of a run that has not failed is counted with the delivery.
    const bytes = 2 * (error?.length ?? 0) + (change.answer?.length ?? 0);
    const args = [id, run ? JSON.stringify(run) : "", bytes, known.length, ...known];
    const { adding, changes } = this.#parts;
    // The server may be asked once more to add it.
    const isAdded = adding.over(id);
    if (isAdded) await isAdded;
    await changes.ask(args, { canWait: isOver(change) });
  }

  async claim(node: string, most: number, known: ReadonlySet<string>, after = "0"): Promise<Claim> {
    const { server } = this.#parts;
    const [numbers, ids, end] = await server.ask(scripts.claim, [node, after, Math.min(most, scanned)]);
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length === 0) return { deliveries: [], next: end ?? undefined };
    const found = await server.ask(scripts.find, [mostRead, ...unknown]);
    const last = unknown[found.length - 1];
    const next = found.length < unknown.length && last !== undefined ? numbers[ids.indexOf(last)] : end;
    return { deliveries: found.map(keptOf).filter((kept) => kept !== undefined), next: next ?? undefined };
  }

  async find(id: string): Promise<Kept | undefined> {
    const [found = []] = await this.#parts.server.ask(scripts.find, [1, id]);
    return keptOf(found);
  }

  async look(id: string): Promise<Delivery | undefined> {
    const [row] = await this.#parts.server.ask(scripts.look, [id]);
    return row && deliveryOfRow(row);
  }

  /** Step by step, between which others have their turn. */
  async page({ node = "", state, text = "", since = 0, before = "", limit }: Query): Promise<Page> {
    const deliveries: Delivery[] = [];
    const folded = text.toLowerCase();
    for (let from = before; ;) {
      const left = limit - deliveries.length;
      const step = [node, state ?? "", folded, from, left, folded ? scanned : left + 1, since];
      const [found, next] = await this.#parts.server.ask(scripts.page, step);
      deliveries.push(...found.map(deliveryOfRow).filter((delivery) => delivery !== undefined));
      if (next === null || deliveries.length >= limit) return { deliveries, next: next ?? undefined };
      from = next;
    }
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    const counts = await this.#parts.server.ask(scripts.count, [node, ...states]);
    const known: Partial<Record<State, number>> = {};
    for (const [index, state] of states.entries()) if (counts[index]) known[state] = counts[index];
    return known;
  }

  get #parts(): Parts {
    if (!this.#opened) throw new StoreError("unreachable");
    return this.#opened;
  }

  #tidyAfter(milliseconds: number): void {
    if (!this.#isClosed) this.#tidying = setTimeout(() => void this.#tidy(), milliseconds).unref();
  }

  async #tidy(): Promise<void> {
    const { maxAge, maxBytes } = this.#options;
    const more = await this.#parts.server.ask(upkeep.tidy, [Date.now() - maxAge, maxBytes]).catch(() => 0);
    this.#tidyAfter(more ? betweenSteps : tidyEvery);
  }
}
