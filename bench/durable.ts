/** What it costs that a delivery is kept, next to the same webhook without it. */

import { clientName } from "../src/deliveries/valkey/module";
import { ValkeyServer } from "../test/harness/valkey";
import { costPerRequest } from "./cost";
import { inTurns, ratios, report, spread } from "./figures";
import { accepted, small } from "./requests";
import { nodeRed, oneWebhook, webhooks } from "./subjects";
import { rateOf } from "./throughput";

const request = accepted(small);

export async function durable(): Promise<void> {
  process.stdout.write("deliveries noted, and kept\n");
  const off = await nodeRed(oneWebhook, { settings: { webhookTriggerDeliveries: { keep: 0 } } });
  const on = await nodeRed(oneWebhook);
  const inFile = await nodeRed(webhooks(1, { durable: true }));
  const server = await ValkeyServer.start();
  const webhookTriggerStore = { type: "valkey", url: server.url() };
  const inServer = await nodeRed(webhooks(1, { durable: true }), {
    modules: [clientName],
    settings: { webhookTriggerStore },
  });
  const costs = await inTurns("µs", { off: () => costPerRequest(off, request), on: () => costPerRequest(on, request) });
  report("requests per processor time, deliveries noted in memory vs not", "≥ 0.95", spread(ratios(costs.off, costs.on))); // prettier-ignore
  const rates = await inTurns("/s", {
    off: () => rateOf(on, request),
    file: () => rateOf(inFile, request),
    server: () => rateOf(inServer, request),
  });
  report("never lose: kept in a file, each synced, vs not", "≥ 0.3", spread(ratios(rates.file, rates.off)));
  report("the same in a second", "≥ 3,000, or half of what the file takes", spread(rates.file, 0));
  report("never lose: kept in Valkey or Redis, each synced, vs not", "≥ 0.4", spread(ratios(rates.server, rates.off)));
  for (const subject of [off, on, inFile, inServer]) await subject.stop();
  await server.stop();
}
