// JSON that is safe to copy and to merge in a flow.

import { type Problem, problems } from "../problem";

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
  // Each level takes two characters at least.
  if (text.length > 2 * deepest && isDeeperThan(deepest, value)) return problems.jsonTooDeep;
  if (mayNamePrototype(text)) dropPrototypes(value);
  return value;
}

/** Makes a value that somebody else has parsed as safe as one of ours. */
export function secureJson(value: Json): Json | Problem {
  if (isDeeperThan(deepest, value)) return problems.jsonTooDeep;
  dropPrototypes(value);
  return value;
}

/** Goes down only as many levels as are allowed, so that no depth can exhaust the stack. */
export function isDeeperThan(levels: number, value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(levels - 1, item)) return true;
  } else {
    for (const name in value) if (isDeeperThan(levels - 1, value[name] ?? null)) return true;
  }
  return false;
}

/** Whether a `__proto__` key can be in JSON: as it stands, or with escaped characters. */
function mayNamePrototype(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u");
}

/** JSON.parse makes own keys of them; a copy by assignment would turn those into real prototypes. */
function dropPrototypes(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  Reflect.deleteProperty(value, "__proto__");
  for (const child of Object.values(value)) dropPrototypes(child);
}
