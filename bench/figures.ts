/** How figures come about: measured in turns, compared round by round, put into the table of bench/README.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { nodeRedVersion } from "../test/harness/node-red";

export const rounds = Number(process.env.ROUNDS ?? 7);
/** How long each is loaded in a round. */
export const milliseconds = Number(process.env.MILLISECONDS ?? 2000);
export const connections = 32;

const rows: string[] = [];

/** A line of the table: what was measured, what it must reach, and what it was. */
export function report(figure: string, target: string, result: string): void {
  rows.push(`| ${figure} | ${target} | ${result} |`);
  show(`${figure} (${target})`, result);
}

/** What has no target is not in the table. */
export function show(figure: string, result: string): void {
  process.stdout.write(`${figure}: ${result}\n`);
}

/**
 * Takes measurements in turns, round after round, after one round to warm up: so whatever else the machine does hits
 * all of them.
 */
export async function inTurns<Name extends string>(
  unit: string,
  measurements: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number[]>> {
  const entries = Object.entries<() => Promise<number>>(measurements) as [Name, () => Promise<number>][];
  const results = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of entries) {
      const result = await measure();
      if (round > 0) results[name].push(result);
    }
  }
  for (const [name] of entries) process.stdout.write(`  ${name}: ${median(results[name]).toFixed(1)} ${unit}\n`);
  return results;
}

/** How many times the second each of the first is, in each round. */
export function ratios(of: number[], to: number[]): number[] {
  return of.map((value, round) => value / (to[round] ?? NaN));
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

/** @param generatorCpu the largest share of a core that the load generator used */
export function writeTable(generatorCpu: number): void {
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
