/** Reads the text format of Prometheus, as strictly as https://prometheus.io/docs/instrumenting/exposition_formats/ has it. */

export interface Sample {
  /** With the suffix of a histogram's part. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  type: string;
  help: string;
  samples: Sample[];
}

const metricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = String.raw`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"`;
const sampleLine = new RegExp(`^(${metricName})(?:\\{(${label}(?:,${label})*)?\\})? (\\S+)$`);

/** @throws where a line is not understood, has no type, or says again what was said before */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const said = new Set<string>();
  let [help, current] = ["", ""];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    const family = families.get(current);
    if (word === "HELP") {
      [help, current] = [rest, name];
    } else if (word === "TYPE") {
      if (current !== name || families.has(name)) throw new Error(`${name} is not described once: ${line}`);
      families.set(name, { type: rest, help, samples: [] });
    } else {
      const sample = parseSample(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      const parts = family?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      const isStray = !parts.some((part) => sample.name === current + part);
      if (!family || isStray || said.has(key)) throw new Error(`stray, or said twice: ${line}`);
      said.add(key);
      family.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): Sample {
  const [, name, written = ""] = sampleLine.exec(line) ?? [];
  const value = line.slice(line.lastIndexOf(" ") + 1).replace("Inf", "Infinity");
  if (name === undefined || Number.isNaN(Number(value))) throw new Error(`not understood: ${line}`);
  const unescape = (text: string) => text.replace(/\\(.)/g, (_all, character: string) => (character === "n" ? "\n" : character)); // prettier-ignore
  const labels = [...written.matchAll(new RegExp(label, "g"))].map(([, key = "", text = ""]) => [key, unescape(text)]);
  return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) };
}
