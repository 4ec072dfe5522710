/** What the number of endpoints costs each request, and that of callers. */
import { callerToken } from "../test/harness/callers";
import type { Flow } from "../test/harness/node-red";
import { compare, costOf, report, spread } from "./figures";
import { nodeRed, oneWebhook, oneWithCallers, small, webhooks, withToken } from "./subjects";

const count = 10_000;
const last = count - 1;

export async function endpoints(): Promise<void> {
  const [first, ofMany] = [withToken(small, "0/7"), withToken(small, `${last}/7`)];
  const ofCaller = withToken(small, 0, callerToken("caller 999"));
  await measure("10,000 endpoints vs 1", "≥ 0.95", webhooks(count), withToken(small, last));
  await measure("10,000 paths with a parameter vs 1", "≥ 0.9", webhooks(count, {}, "/:id"), ofMany, webhooks(1, {}, "/:id"), first); // prettier-ignore
  await measure("1,000 callers vs one token", "≥ 0.95", oneWithCallers, ofCaller);
}

async function measure(what: string, target: string, flow: Flow, sent: Buffer, flowOfOne = oneWebhook, sentToOne = withToken(small)): Promise<void> {
  const [one, many] = [await nodeRed(flowOfOne), await nodeRed(flow)];
  const ratios = await compare(costOf(one, sentToOne), costOf(many, sent));
  report(`requests per processor time, ${what}`, target, spread(ratios));
  for (const subject of [one, many]) await subject.stop();
} // prettier-ignore
