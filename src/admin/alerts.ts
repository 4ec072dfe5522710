// Alerts: what a `webhook-watch` node sends when something is wrong with a webhook, or right again.

import type { NodeAPI } from "node-red";
import { clientPackages } from "../deliveries/bullmq/server";
import type { Pause } from "../deliveries/delivery";
import { type Cause, formatFix, formatReason, formatSentence, type Translate } from "../deliveries/summary";
import type { Endpoint } from "../flow/endpoint";
import type { Outcomes } from "../flow/outcomes";
import type { Alert, AlertEvent } from "./alert";
import type { NodeHealths } from "./node-health";

type Listener = (alert: Alert) => void;

/** So many refusals of a node in so many ms are an alert, which is not repeated for so many ms. */
const manyRefusals = 10;
const refusalsWithinMs = 60_000;
const quietMs = 600_000;
/** Alerts that wait for the flows to run. */
const maxHeld = 100;

interface Refusals {
  /** By the monotonic clock, in ms. */
  since: number;
  quietUntil: number;
  readonly counts: Map<string, number>;
}

export class Alerts {
  readonly #translate: Translate;
  readonly #nodes: NodeHealths;
  readonly #listeners = new Set<Listener>();
  /** Why each node is paused, as far as that is known. */
  readonly #pauses = new Map<string, Pause | undefined>();
  readonly #refusals = new Map<string, Refusals>();
  /** Those whose second credential was used since their deploy. */
  readonly #second = new WeakSet<Endpoint>();
  #held: Alert[] = [];
  #areFlowsRunning = false;
  #isStoreDown = false;

  constructor({ _: translate, events }: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#translate = translate;
    this.#nodes = nodes;
    events.on("flows:stopping", () => (this.#areFlowsRunning = false));
    events.on("flows:started", () => {
      this.#areFlowsRunning = true;
      for (const alert of this.#held.splice(0)) this.#tell(alert);
    });
    outcomes.on("failed", ({ node, id, error }) => this.#fail(node, id, error));
    outcomes.on("attempt:failed", ({ node, id, error }) => {
      // There are no others.
      if (nodes.get(node)?.running?.config.guaranteed === false) this.#fail(node, id, error);
    });
    outcomes.on("silent", ({ node, hours, since }) => {
      this.#raise("silent", node, { values: { hours, time: new Date(since).toISOString() }, hasFix: true });
    });
    outcomes.on("heard", ({ node }) => this.#raise("heard", node));
    outcomes.on("store:health", ({ trouble }) => this.#checkStore(trouble));
    outcomes.on("load", ({ node, load }) => this.#comparePause(node, load.pause));
    outcomes.on("refused", ({ node, problem, request }) => {
      if (request) this.#countRefusal(node, problem.name);
    });
    outcomes.on("accepted", ({ node, authenticated }) => {
      const running = nodes.get(node)?.running;
      if (!running || authenticated.credential !== "second" || authenticated.isTest || this.#second.has(running))
        return;
      this.#second.add(running);
      this.#raise("second-credential", node, { hasFix: true });
    });
    outcomes.on("removed", ({ node }) => {
      this.#pauses.delete(node);
      this.#refusals.delete(node);
    });
  }

  /**
   * @param scope the ids of webhook triggers, also as in a subflow; `null` for all
   * @returns ends the subscription
   */
  subscribe(scope: readonly string[] | null, listener: Listener): () => void {
    const hear: Listener = (alert) => {
      if (this.#isInScope(alert, scope)) listener(alert);
    };
    this.#listeners.add(hear);
    return () => void this.#listeners.delete(hear);
  }

  /** The store concerns all nodes with guaranteed delivery. */
  #isInScope({ node }: Alert, scope: readonly string[] | null): boolean {
    if (scope === null) return true;
    const running = [...this.#nodes.all.values()].flatMap(({ running: endpoint }) => endpoint ?? []);
    return running.some(
      ({ node: { id, _alias }, config }: { node: { id: string; _alias?: string }; config: Endpoint["config"] }) =>
        (node === undefined ? config.guaranteed : id === node) && (scope.includes(id) || scope.includes(_alias ?? "")),
    );
  }

  #fail(node: string, delivery: string, error: string): void {
    const cause: Cause = { problem: null, reasons: [], looksLike: null, error };
    const reason = formatReason(cause, this.#translate);
    const fix = formatFix({ cause, state: "failed", pause: this.#pauses.get(node) ?? null }, this.#translate);
    this.#raise("delivery-failed", node, { delivery, reason, fix });
  }

  #checkStore(trouble: string | undefined): void {
    const isDown = trouble !== undefined;
    // Of several troubles in a row, the first is told.
    if (isDown === this.#isStoreDown) return;
    this.#isStoreDown = isDown;
    if (!isDown) return this.#raise("store-up", undefined);
    const fix = this.#sentence(`alert.fix.store.${trouble}`, { client: clientPackages });
    this.#raise("store-down", undefined, { reason: this.#translate(`status.store.${trouble}`), fix });
  }

  /** A node that was paused before the process started is not told of again. */
  #comparePause(node: string, pause: Pause | undefined): void {
    const before = this.#pauses.get(node);
    const isKnown = this.#pauses.has(node);
    this.#pauses.set(node, pause);
    if (!isKnown || (before === undefined) === (pause === undefined)) return;
    if (pause === undefined) return this.#raise("resumed", node);
    const reason = this.#translate(`alert.reason.${pause === "manual" ? "paused" : "breaker"}`);
    this.#raise("paused", node, { reason, hasFix: true });
  }

  #countRefusal(node: string, problem: string): void {
    const now = performance.now();
    const known = this.#refusals.get(node) ?? { since: -Infinity, quietUntil: -Infinity, counts: new Map<string, number>() }; // prettier-ignore
    this.#refusals.set(node, known);
    if (now < known.quietUntil) return;
    if (now - known.since >= refusalsWithinMs) {
      known.since = now;
      known.counts.clear();
    }
    const { counts } = known;
    counts.set(problem, (counts.get(problem) ?? 0) + 1);
    const count = [...counts.values()].reduce((sum, each) => sum + each, 0);
    if (count < manyRefusals) return;
    known.quietUntil = now + quietMs;
    known.since = -Infinity;
    const most = [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? problem;
    const refused = this.#translate(`refused.${most}`);
    const reason = this.#translate("alert.reason.refusals", { count, refused });
    this.#raise("refusals", node, { reason, fix: this.#sentence(`fix.${most}`) });
  }

  /** @param told without a reason, that of the event, with these values */
  #raise(
    event: AlertEvent,
    node: string | undefined,
    told: Partial<Pick<Alert, "delivery" | "reason" | "fix">> & { values?: Record<string, string | number>; hasFix?: boolean } = {}, // prettier-ignore
  ): void {
    const { delivery, values, hasFix = false } = told;
    const fix = told.fix ?? (hasFix ? this.#sentence(`alert.fix.${event}`) : undefined);
    const running = node === undefined ? undefined : this.#nodes.get(node)?.running;
    const redact = (text: string | undefined) => running?.authenticator.redactor.redact(text ?? "") ?? "";
    const about = running && { name: redact(running.node.name), path: redact(running.config.path) };
    this.#tell({
      event,
      ...(node !== undefined && { node, ...about }),
      ...(delivery !== undefined && { delivery }),
      reason: told.reason ?? this.#translate(`alert.reason.${event}`, values),
      ...(fix !== undefined && { fix }),
      at: Date.now(),
    });
  }

  #sentence(key: string, values?: Record<string, string>): string {
    return formatSentence(this.#translate(key, values), this.#translate);
  }

  /** While flows are being deployed, a message would be lost. */
  #tell(alert: Alert): void {
    if (this.#areFlowsRunning) for (const hear of this.#listeners) hear(alert);
    else this.#held = [...this.#held, alert].slice(-maxHeld);
  }
}
