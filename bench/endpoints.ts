/** What the number of endpoints costs each request, and that of callers. */
import { callerToken } from "../test/harness/callers";
import type { Flow } from "../test/harness/node-red";
import { compare, costOf, report, spread } from "./figures";
import { nodeRed, oneWebhook, oneWithCallers, small, webhooks, withToken } from "./subjects";

/** A flow, and the request to it. */
type Measured = readonly [flow: Flow, sent: Buffer];

const count = 10_000;
const usual: Measured = [oneWebhook, withToken(small)];

export async function endpoints(): Promise<void> {
  const [last, tail] = [count - 1, "/:id"];
  const onePath: Measured = [webhooks(1, {}, tail), withToken(small, "0/7")];
  const paths: Measured = [webhooks(count, {}, tail), withToken(small, `${last}/7`)];
  await measure("10,000 endpoints vs 1", "≥ 0.95", [webhooks(count), withToken(small, last)]);
  await measure("10,000 paths with a parameter vs 1", "≥ 0.9", paths, onePath);
  const callers: Measured = [oneWithCallers, withToken(small, 0, callerToken("caller 999"))];
  await measure("1,000 callers vs one token", "≥ 0.95", callers);
}

async function measure(what: string, target: string, many: Measured, one = usual): Promise<void> {
  const subjects = [await nodeRed(one[0]), await nodeRed(many[0])] as const;
  const ratios = await compare(costOf(subjects[0], one[1]), costOf(subjects[1], many[1]));
  report(`requests per processor time, ${what}`, target, spread(ratios));
  for (const subject of subjects) await subject.stop();
}
