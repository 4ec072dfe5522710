/** What requests cost: at full speed beside `node:http` and an `http in` flow, and in processor time beside the floor. */
import { compare, costOf, rateOf, report, spread } from "./figures";
import {
  baseline,
  counted,
  fiveKilobytes,
  nodeRed,
  nodeRedWithFloor,
  oneHttpIn,
  oneWebhook,
  secret,
  signed,
  signedByGitHub,
  small,
  webhooks,
  withToken,
} from "./subjects";

export async function requests(): Promise<void> {
  const [http, webhook, httpIn] = [await baseline(), await nodeRed(oneWebhook), await nodeRed(oneHttpIn)];
  const request = withToken(small);
  const top = rateOf(webhook, request);
  report("accepted, 100 B JSON, vs `node:http`", "≥ 0.85", spread(await compare(top, rateOf(http, request))));
  report("the same vs the `http in` flow", "≥ 4.5", spread(await compare(top, rateOf(httpIn, request))));
  const refused = rateOf(webhook, withToken(small, 0, "x".repeat(40)), "401");
  report("wrong token vs accepted", "≥ 1.0", spread(await compare(refused, top)));
  for (const subject of [http, webhook, httpIn]) await subject.stop();

  const [hmac, signing] = [await baseline({ SECRET: secret }), await nodeRed(webhooks(1, signedByGitHub))];
  const [ours, theirs] = [rateOf(signing, signed(fiveKilobytes)), rateOf(hmac, signed(fiveKilobytes))];
  const verified = spread(await compare(ours, theirs));
  report("signed by GitHub, 5 kB JSON, vs `node:http` with the same HMAC", "≥ 0.75", verified);
  for (const subject of [hmac, signing]) await subject.stop();

  const { webhook: beside, floor } = await nodeRedWithFloor();
  const cost = await compare(costOf(beside, request), costOf(floor, request));
  report("processor time per request at 8,000/s over 32 connections, vs the floor", "≤ 1.2", spread(cost));
  await beside.stop();

  const [off, on] = [
    await nodeRed(oneWebhook),
    await nodeRed(webhooks(1, { ignoreDuplicates: true, duplicateKey: "header:X-Count" })),
  ];
  const each = counted();
  report("requests per processor time, duplicates ignored vs not", "≥ 0.9", spread(await compare(costOf(off, each), costOf(on, each)))); // prettier-ignore
  for (const subject of [off, on]) await subject.stop();
}
