/** How many requests are served at full speed, and how fast at half of it. */
import { connections, inTurns, median, milliseconds, ratios, report, spread } from "./figures";
import { fullLoad, steadyLoad } from "./load";
import { accepted, large, small, withWrongToken } from "./requests";
import { baseline, nodeRed, oneHttpIn, oneWebhook, type Subject } from "./subjects";

/** The largest share of a processor core that the load generator used: below 1, it was not the bottleneck. */
export let generatorCpu = 0;

export async function throughput(): Promise<void> {
  const subjects = {
    http: await baseline(),
    fast: await nodeRed(oneWebhook),
    httpIn: await nodeRed(oneHttpIn),
  };
  const { http, fast, httpIn } = subjects;

  process.stdout.write("100 B of JSON, accepted\n");
  const request = accepted(small);
  const one = await inTurns("/s", {
    http: () => rateOf(http, request),
    fast: () => rateOf(fast, request),
    httpIn: () => rateOf(httpIn, request),
  });
  report("accepted, 100 B JSON, vs `node:http`", "≥ 0.7", spread(ratios(one.fast, one.http)));
  report("the same vs the `http in` flow", "≥ 5", spread(ratios(one.fast, one.httpIn)));

  process.stdout.write(`${large.length} B of JSON, accepted\n`);
  const six = await inTurns("/s", {
    http: () => rateOf(http, accepted(large)),
    fast: () => rateOf(fast, accepted(large)),
  });
  const kilobytes = (large.length / 1000).toFixed(1);
  report(`accepted, ${kilobytes} kB JSON, vs \`node:http\``, "≥ 0.75", spread(ratios(six.fast, six.http)));

  process.stdout.write("wrong token\n");
  const tokens = await inTurns("/s", {
    refused: () => rateOf(fast, withWrongToken(small), "401"),
    accepted: () => rateOf(fast, request),
  });
  report("wrong token vs accepted", "≥ 1.0", spread(ratios(tokens.refused, tokens.accepted)));

  process.stdout.write("99th percentile of latency\n");
  const half = Math.min(median(one.http), median(one.fast)) / 2;
  const latencies = await inTurns("ms", {
    http: () => latencyOf(http, request, half),
    fast: () => latencyOf(fast, request, half),
  });
  report(
    "99th percentile of latency at half the top rate, vs `node:http`",
    "≤ 2",
    spread(ratios(latencies.fast, latencies.http)),
  );

  for (const subject of Object.values(subjects)) await subject.stop();
}

/** How many requests a subject answers in a second at full speed. */
export async function rateOf({ port }: Subject, request: Buffer, status = "200"): Promise<number> {
  const load = await fullLoad(port, request, connections, milliseconds);
  const others = Object.keys(load.statuses).filter((other) => other !== status);
  if (others.length > 0) throw new Error(`answered ${others.join(", ")} instead of ${status}`);
  generatorCpu = Math.max(generatorCpu, load.generatorCpu);
  return load.rate;
}

/** The latency, in ms, below which 99 % of the answers came. */
async function latencyOf({ port }: Subject, request: Buffer, rate: number): Promise<number> {
  const { latencies } = await steadyLoad(port, request, { connections: 2 * connections, rate, milliseconds });
  return latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? NaN;
}
