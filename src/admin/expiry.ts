// Reports what is about to expire: a subscription at the sender, and the certificate of Node-RED's HTTPS server.

import type { X509Certificate } from "node:crypto";
import { Server } from "node:tls";
import type { NodeAPI } from "node-red";
import type { Outcomes, SubscriptionEvent } from "../flow/outcomes";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** How long before its expiry something is reported, in ms; what lasts less than four times as long, after three quarters. */
const subscriptionLeadMs = dayMs;
const certificateLeadMs = 14 * dayMs;

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
  /** When the last certificate that was reported expires, as it says. */
  #reportedEnd: string | undefined;

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

  /** A later expiry is a renewal; an earlier one comes with a request that was sent again. */
  #note({ node, id, expiresAt }: SubscriptionEvent): void {
    const now = Date.now();
    const key = `${node} ${id}`;
    const known = this.#subscriptions.get(key);
    if (expiresAt <= Math.max(now, known?.expiresAt ?? 0) || id.length > maxIdLength) return;
    if (!known && this.#subscriptions.size >= maxSubscriptions) return;
    const reportAt = findReportTime(now, expiresAt, subscriptionLeadMs);
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

  #look(certificate: X509Certificate | undefined): void {
    if (!certificate || certificate.validTo === this.#reportedEnd) return;
    const [begin, expiresAt] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    // Not a date, it compares as false.
    if (!(findReportTime(begin, expiresAt, certificateLeadMs) <= Date.now())) return;
    this.#reportedEnd = certificate.validTo;
    this.#outcomes.emit("certificate-expiring", { expiresAt });
  }
}

function findReportTime(begin: number, end: number, lead: number): number {
  return end - Math.min(lead, (end - begin) / 4);
}
