// Duplicate keys, request counts, and the last uses of endpoints and tokens, of all instances.

import type { ChainableCommander } from "ioredis";
import { randomUUID } from "node:crypto";
import { scheduler } from "node:timers/promises";
import { MemoryRateCounter, type RateCounter, type RequestCount, windowMs } from "../../auth/limits";
import { maxCallers } from "../../config/callers";
import { maxReplyBytes } from "../duplicates";
import {
  type Candidate,
  type Duplicates,
  type FirstReply,
  type Found,
  maxRepliesBytes,
  maxKeys,
  type Reservation,
  type ReservationEnd,
  type SharedUses,
} from "../queue";
import type { RedisClient } from "./redis-client";

/** How long a reservation of an instance without a sign of life is kept, in ms. */
const reservedFor = 20_000;
/** How often reservations are renewed, in ms. */
export const renewInterval = 5000;
/** How often the outcome of other instances' deliveries is read, in ms. */
const lookEvery = 100;

interface KeyEntry {
  readonly id: string;
  readonly token: string;
  readonly isSettled?: true;
  /** Until then its flow may reply, by the server's clock; after a crash it does not. */
  readonly openUntil?: number;
  /** Its body in base64. */
  readonly reply?: Omit<FirstReply, "body"> & { readonly body: string | undefined };
}

/** Of this instance. */
interface OwnReservation {
  readonly key: string;
  readonly token: string;
  readonly ended: Promise<ReservationEnd>;
  isOpen: boolean;
  /** Whether the key is kept already. */
  isKept: boolean;
}

/**
 * Keeps a key, and drops what is too much: expired keys first, then those that expire first, and of replies the bodies.
 * KEYS: the key, keys, replies, sizes. ARGV: entry, time to keep in ms, bytes of the reply, most keys, most bytes.
 */
const keepKey = `
local key, keys, replies, sizes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function forgetReply(of)
  local bytes = redis.call("HGET", sizes, of)
  if not bytes then return end
  redis.call("HINCRBY", sizes, "", -bytes)
  redis.call("HDEL", sizes, of)
  redis.call("ZREM", replies, of)
end
local function forget(of)
  forgetReply(of)
  redis.call("ZREM", keys, of)
  redis.call("DEL", of)
end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
forgetReply(key)
redis.call("SET", key, ARGV[1], "PX", ARGV[2])
redis.call("ZADD", keys, now + ARGV[2], key)
if tonumber(ARGV[3]) > 0 then
  redis.call("ZADD", replies, now + ARGV[2], key)
  redis.call("HSET", sizes, key, ARGV[3])
  redis.call("HINCRBY", sizes, "", ARGV[3])
end
for _, old in ipairs(redis.call("ZRANGEBYSCORE", keys, "-inf", "(" .. now, "LIMIT", 0, 10)) do
  -- It may have been reserved anew.
  forgetReply(old)
  redis.call("ZREM", keys, old)
end
while redis.call("ZCARD", keys) > tonumber(ARGV[4]) do forget(redis.call("ZRANGE", keys, 0, 0)[1]) end
while tonumber(redis.call("HGET", sizes, "") or 0) > tonumber(ARGV[5]) do
  local old = redis.call("ZRANGE", replies, 0, 0)[1]
  forgetReply(old)
  local text, left = redis.call("GET", old), redis.call("PTTL", old)
  if text and left > 0 then
    local entry = cjson.decode(text)
    if entry.reply then entry.reply.body = nil end
    redis.call("SET", old, cjson.encode(entry), "PX", left)
  end
end`;

/** What is kept over all endpoints. */
interface KeyBounds {
  readonly keys: number;
  /** Of replies, in base64. */
  readonly bytes: number;
}

/**
 * Duplicates that wait at another instance do not get a body that is too long to be stored, and no reply of a failure:
 * one of them starts the flow then.
 *
 * Below the root:
 *
 *   duplicate:<endpoint> <key>   an entry
 *   keys, replies                sorted sets of the names of kept entries, and of those with a reply, by their ends
 *   reply-bytes                  a hash: the bytes of each of those replies, and of all under an empty name
 */
export class SharedDuplicates implements Duplicates {
  readonly #client: RedisClient;
  /** By their tokens. */
  readonly #own = new Map<string, OwnReservation>();
  /** The outcomes of other instances' deliveries that duplicates wait for, by token. */
  readonly #awaited = new Map<string, Promise<ReservationEnd>>();

  readonly #bounds: KeyBounds;

  constructor(client: RedisClient, bounds: KeyBounds = { keys: maxKeys, bytes: maxRepliesBytes }) {
    this.#client = client;
    this.#bounds = bounds;
  }

  async reserve(candidate: Candidate): Promise<Found> {
    const key = this.#place(candidate);
    const own: KeyEntry = { id: candidate.id, token: randomUUID() };
    for (;;) {
      const [isFirst, known] = await this.#client.transact((multi) => {
        multi.set(key, JSON.stringify(own), "PX", reservedFor, "NX").get(key);
      });
      if (isFirst) return this.#reservation(key, own, candidate);
      // It may have expired between the two commands.
      const other = parse(known as string | null);
      if (other)
        return { isFirst: false, id: other.id, outcome: this.#readOutcome(other) ?? this.#wait(key, other.token) };
    }
  }

  /**
   * The key of a delivery that is stored in the same transaction.
   *
   * @param replyMs how long its flow may take to reply; missing where the node replies
   */
  keep(multi: ChainableCommander, candidate: Candidate, replyMs?: number): void {
    const key = this.#place(candidate);
    const own = [...this.#own.values()].find((each) => each.key === key);
    if (own) own.isKept = true;
    const isOpen = replyMs === undefined ? {} : { openUntil: this.#client.now + replyMs };
    this.#keep(multi, candidate, { id: candidate.id, token: own?.token ?? randomUUID(), isSettled: true, ...isOpen });
  }

  #keep(multi: ChainableCommander, candidate: Candidate, entry: KeyEntry): void {
    const names = ["keys", "replies", "reply-bytes"].map((name) => this.#client.key(name));
    const keptForMs = Math.max(Math.ceil(candidate.keptForMs), 1);
    const bytes = entry.reply?.body?.length ?? 0;
    const { keys, bytes: maxReplyBytes } = this.#bounds;
    multi.eval(keepKey, 4, this.#place(candidate), ...names, JSON.stringify(entry), keptForMs, bytes, keys, maxReplyBytes); // prettier-ignore
  }

  #place({ endpoint, key }: Candidate): string {
    return this.#client.key("duplicate", `${endpoint} ${key}`);
  }

  /** What the server does not take now is sent when it is back. */
  #reservation(key: string, own: KeyEntry, candidate: Candidate): Reservation {
    let tell: (outcome: ReservationEnd) => void = () => undefined;
    const ended = new Promise<ReservationEnd>((resolve) => (tell = resolve));
    const reservation = { key, token: own.token, ended, isOpen: true, isKept: false };
    this.#own.set(own.token, reservation);
    const end = async (outcome: ReservationEnd) => {
      if (!reservation.isOpen) return;
      reservation.isOpen = false;
      tell(outcome);
      const write = async () => {
        const known = parse(await this.#client.ask((redis) => redis.get(key)));
        // The server was away so long that another instance has the key.
        if (known && known.token !== own.token) return;
        // It was kept with its delivery.
        if (known?.isSettled && known.openUntil === undefined && outcome !== "released" && !outcome.reply) return;
        const isFree = outcome === "released" || (outcome.reply && outcome.reply.status >= 500);
        await this.#client.transact((multi) => {
          if (isFree) multi.del(key).zrem(this.#client.key("keys"), key);
          else this.#keep(multi, candidate, toSettled(own, outcome.reply));
        });
      };
      await this.#client.persist(write).catch(() => undefined);
      this.#own.delete(own.token);
    };
    return {
      isFirst: true,
      candidate,
      settle: async (reply) => end({ reply }),
      release: async () => end("released"),
    };
  }

  async #wait(key: string, token: string): Promise<ReservationEnd> {
    const own = this.#own.get(token);
    if (own) return own.ended;
    const known = this.#awaited.get(token);
    if (known) return known;
    const outcome = this.#poll(key, token).finally(() => this.#awaited.delete(token));
    this.#awaited.set(token, outcome);
    return outcome;
  }

  /** While the server is away, duplicates go on waiting. */
  async #poll(key: string, token: string): Promise<ReservationEnd> {
    while (!this.#client.isClosed) {
      await scheduler.wait(lookEvery);
      const text = await this.#client.ask((redis) => redis.get(key)).catch(() => undefined);
      const known = text === undefined ? undefined : parse(text);
      if (text !== undefined && known?.token !== token) break;
      const outcome = known && this.#readOutcome(known);
      if (outcome) return outcome;
    }
    return "released";
  }

  /** @returns nothing where it is not settled */
  #readOutcome({ isSettled, openUntil = 0, reply }: KeyEntry): ReservationEnd | undefined {
    if (!isSettled || openUntil > this.#client.now) return undefined;
    const body = reply?.body === undefined ? undefined : Buffer.from(reply.body, "base64");
    return { reply: reply && { ...reply, body } };
  }

  async renew(): Promise<void> {
    const open = [...this.#own.values()].filter(({ isOpen, isKept }) => isOpen && !isKept);
    if (open.length === 0) return;
    await this.#client.transact((multi) => {
      for (const { key } of open) multi.pexpire(key, reservedFor);
    });
  }
}

function parse(text: string | null): KeyEntry | undefined {
  return text === null ? undefined : (JSON.parse(text) as KeyEntry);
}

function toSettled(own: KeyEntry, reply: FirstReply | undefined): KeyEntry {
  if (!reply) return { ...own, isSettled: true };
  const body = reply.body && reply.body.length <= maxReplyBytes ? reply.body.toString("base64") : undefined;
  return { ...own, isSettled: true, reply: { ...reply, body } };
}

/**
 * Counts in this process at once, and over all instances one round trip later, since a request does not wait for it.
 * While the server is away, each instance counts alone.
 */
export class SharedRates implements RateCounter {
  readonly #client: RedisClient;
  readonly #counter = new MemoryRateCounter();
  /** Counts that the server does not have yet, by key. */
  readonly #news = new Map<string, number>();

  constructor(client: RedisClient) {
    this.#client = client;
  }

  count(key: string): RequestCount {
    if (this.#client.isUp) {
      if (this.#news.size === 0) setImmediate(() => void this.#tell());
      this.#news.set(key, (this.#news.get(key) ?? 0) + 1);
    }
    return this.#counter.count(key);
  }

  async #tell(): Promise<void> {
    const news = [...this.#news];
    this.#news.clear();
    const counts = await this.#client.transact((multi) => {
      for (const [key, requests] of news) {
        const window = this.#client.key("rate", key);
        multi.set(window, 0, "PX", windowMs, "NX").incrby(window, requests).pttl(window);
      }
    }).catch(() => []); // prettier-ignore
    for (const [index, [key]] of news.entries()) {
      const [requests, leftMs] = counts.slice(3 * index + 1);
      if (requests !== undefined) this.#counter.learn(key, { requests: Number(requests), leftMs: Number(leftMs) });
    }
  }
}

/** How long after the first use that an instance has not told the others it does so, in ms. */
const tellAfterMs = 1000;
/** Of a node: twice as many as it may have callers, as the tokens of removed ones go last. */
const maxUses = 2 * maxCallers;
/** Of a node without any use; the node may be gone. */
const usesKeptForMs = 400 * 24 * 3_600_000;

/**
 * Notes times, none of which goes back, and drops the oldest beyond a number.
 * KEYS: the uses of a node. ARGV: the number, how long they are kept in ms, then times and keys in turn.
 */
const noteUses = `
for at = 3, #ARGV, 2 do
  local known = redis.call("ZSCORE", KEYS[1], ARGV[at + 1])
  if not known or tonumber(known) < tonumber(ARGV[at]) then redis.call("ZADD", KEYS[1], ARGV[at], ARGV[at + 1]) end
end
redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -ARGV[1] - 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])`;

/** Below the root: `uses:<node>`, a sorted set of the keys of its tokens, and of itself, by the times of their last uses. */
export class RedisUses implements SharedUses {
  readonly #client: RedisClient;
  /** Uses that the others do not know yet, by nodes and keys. */
  readonly #news = new Map<string, Map<string, number>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  note(node: string, key: string, at: number): void {
    const uses = this.#news.get(node) ?? new Map<string, number>();
    this.#news.set(node, uses.set(key, at));
    this.#timer ??= setTimeout(() => void this.tell(), tellAfterMs).unref();
  }

  async read(node: string): Promise<ReadonlyMap<string, number>> {
    const found = await this.#client.ask(async (redis) => redis.zrange(this.#place(node), 0, -1, "WITHSCORES"));
    const uses = new Map<string, number>();
    for (let index = 0; index < found.length; index += 2) uses.set(found[index] ?? "", Number(found[index + 1]));
    return uses;
  }

  /** Tells the others now, or once the server is back. Never rejects: if it fails on the way, the next use is told. */
  async tell(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#news.size === 0) return;
    if (!this.#client.isUp) {
      if (!this.#client.isClosed) this.#timer = setTimeout(() => void this.tell(), tellAfterMs).unref();
      return;
    }
    const news = [...this.#news];
    this.#news.clear();
    const add = (multi: ChainableCommander) => {
      for (const [node, uses] of news) {
        const values = [...uses].flatMap(([key, at]) => [at, key]);
        multi.eval(noteUses, 1, this.#place(node), maxUses, usesKeptForMs, ...values);
      }
    };
    await this.#client.transact(add).catch(() => undefined);
  }

  #place(node: string): string {
    return this.#client.key("uses", node);
  }
}
