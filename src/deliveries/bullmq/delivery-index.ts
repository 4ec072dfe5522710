// The index beside BullMQ: what lists and searches need, and the bodies.

import type { ChainableCommander } from "ioredis";
import { scheduler } from "node:timers/promises";
import {
  type Delivery,
  droppable,
  finished,
  lastToGo,
  searchedIn,
  type StoredDelivery,
  unfinished,
  withWords,
} from "../delivery";
import { type Change, type DeliveryList, isBehind, type Position, type Query } from "../queue";
import type { Attempt, State } from "../summary";
import type { Server } from "./server";

/** How many deliveries are searched or dropped in one step, so that other commands have their turn. */
const step = 500;
/** Bytes of a delivery besides its texts and body: sorted sets, job, keys. */
const overhead = 1024;
/** How long one instance alone drops deliveries, in ms. */
const dropTime = 10_000;
const states = [...unfinished, ...finished];

/** The fields that attempts and replies change; each part is stored by itself. */
const parts = {
  progress: ["state", "attempt", "nextAt", "maxAttempts", "error"],
  reply: ["status", "milliseconds", "answer"],
} as const;

type Part = keyof typeof parts;

export interface IndexOptions {
  /** Retention of finished deliveries, in ms. */
  readonly maxAge: number;
  /** The bytes that all deliveries may take. */
  readonly maxBytes: number;
}

/**
 * Below the root:
 *
 *   delivery:<id>                         a hash: `request`, `progress` and `reply` as JSON, `attempts`, `body`, `bytes`
 *   all, in:<state>, in:<state>:<node>    sorted sets of ids by the time of arrival, and then by id
 *   bytes                                 how much all of them take
 */
export class DeliveryIndex implements DeliveryList {
  readonly #server: Server;
  readonly #root: string;
  readonly #options: IndexOptions;
  readonly #changed: (id: string, node: string) => void;
  /** The bytes that they take, as far as this instance knows. */
  #bytes = 0;
  #makingRoom: Promise<unknown> = Promise.resolve();
  /** The bytes of the largest delivery that did not fit. */
  #refused = 0;

  constructor(server: Server, root: string, options: IndexOptions, changed: (id: string, node: string) => void) {
    this.#server = server;
    this.#root = root;
    this.#options = options;
    this.#changed = changed;
  }

  /**
   * @param also commands of the same transaction, if it is not stored already
   * @param isTolerable whether an error of those may be ignored
   * @returns the results of the commands; nothing where it is stored already
   */
  async add(
    given: Delivery,
    body: Buffer,
    attempts: readonly Attempt[],
    also: (multi: ChainableCommander) => void,
    isTolerable?: (error: Error) => boolean,
  ): Promise<unknown[] | undefined> {
    const delivery = withWords(given, body);
    const key = this.#key("delivery", delivery.id);
    if (await this.#server.ask((redis) => redis.exists(key))) return undefined;
    const texts = { ...split(delivery), attempts: JSON.stringify(attempts) };
    const bytes = overhead + body.length + Object.values(texts).reduce((sum, text) => sum + text.length, 0);
    await this.#makeRoom(bytes);
    const results = await this.#server.transact((multi) => {
      multi.incrby(this.#key("bytes"), bytes).hset(key, { ...texts, body, bytes });
      multi.zadd(this.#key("all"), delivery.at, delivery.id);
      this.#place(multi, delivery);
      also(multi);
    }, isTolerable).catch((error: unknown) => {
      this.#refused = Math.max(this.#refused, bytes);
      throw error;
    }); // prettier-ignore
    this.#bytes = Number(results[0]);
    this.#changed(delivery.id, delivery.node);
    return results;
  }

  /** @param also commands of the same transaction @returns the results of the commands, those of `also` last */
  async write(
    before: Delivery,
    after: Delivery,
    attempts?: readonly Attempt[],
    also: (multi: ChainableCommander) => void = () => undefined,
  ): Promise<unknown[]> {
    const { id, node } = after;
    const [old, { progress, reply }] = [split(before), split(after)];
    const key = this.#key("delivery", id);
    const grown = progress.length + reply.length - old.progress.length - old.reply.length + (attempts ? (after.error?.length ?? 0) : 0); // prettier-ignore
    // The parts are changed by different processes: unchanged parts are not written.
    const fields = {
      ...(progress !== old.progress && { progress }),
      ...(reply !== old.reply && { reply }),
      ...(attempts && { attempts: JSON.stringify(attempts) }),
    };
    const results = await this.#server.transact((multi) => {
      if (Object.keys(fields).length > 0) multi.hset(key, fields);
      if (grown > 0) multi.hincrby(key, "bytes", grown).incrby(this.#key("bytes"), grown);
      if (before.state !== after.state) {
        this.#displace(multi, before);
        this.#place(multi, after);
      }
      also(multi);
    });
    this.#changed(id, node);
    return results;
  }

  async update(id: string, change: Change): Promise<void> {
    const delivery = await this.look(id);
    if (delivery) await this.write(delivery, { ...delivery, ...change });
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    const fields = ["request", "progress", "reply", "attempts", "body"];
    const found = await this.#server.ask((redis) => redis.hmgetBuffer(this.#key("delivery", id), ...fields));
    const [request = null, progress = null, reply = null, attempts, body] = found;
    const delivery = join([request, progress, reply]);
    return (
      delivery && {
        delivery,
        body: body ?? Buffer.alloc(0),
        attempts: JSON.parse(String(attempts ?? "[]")) as Attempt[],
      }
    );
  }

  async look(id: string): Promise<Delivery | undefined> {
    const [delivery] = await this.#lookAll([id]);
    return delivery;
  }

  async list({ node, state, text = "", before, limit }: Query): Promise<Delivery[]> {
    const looked = text.toLowerCase();
    const found: Delivery[] = [];
    let size = looked ? step : Math.min(limit, step);
    for (let from = before; found.length < limit;) {
      const { positions, isEnd } = await this.#positions(this.#sets(node, state), size, from);
      for (const delivery of await this.#lookAll(positions.map(({ id }) => id))) {
        if (!delivery || (state && delivery.state !== state)) continue;
        if (looked && !searchedIn(delivery).includes(looked)) continue;
        if (found.length < limit) found.push(delivery);
      }
      if (isEnd) break;
      const last = positions.at(-1);
      // All of them came at the same time as the one before.
      if (last) from = { at: last.at, id: last.id };
      else size *= 2;
    }
    return found;
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    const found = await this.#server.pipeline((commands) => {
      for (const state of states) commands.zcard(this.#key("in", state, node));
    });
    const counts: Partial<Record<State, number>> = {};
    for (const [index, state] of states.entries()) if (found[index]) counts[state] = Number(found[index]);
    return counts;
  }

  /** Drops deliveries that are too old. */
  async tidy(): Promise<void> {
    const { maxAge } = this.#options;
    if (maxAge === Infinity) return;
    await this.#alone(async () => {
      for (const state of droppable) {
        const set = this.#key("in", state);
        for (;;) {
          const old = await this.#server.ask((redis) => redis.zrangebyscore(set, "-inf", Date.now() - maxAge, "LIMIT", 0, step)); // prettier-ignore
          await this.#drop(old, Infinity);
          if (old.length < step) break;
        }
      }
    });
  }

  /** Whether the largest delivery that did not fit would fit now. */
  async hasRoom(): Promise<boolean> {
    try {
      await this.#makeRoom(this.#refused);
      await this.#server.ask((redis) => redis.set(this.#key("probe"), Buffer.alloc(this.#refused), "PX", 1));
    } catch {
      return false;
    }
    this.#refused = 0;
    return true;
  }

  #key(...names: string[]): string {
    return [this.#root, ...names].join(":");
  }

  #sets(node: string | undefined, state: State | undefined): string[] {
    if (node === undefined) return [state ? this.#key("in", state) : this.#key("all")];
    return (state ? [state] : states).map((each) => this.#key("in", each, node));
  }

  #place(multi: ChainableCommander, { id, node, state, at }: Delivery): void {
    multi.zadd(this.#key("in", state), at, id).zadd(this.#key("in", state, node), at, id);
  }

  #displace(multi: ChainableCommander, { id, node, state }: Delivery): void {
    multi.zrem(this.#key("in", state), id).zrem(this.#key("in", state, node), id);
  }

  /** The next positions in sorted sets, the newest first. */
  async #positions(
    sets: string[],
    size: number,
    before?: Position,
  ): Promise<{ positions: Position[]; isEnd: boolean }> {
    const found = await this.#server.pipeline((commands) => {
      for (const set of sets) {
        commands.zrevrangebyscore(set, before?.at ?? "+inf", "-inf", "WITHSCORES", "LIMIT", 0, size);
      }
    });
    const all = new Map<string, Position>();
    for (const row of found as string[][]) {
      for (let index = 0; index + 1 < row.length; index += 2) {
        const id = row[index] ?? "";
        all.set(id, { id, at: Number(row[index + 1]) });
      }
    }
    const sorted = [...all.values()].sort((one, other) => (isBehind(one, other) ? 1 : -1)).slice(0, size);
    return {
      positions: before ? sorted.filter((each) => isBehind(each, before)) : sorted,
      isEnd: sorted.length < size,
    };
  }

  async #lookAll(ids: readonly string[]): Promise<(Delivery | undefined)[]> {
    if (ids.length === 0) return [];
    const found = await this.#server.pipeline((commands) => {
      for (const id of ids) commands.hmget(this.#key("delivery", id), "request", "progress", "reply");
    });
    return (found as (string | null)[][]).map(join);
  }

  /** One after the other, so that no more is dropped than needed. */
  async #makeRoom(wanted: number): Promise<void> {
    if (this.#bytes + wanted <= this.#options.maxBytes) return;
    const made = this.#makingRoom.then(async () => this.#free(wanted));
    this.#makingRoom = made.catch(() => undefined);
    await made;
  }

  async #free(wanted: number): Promise<void> {
    for (;;) {
      this.#bytes = Number(await this.#server.ask((redis) => redis.get(this.#key("bytes"))));
      const missing = this.#bytes + wanted - this.#options.maxBytes;
      if (missing <= 0) return;
      const dropped = wanted <= this.#options.maxBytes && (await this.#alone(async () => this.#drop(await this.#oldest(), missing))); // prettier-ignore
      // Another instance is dropping.
      if (dropped === undefined) await scheduler.wait(20);
      else if (!dropped) {
        this.#refused = Math.max(this.#refused, wanted);
        throw this.#server.refuse("full", new Error(`${this.#bytes} of ${this.#options.maxBytes} bytes are taken`));
      }
    }
  }

  /** Runs on one instance at a time. @returns nothing where another one runs it */
  async #alone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    const lock = this.#key("dropping");
    if (!(await this.#server.ask((redis) => redis.set(lock, 1, "PX", dropTime, "NX")))) return undefined;
    try {
      return await work();
    } finally {
      await this.#server.ask((redis) => redis.del(lock));
    }
  }

  /** The oldest finished deliveries; failed ones only where there are no others. */
  async #oldest(): Promise<string[]> {
    const find = async (sets: readonly State[]) => {
      const found = await this.#server.pipeline((commands) => {
        for (const state of sets) commands.zrange(this.#key("in", state), 0, step - 1, "WITHSCORES");
      });
      const pairs = (found as string[][]).flatMap((row) => row.flatMap((id, index) => (index % 2 ? [] : [{ id, at: Number(row[index + 1]) }]))); // prettier-ignore
      return pairs.sort((one, other) => (isBehind(one, other) ? -1 : 1)).map(({ id }) => id);
    };
    const oldest = await find(droppable);
    return oldest.length > 0 ? oldest : find([lastToGo]);
  }

  /** Drops deliveries until so many bytes are free. @returns how many were dropped */
  async #drop(ids: readonly string[], wanted: number): Promise<number> {
    const found = await this.#lookAll(ids);
    const sizes = await this.#server.pipeline((commands) => {
      for (const id of ids) commands.hget(this.#key("delivery", id), "bytes");
    });
    let freed = 0;
    let dropped = 0;
    await this.#server.transact((multi) => {
      for (const [index, id] of ids.entries()) {
        if (freed >= wanted) break;
        const delivery = found[index];
        for (const state of delivery ? [delivery.state] : finished) multi.zrem(this.#key("in", state), id);
        if (delivery) this.#displace(multi, delivery);
        multi.zrem(this.#key("all"), id).del(this.#key("delivery", id));
        freed += Number(sizes[index]);
        dropped++;
      }
      multi.decrby(this.#key("bytes"), freed);
    });
    return dropped;
  }
}

function split(delivery: Delivery): Record<"request" | Part, string> {
  const changing: readonly string[] = Object.values(parts).flat();
  const take = (isTaken: (name: string) => boolean) => JSON.stringify(Object.fromEntries(Object.entries(delivery).filter(([name]) => isTaken(name)))); // prettier-ignore
  const takePart = (part: Part) => take((name) => parts[part].some((each) => each === name));
  return {
    request: take((name) => !changing.includes(name)),
    progress: takePart("progress"),
    reply: takePart("reply"),
  };
}

/** @returns nothing where it was dropped */
function join(texts: readonly (string | Buffer | null)[]): Delivery | undefined {
  if (texts.length === 0 || texts.some((text) => text === null)) return undefined;
  return Object.assign({}, ...texts.map((text) => JSON.parse(String(text)) as object)) as Delivery;
}
