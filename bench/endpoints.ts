/** What the number of endpoints costs each request. */
import { costPerRequest } from "./cost";
import { inTurns, ratios, report, spread } from "./figures";
import { accepted, small } from "./requests";
import { nodeRed, webhooks } from "./subjects";

export async function manyEndpoints(): Promise<void> {
  await compare("10,000 endpoints", "≥ 0.95", "", "");
  await compare("10,000 paths with a parameter", "≥ 0.9", "/:id", "/7");
}

/** @param tail the end of each path; `sent`: of the path of each request */
async function compare(what: string, target: string, tail: string, sent: string): Promise<void> {
  process.stdout.write(`${what}\n`);
  const [one, many] = [await nodeRed(webhooks(1, {}, tail)), await nodeRed(webhooks(10_000, {}, tail))];
  const costs = await inTurns("µs", {
    one: () => costPerRequest(one, accepted(small, `0${sent}`)),
    many: () => costPerRequest(many, accepted(small, `9999${sent}`)),
  });
  report(`requests per processor time, ${what} vs 1`, target, spread(ratios(costs.one, costs.many)));
  await one.stop();
  await many.stop();
}
