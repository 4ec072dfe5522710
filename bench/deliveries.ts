/** What it costs that a delivery is noted, and how many can be stored. */
import { ValkeyServer } from "../test/harness/valkey";
import { compare, connections, costOf, inTurns, rateOf, report, spread } from "./figures";
import { nodeRed, oneWebhook, small, webhooks, withToken } from "./subjects";

export async function deliveries(): Promise<void> {
  const request = withToken(small);
  const off = await nodeRed(oneWebhook, { settings: { webhookTriggerDeliveries: { keep: 0 } } });
  const on = await nodeRed(oneWebhook);
  const noted = await compare(costOf(off, request), costOf(on, request));
  report("requests per processor time, deliveries noted in memory vs not", "≥ 0.95", spread(noted));
  for (const subject of [off, on]) await subject.stop();

  const server = await ValkeyServer.start();
  const inFile = await nodeRed(webhooks(1, { guaranteed: true }));
  const inServer = await nodeRed(webhooks(1, { guaranteed: true }), {
    modules: ["bullmq", "ioredis"],
    settings: { webhookTriggerStore: { type: "bullmq", url: server.url() } },
  });
  const rates = await inTurns(rateOf(inFile, request), rateOf(inServer, request));
  const [file, redis] = [rates.map(([rate]) => rate), rates.map(([, rate]) => rate)];
  report(`guaranteed delivery in SQLite, ${connections} connections, requests a second`, "≥ 8,000", spread(file, 0));
  report(`guaranteed delivery by BullMQ, ${connections} connections, requests a second`, "≥ 3,000", spread(redis, 0));
  for (const subject of [inFile, inServer]) await subject.stop();
  await server.stop();
}
