// The index beside BullMQ: what lists and searches need, and the bodies.

import type { ChainableCommander } from "ioredis";
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
  type DeliveryList,
  frameBytes,
  isInRange,
  probeBytes,
  type Query,
  type Removal,
  type Retention,
} from "../queue";
import { findFailure } from "../states";
import type { RedisClient } from "./redis-client";
import type { SharedWaits } from "./waits";

/** How many deliveries are searched or dropped in one step, so that other commands have their turn. */
const step = 500;
/** Of the scripts below. ARGV[1]: root. */
const functions = `
local root = ARGV[1]
local function read(id)
  return unpack(redis.call("HMGET", root .. ":delivery:" .. id, "state", "node", "bytes"))
end
local function drop(id, state, node, bytes)
  redis.call("DEL", root .. ":delivery:" .. id)
  for _, set in ipairs({ "all", "of:" .. node, "in:" .. state, "in:" .. state .. ":" .. node }) do
    redis.call("ZREM", root .. ":" .. set, id)
  end
  redis.call("ZREM", root .. ":waits", id .. " " .. node)
  redis.call("DECRBY", root .. ":bytes", bytes or 0)
  return node
end`;

/**
 * Drops one, unless it runs, an instance has just taken it, or it has not the state that is asked for any more.
 * KEYS: its hash, the lock of its job, if any. ARGV: root, id, that state, if any.
 */
const dropOne = `${functions}
local state, node, bytes = read(ARGV[2])
if not state or ARGV[3] and state ~= ARGV[3] then return "unknown" end
local isTaken = (state == "queued" or state == "retrying") and KEYS[2] and redis.call("EXISTS", KEYS[2]) == 1
if state == "running" or isTaken then return "running" end
drop(ARGV[2], state, node, bytes)
return "removed"`;

/**
 * Changes one that is retrying, unless an instance has just taken it, or it is not as it was any more.
 * KEYS: its hash, the lock of its job. ARGV: root, id, how it was and how it is to be as JSON, the state that it is to
 * have, when it came, when it is due.
 */
const changeRetrying = `${functions}
local _, id, before, after, state, at, due = unpack(ARGV)
local known, node = read(id)
local isTaken = redis.call("EXISTS", KEYS[2]) == 1
if known ~= "retrying" or isTaken or redis.call("HGET", KEYS[1], "delivery") ~= before then return 0 end
redis.call("HSET", KEYS[1], "delivery", after, "state", state)
local hasWaited = redis.call("ZREM", root .. ":waits", id .. " " .. node) == 1
if state == known and hasWaited then redis.call("ZADD", root .. ":waits", due, id .. " " .. node) end
for _, of in ipairs({ "", ":" .. node }) do
  redis.call("ZREM", root .. ":in:" .. known .. of, id)
  redis.call("ZADD", root .. ":in:" .. state .. of, at, id)
end
return 1`;

/**
 * Drops the oldest of the first kind that there is, and so on, while all take more than so many bytes. Returns their nodes,
 * and how many bytes are taken then: others may take at once what it has freed.
 * KEYS: bytes. ARGV: root, bytes, latest time of arrival, how many at most, the states of each kind.
 */
const dropOldest = `${functions}
local limit, latest, most = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local nodes = {}
for kind = 5, #ARGV do
  while #nodes < most and tonumber(redis.call("GET", KEYS[1]) or 0) > limit do
    local set, oldest, since
    for state in string.gmatch(ARGV[kind], "%a+") do
      local name = root .. ":in:" .. state
      local id, at = unpack(redis.call("ZRANGEBYSCORE", name, "-inf", latest, "WITHSCORES", "LIMIT", 0, 1))
      if id and (not oldest or tonumber(at) < since) then set, oldest, since = name, id, tonumber(at) end
    end
    if not oldest then break end
    local state, node, bytes = read(oldest)
    if state then nodes[#nodes + 1] = drop(oldest, state, node, bytes) else redis.call("ZREM", set, oldest) end
  end
end
return { nodes, redis.call("GET", KEYS[1]) or "0" }`;

/**
 * Which of a part of a set have no job and do not wait. Returns how many are in that part, and these.
 * KEYS: the set, waits. ARGV: the names of the jobs without their ids, their node, where the part begins and ends.
 */
const findWithoutJob = `
local jobs, node, from, to = unpack(ARGV)
local ids, lost = redis.call("ZRANGE", KEYS[1], from, to), {}
for _, id in ipairs(ids) do
  if redis.call("EXISTS", jobs .. id) == 0 and not redis.call("ZSCORE", KEYS[2], id .. " " .. node) then
    lost[#lost + 1] = id
  end
end
return { #ids, lost }`;

/**
 * Below the root:
 *
 *   delivery:<id>                            a hash: `delivery`, `reply` and `attempts` as JSON, `body`, `bytes`; `state`
 *                                            and `node` once more, as Lua reads no JSON with half a surrogate pair
 *   all, of:<node>,
 *   in:<state>, in:<state>:<node>            sorted sets of ids by the time of arrival, and then by id
 *   bytes                                    how much all of them take
 */
export class DeliveryIndex implements Omit<DeliveryList, "remove" | "removeAll"> {
  readonly #client: RedisClient;
  readonly #retention: Retention;
  readonly #waits: SharedWaits;
  readonly #changed: (node: string) => void;

  constructor(client: RedisClient, retention: Retention, waits: SharedWaits, changed: (node: string) => void) {
    this.#client = client;
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
    const { id, node, state, at } = delivery;
    const key = this.#client.key("delivery", id);
    const texts = { ...split(delivery), attempts: JSON.stringify(attempts) };
    const bytes = frameBytes + body.length + Object.values(texts).reduce((sum, text) => sum + text.length, 0);
    const [isKnown] = await Promise.all([this.#client.ask((redis) => redis.exists(key)), this.#makeRoom(bytes)]);
    if (isKnown) return undefined;
    const add = (multi: ChainableCommander) => {
      multi.incrby(this.#client.key("bytes"), bytes).hset(key, { ...texts, state, node, body, bytes });
      multi.zadd(this.#client.key("all"), at, id).zadd(this.#client.key("of", node), at, id);
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
    const key = this.#client.key("delivery", id);
    const [old, { delivery, reply }] = [split(before), split(after)];
    const fields = {
      ...(delivery !== old.delivery && { delivery }),
      ...(reply !== old.reply && { reply }),
      ...(after.state !== before.state && { state: after.state }),
      ...(attempts && { attempts: JSON.stringify(attempts) }),
    };
    const grown = delivery.length + reply.length - old.delivery.length - old.reply.length + (attempts ? (after.error?.length ?? 0) : 0); // prettier-ignore
    const results = await this.#client.transact((multi) => {
      if (Object.keys(fields).length > 0) multi.hset(key, fields);
      if (grown > 0) multi.hincrby(key, "bytes", grown).incrby(this.#client.key("bytes"), grown);
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
    const found = await this.#client.ask((redis) => redis.hmgetBuffer(this.#client.key("delivery", id), ...fields));
    const [delivery, reply, attempts, body] = found;
    if (!delivery || !reply || !attempts || !body) return undefined;
    return { delivery: join(delivery, reply), body, attempts: JSON.parse(String(attempts)) as Attempt[] };
  }

  /** @returns the bytes of its body */
  async findSize(id: string): Promise<number> {
    return this.#client.ask((redis) => redis.hstrlen(this.#client.key("delivery", id), "body"));
  }

  async list(query: Query): Promise<Delivery[]> {
    const { node, state, text = "", error, before, after, limit } = query;
    const names = [...(state ? ["in", state] : [node === undefined ? "all" : "of"]), ...(node === undefined ? [] : [node])]; // prettier-ignore
    const set = this.#client.key(...names);
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
      for (const state of states) multi.zcard(this.#client.key("in", state, node));
    });
    const counts = states.map((state, index) => [state, Number(found[index])] as const);
    return Object.fromEntries(counts.filter(([, number]) => number > 0));
  }

  /**
   * A node's unfinished deliveries that have no job and do not wait.
   *
   * @param jobs the names of its jobs without their ids
   */
  async *listWithoutJob(node: string, jobs: string): AsyncGenerator<string> {
    const waits = this.#client.key("waits");
    for (const state of unfinished) {
      const set = this.#client.key("in", state, node);
      for (let [from, found] = [0, step]; found === step; from += step) {
        const args = [jobs, node, from, from + step - 1];
        const [all, lost] = (await this.#client.ask((redis) => redis.eval(findWithoutJob, 2, set, waits, ...args))) as [number, string[]]; // prettier-ignore
        yield* lost;
        found = all;
      }
    }
  }

  /** @param lock of its job, if it has one: an instance that takes it has that */
  async remove({ id, node }: Delivery, lock: string | undefined, state: State | undefined): Promise<Removal> {
    const keys = [this.#client.key("delivery", id), ...(lock === undefined ? [] : [lock])];
    const args = [this.#client.root, id, ...(state ? [state] : [])];
    const removal = await this.#client.ask((redis) => redis.eval(dropOne, keys.length, ...keys, ...args));
    if (removal === "removed") this.#changed(node);
    return removal as Removal;
  }

  /** @param lock of its job: an instance that takes it has that @returns whether it was retrying, and nobody has taken it */
  async writeRetry(before: Delivery, after: Delivery, lock: string): Promise<boolean> {
    const { id, node, state, at, nextAt = 0 } = after;
    const texts = [before, after].map((each) => split(each).delivery);
    const args = [this.#client.root, id, ...texts, state, at, nextAt];
    const isDone = await this.#client.ask((redis) => redis.eval(changeRetrying, 2, this.#client.key("delivery", id), lock, ...args)); // prettier-ignore
    if (isDone === 1) this.#changed(node);
    return isDone === 1;
  }

  /** Counts one as unfinished no more: it is gone, or was ended by an instance that had counted as ended. */
  async settle(id: string, node: string): Promise<void> {
    await this.#client.transact((multi) => {
      for (const state of unfinished) this.#displace(multi, { id, node, state });
    });
    this.#changed(node);
  }

  /** Drops deliveries that are too old. */
  async tidy(): Promise<void> {
    const latest = Math.max(0, Date.now() - this.#retention.maxAge);
    for (let dropped = step; dropped === step;) ({ dropped } = await this.#drop("-inf", latest, droppable));
  }

  /** Checks that more can be stored. @throws {StoreError} */
  async probe(): Promise<void> {
    await this.#makeRoom(probeBytes);
    await this.#client.ask((redis) => redis.set(this.#client.key("probe"), Buffer.alloc(probeBytes), "PX", 1));
  }

  #place(multi: ChainableCommander, delivery: Delivery): void {
    const { id, node, state, at, nextAt } = delivery;
    if (state === "retrying") this.#waits.add(multi, delivery, nextAt ?? at);
    multi.zadd(this.#client.key("in", state), at, id).zadd(this.#client.key("in", state, node), at, id);
  }

  #displace(multi: ChainableCommander, delivery: Pick<Delivery, "id" | "node" | "state">): void {
    const { id, node, state } = delivery;
    if (state === "retrying") this.#waits.remove(multi, delivery);
    multi.zrem(this.#client.key("in", state), id).zrem(this.#client.key("in", state, node), id);
  }

  /** Those that were not dropped meanwhile. */
  async #lookAll(ids: readonly string[]): Promise<Delivery[]> {
    const found = await this.#client.transact((multi) => {
      for (const id of ids) multi.hmget(this.#client.key("delivery", id), "delivery", "reply");
    });
    return (found as (string | null)[][]).flatMap(([delivery, reply]) => (delivery && reply ? [join(delivery, reply)] : [])); // prettier-ignore
  }

  async #makeRoom(wanted: number): Promise<void> {
    const { maxBytes } = this.#retention;
    const limit = maxBytes - wanted;
    const found = Number(await this.#client.ask((redis) => redis.get(this.#client.key("bytes"))));
    for (let [taken, dropped] = [found, limit < 0 ? 0 : 1]; taken > limit;) {
      if (dropped === 0) throw this.#client.refuse("full", new Error(`${taken} of ${maxBytes} bytes are taken`));
      ({ taken, dropped } = await this.#drop(limit, "+inf", firstToGo, droppable, [lastToGo]));
    }
  }

  /** @returns how many were dropped, at most `step`, and how many bytes all others take */
  async #drop(
    bytes: number | "-inf",
    latest: number | "+inf",
    ...kinds: (readonly State[])[]
  ): Promise<{ dropped: number; taken: number }> {
    const args = [this.#client.root, bytes, latest, step, ...kinds.map((states) => states.join(" "))];
    const [nodes, taken] = (await this.#client.ask((redis) =>
      redis.eval(dropOldest, 1, this.#client.key("bytes"), ...args),
    )) as [string[], string];
    for (const node of new Set(nodes)) this.#changed(node);
    return { dropped: nodes.length, taken: Number(taken) };
  }
}

/** A reply and the end of an attempt are written by different processes, each its part. */
function split({ status, milliseconds, answer, ...delivery }: Delivery): { delivery: string; reply: string } {
  return { delivery: JSON.stringify(delivery), reply: JSON.stringify({ status, milliseconds, answer }) };
}

function join(delivery: string | Buffer, reply: string | Buffer): Delivery {
  return Object.assign({}, ...[delivery, reply].map((text) => JSON.parse(String(text)) as object)) as Delivery;
}
