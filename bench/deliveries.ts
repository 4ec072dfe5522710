/** What it costs that a delivery is noted, and how many can be stored. */
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../test/harness/package";
import { ValkeyServer } from "../test/harness/valkey";
import { compare, connections, costOf, inTurns, milliseconds, rateOf, report, spread } from "./figures";
import { accepted, nodeRed, oneWebhook, small, webhooks } from "./subjects";

export async function deliveries(): Promise<void> {
  const request = accepted(small);
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
  const syncs = await inTurns(syncsPerSecond, syncsPerSecond);
  report("how often this disk syncs 4 kB in a second, one after the other", "–", spread(syncs.flat(), 0));
  for (const subject of [inFile, inServer]) await subject.stop();
  await server.stop();
}

/** How often the disk under the temporary folder stores something for good: one transaction of SQLite needs one. */
async function syncsPerSecond(): Promise<number> {
  const file = openSync(join(temporaryFolder("disk"), "file"), "w");
  const [block, start] = [Buffer.alloc(4096, "x"), performance.now()];
  let count = 0;
  for (; performance.now() < start + milliseconds; count++) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  return Promise.resolve((count / (performance.now() - start)) * 1000);
}
