// Deliveries that wait for a time, by the server's clock.

import type { ChainableCommander } from "ioredis";
import type { Delivery } from "../delivery";
import type { RedisClient } from "./redis-client";

/** What waits is looked at again after so many ms, at the latest: other instances may have ended. */
const lookAgainMs = 2000;
/** When what is due is looked at again whose last job was not gone, in ms; then after twice that, and so on. */
const soonMs = 10;
/** How many are handed over before others have their turn. */
const step = 100;

type Waiting = Pick<Delivery, "id" | "node">;

interface JobsOfWaiting {
  /** The name of its job on the server. */
  nameJob(waiting: Waiting): string;
  addJob(waiting: Waiting): Promise<void>;
}

/**
 * Takes what is due from the set, unless it is not there any more, or the job of its last attempt is not yet gone.
 * KEYS: waits, that job. ARGV: its name in the set, the time.
 */
const takeDue = `
local at = redis.call("ZSCORE", KEYS[1], ARGV[1])
if not at or tonumber(at) > tonumber(ARGV[2]) then return "gone" end
if redis.call("EXISTS", KEYS[2]) == 1 then return "left" end
redis.call("ZREM", KEYS[1], ARGV[1])
return "taken"`;

/**
 * BullMQ hands over what it delays by the clock of whichever instance asks, behind all that came meanwhile. So what waits
 * has no job, and gets one here, at its time: once, by the instance that takes it from the set.
 *
 * Below the root:
 *
 *   waits      a sorted set of `<id> <node>` by the time of the next attempt
 */
export class SharedWaits {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #jobs: JobsOfWaiting;
  #timer: NodeJS.Timeout | undefined;
  /** By the monotonic clock, in ms. */
  #wakeAt = Infinity;
  #soonMs = soonMs;

  constructor(client: RedisClient, jobs: JobsOfWaiting) {
    this.#client = client;
    this.#key = client.key("waits");
    this.#jobs = jobs;
  }

  /** @param at in ms since the epoch, by the server's clock */
  add(multi: ChainableCommander, waiting: Waiting, at: number): void {
    multi.zadd(this.#key, at, nameWaiting(waiting));
    this.#lookIn(at - this.#client.now);
  }

  remove(multi: ChainableCommander, waiting: Waiting): void {
    multi.zrem(this.#key, nameWaiting(waiting));
  }

  /** @returns for how many ms it still has to wait; 0 where it does not, as when it was handed over at its time */
  async findLeftMs(waiting: Waiting): Promise<number> {
    const at = await this.#client.ask((redis) => redis.zscore(this.#key, nameWaiting(waiting)));
    return at === null ? 0 : Math.max(Number(at) - this.#client.now, 0);
  }

  /** Hands over what is due, in that order; goes on doing so until it is stopped. */
  async look(): Promise<void> {
    this.stop();
    try {
      const { now } = this.#client;
      let left = 0;
      for (let found = step; found === step;) {
        const due = await this.#client.ask((redis) => redis.zrangebyscore(this.#key, "-inf", now, "LIMIT", left, step));
        const ends = await Promise.all(due.map(async (name) => this.#handOver(name, now)));
        left += ends.filter((end) => end === "left").length;
        found = due.length;
      }
      if (left > 0) this.#lookIn(this.#soonMs);
      this.#soonMs = left > 0 ? 2 * this.#soonMs : soonMs;
      const [, next = Infinity] = await this.#client.ask((redis) => redis.zrangebyscore(this.#key, `(${now}`, "+inf", "WITHSCORES", "LIMIT", 0, 1)); // prettier-ignore
      this.#lookIn(Number(next) - this.#client.now);
    } finally {
      this.#lookIn(lookAgainMs);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
  }

  /** @returns what has become of it; `gone`: another instance has taken it */
  async #handOver(name: string, now: number): Promise<unknown> {
    const [id = "", ...node] = name.split(" ");
    const waiting = { id, node: node.join(" ") };
    const job = this.#jobs.nameJob(waiting);
    const end = await this.#client.ask((redis) => redis.eval(takeDue, 2, this.#key, job, name, now));
    if (end === "taken") await this.#jobs.addJob(waiting);
    return end;
  }

  #lookIn(ms: number): void {
    const delayMs = Math.min(Math.max(ms, 0), lookAgainMs);
    const wakeAt = performance.now() + delayMs;
    if (wakeAt >= this.#wakeAt || this.#client.isClosed) return;
    clearTimeout(this.#timer);
    this.#wakeAt = wakeAt;
    // Errors are reported where they occur.
    const look = () => {
      this.#wakeAt = Infinity;
      this.look().catch(() => undefined);
    };
    this.#timer = setTimeout(look, delayMs).unref();
  }
}

function nameWaiting({ id, node }: Waiting): string {
  return `${id} ${node}`;
}
