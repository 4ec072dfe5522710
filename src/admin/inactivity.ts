// Alerts when nothing was accepted for longer than the operator expects.

import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { permissions } from "../config/host";

import type { DeliveryQueue } from "../deliveries/queue";
import type { State } from "../deliveries/summary";
import type { AcceptedEvent, Outcomes, SilentEvent } from "../flow/outcomes";
import type { NodeHealths } from "./node-health";

/** What `setTimeout` takes at most, in ms. */
const maxTimeoutMs = 2 ** 31 - 1;
/** How often a silent node asks what other instances have accepted, in ms. */
const askIntervalMs = 60_000;
/** So many deliveries are looked through for one that is no replay. */
const maxAsked = 50;
const hourMs = 3_600_000;

/** What a request has become that was accepted, or was a duplicate. */
const acceptedStates: readonly State[] = ["queued", "running", "retrying", "succeeded", "failed", "duplicate"];

/** Where deliveries are stored over a restart. */
export type StoredDeliveries = Pick<DeliveryQueue, "isShared" | "list">;

/** A node that expects requests, from one deploy to the next. */
interface Watch {
  readonly node: string;
  readonly hours: number;
  readonly store: StoredDeliveries | undefined;
  isOpen: boolean;
  isSilent: boolean;
  /** When the last request came that the store knows of; nothing before it was asked. */
  storedAt: number | undefined;
  timer?: NodeJS.Timeout;
}

export class Inactivity {
  readonly #outcomes: Outcomes;
  readonly #nodes: NodeHealths;
  readonly #watches = new Map<string, Watch>();

  constructor({ httpAdmin, auth }: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#outcomes = outcomes;
    this.#nodes = nodes;
    outcomes.on("accepted", (event) => this.#accept(event));
    outcomes.on("duplicate", (event) => this.#accept(event));
    outcomes.on("removed", ({ node }) => this.#watches.delete(node));
    const silent: RequestHandler = (_request, response) => {
      const all = [...this.#watches.keys()].map((node) => this.find(node)).filter((each) => each !== undefined);
      response.set("Cache-Control", "no-store").json({ nodes: all });
    };
    httpAdmin.get("/webhook-trigger/silent", auth.needsPermission(permissions.read), silent);
  }

  /** An open node that is silent. */
  find(node: string): SilentEvent | undefined {
    const watch = this.#watches.get(node);
    return watch?.isOpen && watch.isSilent ? this.#describe(watch) : undefined;
  }

  /**
   * The endpoint of a node is open.
   *
   * @param hours 0 where it does not matter
   * @param store nothing where its deliveries end with the process
   */
  begin(node: string, hours: number, store: StoredDeliveries | undefined): void {
    const { isSilent = false, storedAt } = this.#watches.get(node) ?? {};
    this.end(node);
    this.#watches.delete(node);
    if (hours === 0) return;
    const watch: Watch = { node, hours, store, isOpen: true, isSilent, storedAt };
    // More may be expected now than before the deploy, or less.
    watch.isSilent &&= this.#timeLeft(watch) <= 0;
    this.#watches.set(node, watch);
    void this.#check(watch);
  }

  end(node: string): void {
    const watch = this.#watches.get(node);
    if (!watch) return;
    watch.isOpen = false;
    clearTimeout(watch.timer);
  }

  /** No request winds a timer up: it only ends a silence. Test requests are no sign of the sender. */
  #accept({ node, authenticated }: AcceptedEvent): void {
    const watch = this.#watches.get(node);
    if (watch?.isSilent && watch.isOpen && !authenticated.isTest) this.#endSilence(watch);
  }

  #endSilence(watch: Watch): void {
    watch.isSilent = false;
    this.#outcomes.emit("heard", { node: watch.node });
    this.#sleep(watch, this.#timeLeft(watch));
  }

  #describe(watch: Watch): SilentEvent {
    return { node: watch.node, hours: watch.hours, since: this.#heardAt(watch) };
  }

  /** When the last request was accepted or, before that, when the node was first deployed. */
  #heardAt({ node, storedAt = -Infinity }: Watch): number {
    const health = this.#nodes.get(node);
    // A clock that was set back must not put the alert off.
    if (health?.acceptedAt !== undefined) health.acceptedAt = Math.min(health.acceptedAt, Date.now());
    const at = Math.max(health?.acceptedAt ?? -Infinity, storedAt);
    return at === -Infinity ? (health?.since ?? Date.now()) : at;
  }

  #timeLeft(watch: Watch): number {
    return this.#heardAt(watch) + watch.hours * hourMs - Date.now();
  }

  async #check(watch: Watch): Promise<void> {
    const { store } = watch;
    const mayKnowMore = watch.storedAt === undefined || (store?.isShared === true && this.#timeLeft(watch) <= 0);
    if (store && mayKnowMore) watch.storedAt = (await findLastAccepted(store, watch.node)) ?? watch.storedAt;
    if (!watch.isOpen) return;
    const left = this.#timeLeft(watch);
    if (left > 0) {
      if (watch.isSilent) return this.#endSilence(watch);
      return this.#sleep(watch, left);
    }
    if (!watch.isSilent) {
      watch.isSilent = true;
      this.#outcomes.emit("silent", this.#describe(watch));
    }
    if (store?.isShared) this.#sleep(watch, askIntervalMs);
  }

  #sleep(watch: Watch, milliseconds: number): void {
    clearTimeout(watch.timer);
    // What is left is whole milliseconds only by chance.
    watch.timer = setTimeout(() => void this.#check(watch), Math.min(Math.ceil(milliseconds), maxTimeoutMs)).unref(); // prettier-ignore
  }
}

/**
 * When the last request of a node was accepted that is stored, in ms since the epoch: another process may have been the
 * one, before this or beside it.
 *
 * @returns minus infinity where none is; nothing where the store cannot tell now
 */
async function findLastAccepted(store: StoredDeliveries, node: string): Promise<number | undefined> {
  try {
    const found = await Promise.all(acceptedStates.map((state) => store.list({ node, state, limit: maxAsked })));
    const own = found.flat().filter(({ replayOf, isTest }) => replayOf === undefined && !isTest);
    return Math.max(...own.map(({ at }) => at));
  } catch {
    return undefined;
  }
}
