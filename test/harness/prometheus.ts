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
  let help: { name: string; text: string } | undefined;
  let current: { name: string; family: Family } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, aboutName, about] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    const [, typeName, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (line === "") continue;
    if (aboutName !== undefined && about !== undefined) {
      help = { name: aboutName, text: about };
    } else if (typeName !== undefined && type !== undefined) {
      if (help?.name !== typeName || families.has(typeName)) throw new Error(`${typeName} is not told once: ${line}`);
      current = { name: typeName, family: { type, help: help.text, samples: [] } };
      families.set(typeName, current.family);
    } else {
      const sample = sampleIn(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (said.has(key)) throw new Error(`said twice: ${line}`);
      said.add(key);
      const parts = current?.family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!current || !parts.some((part) => sample.name === `${current?.name}${part}`))
        throw new Error(`stray: ${line}`);
      current.family.samples.push(sample);
    }
  }
  return families;
}

function sampleIn(line: string): Sample {
  const [, name, written = ""] = sampleLine.exec(line) ?? [];
  const value = line.slice(line.lastIndexOf(" ") + 1);
  if (name === undefined || !/^(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i.test(value)) {
    throw new Error(`not understood: ${line}`);
  }
  const labels = [...written.matchAll(new RegExp(label, "g"))].map(([, key = "", text = ""]) => [key, unescape(text)]);
  return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: numberIn(value) };
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_all, character: string) => (character === "n" ? "\n" : character));
}

function numberIn(text: string): number {
  return Number(text.replace("Inf", "Infinity"));
}
