// Reports subscriptions at the sender that are about to expire.

import type { Outcomes, SubscriptionEvent } from "../flow/outcomes";

const minuteMs = 60_000;

/** How long before its expiry one is reported, in ms; one that lasts less than four times as long, after three quarters. */
const leadMs = 86_400_000;

/** How many subscriptions are remembered, and the longest id of one, in characters. */
const maxSubscriptions = 1000;
const maxIdLength = 200;

interface Subscription {
  readonly node: string;
  /** In ms since the epoch, as `reportAt` is. */
  readonly expiresAt: number;
  readonly reportAt: number;
  isReported: boolean;
}

export class Expiry {
  readonly #outcomes: Outcomes;
  /** Those that have not expired, by node and id. */
  readonly #subscriptions = new Map<string, Subscription>();
  #timer: NodeJS.Timeout | undefined;

  constructor(outcomes: Outcomes) {
    this.#outcomes = outcomes;
    outcomes.on("subscription", (event) => this.#note(event));
    outcomes.on("removed", ({ node }) => {
      for (const [key, subscription] of this.#subscriptions) {
        if (subscription.node === node) this.#subscriptions.delete(key);
      }
    });
  }

  /** A later expiry is a renewal; an earlier one comes with a request that was sent again. */
  #note({ node, id, expiresAt }: SubscriptionEvent): void {
    const now = Date.now();
    const key = `${node} ${id}`;
    const known = this.#subscriptions.get(key);
    if (expiresAt <= Math.max(now, known?.expiresAt ?? 0) || id.length > maxIdLength) return;
    if (!known && this.#subscriptions.size >= maxSubscriptions) return;
    const reportAt = expiresAt - Math.min(leadMs, (expiresAt - now) / 4);
    this.#subscriptions.set(key, { node, expiresAt, reportAt, isReported: false });
    this.#timer ??= this.#wait();
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => this.#report(), minuteMs).unref();
  }

  #report(): void {
    const now = Date.now();
    for (const [key, subscription] of this.#subscriptions) {
      const { node, expiresAt, reportAt, isReported } = subscription;
      if (!isReported && reportAt <= now) {
        subscription.isReported = true;
        this.#outcomes.emit("subscription-expiring", { node, expiresAt });
      }
      if (expiresAt <= now) this.#subscriptions.delete(key);
    }
    this.#timer = this.#subscriptions.size > 0 ? this.#wait() : undefined;
  }
}
