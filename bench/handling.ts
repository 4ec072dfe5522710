/** What it costs to know duplicates, next to the same webhook without that. */
import { costPerRequest } from "./cost";
import { inTurns, ratios, report, spread } from "./figures";
import { counted } from "./requests";
import { nodeRed, webhooks } from "./subjects";

export async function handling(): Promise<void> {
  process.stdout.write("duplicates\n");
  const off = await nodeRed(webhooks(1));
  const on = await nodeRed(webhooks(1, { ignoreDuplicates: true, duplicateKey: "header:X-Count" }));
  const request = counted();
  const costs = await inTurns("µs", { off: () => costPerRequest(off, request), on: () => costPerRequest(on, request) });
  report("requests per processor time, duplicates ignored vs not", "≥ 0.9", spread(ratios(costs.off, costs.on)));
  for (const subject of [off, on]) await subject.stop();
}
