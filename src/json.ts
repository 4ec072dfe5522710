import { type Problem, problems } from "./problem";

/** A value that JSON can express. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The deepest nesting taken, in levels. Node-RED's own copying of messages fails at some 2,000. */
const deepest = 256;

/** Parses JSON (RFC 8259) into a value that is safe to copy and to merge in a flow. */
export function parseJson(text: string): Json | Problem {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return problems.jsonMalformed;
  }
  return tame(value) ?? value;
}

/** Level by level, so that depth costs no stack: drops `__proto__` keys and refuses what is too deep. */
function tame(value: Json): Problem | undefined {
  let level = containersAmong([value]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) return problems.jsonTooDeep;
    // JSON.parse makes an own key of it; a copy by assignment would turn that into the real prototype.
    for (const container of level) Reflect.deleteProperty(container, "__proto__");
    level = level.flatMap((container) => containersAmong(Object.values(container)));
  }
  return undefined;
}

function containersAmong(values: Json[]): (Json[] | Record<string, Json>)[] {
  return values.filter((value) => typeof value === "object" && value !== null);
}
