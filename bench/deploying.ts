/** What a deploy of many endpoints costs. */
import { costOf } from "./cost";
import { ratios, rounds, show, spread } from "./figures";
import { comments, httpInsWithChecks, nodeRed, runtimeOf, webhooks } from "./subjects";

const count = 3000;

export async function deploying(): Promise<void> {
  process.stdout.write(`deploying ${count}\n`);
  const subject = await nodeRed([]);
  const runtime = runtimeOf(subject);
  const flows = { comments: comments(count), webhooks: webhooks(count), httpIns: httpInsWithChecks(count) };
  /** The processor time of opening, round by round. */
  const costs: Record<keyof typeof flows, number[]> = { comments: [], webhooks: [], httpIns: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["comments", "webhooks", "httpIns"] as const) {
      const cost = await costOf(subject, () => runtime.deploy(flows[name]));
      await runtime.deploy([]);
      if (round > 0) costs[name].push(cost);
    }
  }
  // What Node-RED itself needs for so many nodes is taken off.
  const above = (name: "webhooks" | "httpIns") =>
    costs[name].map((cost, round) => cost - (costs.comments[round] ?? NaN));
  const figure = "opening 3,000 endpoints, vs 3,000 `http in` each with its token check and answer";
  show(figure, spread(ratios(above("httpIns"), above("webhooks")), 1));
  await subject.stop();
}
