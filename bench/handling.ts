/** What it costs to know duplicates and to keep limits, next to the same webhook without them. */
import { costPerRequest } from "./cost";
import { detail, inTurns, ratios, report, spread } from "./figures";
import { counted } from "./requests";
import { nodeRed, webhooks } from "./subjects";

const duplicates = { ignoreDuplicates: true, duplicateKey: "header:X-Count" };
const limits = { allowFrom: "127.0.0.0/8, 2001:db8::/32", rateLimit: 1_000_000_000 };

export async function handling(): Promise<void> {
  process.stdout.write("duplicates and limits\n");
  const off = await nodeRed(webhooks(1));
  const withDuplicates = await nodeRed(webhooks(1, duplicates));
  const withLimits = await nodeRed(webhooks(1, limits));
  const request = counted();
  const costs = await inTurns("µs", {
    off: () => costPerRequest(off, request),
    duplicates: () => costPerRequest(withDuplicates, request),
    limits: () => costPerRequest(withLimits, request),
  });
  report(
    "requests per processor time, duplicates ignored vs not",
    "≥ 0.9",
    spread(ratios(costs.off, costs.duplicates)),
  );
  detail("requests per processor time, limits kept vs none", spread(ratios(costs.off, costs.limits)));
  for (const subject of [off, withDuplicates, withLimits]) await subject.stop();
}
