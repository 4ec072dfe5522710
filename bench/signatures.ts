/** What it costs that a sender signs. */
import { inTurns, ratios, report, spread } from "./figures";
import { fiveKilobytes, secret, signed } from "./requests";
import { baseline, nodeRed, signedByGitHub, webhooks } from "./subjects";
import { rateOf } from "./throughput";

export async function signatures(): Promise<void> {
  process.stdout.write("5 kB of JSON, signed by GitHub\n");
  const [http, webhook] = [await baseline({ SECRET: secret }), await nodeRed(webhooks(1, signedByGitHub))];
  const request = signed(fiveKilobytes);
  const rates = await inTurns("/s", { http: () => rateOf(http, request), webhook: () => rateOf(webhook, request) });
  const figure = "signed by GitHub, 5 kB JSON, vs `node:http` with the same HMAC";
  report(figure, "≥ 0.75", spread(ratios(rates.webhook, rates.http)));
  for (const subject of [http, webhook]) await subject.stop();
}
