// The status of each node: problems first, then counts.

import type { NodeAPI, NodeStatus } from "node-red";
import type { StoreTrouble } from "../deliveries/queue";
import type { Translate } from "./summary";
import type { Endpoint } from "../flow/endpoint";
import type { Outcomes } from "../flow/outcomes";
import type { Inactivity } from "./inactivity";
import type { NodeHealth, NodeHealths } from "./node-health";
import { describeShadow } from "./node-log";

/** A status changes at most this often, in ms. */
const intervalMs = 500;

/** The counts in a status, in this order, where they are not 0. */
const numbers = [
  "handshakes",
  "duplicates",
  "filtered",
  "unanswered",
  "running",
  "queued",
  "retrying",
  "failed",
] as const;

/** The events that may change a status. */
const shownEvents = [
  ...(["accepted", "duplicate", "handshake", "filtered", "refused", "unanswered", "shadowed"] as const),
  ...(["attempt:succeeded", "attempt:failed", "load", "silent", "heard"] as const),
];

interface ShownStatus extends ReturnType<Inactivity["find"]> {
  readonly open: Endpoint;
  readonly health: NodeHealth;
  readonly trouble: StoreTrouble | undefined;
}

export class NodeStatuses {
  readonly #translate: Translate;
  readonly #nodes: NodeHealths;
  readonly #inactivity: Inactivity;
  #trouble: StoreTrouble | undefined;
  /** Nodes whose status may have changed since it was shown. */
  readonly #changed = new Set<string>();
  /** Whether they are shown soon. */
  #isDue = false;
  /** Timers of statuses that change with time. */
  readonly #rechecks = new Map<string, NodeJS.Timeout>();

  constructor(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths, inactivity: Inactivity) {
    this.#translate = RED._;
    this.#nodes = nodes;
    this.#inactivity = inactivity;
    outcomes.on("store:trouble", ({ trouble }) => {
      this.#trouble = trouble;
      for (const [node, { running }] of nodes.all) if (running?.config.guaranteed) this.renew(node);
    });
    for (const event of shownEvents) outcomes.on(event, ({ node }: { readonly node: string }) => this.renew(node));
  }

  /** Shows the status of a node: at once or, shortly after another, when the interval is over. */
  renew(node: string): void {
    this.#changed.add(node);
    if (!this.#isDue) setImmediate(() => this.#show());
    this.#isDue = true;
  }

  #show(): void {
    const nodes = [...this.#changed];
    this.#changed.clear();
    setTimeout(() => {
      this.#isDue = this.#changed.size > 0;
      if (this.#isDue) this.#show();
    }, intervalMs).unref();
    for (const node of nodes) this.#showNode(node);
  }

  #showNode(node: string): void {
    const health = this.#nodes.get(node);
    if (!health?.isOpen || !health.running) return;
    const { running: open } = health;
    const trouble = open.config.guaranteed ? this.#trouble : undefined;
    open.node.status(describeStatus({ open, health, trouble, ...this.#inactivity.find(node) }, this.#translate));
    const wait = health.changesIn(Date.now());
    if (wait === Infinity || this.#rechecks.has(node)) return;
    const recheck = () => {
      this.#rechecks.delete(node);
      this.renew(node);
    };
    this.#rechecks.set(node, setTimeout(recheck, wait).unref());
  }
}

function describeStatus(shown: ShownStatus, translate: Translate): NodeStatus {
  const { health, trouble } = shown;
  const { path, access } = shown.open.config;
  if (trouble) return { fill: "red", shape: "ring", text: translate(`status.store.${trouble}`) };
  if (health.shadowedBy !== undefined) {
    return { fill: "yellow", shape: "ring", text: describeShadow(path, health.shadowedBy, translate) };
  }
  if (health.isGuarded) return { fill: "red", shape: "ring", text: translate("status.guarded", { path }) };
  // The sender brings the secret.
  if (access.method === "signature" && access.first === "" && access.settings.arm === true) {
    const text = translate(health.secret === undefined ? "status.armed" : "status.secretBrought", { path });
    return { fill: "yellow", shape: health.secret === undefined ? "ring" : "dot", text };
  }
  const warnings = describeWarnings(shown, translate);
  const text = [describeCounts(shown, translate), ...warnings].join(" · ");
  const pause = describePause(shown, translate);
  if (pause !== undefined) return { fill: "blue", shape: "ring", text: `${pause} · ${text}` };
  const isYellow = warnings.length > 0 || (health.load?.failed ?? 0) > 0;
  return { fill: isYellow ? "yellow" : "green", shape: "dot", text };
}

function describePause({ open, health }: ShownStatus, translate: Translate): string | undefined {
  const { pause, queued = 0, retrying = 0 } = health.load ?? {};
  const number = queued + retrying;
  if (pause === "manual") return translate("status.paused", { number });
  // Failures of an earlier process are not counted here.
  const failures = Math.max(health.failures, open.config.pace.breaker);
  return pause === "breaker" ? translate("status.breaker", { failures, number }) : undefined;
}

function describeCounts({ open: { config }, health }: ShownStatus, translate: Translate): string {
  const { accepted, refused, ...others } = health.totals;
  const { pause, running = 0, queued = 0, retrying = 0, failed = 0 } = health.load ?? {};
  // The text of a pause has its own count of waiting deliveries.
  const waiting = pause === undefined ? { queued, retrying } : { queued: 0, retrying: 0 };
  const values = { ...others, running, ...waiting, failed };
  const parts = numbers
    .filter((name) => values[name] > 0)
    .map((name) => translate(`status.${name}`, { [name]: values[name] }));
  if (config.access.second) parts.push(translate("status.lastUsed", describeUse(health)));
  const key = refused > 0 ? "status.openRefusing" : "status.open";
  return [translate(key, { path: config.path, accepted, refused }), ...parts].join(", ");
}

function describeWarnings({ health, silentFor, silentCallers }: ShownStatus, translate: Translate): string[] {
  const now = Date.now();
  return [
    ...(health.isRefusingAll(now) ? [translate("status.allRefused")] : []),
    ...(health.isFailingAlways(now) ? [translate("status.allFailing")] : []),
    ...(silentFor === undefined ? [] : [translate("status.silent", { hours: silentFor })]),
    ...(silentCallers === 0 ? [] : [translate("status.silentCallers", { number: silentCallers })]),
  ];
}

/** When each of two credentials was last used. */
function describeUse({ used: { first, second } }: NodeHealth): Record<"first" | "second", string> {
  const text = (at: number | undefined) => (at === undefined ? "–" : formatTime(new Date(at)));
  return { first: text(first), second: text(second) };
}

/** The local time of day and, where it is not today, the date before it (ISO 8601, as in Sweden). */
function formatTime(time: Date): string {
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString("sv", { timeStyle: "short", ...(!isToday && { dateStyle: "short" }) });
}
