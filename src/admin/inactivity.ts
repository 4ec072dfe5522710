// Inactivity alerts: nothing was accepted, or no request of a caller came, for longer than the operator expects.

import type { NodeAPI } from "node-red";
import type { WebhookConfig } from "../config/parse";
import type { DeliveryQueue } from "../deliveries/queue";
import type { State } from "../deliveries/delivery";
import type { AcceptedEvent, Outcomes, SilentCaller, SilentEvent } from "../flow/outcomes";
import type { CallerUse, CallerUses } from "./caller-uses";
import type { NodeHealths } from "./node-health";
import { addRoute } from "./routes";

/** The longest time that `setTimeout` takes, in ms. */
const maxTimeoutMs = 2 ** 31 - 1;
/** How often a silent node looks for deliveries that other instances accepted, in ms. */
const askIntervalMs = 60_000;
/** How many deliveries are searched for one that is no replay. */
const maxAsked = 50;
const hourMs = 3_600_000;
/** How often callers are looked at within their hours, at most: those that fall silent together are reported together. */
const checksOfCallers = 60;

const acceptedStates: readonly State[] = ["queued", "running", "retrying", "succeeded", "failed", "duplicate"];

export type StoredDeliveries = Pick<DeliveryQueue, "isShared" | "list">;

/** A node with an inactivity alert, from one deploy to the next. */
interface SilenceWatch {
  readonly node: string;
  readonly hours: number;
  /** Whether its callers are watched as well. */
  readonly isPerCaller: boolean;
  readonly store: StoredDeliveries | undefined;
  isOpen: boolean;
  isSilent: boolean;
  /** The silent ones, whatever they are called. */
  readonly silentUses: Set<CallerUse>;
  /** When the last stored request came; missing until the store was asked. */
  storedAt: number | undefined;
  timer?: NodeJS.Timeout;
}

export class Inactivity {
  readonly #outcomes: Outcomes;
  readonly #nodes: NodeHealths;
  readonly #uses: CallerUses;
  readonly #watches = new Map<string, SilenceWatch>();

  constructor(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths, uses: CallerUses) {
    this.#outcomes = outcomes;
    this.#nodes = nodes;
    this.#uses = uses;
    outcomes.on("accepted", (event) => this.#accept(event));
    outcomes.on("duplicate", (event) => this.#accept(event));
    outcomes.on("called", ({ node, caller }) => this.#hear(node, caller));
    outcomes.on("removed", ({ node }) => this.#watches.delete(node));
    addRoute(RED, "get", "silent", () => {
      const open = [...this.#watches.values()].filter(({ isOpen }) => isOpen);
      const nodes = open.filter(({ isSilent }) => isSilent).map((watch) => this.#describe(watch));
      const callers = open.flatMap((watch) => this.#describeCallers(watch, ([, use]) => watch.silentUses.has(use)));
      return { body: { nodes, callers } };
    });
  }

  find(node: string): SilentEvent | undefined {
    const watch = this.#watches.get(node);
    return watch?.isOpen && watch.isSilent ? this.#describe(watch) : undefined;
  }

  countSilentCallers(node: string): number {
    const watch = this.#watches.get(node);
    return watch?.isOpen ? watch.silentUses.size : 0;
  }

  /**
   * Begins to watch a node.
   *
   * @param hours 0: no alert
   * @param store missing where deliveries do not survive a restart
   */
  start(
    node: string,
    { alertWhenSilent: hours, alertPerCaller: isPerCaller }: Pick<WebhookConfig, "alertWhenSilent" | "alertPerCaller">,
    store: StoredDeliveries | undefined,
  ): void {
    const { isSilent = false, silentUses, storedAt } = this.#watches.get(node) ?? {};
    this.stop(node);
    this.#watches.delete(node);
    if (hours === 0) return;
    const watch: SilenceWatch = {
      ...{ node, hours, isPerCaller, store, storedAt },
      ...{ isOpen: true, isSilent, silentUses: new Set() },
    };
    // The number of hours may have changed with the deploy, and so may the callers.
    watch.isSilent &&= this.#timeLeft(watch) <= 0;
    for (const [, use] of this.#listUses(watch)) {
      if (silentUses?.has(use) && this.#timeLeftOf(use, hours) <= 0) watch.silentUses.add(use);
    }
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
    if (!watch?.isSilent || !watch.isOpen || authenticated.isTest) return;
    this.#setSilent(watch, false);
    this.#sleep(watch);
  }

  #hear(node: string, caller: string): void {
    const watch = this.#watches.get(node);
    const use = this.#uses.of(node).get(caller);
    if (!use || !watch?.isOpen || !watch.silentUses.delete(use)) return;
    this.#outcomes.emit("heard", { node, caller: this.#redact(node, caller) });
    this.#sleep(watch);
  }

  #setSilent(watch: SilenceWatch, isSilent: boolean): void {
    if (watch.isSilent === isSilent) return;
    watch.isSilent = isSilent;
    if (isSilent) this.#outcomes.emit("silent", this.#describe(watch));
    else this.#outcomes.emit("heard", { node: watch.node });
  }

  #describe(watch: SilenceWatch): SilentEvent {
    return { node: watch.node, hours: watch.hours, since: this.#heardAt(watch) };
  }

  #describeCallers(watch: SilenceWatch, isMeant: (each: readonly [string, CallerUse]) => boolean): SilentCaller[] {
    const { node, hours } = watch;
    const meant = this.#listUses(watch).filter(isMeant);
    return meant.map(([caller, use]) => ({ node, caller: this.#redact(node, caller), hours, since: findTime(use) }));
  }

  /** A name is shown in the log and elsewhere. */
  #redact(node: string, caller: string): string {
    return this.#nodes.get(node)?.running?.authenticator.redactor.redact(caller) ?? caller;
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

  #timeLeftOf(use: CallerUse, hours: number): number {
    if (use.lastUsedAt !== undefined) use.lastUsedAt = Math.min(use.lastUsedAt, Date.now());
    return findTime(use) + hours * hourMs - Date.now();
  }

  #listUses({ node, isPerCaller }: SilenceWatch): (readonly [caller: string, use: CallerUse])[] {
    return isPerCaller ? [...this.#uses.of(node)] : [];
  }

  async #check(watch: SilenceWatch): Promise<void> {
    const { node, store, isPerCaller } = watch;
    const mayKnowMore = watch.storedAt === undefined || (store?.isShared === true && this.#timeLeft(watch) <= 0);
    if (store && mayKnowMore) watch.storedAt = (await findLastAccepted(store, node)) ?? watch.storedAt;
    if (isPerCaller) await this.#uses.refresh(node);
    if (!watch.isOpen) return;
    this.#setSilent(watch, this.#timeLeft(watch) <= 0);
    this.#checkCallers(watch);
    this.#sleep(watch);
  }

  #checkCallers(watch: SilenceWatch): void {
    const { node, hours, silentUses } = watch;
    const isSilent = (use: CallerUse) => this.#timeLeftOf(use, hours) <= 0;
    const silent = this.#describeCallers(watch, ([, use]) => isSilent(use) && !silentUses.has(use));
    for (const [caller, use] of this.#listUses(watch)) {
      if (isSilent(use)) silentUses.add(use);
      else if (silentUses.delete(use)) this.#outcomes.emit("heard", { node, caller: this.#redact(node, caller) });
    }
    if (silent.length > 0) this.#outcomes.emit("callers-silent", { node, silent });
  }

  /** Until the next silence begins, or other instances may have ended one. */
  #sleep(watch: SilenceWatch): void {
    clearTimeout(watch.timer);
    const { hours, silentUses } = watch;
    const heard = this.#listUses(watch).filter(([, use]) => !silentUses.has(use));
    const callersLeft = Math.min(...heard.map(([, use]) => this.#timeLeftOf(use, hours)));
    const left = Math.min(
      watch.isSilent ? Infinity : this.#timeLeft(watch),
      Math.max(callersLeft, (hours * hourMs) / checksOfCallers),
      watch.store?.isShared && (watch.isSilent || silentUses.size > 0) ? askIntervalMs : Infinity,
    );
    if (left === Infinity) return;
    // `setTimeout` takes whole milliseconds.
    const wait = Math.min(Math.max(Math.ceil(left), 1), maxTimeoutMs);
    watch.timer = setTimeout(() => void this.#check(watch), wait).unref();
  }
}

/** When a caller was last heard or, before the first time, when its token was deployed. */
function findTime({ lastUsedAt, since }: CallerUse): number {
  return lastUsedAt ?? since;
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
