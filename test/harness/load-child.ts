/** The process of a `Load`. Its argument is the URL. */
import { Agent } from "node:http";
import { scheduler } from "node:timers/promises";
import { bearer } from "./flow";
import { send } from "./http";
import type { LoadReport } from "./load";

const connections = 8;
/** Between the requests of one connection, in ms: so it is bounded how many there are in all. */
const pause = 2;

const [url = ""] = process.argv.slice(2);
const report: LoadReport = { accepted: [], others: {} };
let isOver = false;

async function sendOne(agent: Agent): Promise<void> {
  const headers = { ...bearer, "Content-Type": "application/json" };
  const outcome = await send(url, { headers, body: '{"a":1}', agent }).then(
    ({ status, json }) => (status === 200 ? json : String(status)),
    (error: unknown) => String(error),
  );
  if (typeof outcome === "object") report.accepted.push(String(outcome.id));
  else report.others[outcome] = (report.others[outcome] ?? 0) + 1;
}

async function sendAll(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver) {
    await sendOne(agent);
    await scheduler.wait(pause);
  }
  agent.destroy();
}

async function main(): Promise<void> {
  process.once("message", () => (isOver = true));
  // What started it may have been killed.
  process.once("disconnect", () => (isOver = true));
  await sendOne(new Agent());
  process.send?.("begun");
  await Promise.all(Array.from({ length: connections }, sendAll));
  process.send?.(report, () => process.disconnect());
}

void main();
