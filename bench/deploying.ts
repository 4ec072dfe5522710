/** What a deploy of many endpoints costs. */
import { costOf } from "./cost";
import { detail, median, ratios, report, rounds, spread } from "./figures";
import { comments, httpInsWithChecks, nodeRed, runtimeOf, webhooks } from "./subjects";

const count = 3000;

export async function deploying(): Promise<void> {
  process.stdout.write(`deploying ${count}\n`);
  const subject = await nodeRed([]);
  const runtime = runtimeOf(subject);
  /** The processor time of opening and of closing, in ms, round by round. */
  const costs = { comments: emptyCosts(), webhooks: emptyCosts(), httpIns: emptyCosts() };
  const flows = { comments: comments(count), webhooks: webhooks(count), httpIns: httpInsWithChecks(count) };
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["comments", "webhooks", "httpIns"] as const) {
      const opening = await costOf(subject, () => runtime.deploy(flows[name]));
      const closing = await costOf(subject, () => runtime.deploy([]));
      if (round === 0) continue;
      costs[name].opening.push(opening / 1000);
      costs[name].closing.push(closing / 1000);
    }
  }
  for (const [name, { opening, closing }] of Object.entries(costs)) {
    process.stdout.write(`  ${name}: ${median(opening).toFixed(0)} ms, closing ${median(closing).toFixed(0)} ms\n`);
  }
  const timesFaster = (way: "opening" | "closing") =>
    ratios(above(costs.httpIns[way], costs.comments[way]), above(costs.webhooks[way], costs.comments[way]));
  report(
    "opening 3,000 endpoints, vs 3,000 `http in` each with its token check and answer",
    "–",
    spread(timesFaster("opening"), 1),
  );
  detail("closing them, vs the same", spread(timesFaster("closing"), 1));
  await subject.stop();
}

function emptyCosts(): { opening: number[]; closing: number[] } {
  return { opening: [], closing: [] };
}

/** What is above some costs, in each round: what Node-RED itself needs for so many nodes is taken off. */
function above(costs: number[], base: number[]): number[] {
  return costs.map((cost, round) => cost - (base[round] ?? NaN));
}
