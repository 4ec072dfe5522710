/** What the number of endpoints costs each request. */
import { costPerRequest } from "./cost";
import { inTurns, ratios, report, spread } from "./figures";
import { accepted, small } from "./requests";
import { nodeRed, webhooks } from "./subjects";

export async function manyEndpoints(): Promise<void> {
  process.stdout.write("10,000 endpoints\n");
  const [one, many] = [await nodeRed(webhooks(1)), await nodeRed(webhooks(10_000))];
  const costs = await inTurns("µs", {
    one: () => costPerRequest(one, accepted(small)),
    many: () => costPerRequest(many, accepted(small, 9999)),
  });
  report("requests per processor time, 10,000 endpoints vs 1", "≥ 0.95", spread(ratios(costs.one, costs.many)));
  await one.stop();
  await many.stop();
}
