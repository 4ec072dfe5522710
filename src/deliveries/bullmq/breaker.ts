// Pauses of nodes and their circuit breakers, over all instances: the server counts and decides.

import type { ChainableCommander } from "ioredis";
import type { Pause } from "../delivery";
import type { AttemptResult } from "../queue";
import type { RedisClient } from "./redis-client";

/**
 * Counts the end of an attempt. A success closes the breaker; it is opened by so many failures in a row.
 * KEYS: failures, pauses, trial. ARGV: node, whether it has failed, how many failures open it, interval.
 */
const countEnd = `
local failures, pauses, trial = KEYS[1], KEYS[2], KEYS[3]
if ARGV[2] == "0" then
  redis.call("HDEL", failures, ARGV[1])
  if redis.call("HGET", pauses, ARGV[1]) ~= "breaker" then return "" end
  redis.call("HDEL", pauses, ARGV[1])
  redis.call("DEL", trial)
  return "closed"
end
if redis.call("HINCRBY", failures, ARGV[1], 1) < tonumber(ARGV[3]) then return "" end
if redis.call("HSETNX", pauses, ARGV[1], "breaker") == 0 then return "" end
redis.call("SET", trial, 1, "PX", ARGV[4])
return "opened"`;

/** Whether an attempt may start: with an open breaker one per interval. KEYS: pauses, trial. ARGV: node, interval. */
const beginTrial = `
if redis.call("HGET", KEYS[1], ARGV[1]) ~= "breaker" then return 0 end
if redis.call("SET", KEYS[2], 1, "PX", ARGV[2], "NX") then return 0 end
return math.max(redis.call("PTTL", KEYS[2]), 1)`;

/**
 * Below the root:
 *
 *   pauses, failures     hashes by node: why it is paused, and how many attempts in a row have failed
 *   trial:<node>         exists until its open breaker lets the next attempt start
 */
export class SharedBreaker {
  readonly #client: RedisClient;
  readonly #intervalMs: number;

  constructor(client: RedisClient, intervalMs: number) {
    this.#client = client;
    this.#intervalMs = intervalMs;
  }

  /** Of all nodes. */
  async list(): Promise<Map<string, Pause>> {
    const known = await this.#client.ask((redis) => redis.hgetall(this.#client.key("pauses")));
    return new Map(Object.entries(known) as [string, Pause][]);
  }

  async find(node: string): Promise<{ pause: Pause | undefined; trialInMs: number }> {
    const [pause, leftMs] = await this.#client.transact((multi) => {
      multi.hget(this.#client.key("pauses"), node).pttl(this.#client.key("trial", node));
    });
    return { pause: (pause as Pause | null) ?? undefined, trialInMs: Math.max(Number(leftMs), 0) };
  }

  async pause(node: string): Promise<void> {
    await this.#client.ask((redis) => redis.hset(this.#client.key("pauses"), node, "manual"));
  }

  /** Counts failures anew. */
  async resume(node: string): Promise<void> {
    await this.#client.transact((multi) => {
      multi
        .hdel(this.#client.key("pauses"), node)
        .hdel(this.#client.key("failures"), node)
        .del(this.#client.key("trial", node));
    });
  }

  /**
   * Adds a command whose result is `opened` or `closed` where the end of the attempt has done that.
   *
   * @param breaker how many failures in a row open it
   */
  count(multi: ChainableCommander, node: string, { as }: AttemptResult, breaker: number): void {
    if (as === "interrupted" || breaker === 0) return;
    const keys = [this.#client.key("failures"), this.#client.key("pauses"), this.#client.key("trial", node)];
    multi.eval(countEnd, keys.length, ...keys, node, as === "failed" ? 1 : 0, breaker, this.#intervalMs);
  }

  /** @returns 0 where an attempt may start now; else in how many ms the next one may */
  async beginTrial(node: string): Promise<number> {
    const keys = [this.#client.key("pauses"), this.#client.key("trial", node)];
    return Number(await this.#client.ask((redis) => redis.eval(beginTrial, keys.length, ...keys, node, this.#intervalMs))); // prettier-ignore
  }
}
