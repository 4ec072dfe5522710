/**
 * Ends a Node-RED a hundred times while callers never pause, and counts what is lost of all that was answered with a 2xx:
 * `npm run kills`, or with its defaults written out `npm run kills -- --times 100 --store sqlite`; the other store is
 * `bullmq`. `--term` tells it to end, by SIGTERM, `--deploys` does either during a deploy, and with `--duplicates` senders
 * repeat what was answered after each start.
 */
import { parseArgs } from "node:util";
import { killAgainAndAgain } from "../test/harness/kills";
import { ValkeyServer } from "../test/harness/valkey";

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "100" },
    store: { type: "string", default: "sqlite" },
    deploys: { type: "boolean", default: false },
    term: { type: "boolean", default: false },
    duplicates: { type: "boolean", default: false },
  },
});
const [times, callers, seed] = [Number(values.times), 100, Number(process.env.SEED ?? 1)];
if (!(times > 0)) throw new Error("--times takes how often it is killed");
const how = values.term ? "told to end" : "killed";
if (values.store !== "sqlite" && values.store !== "bullmq") throw new Error("--store takes sqlite or bullmq");

async function main(): Promise<boolean> {
  const server = values.store === "bullmq" ? await ValkeyServer.start() : undefined;
  const start = performance.now();
  const report = await killAgainAndAgain({
    ...{ times, callers, seed, deploys: values.deploys, term: values.term, duplicates: values.duplicates },
    ...(server && {
      modules: ["bullmq", "ioredis"],
      settings: { webhookTriggerStore: { type: "bullmq", url: server.url() } },
    }),
    onKill: (kills, accepted) => process.stdout.write(`\r${how} ${kills} times, ${accepted} accepted`),
  });
  await server?.stop();
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const refused = Object.entries(report.refused).map(([status, number]) => `, ${number} refused with ${status}`);
  process.stdout.write(
    [
      `\r${values.store}: ${how} ${times} times in ${seconds} s, with ${callers} requests in flight`,
      `accepted: ${report.accepted}; without an answer: ${report.cut}${refused.join("")}`,
      `delivered of the accepted, to the end of the flow: ${report.delivered}`,
      `kept as failed, as an end has ended each of their attempts: ${report.usedUp}`,
      `lost: ${report.lost}`,
      `started more than once: ${report.startedAgain}, at most ${report.maxAttempts} times`,
      ...(values.term ? [`attempts that counted although Node-RED was told to end: ${report.counted}`] : []),
      ...(values.duplicates ? [`sent again: ${report.repeated}; keys lost: ${report.keysLost}`] : []),
      "",
    ].join("\n"),
  );
  return report.lost + report.keysLost + (values.term ? report.counted + report.usedUp : 0) === 0;
}

void main().then((isAllHere) => {
  process.exitCode = isAllHere ? 0 : 1;
});
