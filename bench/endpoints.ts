/** What the number of endpoints costs each request. */
import { compare, costOf, report, spread } from "./figures";
import { accepted, nodeRed, small, webhooks } from "./subjects";

const count = 10_000;

export async function endpoints(): Promise<void> {
  await measure("10,000 endpoints", "≥ 0.95", "", "");
  await measure("10,000 paths with a parameter", "≥ 0.9", "/:id", "/7");
}

/** @param tail the end of each path; `sent`: of the path of each request */
async function measure(what: string, target: string, tail: string, sent: string): Promise<void> {
  const [one, many] = [await nodeRed(webhooks(1, {}, tail)), await nodeRed(webhooks(count, {}, tail))];
  const ratios = await compare(
    costOf(one, accepted(small, `0${sent}`)),
    costOf(many, accepted(small, `${count - 1}${sent}`)),
  );
  report(`requests per processor time, ${what} vs 1`, target, spread(ratios));
  for (const subject of [one, many]) await subject.stop();
}
