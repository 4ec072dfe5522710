// Inactivity alerts: nothing was accepted for longer than the operator expects.

import type { NodeAPI } from "node-red";
import type { DeliveryQueue } from "../deliveries/queue";
import type { State } from "../deliveries/delivery";
import type { AcceptedEvent, Outcomes, SilentEvent } from "../flow/outcomes";
import type { NodeHealths } from "./node-health";
import { addRoute } from "./routes";

/** The longest time that `setTimeout` takes, in ms. */
const maxTimeoutMs = 2 ** 31 - 1;
/** How often a silent node looks for deliveries that other instances accepted, in ms. */
const askIntervalMs = 60_000;
/** How many deliveries are searched for one that is no replay. */
const maxAsked = 50;
const hourMs = 3_600_000;

const acceptedStates: readonly State[] = ["queued", "running", "retrying", "succeeded", "failed", "duplicate"];

export type StoredDeliveries = Pick<DeliveryQueue, "isShared" | "list">;

/** A node with an inactivity alert, from one deploy to the next. */
interface SilenceWatch {
  readonly node: string;
  readonly hours: number;
  readonly store: StoredDeliveries | undefined;
  isOpen: boolean;
  isSilent: boolean;
  /** When the last stored request came; missing until the store was asked. */
  storedAt: number | undefined;
  timer?: NodeJS.Timeout;
}

export class Inactivity {
  readonly #outcomes: Outcomes;
  readonly #nodes: NodeHealths;
  readonly #watches = new Map<string, SilenceWatch>();

  constructor(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#outcomes = outcomes;
    this.#nodes = nodes;
    outcomes.on("accepted", (event) => this.#accept(event));
    outcomes.on("duplicate", (event) => this.#accept(event));
    outcomes.on("removed", ({ node }) => this.#watches.delete(node));
    addRoute(RED, "get", "silent", () => {
      const nodes = [...this.#watches.keys()].map((node) => this.find(node)).filter((each) => each !== undefined);
      return { body: { nodes } };
    });
  }

  find(node: string): SilentEvent | undefined {
    const watch = this.#watches.get(node);
    return watch?.isOpen && watch.isSilent ? this.#describe(watch) : undefined;
  }

  /**
   * Begins to watch a node.
   *
   * @param hours 0: no alert
   * @param store missing where deliveries do not survive a restart
   */
  start(node: string, hours: number, store: StoredDeliveries | undefined): void {
    const { isSilent = false, storedAt } = this.#watches.get(node) ?? {};
    this.stop(node);
    this.#watches.delete(node);
    if (hours === 0) return;
    const watch: SilenceWatch = { node, hours, store, isOpen: true, isSilent, storedAt };
    // The number of hours may have changed with the deploy.
    watch.isSilent &&= this.#timeLeft(watch) <= 0;
    this.#watches.set(node, watch);
    void this.#check(watch);
  }

  stop(node: string): void {
    const watch = this.#watches.get(node);
    if (!watch) return;
    watch.isOpen = false;
    clearTimeout(watch.timer);
  }

  /** A request sets no timer anew, it only ends a silence. Test requests do not count. */
  #accept({ node, authenticated }: AcceptedEvent): void {
    const watch = this.#watches.get(node);
    if (watch?.isSilent && watch.isOpen && !authenticated.isTest) this.#endSilence(watch);
  }

  #endSilence(watch: SilenceWatch): void {
    watch.isSilent = false;
    this.#outcomes.emit("heard", { node: watch.node });
    this.#sleep(watch, this.#timeLeft(watch));
  }

  #describe(watch: SilenceWatch): SilentEvent {
    return { node: watch.node, hours: watch.hours, since: this.#heardAt(watch) };
  }

  /** When the last request was accepted or, before the first one, when the node was deployed. */
  #heardAt({ node, storedAt = -Infinity }: SilenceWatch): number {
    const health = this.#nodes.get(node);
    // A clock that was set back must not delay the alert.
    if (health?.acceptedAt !== undefined) health.acceptedAt = Math.min(health.acceptedAt, Date.now());
    const at = Math.max(health?.acceptedAt ?? -Infinity, storedAt);
    return at === -Infinity ? (health?.since ?? Date.now()) : at;
  }

  #timeLeft(watch: SilenceWatch): number {
    return this.#heardAt(watch) + watch.hours * hourMs - Date.now();
  }

  async #check(watch: SilenceWatch): Promise<void> {
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

  #sleep(watch: SilenceWatch, milliseconds: number): void {
    clearTimeout(watch.timer);
    // `setTimeout` takes whole milliseconds.
    watch.timer = setTimeout(() => void this.#check(watch), Math.min(Math.ceil(milliseconds), maxTimeoutMs)).unref(); // prettier-ignore
  }
}

/**
 * When the last stored request of a node was accepted, in ms since the epoch, by this or another process.
 *
 * @returns minus infinity where none is stored; nothing where the store is away
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
