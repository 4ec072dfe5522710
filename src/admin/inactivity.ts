// Inactivity alerts: nothing was accepted, or no request of a caller came, for longer than the operator expects.

import type { NodeAPI } from "node-red";
import type { WebhookConfig } from "../config/parse";
import type { Outcomes, Silence } from "../flow/outcomes";
import type { NodeHealths } from "./node-health";
import { addRoute } from "./routes";
import type { Use, Uses } from "./uses";

/** The longest time that `setTimeout` takes, in ms. */
const maxTimeoutMs = 2 ** 31 - 1;
/** How often a silent node looks for requests that other instances have got, in ms. */
const askIntervalMs = 60_000;
const hourMs = 3_600_000;
/** How often callers are looked at within their hours, at most: those that fall silent together are reported together. */
const checksOfCallers = 60;

/** A node with an inactivity alert, from one deploy to the next. */
interface SilenceWatch {
  readonly node: string;
  readonly hours: number;
  /** Whether its callers are watched as well. */
  readonly isPerCaller: boolean;
  isOpen: boolean;
  /** The uses that are too long ago, whatever their callers are called by now. */
  readonly silent: Set<Use>;
  timer?: NodeJS.Timeout;
}

/** Without a caller, that of the endpoint itself. */
type Watched = readonly [caller: string | undefined, use: Use];

export class Inactivity {
  readonly #outcomes: Outcomes;
  readonly #nodes: NodeHealths;
  readonly #uses: Uses;
  readonly #watches = new Map<string, SilenceWatch>();

  /** @param uses which note a use before it is heard here */
  constructor(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths, uses: Uses) {
    this.#outcomes = outcomes;
    this.#nodes = nodes;
    this.#uses = uses;
    for (const event of ["accepted", "duplicate"] as const) {
      outcomes.on(event, ({ node, authenticated }) => !authenticated.isTest && this.#hear(node, undefined));
    }
    outcomes.on("called", ({ node, caller }) => this.#hear(node, caller));
    outcomes.on("removed", ({ node }) => this.#watches.delete(node));
    addRoute(RED, "get", "silent", () => {
      const open = [...this.#watches.values()].filter(({ isOpen }) => isOpen);
      const silent = open.flatMap((watch) => this.#describe(watch, this.#list(watch).filter(([, use]) => watch.silent.has(use)))); // prettier-ignore
      const nodes = silent.filter(({ caller }) => caller === undefined);
      return { body: { nodes, callers: silent.filter(({ caller }) => caller !== undefined) } };
    });
  }

  /** The hours of the alert, where nothing was accepted for so long; and how many callers are silent. */
  find(node: string): { silentFor: number | undefined; silentCallers: number } {
    const watch = this.#watches.get(node);
    if (!watch?.isOpen) return { silentFor: undefined, silentCallers: 0 };
    const own = this.#uses.of(node).get(undefined);
    const isSilent = own !== undefined && watch.silent.has(own);
    return { silentFor: isSilent ? watch.hours : undefined, silentCallers: watch.silent.size - Number(isSilent) };
  }

  /** Begins to watch a node, if it has an alert. Its uses are noted already. */
  start(
    node: string,
    { alertWhenSilent: hours, alertPerCaller: isPerCaller }: Pick<WebhookConfig, "alertWhenSilent" | "alertPerCaller">,
  ): void {
    const { silent } = this.#watches.get(node) ?? {};
    this.stop(node);
    this.#watches.delete(node);
    if (hours === 0) return;
    const watch: SilenceWatch = { node, hours, isPerCaller, isOpen: true, silent: new Set() };
    // The number of hours may have changed with the deploy, and so may the callers.
    for (const [, use] of this.#list(watch)) if (silent?.has(use) && timeLeft(use, hours) <= 0) watch.silent.add(use);
    this.#watches.set(node, watch);
    void this.#check(watch);
  }

  stop(node: string): void {
    const watch = this.#watches.get(node);
    if (!watch) return;
    watch.isOpen = false;
    clearTimeout(watch.timer);
  }

  /** A request sets no timer anew, it only ends a silence. */
  #hear(node: string, caller: string | undefined): void {
    const watch = this.#watches.get(node);
    const use = watch?.isOpen && this.#uses.of(node).get(caller);
    if (use && this.#end(watch, [caller, use])) this.#sleep(watch);
  }

  /** @returns whether it was silent */
  #end({ node, silent }: SilenceWatch, [caller, use]: Watched): boolean {
    if (!silent.delete(use)) return false;
    this.#outcomes.emit("heard", { node, caller: this.#redact(node, caller) });
    return true;
  }

  #describe({ node, hours }: SilenceWatch, watched: readonly Watched[]): Silence[] {
    return watched.map(([caller, use]) => ({ node, caller: this.#redact(node, caller), hours, since: findTime(use) }));
  }

  /** A name is shown in the log and elsewhere. */
  #redact(node: string, caller: string | undefined): string | undefined {
    return caller && (this.#nodes.get(node)?.running?.authenticator.redactor.redact(caller) ?? caller);
  }

  #list({ node, isPerCaller }: SilenceWatch): Watched[] {
    return [...this.#uses.of(node)].filter(([caller]) => isPerCaller || caller === undefined);
  }

  async #check(watch: SilenceWatch): Promise<void> {
    const { node, hours, silent } = watch;
    await this.#uses.refresh(node);
    if (!watch.isOpen) return;
    const found: Watched[] = [];
    for (const watched of this.#list(watch)) {
      const [, use] = watched;
      if (timeLeft(use, hours) > 0) this.#end(watch, watched);
      else if (!silent.has(use)) found.push(watched);
    }
    for (const [, use] of found) silent.add(use);
    if (found.length > 0) this.#outcomes.emit("silent", { node, silent: this.#describe(watch, found) });
    this.#sleep(watch);
  }

  /** Until the next silence begins, or other instances may have ended one. */
  #sleep(watch: SilenceWatch): void {
    clearTimeout(watch.timer);
    const { node, hours, silent } = watch;
    const lefts = this.#list(watch)
      .filter(([, use]) => !silent.has(use))
      .map(([caller, use]) =>
        Math.max(timeLeft(use, hours), caller === undefined ? 0 : (hours * hourMs) / checksOfCallers),
      );
    const left = Math.min(...lefts, this.#uses.isShared(node) && silent.size > 0 ? askIntervalMs : Infinity);
    if (left === Infinity) return;
    // `setTimeout` takes whole milliseconds.
    const wait = Math.min(Math.max(Math.ceil(left), 1), maxTimeoutMs);
    watch.timer = setTimeout(() => void this.#check(watch), wait).unref();
  }
}

/** When one was last heard or, before the first time, when its alert or its token was deployed. */
function findTime({ lastUsedAt, since }: Use): number {
  return lastUsedAt ?? since;
}

/** Until it is silent, in ms. A clock that was set back must not delay the alert. */
function timeLeft(use: Use, hours: number): number {
  const now = Date.now();
  use.since = Math.min(use.since, now);
  if (use.lastUsedAt !== undefined) use.lastUsedAt = Math.min(use.lastUsedAt, now);
  return findTime(use) + hours * hourMs - now;
}
