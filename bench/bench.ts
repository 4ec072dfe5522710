/**
 * Measures the figures that bench/README.md shows, and writes them into it and, from there, into the README. With names of
 * parts as arguments, it only measures those and writes nothing.
 */
import { writePages } from "../scripts/docs";
import { deliveries } from "./deliveries";
import { editor } from "./editor";
import { endpoints } from "./endpoints";
import { writeTable } from "./figures";
import { installations } from "./installations";
import { requests } from "./requests";
import { starting } from "./starting";

const parts: Record<string, () => Promise<void>> = { requests, deliveries, endpoints, starting, installations, editor };

async function main(chosen: string[]): Promise<void> {
  const measured = chosen.length > 0 ? chosen : Object.keys(parts);
  for (const name of measured) {
    const measure = parts[name];
    if (!measure) throw new Error(`no part ${name}: there are ${Object.keys(parts).join(", ")}`);
    process.stdout.write(`${name}\n`);
    await measure();
  }
  if (chosen.length > 0) return;
  writeTable();
  writePages();
}

void main(process.argv.slice(2));
