// The counts of all nodes in the text format of Prometheus. It loads the library for that, so whoever does not ask does not have it.

import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Counts } from "./counts";

/** What is told of each metric: in every language the same, as its name is. */
export const helpTexts = {
  deliveries_total: "Requests that came to the endpoint, by what became of them.",
  unanswered_total: "Accepted requests that the flow has not answered in time.",
  reply_seconds: "From the head of an accepted request, or of a repeat, to the reply.",
  attempts_total: "Starts of the flow with deliveries that may not be lost, by how they ended.",
  given_up_total: "Deliveries that the flow has failed with for good.",
  queue_deliveries:
    "Deliveries that may not be lost and that the flow is not done with, and those that it has failed with.",
  open: "Whether requests can reach the endpoint.",
  last_accepted_timestamp_seconds: "When a request was last accepted, but for test requests of the editor.",
  node_info: "The name and the path of the node.",
} as const;

type Metric = keyof typeof helpTexts;
type Label = "node" | "outcome" | "problem" | "state" | "name" | "path" | "le";
/** What a metric says of a node: the labels beside the node's, and the value. */
type Sample = [labels: Partial<Record<Label, string>>, value: number];
type ByNode = ReadonlyMap<string, Counts>;

const prefix = "webhook_trigger_";
const labelNames: Label[] = ["node", "outcome", "problem", "state", "name", "path"];

export class Exposition {
  /** Never the one that all who use the library share. */
  readonly #registry = new Registry();
  readonly #counted: ByNode;

  constructor(counted: ByNode) {
    this.#counted = counted;
    this.#tell(Counter, "deliveries_total", outcomesOf);
    this.#tell(Counter, "unanswered_total", ({ unanswered }) => [[{}, unanswered]]);
    this.#registry.registerMetric(new ReplyHistogram(counted));
    this.#tell(Counter, "attempts_total", ({ attempts, fares }) => (fares ? by("outcome", attempts) : []));
    this.#tell(Counter, "given_up_total", ({ givenUp, fares }) => (fares ? [[{}, givenUp]] : []));
    this.#tell(Gauge, "queue_deliveries", ({ fares }) => (fares ? by("state", { ...fares }) : []));
    this.#tell(Gauge, "open", ({ isOpen }) => [[{}, Number(isOpen)]]);
    this.#tell(Gauge, "last_accepted_timestamp_seconds", ({ acceptedAt }) =>
      acceptedAt === undefined ? [] : [[{}, acceptedAt / 1000]],
    );
    this.#tell(Gauge, "node_info", ({ identity }) => (identity ? [[{ ...identity }, 1]] : []));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** What a metric says is found out when it is asked for. */
  #tell(Kind: typeof Counter | typeof Gauge, metric: Metric, samplesOf: (counts: Counts) => Sample[]): void {
    const [counted, name, help] = [this.#counted, prefix + metric, helpTexts[metric]];
    new Kind<Label>({
      ...{ name, help, labelNames, registers: [this.#registry] },
      collect() {
        this.reset();
        for (const [node, counts] of counted) {
          for (const [labels, value] of samplesOf(counts)) this.inc({ node, ...labels }, value);
        }
      },
    });
  }
}

function outcomesOf({ accepted, repeated, handshakes: handshake, refused }: Counts): Sample[] {
  const refusals = [...refused].map(([problem, count]): Sample => [{ outcome: "refused", problem }, count]);
  return [...by("outcome", { accepted, repeated, handshake }), ...refusals];
}

/** A sample for each number, with its name as a label. */
function by(label: Label, numbers: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(numbers).map(([name, value]) => [{ [label]: name }, value]);
}

/** The library's own histogram wants to be told of each reply: that would cost more than all else that is counted. */
class ReplyHistogram extends Gauge<Label> {
  readonly #counted: ByNode;
  /** What a histogram says of itself. */
  readonly #told: ReturnType<Histogram["get"]>;

  constructor(counted: ByNode) {
    const about = { name: `${prefix}reply_seconds`, help: helpTexts.reply_seconds, registers: [] };
    super(about);
    this.#counted = counted;
    this.#told = new Histogram(about).get();
  }

  override async get(): ReturnType<Histogram<Label>["get"]> {
    const told = await this.#told;
    return {
      ...told,
      values: [...this.#counted].flatMap(([node, { replies }]) => samplesOf(told.name, node, replies)),
    };
  }
}

/** None for a node that has sent no reply yet: most of ten thousand nodes are seldom called. */
function samplesOf(name: string, node: string, { cumulative, seconds }: Counts["replies"]) {
  const all = cumulative.at(-1)?.count ?? 0;
  if (all === 0) return [];
  const buckets = cumulative.map(({ most, count }) => ({
    ...{ metricName: `${name}_bucket`, labels: { node, le: most === Infinity ? "+Inf" : most }, value: count },
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { node }, value: seconds },
    { metricName: `${name}_count`, labels: { node }, value: all },
  ];
}
