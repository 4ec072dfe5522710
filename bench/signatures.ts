/** What it costs that a sender signs, and to filter what it signed. */
import { costPerRequest } from "./cost";
import { inTurns, ratios, report, spread } from "./figures";
import { fiveKilobytes, secret, signed, small } from "./requests";
import { baseline, nodeRed, signedByGitHub, webhooks } from "./subjects";
import { rateOf } from "./throughput";

export async function signatures(): Promise<void> {
  process.stdout.write("5 kB of JSON, signed by GitHub\n");
  const [http, webhook] = [await baseline({ SECRET: secret }), await nodeRed(webhooks(1, signedByGitHub))];
  const request = signed(fiveKilobytes);
  const rates = await inTurns("/s", { http: () => rateOf(http, request), webhook: () => rateOf(webhook, request) });
  const figure = "signed by GitHub, 5 kB JSON, vs `node:http` with the same HMAC";
  report(figure, "≥ 0.75", spread(ratios(rates.webhook, rates.http)));
  const filtering = await nodeRed(webhooks(1, { ...signedByGitHub, events: ["push"] }));
  const costs = await inTurns("µs", {
    refused: () => costPerRequest(filtering, signed(small, "push", "another"), "401"),
    filtered: () => costPerRequest(filtering, signed(small, "star")),
  });
  report("requests per processor time, filtered by its event vs refused for its signature", "≥ 1", spread(ratios(costs.refused, costs.filtered))); // prettier-ignore
  for (const subject of [http, webhook, filtering]) await subject.stop();
}
