/** What it costs that a sender signs. */
import { costPerRequest } from "./cost";
import { detail, inTurns, ratios, report, spread } from "./figures";
import { fiveKilobytes, secret, signed, small } from "./requests";
import { baseline, nodeRed, signedByGitHub, webhooks } from "./subjects";
import { rateOf } from "./throughput";

export async function signatures(): Promise<void> {
  process.stdout.write("5 kB of JSON, signed by GitHub\n");
  const [http, one] = [await baseline({ SECRET: secret }), await nodeRed(webhooks(1, signedByGitHub))];
  const [right, wrong] = [signed(fiveKilobytes), signed(fiveKilobytes, { key: "another" })];
  const rates = await inTurns("/s", {
    http: () => rateOf(http, right),
    right: () => rateOf(one, right),
    wrong: () => rateOf(one, wrong, "401"),
  });
  report(
    "signed by GitHub, 5 kB JSON, vs `node:http` with the same HMAC",
    "≥ 0.75",
    spread(ratios(rates.right, rates.http)),
  );
  detail("wrong signature vs right", spread(ratios(rates.wrong, rates.right)));
  await http.stop();

  process.stdout.write("10,000 endpoints with signatures\n");
  const many = await nodeRed(webhooks(10_000, signedByGitHub));
  const costs = await inTurns("µs", {
    one: () => costPerRequest(one, signed(small)),
    many: () => costPerRequest(many, signed(small, { endpoint: 9999 })),
  });
  detail("requests per processor time, 10,000 signed endpoints vs 1", spread(ratios(costs.one, costs.many)));
  await one.stop();
  await many.stop();
}
