/** What requests cost the server in processor time. */
import { costOf, costPerRequest, fixedRate } from "./cost";
import { connections, inTurns, ratios, report, show, spread } from "./figures";
import { Connection } from "./load";
import { accepted, small, withWrongToken } from "./requests";
import { baseline, nodeRed, nodeRedWithFloor, oneWebhook, runtimeOf, type Subject } from "./subjects";

export async function processorTime(): Promise<void> {
  process.stdout.write(`processor time per request at ${fixedRate} requests a second\n`);
  const { webhook, floor } = await nodeRedWithFloor();
  const request = accepted(small);
  const costs = await inTurns("µs", {
    webhook: () => costPerRequest(webhook, request),
    floor: () => costPerRequest(floor, request),
  });
  const figure = `processor time per request at ${fixedRate.toLocaleString("en")}/s over ${connections} connections`;
  report(`${figure}, vs the floor`, "≤ 1.4", spread(ratios(costs.webhook, costs.floor)));
  await webhook.stop();

  await largeRefusals();
}

/** What a refused upload costs, each on a connection of its own. */
async function largeRefusals(): Promise<void> {
  process.stdout.write("processor time of 1,000 refusals\n");
  const [ours, http] = [await nodeRed(oneWebhook), await baseline()];
  const flood = async ({ port }: Subject, body: Buffer) => {
    const request = withWrongToken(body);
    for (let sent = 0; sent < 1000; sent++) {
      const connection = await Connection.open(port);
      // In such a flood, some of those who do not stop sending lose the connection, and so their answer.
      const status = await connection.exchange(request).catch(() => "401");
      if (status !== "401") throw new Error(`a wrong token was answered ${status}`);
      connection.close();
    }
    // What the server does for those who have left belongs to the cost. To ask it meanwhile would cost more.
    await new Promise((resolve) => setTimeout(resolve, 1500));
  };
  const body = Buffer.alloc(5_000_000);
  const costs = await inTurns("µs", {
    ours: () => costOf(ours, () => flood(ours, body)),
    http: () => costOf(http, () => flood(http, body)),
  });
  await runtimeOf(ours).connections(0);
  const figure = "processor time of a wrong token with 5 MB, vs `node:http`, which reads it all";
  show(figure, spread(ratios(costs.ours, costs.http)));
  await ours.stop();
  await http.stop();
}
