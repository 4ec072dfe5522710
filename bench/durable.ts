/** What it costs that a delivery is kept, next to the same webhook without it. */

import { ValkeyServer } from "../test/harness/valkey";
import { costPerRequest } from "./cost";
import { connections, inTurns, ratios, report, spread } from "./figures";
import { accepted, small } from "./requests";
import { nodeRed, oneWebhook, type Subject, webhooks } from "./subjects";
import { rateOf } from "./throughput";

const request = accepted(small);

export async function durable(): Promise<void> {
  process.stdout.write("deliveries noted, and kept\n");
  const off = await nodeRed(oneWebhook, { settings: { webhookTriggerDeliveries: { keep: 0 } } });
  const on = await nodeRed(oneWebhook);
  const inFile = await nodeRed(webhooks(1, { guaranteed: true }));
  const server = await ValkeyServer.start();
  const webhookTriggerStore = { type: "bullmq", url: server.url() };
  const inServer = await nodeRed(webhooks(1, { guaranteed: true }), {
    modules: ["bullmq", "ioredis"],
    settings: { webhookTriggerStore },
  });
  const costs = await inTurns("µs", { off: () => costPerRequest(off, request), on: () => costPerRequest(on, request) });
  report("requests per processor time, deliveries noted in memory vs not", "≥ 0.95", spread(ratios(costs.off, costs.on))); // prettier-ignore
  const rateFrom = (subject: Subject) => () => rateOf(subject, request);
  const rates = await inTurns("/s", { file: rateFrom(inFile), server: rateFrom(inServer) });
  const where = `each synced, ${connections} connections, requests a second`;
  report(`guaranteed delivery in SQLite, ${where}`, "≥ 3,000", spread(rates.file, 0));
  report(`guaranteed delivery by BullMQ, ${where}`, "≥ 2,000", spread(rates.server, 0));
  for (const subject of [off, on, inFile, inServer]) await subject.stop();
  await server.stop();
}
