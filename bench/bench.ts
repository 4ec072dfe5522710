/**
 * Measures the figures that bench/README.md shows, and writes them into it. With names of parts as arguments, it only
 * measures those and writes nothing.
 */
import { before } from "./before";
import { deploying } from "./deploying";
import { disk } from "./disk";
import { durable } from "./durable";
import { manyEndpoints } from "./endpoints";
import { writeTable } from "./figures";
import { handling } from "./handling";
import { measureInstallations } from "./installations";
import { memory } from "./memory";
import { processorTime } from "./processor-time";
import { signatures } from "./signatures";
import { starting } from "./starting";
import { tab } from "./tab";
import { generatorCpu, throughput } from "./throughput";

const parts: Record<string, () => Promise<void>> = {
  throughput,
  signatures,
  "processor-time": processorTime,
  handling,
  disk,
  durable,
  endpoints: manyEndpoints,
  deploying,
  memory,
  starting,
  tab,
  installations: measureInstallations,
};

async function main(chosen: string[]): Promise<void> {
  if (chosen.length === 1 && chosen[0] === "before") return before();
  const unknown = chosen.filter((name) => !(name in parts));
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(", ")}: there are ${Object.keys(parts).join(", ")}`);
  for (const [name, measure] of Object.entries(parts)) {
    if (chosen.length === 0 || chosen.includes(name)) await measure();
  }
  if (chosen.length === 0) writeTable(generatorCpu);
}

void main(process.argv.slice(2));
