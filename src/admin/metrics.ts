// Metrics in the text format of Prometheus.

import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { permissions } from "../config/roots";
import type { Outcomes } from "../flow/outcomes";
import { problems } from "../request/problem";
import type { NodeHealth, NodeHealths } from "./node-health";

/** The help text of each metric, in English only. */
export const helpTexts = {
  deliveries_total: "Requests that came to the endpoint, by what became of them.",
  unanswered_total: "Accepted requests that the flow has not answered in time.",
  reply_seconds: "From the head of an accepted request, or of a duplicate, to the reply.",
  attempts_total: "Starts of the flow by guaranteed delivery, by how they ended.",
  given_up_total: "Deliveries that have failed in all of their attempts.",
  queue_deliveries: "Deliveries in the queue, by their state.",
  open: "Whether requests can reach the endpoint.",
  last_accepted_timestamp_seconds: "When a request was last accepted, but for test requests of the editor.",
  node_info: "The name and the path of the node.",
} as const;

/** How many characters of a name and a path are labels. */
const maxLabel = 300;
/** The upper bounds of the histogram's buckets, in seconds. */
const buckets = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const outcomeLabels = ["accepted", "duplicate", "handshake", "filtered"] as const;
const attemptLabels = ["succeeded", "failed", "interrupted"] as const;

export const noCounts = { accepted: 0, duplicate: 0, handshake: 0, filtered: 0, refused: 0, unanswered: 0 };
export type NodeCounts = typeof noCounts;

type LoadedMetrics = Awaited<ReturnType<typeof loadMetrics>>;

/** Loads prom-client, which a Node-RED that gets no requests need not have in memory. */
async function loadMetrics(nodes: NodeHealths) {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  // Not the library's default registry, which other packages may use.
  const registry = new Registry();
  const describe = (metric: keyof typeof helpTexts) => ({
    name: `webhook_trigger_${metric}`,
    help: helpTexts[metric],
    registers: [registry],
  });
  /** Gauges are computed when the metrics are read. */
  const showGauge = (
    metric: keyof typeof helpTexts,
    labelNames: readonly string[],
    samplesOf: (health: NodeHealth) => readonly (readonly [labels: Record<string, string>, value: number])[],
  ) =>
    new Gauge({
      ...describe(metric),
      labelNames: ["node", ...labelNames],
      collect() {
        this.reset();
        for (const [node, health] of nodes.all) {
          for (const [labels, value] of samplesOf(health)) this.set({ node, ...labels }, value);
        }
      },
    });
  const metrics = {
    registry,
    deliveries: new Counter({
      ...describe("deliveries_total"),
      labelNames: ["node", "outcome", "problem"] as const,
    }),
    unanswered: new Counter({ ...describe("unanswered_total"), labelNames: ["node"] as const }),
    replies: new Histogram({ ...describe("reply_seconds"), labelNames: ["node"] as const, buckets }),
    attempts: new Counter({ ...describe("attempts_total"), labelNames: ["node", "outcome"] as const }),
    givenUp: new Counter({ ...describe("given_up_total"), labelNames: ["node"] as const }),
  };
  showGauge("queue_deliveries", ["state"], ({ load }) => {
    const { pause: _, ...states } = load ?? {};
    return Object.entries(states).map(([state, value]) => [{ state }, value]);
  });
  showGauge("open", [], ({ isOpen }) => [[{}, Number(isOpen)]]);
  showGauge("last_accepted_timestamp_seconds", [], ({ acceptedAt }) =>
    acceptedAt === undefined ? [] : [[{}, acceptedAt / 1000]],
  );
  showGauge("node_info", ["name", "path"], ({ running }) => {
    if (!running) return [];
    const { node, config, authenticator } = running;
    const redact = (text = "") => authenticator.redactor.redact(text).slice(0, maxLabel);
    return [[{ name: redact(node.name), path: redact(config.path) }, 1]];
  });
  return metrics;
}

export class Metrics {
  readonly #nodes: NodeHealths;
  /** Missing until the first event, or until they are read. */
  #loading: Promise<LoadedMetrics> | undefined;
  #loaded: LoadedMetrics | undefined;

  constructor({ httpAdmin, auth }: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#nodes = nodes;
    // Events of a deleted node are not counted.
    const exists = ({ node }: { readonly node: string }) => nodes.get(node) !== undefined;
    for (const outcome of outcomeLabels) {
      outcomes.on(outcome, (event: { readonly node: string }) => {
        if (exists(event)) this.#count(({ deliveries }) => deliveries.inc({ node: event.node, outcome }));
      });
    }
    outcomes.on("refused", (event) => {
      const labels = { node: event.node, outcome: "refused", problem: event.problem.name };
      if (exists(event)) this.#count(({ deliveries }) => deliveries.inc(labels));
    });
    outcomes.on("unanswered", (event) => {
      if (exists(event)) this.#count(({ unanswered }) => unanswered.inc({ node: event.node }));
    });
    outcomes.on("replied", (event) => {
      if (exists(event)) this.#count(({ replies }) => replies.observe({ node: event.node }, event.milliseconds / 1000));
    });
    for (const outcome of attemptLabels) {
      // Flows that are not followed report only failures.
      outcomes.on(`attempt:${outcome}`, ({ node }: { readonly node: string }) => {
        if (!nodes.get(node)?.running?.config.guaranteed) return;
        this.#count(({ attempts }) => attempts.inc({ node, outcome }));
      });
    }
    outcomes.on("failed", (event) => {
      if (exists(event)) this.#count(({ givenUp }) => givenUp.inc({ node: event.node }));
    });
    outcomes.on("removed", ({ node }) => this.#loading && this.#count((metrics) => forget(node, metrics)));
    const serve: RequestHandler = (_request, response, next) => {
      this.#load()
        .then(async (metrics) => {
          this.#beginAtZero(metrics);
          const text = await metrics.registry.metrics();
          response.set({ "Cache-Control": "no-store", "Content-Type": metrics.registry.contentType }).end(text);
        })
        .catch(next);
    };
    httpAdmin.get("/webhook-trigger/metrics", auth.needsPermission(permissions.read), serve);
  }

  #load(): Promise<LoadedMetrics> {
    return (this.#loading ??= loadMetrics(this.#nodes).then((metrics) => (this.#loaded = metrics)));
  }

  /** At once, or as soon as there is something to count with. */
  #count(act: (metrics: LoadedMetrics) => void): void {
    if (this.#loaded) act(this.#loaded);
    else void this.#load().then(act);
  }

  /** Prometheus expects a counter to start at 0. */
  #beginAtZero({ deliveries, unanswered, attempts, givenUp }: LoadedMetrics): void {
    for (const [node, { running }] of this.#nodes.all) {
      for (const outcome of outcomeLabels) deliveries.inc({ node, outcome }, 0);
      unanswered.inc({ node }, 0);
      if (!running?.config.guaranteed) continue;
      for (const outcome of attemptLabels) attempts.inc({ node, outcome }, 0);
      givenUp.inc({ node }, 0);
    }
  }

  /** Reads the counts of some nodes. It goes through all counters, so ask for many nodes at once. */
  async read(nodes: ReadonlySet<string>): Promise<Map<string, NodeCounts>> {
    const counts = new Map([...nodes].map((node) => [node, { ...noCounts }]));
    if (!this.#loading) return counts;
    const metrics = await this.#loading;
    const [deliveries, unanswered] = await Promise.all([metrics.deliveries.get(), metrics.unanswered.get()]);
    const unansweredToo = unanswered.values.map(({ labels, value }) => ({ labels: { ...labels, outcome: "unanswered" }, value })); // prettier-ignore
    for (const { labels, value } of [...deliveries.values, ...unansweredToo]) {
      const ofNode = counts.get(String(labels.node));
      if (ofNode) ofNode[labels.outcome as keyof NodeCounts] += value;
    }
    return counts;
  }
}

function forget(node: string, { deliveries, unanswered, replies, attempts, givenUp }: LoadedMetrics): void {
  for (const outcome of outcomeLabels) deliveries.remove({ node, outcome });
  for (const { name } of Object.values(problems)) deliveries.remove({ node, outcome: "refused", problem: name });
  for (const outcome of attemptLabels) attempts.remove({ node, outcome });
  for (const metric of [unanswered, givenUp, replies]) metric.remove({ node });
}
