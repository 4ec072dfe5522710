/** How figures come about: measured in turns, compared round by round, put into the table of bench/README.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { nodeRedVersion } from "../test/harness/node-red";
import { fullLoad, type Requests, steadyLoad } from "./load";
import type { Subject } from "./subjects";

export const rounds = Number(process.env.ROUNDS ?? 7);
/** How long each is loaded in a round. */
export const milliseconds = Number(process.env.MILLISECONDS ?? 2000);
export const connections = 32;
/** Requests per second: a rate that a server holds with ease, so that it does not measure how full its queues are. */
const fixedRate = 8000;

/** Takes a figure, once. */
export type Measure = () => Promise<number>;

const rows: string[] = [];
/** The largest share of a processor core that the load generator used: below 1, it was not the bottleneck. */
let generatorCpu = 0;

/** A line of the table: what was measured, what it must reach, and what it was. */
export function report(figure: string, target: string, result: string): void {
  rows.push(`| ${figure} | ${target} | ${result} |`);
  process.stdout.write(`  ${figure} (${target}): ${result}\n`);
}

/**
 * Takes two figures in turns, round after round, after one round to warm up: so whatever else the machine does hits both.
 *
 * @returns both of each round
 */
export async function inTurns(first: Measure, second: Measure): Promise<[number, number][]> {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) pairs.push([await first(), await second()]);
  return pairs.slice(1);
}

/** How many times the second the first is, in each round. */
export async function compare(first: Measure, second: Measure): Promise<number[]> {
  const pairs = await inTurns(first, second);
  const [one, other] = [median(pairs.map(([value]) => value)), median(pairs.map(([, value]) => value))];
  process.stdout.write(`  ${one.toFixed(1)} and ${other.toFixed(1)}\n`);
  return pairs.map(([value, to]) => value / to);
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** The median of some values, with the lowest and the highest. */
export function spread(values: number[], digits = 2): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `**${median(values).toFixed(digits)}** (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/** How many requests a subject answers in a second at full speed. */
export function rateOf({ port }: Subject, request: Buffer, status = "200", duration = milliseconds): Measure {
  return async () => {
    const load = await fullLoad(port, request, connections, duration);
    expectOnly(status, load.statuses);
    generatorCpu = Math.max(generatorCpu, load.generatorCpu);
    return load.rate;
  };
}

/**
 * The processor time that a subject takes for one request, in µs: other work on the machine does not count, nor does
 * waiting.
 */
export function costOf(subject: Subject, request: Requests): Measure {
  return async () => {
    const before = await subject.cpu();
    const statuses = await steadyLoad(subject.port, request, { connections, rate: fixedRate, milliseconds });
    const after = await subject.cpu();
    return (after.user + after.system - before.user - before.system) / expectOnly("200", statuses);
  };
}

/** @returns how many answers of a status there were, which are to be all of them */
function expectOnly(status: string, statuses: Record<string, number>): number {
  const { [status]: count = 0, ...others } = statuses;
  if (Object.keys(others).length > 0)
    throw new Error(`answered ${Object.keys(others).join(", ")} instead of ${status}`);
  return count;
}

export function writeTable(): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.versions.node}, Node-RED ${nodeRedVersion}`;
  const table = [
    `Measured on ${machine}; ${rounds} interleaved rounds of ${milliseconds / 1000} s each, ${connections} connections.`,
    `At full speed, the load generator used at most ${(generatorCpu * 100).toFixed(0)} % of a processor core.`,
    "",
    "| figure | must reach | median (lowest–highest) |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
  const readme = join(__dirname, "README.md");
  const text = readFileSync(readme, "utf8");
  writeFileSync(readme, text.replace(/(<!-- results -->\n)[^]*(\n<!-- end of results -->)/, `$1\n${table}\n$2`));
}
