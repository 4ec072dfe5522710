// The index beside BullMQ: what lists and searches need, and the bodies.

import type { ChainableCommander } from "ioredis";
import { scheduler } from "node:timers/promises";
import {
  type Attempt,
  type Delivery,
  droppable,
  finished,
  firstToGo,
  lastToGo,
  searchedIn,
  type State,
  type StoredDelivery,
  unfinished,
  withWords,
} from "../delivery";
import {
  type Change,
  compareByAge,
  type DeliveryList,
  frameBytes,
  isInRange,
  probeBytes,
  type Query,
  type Retention,
} from "../queue";
import { findFailure } from "../states";
import type { RedisClient } from "./redis-client";
import type { SharedWaits } from "./waits";

/** How many deliveries are searched or dropped in one step, so that other commands have their turn. */
const step = 500;
/** How long one instance alone drops deliveries, in ms. */
const dropTime = 10_000;

/**
 * Drops a delivery and all that belongs to it, unless it runs or another call was faster. KEYS: its hash. ARGV: root, id.
 */
const dropOne = `
local text, bytes = unpack(redis.call("HMGET", KEYS[1], "delivery", "bytes"))
if not text then return 0 end
local root, id = ARGV[1], ARGV[2]
local delivery = cjson.decode(text)
local node, state = delivery.node, delivery.state
if state == "running" then return 0 end
redis.call("DEL", KEYS[1])
for _, set in ipairs({ "all", "of:" .. node, "in:" .. state, "in:" .. state .. ":" .. node }) do
  redis.call("ZREM", root .. ":" .. set, id)
end
redis.call("ZREM", root .. ":waits", id .. " " .. node)
redis.call("DECRBY", root .. ":bytes", bytes or 0)
return 1`;

/**
 * Below the root:
 *
 *   delivery:<id>                            a hash: `delivery`, `reply` and `attempts` as JSON, `body`, `bytes`
 *   all, of:<node>,
 *   in:<state>, in:<state>:<node>            sorted sets of ids by the time of arrival, and then by id
 *   bytes                                    how much all of them take
 */
export class DeliveryIndex implements Omit<DeliveryList, "remove" | "removeAll"> {
  readonly #client: RedisClient;
  readonly #root: string;
  readonly #retention: Retention;
  readonly #waits: SharedWaits;
  readonly #changed: (node: string) => void;

  constructor(
    client: RedisClient,
    root: string,
    retention: Retention,
    waits: SharedWaits,
    changed: (node: string) => void,
  ) {
    this.#client = client;
    this.#root = root;
    this.#retention = retention;
    this.#waits = waits;
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
    const { id, node, at } = delivery;
    const key = this.#key("delivery", id);
    const texts = { ...split(delivery), attempts: JSON.stringify(attempts) };
    const bytes = frameBytes + body.length + Object.values(texts).reduce((sum, text) => sum + text.length, 0);
    const [isKnown] = await Promise.all([this.#client.ask((redis) => redis.exists(key)), this.#makeRoom(bytes)]);
    if (isKnown) return undefined;
    const add = (multi: ChainableCommander) => {
      multi.incrby(this.#key("bytes"), bytes).hset(key, { ...texts, body, bytes });
      multi.zadd(this.#key("all"), at, id).zadd(this.#key("of", node), at, id);
      this.#place(multi, delivery);
      also(multi);
    };
    const results = await this.#client.transact(add, isTolerable);
    this.#changed(node);
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
    const key = this.#key("delivery", id);
    const [old, { delivery, reply }] = [split(before), split(after)];
    const fields = {
      ...(delivery !== old.delivery && { delivery }),
      ...(reply !== old.reply && { reply }),
      ...(attempts && { attempts: JSON.stringify(attempts) }),
    };
    const grown = delivery.length + reply.length - old.delivery.length - old.reply.length + (attempts ? (after.error?.length ?? 0) : 0); // prettier-ignore
    const results = await this.#client.transact((multi) => {
      if (Object.keys(fields).length > 0) multi.hset(key, fields);
      if (grown > 0) multi.hincrby(key, "bytes", grown).incrby(this.#key("bytes"), grown);
      if (before.state !== after.state) {
        this.#displace(multi, before);
        this.#place(multi, after);
      }
      also(multi);
    });
    this.#changed(node);
    return results;
  }

  async update(id: string, change: Change): Promise<void> {
    const [delivery] = await this.#lookAll([id]);
    if (delivery) await this.write(delivery, { ...delivery, ...change });
  }

  async find(id: string): Promise<StoredDelivery | undefined> {
    const fields = ["delivery", "reply", "attempts", "body"];
    const found = await this.#client.ask((redis) => redis.hmgetBuffer(this.#key("delivery", id), ...fields));
    const [delivery, reply, attempts, body] = found;
    if (!delivery || !reply || !attempts || !body) return undefined;
    return { delivery: join(delivery, reply), body, attempts: JSON.parse(String(attempts)) as Attempt[] };
  }

  async list(query: Query): Promise<Delivery[]> {
    const { node, state, text = "", error, before, after, limit } = query;
    const names = [...(state ? ["in", state] : [node === undefined ? "all" : "of"]), ...(node === undefined ? [] : [node])]; // prettier-ignore
    const set = this.#key(...names);
    const looked = text.toLowerCase();
    const isWanted = (each: Delivery) =>
      (!looked || searchedIn(each).includes(looked)) && (error === undefined || findFailure(each) === error);
    const found: Delivery[] = [];
    let size = looked || error !== undefined ? step : Math.min(limit, step);
    for (let from = after ?? before; found.length < limit;) {
      const range = after ? { before, after: from } : { before: from };
      const ids = await this.#client.ask((redis) =>
        after
          ? redis.zrangebyscore(set, from?.at ?? "-inf", "+inf", "LIMIT", 0, size)
          : redis.zrevrangebyscore(set, from?.at ?? "+inf", "-inf", "LIMIT", 0, size),
      );
      const next = (await this.#lookAll(ids)).filter((each) => isInRange(each, range));
      found.push(...next.filter(isWanted));
      if (ids.length < size) break;
      const last = next.at(-1);
      // All of them came at the same time as the one before.
      if (last) from = last;
      else size *= 2;
    }
    return found.slice(0, limit);
  }

  async counts(node: string): Promise<Partial<Record<State, number>>> {
    const states = [...unfinished, ...finished];
    const found = await this.#client.transact((multi) => {
      for (const state of states) multi.zcard(this.#key("in", state, node));
    });
    const counts = states.map((state, index) => [state, Number(found[index])] as const);
    return Object.fromEntries(counts.filter(([, number]) => number > 0));
  }

  /** Drops deliveries that are too old. */
  async tidy(): Promise<void> {
    const { maxAge } = this.#retention;
    await this.#alone(async () => {
      for (const state of droppable) {
        const set = this.#key("in", state);
        for (let old: string[] = []; ;) {
          old = await this.#client.ask((redis) => redis.zrangebyscore(set, "-inf", Math.max(0, Date.now() - maxAge), "LIMIT", 0, step)); // prettier-ignore
          await this.drop(await this.#lookAll(old), Infinity);
          if (old.length < step) break;
        }
      }
    });
  }

  /** Checks that more can be stored. @throws {StoreError} */
  async probe(): Promise<void> {
    await this.#makeRoom(probeBytes);
    await this.#client.ask((redis) => redis.set(this.#key("probe"), Buffer.alloc(probeBytes), "PX", 1));
  }

  #key(...names: string[]): string {
    return [this.#root, ...names].join(":");
  }

  #place(multi: ChainableCommander, delivery: Delivery): void {
    const { id, node, state, at, nextAt } = delivery;
    if (state === "retrying") this.#waits.add(multi, delivery, nextAt ?? at);
    multi.zadd(this.#key("in", state), at, id).zadd(this.#key("in", state, node), at, id);
  }

  #displace(multi: ChainableCommander, delivery: Delivery): void {
    const { id, node, state } = delivery;
    if (state === "retrying") this.#waits.remove(multi, delivery);
    multi.zrem(this.#key("in", state), id).zrem(this.#key("in", state, node), id);
  }

  /** Those that were not dropped meanwhile. */
  async #lookAll(ids: readonly string[]): Promise<Delivery[]> {
    const found = await this.#client.transact((multi) => {
      for (const id of ids) multi.hmget(this.#key("delivery", id), "delivery", "reply");
    });
    return (found as (string | null)[][]).flatMap(([delivery, reply]) => (delivery && reply ? [join(delivery, reply)] : [])); // prettier-ignore
  }

  async #makeRoom(wanted: number): Promise<void> {
    const { maxBytes } = this.#retention;
    for (;;) {
      const taken = Number(await this.#client.ask((redis) => redis.get(this.#key("bytes"))));
      const missing = taken + wanted - maxBytes;
      if (missing <= 0) return;
      const dropped = wanted <= maxBytes && (await this.#alone(async () => this.drop(await this.#oldest(), missing)));
      // Another instance is dropping, or another call.
      if (dropped === undefined) await scheduler.wait(20);
      else if (!dropped) throw this.#client.refuse("full", new Error(`${taken} of ${maxBytes} bytes are taken`));
    }
  }

  /** Runs on one instance at a time. @returns nothing where another one runs it */
  async #alone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    const lock = this.#key("dropping");
    if (!(await this.#client.ask((redis) => redis.set(lock, 1, "PX", dropTime, "NX")))) return undefined;
    try {
      return await work();
    } finally {
      await this.#client.ask((redis) => redis.del(lock));
    }
  }

  /** The oldest finished deliveries: of the first of three kinds that there are. */
  async #oldest(): Promise<Delivery[]> {
    const find = async (states: readonly State[]) => {
      const ids = await this.#client.transact((multi) => {
        for (const state of states) multi.zrange(this.#key("in", state), 0, step - 1);
      });
      const found = await this.#lookAll((ids as string[][]).flat());
      return found.sort(compareByAge);
    };
    for (const states of [firstToGo, droppable]) {
      const oldest = await find(states);
      if (oldest.length > 0) return oldest;
    }
    return find([lastToGo]);
  }

  /** Drops deliveries until so many bytes are free. @returns how many were dropped */
  async drop(deliveries: readonly Delivery[], wanted: number): Promise<number> {
    const sizes = await this.#client.transact((multi) => {
      for (const { id } of deliveries) multi.hget(this.#key("delivery", id), "bytes");
    });
    let freed = 0;
    const dropped = await this.#client.transact((multi) => {
      for (const [index, { id }] of deliveries.entries()) {
        if (freed >= wanted) break;
        multi.eval(dropOne, 1, this.#key("delivery", id), this.#root, id);
        freed += Number(sizes[index]);
      }
    });
    for (const node of new Set(deliveries.map((delivery) => delivery.node))) this.#changed(node);
    return dropped.filter((isDropped) => isDropped === 1).length;
  }
}

/** A reply and the end of an attempt are written by different processes, each its part. */
function split({ status, milliseconds, answer, ...delivery }: Delivery): { delivery: string; reply: string } {
  return { delivery: JSON.stringify(delivery), reply: JSON.stringify({ status, milliseconds, answer }) };
}

function join(delivery: string | Buffer, reply: string | Buffer): Delivery {
  return Object.assign({}, ...[delivery, reply].map((text) => JSON.parse(String(text)) as object)) as Delivery;
}
