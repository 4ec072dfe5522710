// What a user removes, on any instance: its job and its delivery.

import { type Delivery, unfinished } from "../delivery";
import type { Position, Removal, RemovalQuery } from "../queue";
import type { DeliveryIndex } from "./delivery-index";
import type { RedisClient } from "./redis-client";

/** How many deliveries are read at once to be removed. */
const step = 500;

/**
 * Below the root:
 *
 *   removing     a hash of what is being removed: nodes by ids
 */
export class Removals {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #index: DeliveryIndex;
  readonly #removeJob: (delivery: Delivery) => Promise<boolean>;

  /** @param removeJob resolves to whether there was one that no instance had taken */
  constructor(
    client: RedisClient,
    root: string,
    index: DeliveryIndex,
    removeJob: (delivery: Delivery) => Promise<boolean>,
  ) {
    this.#client = client;
    this.#key = `${root}:removing`;
    this.#index = index;
    this.#removeJob = removeJob;
  }

  async remove(id: string): Promise<Removal> {
    const stored = await this.#index.find(id);
    return stored ? this.#remove(stored.delivery) : "unknown";
  }

  async removeAll({ node, state }: RemovalQuery): Promise<number> {
    let removed = 0;
    for (let before: Position | undefined; ;) {
      const found = await this.#index.list({ node, state, before, limit: step });
      const removals = await Promise.all(found.map(async (delivery) => this.#remove(delivery)));
      removed += removals.filter((removal) => removal === "removed").length;
      if (found.length < step) return removed;
      before = found.at(-1);
    }
  }

  /** What an instance was removing when it ended. */
  async finish(): Promise<void> {
    const ids = await this.#client.ask((redis) => redis.hkeys(this.#key));
    for (const id of ids) if ((await this.remove(id)) === "unknown") await this.#forget(id);
  }

  /** Its job goes first: one that an instance has just taken runs. What a crash leaves of it is removed later. */
  async #remove(delivery: Delivery): Promise<Removal> {
    const { id, node, state } = delivery;
    if (state === "running") return "running";
    if (unfinished.includes(state)) {
      await this.#client.ask((redis) => redis.hset(this.#key, id, node));
      if (!(await this.#removeJob(delivery))) {
        await this.#forget(id);
        return "running";
      }
    }
    const dropped = await this.#index.drop([delivery], Infinity);
    await this.#forget(id);
    return dropped > 0 ? "removed" : "unknown";
  }

  async #forget(id: string): Promise<void> {
    await this.#client.ask((redis) => redis.hdel(this.#key, id));
  }
}
