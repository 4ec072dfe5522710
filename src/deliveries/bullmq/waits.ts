// Deliveries that wait for a time, by the server's clock.

import type { ChainableCommander } from "ioredis";
import type { Delivery } from "../delivery";
import type { RedisClient } from "./redis-client";

/** What waits is looked at again after so many ms, at the latest: other instances may have ended. */
const lookAgainMs = 60_000;
/** How many are handed over before others have their turn. */
const step = 100;

type Waiting = Pick<Delivery, "id" | "node">;

/**
 * BullMQ hands over what it delays by the clock of whichever instance asks, behind all that came meanwhile. So the job
 * of what waits is handed over here, at its time: once, by the instance that takes it from the set. BullMQ's own delay
 * is for the case that this instance ends just then.
 *
 * Below the root:
 *
 *   waits      a sorted set of `<id> <node>` by the time of the next attempt
 */
export class SharedWaits {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #handOver: (waiting: Waiting) => Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;
  /** By the monotonic clock, in ms. */
  #wakeAt = Infinity;

  /** @param handOver called with what is due */
  constructor(client: RedisClient, root: string, handOver: (waiting: Waiting) => Promise<unknown>) {
    this.#client = client;
    this.#key = `${root}:waits`;
    this.#handOver = handOver;
  }

  /** @param at in ms since the epoch, by the server's clock */
  add(multi: ChainableCommander, waiting: Waiting, at: number): void {
    multi.zadd(this.#key, at, nameWaiting(waiting));
    this.#lookIn(at - this.#client.now);
  }

  remove(multi: ChainableCommander, waiting: Waiting): void {
    multi.zrem(this.#key, nameWaiting(waiting));
  }

  /** @returns for how many ms it has to wait; 0 where it was handed over at its time, or does not wait */
  async findLeftMs(waiting: Waiting): Promise<number> {
    const at = await this.#client.ask((redis) => redis.zscore(this.#key, nameWaiting(waiting)));
    return at === null ? 0 : Math.max(Number(at) - this.#client.now, 0);
  }

  /** Hands over what is due; goes on doing so until it is stopped. */
  async look(): Promise<void> {
    this.stop();
    try {
      for (let handedOver = step; handedOver === step;) handedOver = await this.#handOverSome();
      const [, next = Infinity] = await this.#client.ask((redis) => redis.zrange(this.#key, 0, 0, "WITHSCORES"));
      this.#lookIn(Number(next) - this.#client.now);
    } finally {
      this.#lookIn(lookAgainMs);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
  }

  async #handOverSome(): Promise<number> {
    const due = await this.#client.ask((redis) => redis.zrangebyscore(this.#key, "-inf", this.#client.now, "LIMIT", 0, step)); // prettier-ignore
    const handOver = async (name: string) => {
      const [id = "", ...node] = name.split(" ");
      if (await this.#client.ask((redis) => redis.zrem(this.#key, name))) await this.#handOver({ id, node: node.join(" ") }); // prettier-ignore
    };
    await Promise.all(due.map(handOver));
    return due.length;
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
