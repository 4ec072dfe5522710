// Metrics in the text format of Prometheus.

import type { RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { permissions } from "../config/host";
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

export class Metrics {
  /** Not the library's default registry, which other packages may use. */
  readonly #registry = new Registry();
  readonly #deliveries = new Counter({
    ...this.#about("deliveries_total"),
    labelNames: ["node", "outcome", "problem"] as const,
  });
  readonly #unanswered = new Counter({ ...this.#about("unanswered_total"), labelNames: ["node"] as const });
  readonly #replies = new Histogram({ ...this.#about("reply_seconds"), labelNames: ["node"] as const, buckets });
  readonly #attempts = new Counter({ ...this.#about("attempts_total"), labelNames: ["node", "outcome"] as const });
  readonly #givenUp = new Counter({ ...this.#about("given_up_total"), labelNames: ["node"] as const });
  readonly #nodes: NodeHealths;

  constructor({ httpAdmin, auth }: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#nodes = nodes;
    // Events of a deleted node are not counted.
    const exists = ({ node }: { readonly node: string }) => nodes.get(node) !== undefined;
    for (const outcome of outcomeLabels) {
      outcomes.on(outcome, (event: { readonly node: string }) => {
        if (exists(event)) this.#deliveries.inc({ node: event.node, outcome });
      });
    }
    outcomes.on("refused", (event) => {
      const labels = { node: event.node, outcome: "refused", problem: event.problem.name };
      if (exists(event)) this.#deliveries.inc(labels);
    });
    outcomes.on("unanswered", (event) => exists(event) && this.#unanswered.inc({ node: event.node }));
    outcomes.on("replied", (event) => {
      if (exists(event)) this.#replies.observe({ node: event.node }, event.milliseconds / 1000);
    });
    for (const outcome of attemptLabels) {
      // Flows that are not followed report only failures.
      outcomes.on(`attempt:${outcome}`, ({ node }: { readonly node: string }) => {
        if (nodes.get(node)?.running?.config.guaranteed) this.#attempts.inc({ node, outcome });
      });
    }
    outcomes.on("failed", (event) => exists(event) && this.#givenUp.inc({ node: event.node }));
    outcomes.on("removed", ({ node }) => this.#forget(node));
    this.#showGauges(nodes);
    const metrics: RequestHandler = (_request, response, next) => {
      this.#beginAtZero();
      this.#registry
        .metrics()
        .then((text) => {
          response.set({ "Cache-Control": "no-store", "Content-Type": this.#registry.contentType }).end(text);
        })
        .catch(next);
    };
    httpAdmin.get("/webhook-trigger/metrics", auth.needsPermission(permissions.read), metrics);
  }

  /** Prometheus expects a counter to start at 0. */
  #beginAtZero(): void {
    for (const [node, { running }] of this.#nodes.all) {
      for (const outcome of outcomeLabels) this.#deliveries.inc({ node, outcome }, 0);
      this.#unanswered.inc({ node }, 0);
      if (!running?.config.guaranteed) continue;
      for (const outcome of attemptLabels) this.#attempts.inc({ node, outcome }, 0);
      this.#givenUp.inc({ node }, 0);
    }
  }

  #forget(node: string): void {
    for (const outcome of outcomeLabels) this.#deliveries.remove({ node, outcome });
    for (const { name } of Object.values(problems))
      this.#deliveries.remove({ node, outcome: "refused", problem: name });
    for (const outcome of attemptLabels) this.#attempts.remove({ node, outcome });
    for (const metric of [this.#unanswered, this.#givenUp, this.#replies]) metric.remove({ node });
  }

  #about(metric: keyof typeof helpTexts): { name: string; help: string; registers: [Registry] } {
    return { name: `webhook_trigger_${metric}`, help: helpTexts[metric], registers: [this.#registry] };
  }

  /** Gauges are computed when the metrics are read. */
  #showGauges(nodes: NodeHealths): void {
    this.#showGauge("queue_deliveries", ["state"], nodes, ({ load }) => {
      const { pause: _, ...states } = load ?? {};
      return Object.entries(states).map(([state, value]) => [{ state }, value]);
    });
    this.#showGauge("open", [], nodes, ({ isOpen }) => [[{}, Number(isOpen)]]);
    this.#showGauge("last_accepted_timestamp_seconds", [], nodes, ({ acceptedAt }) =>
      acceptedAt === undefined ? [] : [[{}, acceptedAt / 1000]],
    );
    this.#showGauge("node_info", ["name", "path"], nodes, ({ running }) => {
      if (!running) return [];
      const { node, config, authenticator } = running;
      const redact = (text = "") => authenticator.redactor.redact(text).slice(0, maxLabel);
      return [[{ name: redact(node.name), path: redact(config.path) }, 1]];
    });
  }

  #showGauge(
    metric: keyof typeof helpTexts,
    labelNames: readonly string[],
    nodes: NodeHealths,
    samplesOf: (health: NodeHealth) => readonly (readonly [labels: Record<string, string>, value: number])[],
  ): void {
    new Gauge({
      ...this.#about(metric),
      labelNames: ["node", ...labelNames],
      collect() {
        this.reset();
        for (const [node, health] of nodes.all) {
          for (const [labels, value] of samplesOf(health)) this.set({ node, ...labels }, value);
        }
      },
    });
  }

  /** Reads the counts of some nodes. It goes through all counters, so ask for many nodes at once. */
  async read(nodes: ReadonlySet<string>): Promise<Map<string, NodeCounts>> {
    const [deliveries, unanswered] = await Promise.all([this.#deliveries.get(), this.#unanswered.get()]);
    const counts = new Map([...nodes].map((node) => [node, { ...noCounts }]));
    const unansweredToo = unanswered.values.map(({ labels, value }) => ({ labels: { ...labels, outcome: "unanswered" }, value })); // prettier-ignore
    for (const { labels, value } of [...deliveries.values, ...unansweredToo]) {
      const ofNode = counts.get(String(labels.node));
      if (ofNode) ofNode[labels.outcome as keyof NodeCounts] += value;
    }
    return counts;
  }
}
