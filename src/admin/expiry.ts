// Reports subscriptions at the sender that are about to expire.

import type { Outcomes } from "../flow/outcomes";

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

export function reportExpiries(outcomes: Outcomes): void {
  /** Those that have not expired, by node and id. */
  const subscriptions = new Map<string, Subscription>();
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    const now = Date.now();
    for (const [key, subscription] of subscriptions) {
      const { node, expiresAt, reportAt, isReported } = subscription;
      if (!isReported && reportAt <= now) {
        subscription.isReported = true;
        outcomes.emit("subscription-expiring", { node, expiresAt });
      }
      if (expiresAt <= now) subscriptions.delete(key);
    }
    timer = subscriptions.size > 0 ? wait() : undefined;
  };
  const wait = () => setTimeout(report, minuteMs).unref();
  // A later expiry is a renewal; an earlier one comes with a request that was sent again.
  outcomes.on("subscription", ({ node, id, expiresAt }) => {
    const now = Date.now();
    const key = `${node} ${id}`;
    const known = subscriptions.get(key);
    if (expiresAt <= Math.max(now, known?.expiresAt ?? 0) || id.length > maxIdLength) return;
    if (!known && subscriptions.size >= maxSubscriptions) return;
    const reportAt = expiresAt - Math.min(leadMs, (expiresAt - now) / 4);
    subscriptions.set(key, { node, expiresAt, reportAt, isReported: false });
    timer ??= wait();
  });
  outcomes.on("removed", ({ node }) => {
    for (const [key, subscription] of subscriptions) if (subscription.node === node) subscriptions.delete(key);
  });
}
