// Reminders of what is about to end: a subscription at the sender, and the certificate of Node-RED's server.

import type { X509Certificate } from "node:crypto";
import { Server } from "node:tls";
import type { NodeAPI } from "node-red";
import type { Outcomes, SubscriptionEvent } from "../flow/outcomes";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** How long before the end a reminder comes, at the most; after three quarters of a shorter time. In ms. */
const subscriptionLeadMs = dayMs;
const certificateLeadMs = 14 * dayMs;

/** How many subscriptions are remembered, and the longest id of one, in characters. */
const maxSubscriptions = 1000;
const maxIdLength = 200;

interface Subscription {
  readonly node: string;
  /** In ms since the epoch, as `remindAt` is. */
  readonly endsAt: number;
  readonly remindAt: number;
  isReminded: boolean;
}

export class Endings {
  readonly #outcomes: Outcomes;
  /** Those that have not ended, by node and id. */
  readonly #subscriptions = new Map<string, Subscription>();
  #timer: NodeJS.Timeout | undefined;
  /** The end of the last certificate that a reminder was for. */
  #reminded: string | undefined;

  constructor({ server }: NodeAPI, outcomes: Outcomes) {
    this.#outcomes = outcomes;
    outcomes.on("subscription", (event) => this.#note(event));
    outcomes.on("removed", ({ node }) => {
      for (const [key, subscription] of this.#subscriptions) {
        if (subscription.node === node) this.#subscriptions.delete(key);
      }
    });
    // Node-RED may renew it while it runs.
    if (server instanceof Server) {
      server.on("secureConnection", (socket) => this.#look(socket.getX509Certificate()));
    }
  }

  /** A later end is a renewal; an earlier one comes with a request that was sent again. */
  #note({ node, id, endsAt }: SubscriptionEvent): void {
    const now = Date.now();
    const key = `${node} ${id}`;
    const known = this.#subscriptions.get(key);
    if (endsAt <= Math.max(now, known?.endsAt ?? 0) || id.length > maxIdLength) return;
    if (!known && this.#subscriptions.size >= maxSubscriptions) return;
    const remindAt = findReminderTime(now, endsAt, subscriptionLeadMs);
    this.#subscriptions.set(key, { node, endsAt, remindAt, isReminded: false });
    this.#timer ??= this.#wait();
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => this.#remind(), minuteMs).unref();
  }

  #remind(): void {
    const now = Date.now();
    for (const [key, subscription] of this.#subscriptions) {
      const { node, endsAt, remindAt, isReminded } = subscription;
      if (!isReminded && remindAt <= now) {
        subscription.isReminded = true;
        this.#outcomes.emit("subscription-ends", { node, endsAt });
      }
      if (endsAt <= now) this.#subscriptions.delete(key);
    }
    this.#timer = this.#subscriptions.size > 0 ? this.#wait() : undefined;
  }

  #look(certificate: X509Certificate | undefined): void {
    if (!certificate || certificate.validTo === this.#reminded) return;
    const [begin, endsAt] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (Date.now() < findReminderTime(begin, endsAt, certificateLeadMs)) return;
    this.#reminded = certificate.validTo;
    this.#outcomes.emit("certificate-ends", { endsAt });
  }
}

function findReminderTime(begin: number, end: number, lead: number): number {
  return end - Math.min(lead, (end - begin) / 4);
}
