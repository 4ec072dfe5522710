/** What it costs that a delivery is kept, next to the same webhook without it. */

import { ValkeyServer } from "../test/harness/valkey";
import { costPerRequest } from "./cost";
import { connections, detail, inTurns, ratios, report, spread } from "./figures";
import { accepted, small } from "./requests";
import { nodeRed, oneWebhook, type Subject, webhooks } from "./subjects";
import { rateOf } from "./throughput";

const request = accepted(small);
/** So many callers wait for the disk at once that what limits them is what there is to do. */
const manyConnections = 4 * connections;

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
  await rates({ off: on, file: inFile, server: inServer }, connections);
  await rates({ off: on, file: inFile, server: inServer }, manyConnections);
  for (const subject of [off, on, inFile, inServer]) await subject.stop();
  await server.stop();
}

/** With few connections the disk's sync is the limit, with many the processor. */
async function rates({ off, file, server }: Record<"off" | "file" | "server", Subject>, over: number): Promise<void> {
  const at = (subject: Subject) => () => rateOf(subject, request, "200", over);
  const measured = await inTurns("/s", { off: at(off), file: at(file), server: at(server) });
  const where = `each synced, ${over} connections`;
  if (over === connections) {
    report(`guaranteed delivery in SQLite, ${where}, requests a second`, "≥ 3,000", spread(measured.file, 0));
    report(`guaranteed delivery by BullMQ, ${where}, requests a second`, "≥ 2,000", spread(measured.server, 0));
  } else {
    detail(`guaranteed delivery in SQLite, ${where}, requests a second`, spread(measured.file, 0));
    detail(`guaranteed delivery by BullMQ, ${where}, requests a second`, spread(measured.server, 0));
  }
}
