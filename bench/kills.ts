/**
 * Kills a Node-RED with SIGKILL while callers never pause, and starts it again with the same store: what got a 2xx has to
 * reach the flow, and to get to its end there, every time.
 */
import { parseArgs } from "node:util";
import { tab, webhook } from "../test/harness/flow";
import { setTimeout as wait } from "node:timers/promises";
import { Callers, chance, Journal } from "../test/harness/kills";
import { NodeRed, type Options } from "../test/harness/node-red";
import { ShownDeliveries } from "../test/harness/shown-deliveries";
import { ValkeyServer } from "../test/harness/valkey";

const { values } = parseArgs({
  options: { times: { type: "string", default: "100" }, store: { type: "string", default: "sqlite" } },
});
const times = Number(values.times);
if (!(times > 0)) throw new Error("--times takes how often it is killed");
if (values.store !== "sqlite" && values.store !== "valkey") throw new Error("--store takes sqlite or valkey");

const callers = 12;
/** How many are accepted at most between two kills: at least none, as it is killed while it starts the flow again, too. */
const mostAccepted = 200;

/** A flow that takes up to 20 ms, and tells the journal. */
const plugin = (journal: string) => `
const { appendFileSync } = require("node:fs");
const tell = (line) => appendFileSync(${JSON.stringify(journal)}, line + "\\n");
module.exports = (RED) => {
  RED.nodes.registerType("journal", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", ({ _msgid, payload: { number }, webhook: { attempt } }, send, done) => {
      tell("start " + number + " " + _msgid + " " + attempt);
      setTimeout(() => {
        tell("done " + number);
        done();
      }, number % 20);
    });
  });
};`;

async function main(): Promise<boolean> {
  const server = values.store === "valkey" ? await ValkeyServer.start() : undefined;
  const journal = new Journal();
  const options: Options = {
    flow: tab(webhook("hook", "/hook", { guaranteed: true, wires: [["journal"]] }), { id: "journal", type: "journal", wires: [] }),
    plugin: plugin(journal.path),
    modules: server ? ["@redis/client"] : [],
    settings: {
      logging: { console: { level: "fatal" } },
      ...(server && { webhookTriggerStore: { type: "valkey", url: server.url() } }),
    },
  }; // prettier-ignore
  const calling = new Callers(callers);
  const random = chance(Number(process.env.SEED ?? 1));
  const start = performance.now();
  let userDir: string | undefined;
  const begin = async () => {
    const nodeRed = await NodeRed.start({ ...options, ...(userDir !== undefined && { userDir }) });
    userDir = nodeRed.userDir;
    return nodeRed;
  };
  for (let kill = 1; kill <= times; kill++) {
    const nodeRed = await begin();
    calling.turnTo(nodeRed.node("/hook"));
    await calling.areAccepted(random(mostAccepted), () => !nodeRed.running);
    await nodeRed.kill();
    calling.turnTo(undefined);
    process.stdout.write(`\rkilled ${kill} times, ${calling.accepted.size} accepted`);
  }
  await calling.end();
  const last = await begin();
  const givenUp = await atTheEnd(calling, journal, new ShownDeliveries(last));
  await last.stop();
  await server?.stop();
  return report(calling, journal, givenUp, (performance.now() - start) / 1000);
}

/** How long it is waited at most for the flow to be done with all that was accepted, in ms. */
const patience = 60_000;

/**
 * Waits until the flow is done with all that was accepted, or has had its attempts.
 *
 * @returns how many are kept as failed: a kill has ended each of their attempts
 */
async function atTheEnd({ accepted }: Callers, journal: Journal, shown: ShownDeliveries): Promise<number> {
  const start = performance.now();
  for (;;) {
    const { deliveries } = await shown.page("state=failed&limit=500");
    const failed = new Set(deliveries.map(({ id }) => id));
    const { starts, done } = journal;
    const givenUp = new Set(starts.filter(({ id }) => failed.has(id)).map(({ number }) => number));
    const open = [...accepted].filter((number) => !done.has(number));
    const isOver = open.every((number) => givenUp.has(number)) || performance.now() - start > patience;
    if (isOver) return open.filter((number) => givenUp.has(number)).length;
    await wait(100);
  }
}

/** @returns whether nothing was lost */
function report(calling: Callers, { starts, done }: Journal, givenUp: number, seconds: number): boolean {
  const delivered = [...calling.accepted].filter((number) => done.has(number)).length;
  const lost = calling.accepted.size - delivered - givenUp;
  const attempts = new Map<string, number>();
  for (const { id } of starts) attempts.set(id, (attempts.get(id) ?? 0) + 1);
  const repeated = [...attempts.values()].filter((number) => number > 1).length;
  const refused = Object.entries(calling.refused).map(([status, number]) => `, ${number} refused with ${status}`);
  process.stdout.write(
    [
      `\r${values.store}: killed ${times} times in ${seconds.toFixed(0)} s, with ${callers} callers`,
      `accepted: ${calling.accepted.size}; without an answer: ${calling.cut}${refused.join("")}`,
      `delivered of the accepted, to the end of the flow: ${delivered}`,
      `kept as failed, as each of its attempts was ended by a kill: ${givenUp}`,
      `lost: ${lost}`,
      `delivered besides, which had no answer: ${done.size - delivered}`,
      `started more than once: ${repeated}, at most ${Math.max(...attempts.values())} times`,
      `started again: ${starts.filter(({ attempt }) => attempt > 1).length}\n`,
    ].join("\n"),
  );
  return lost === 0;
}

void main().then((isAllHere) => {
  process.exitCode = isAllHere ? 0 : 1;
});
