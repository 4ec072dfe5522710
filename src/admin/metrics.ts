// Metrics in the text format of Prometheus, written when they are asked for.

import type { NodeAPI } from "node-red";
import { permissions } from "../config/permissions";
import { type NodeHealth, type NodeHealths, replyBounds } from "./node-health";

/** @param part of a histogram, as the end of the name */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number, part?: string];

interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  /** In English only. */
  readonly help: string;
  /** Those of a node, without its label. */
  readonly listSamples: (health: NodeHealth) => readonly Sample[];
}

/** How many characters of a name and a path are labels. */
const maxLabel = 300;

/** A counter begins at 0, as Prometheus expects it; refused requests are the exception: there are many problems. */
export const metrics = {
  deliveries_total: {
    type: "counter",
    help: "Requests that came to the endpoint, by what became of them.",
    listSamples: ({ counts: { unanswered: _, ...counts }, refused }) => [
      ...Object.entries(counts).map(([outcome, count]): Sample => [{ outcome }, count]),
      ...Object.entries(refused).map(([problem, count]): Sample => [{ outcome: "refused", problem }, count]),
    ],
  },
  unanswered_total: {
    type: "counter",
    help: "Accepted requests that the flow has not answered in time.",
    listSamples: ({ counts }) => [[{}, counts.unanswered]],
  },
  reply_seconds: {
    type: "histogram",
    help: "From the head of an accepted request, or of a duplicate, to the reply.",
    listSamples: ({ replies }) => {
      if (!replies) return [];
      let count = 0;
      const buckets = replies.buckets.map((more, index): Sample => {
        count += more;
        return [{ le: String(replyBounds[index] ?? "+Inf") }, count, "_bucket"];
      });
      return [...buckets, [{}, replies.seconds, "_sum"], [{}, count, "_count"]];
    },
  },
  attempts_total: {
    type: "counter",
    help: "Starts of the flow by guaranteed delivery, by how they ended.",
    listSamples: ({ running, attempts }) =>
      running?.config.guaranteed ? Object.entries(attempts).map(([outcome, count]) => [{ outcome }, count]) : [],
  },
  given_up_total: {
    type: "counter",
    help: "Deliveries that have failed in all of their attempts.",
    listSamples: ({ running, givenUp }) => (running?.config.guaranteed ? [[{}, givenUp]] : []),
  },
  queue_deliveries: {
    type: "gauge",
    help: "Deliveries in the queue, by their state.",
    listSamples: ({ load }) => {
      const { pause: _, ...states } = load ?? {};
      return Object.entries(states).map(([state, count]) => [{ state }, count]);
    },
  },
  open: {
    type: "gauge",
    help: "Whether requests can reach the endpoint.",
    listSamples: ({ isOpen }) => [[{}, Number(isOpen)]],
  },
  last_accepted_timestamp_seconds: {
    type: "gauge",
    help: "When a request was last accepted, but for test requests of the editor.",
    listSamples: ({ acceptedAt }) => (acceptedAt === undefined ? [] : [[{}, acceptedAt / 1000]]),
  },
  node_info: {
    type: "gauge",
    help: "The name and the path of the node.",
    listSamples: ({ running }) => {
      if (!running) return [];
      const { node, config, authenticator } = running;
      const redact = (text = "") => authenticator.redactor.redact(text).slice(0, maxLabel);
      return [[{ name: redact(node.name), path: redact(config.path) }, 1]];
    },
  },
} as const satisfies Record<string, Metric>;

export function serveMetrics({ httpAdmin, auth }: NodeAPI, nodes: NodeHealths): void {
  const type = "text/plain; version=0.0.4; charset=utf-8";
  httpAdmin.get("/webhook-trigger/metrics", auth.needsPermission(permissions.read), (_request, response) => {
    response.set({ "Cache-Control": "no-store", "Content-Type": type }).end(formatMetrics(nodes.all));
  });
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
function formatMetrics(nodes: ReadonlyMap<string, NodeHealth>): string {
  const lines: string[] = [];
  for (const [ending, { type, help, listSamples }] of Object.entries<Metric>(metrics)) {
    const name = `webhook_trigger_${ending}`;
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [node, health] of nodes) {
      for (const [labels, value, part = ""] of listSamples(health)) {
        let pairs = `node="${escapeLabel(node)}"`;
        for (const label in labels) pairs += `,${label}="${escapeLabel(labels[label] ?? "")}"`;
        lines.push(`${name}${part}{${pairs}} ${value}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function escapeLabel(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
