// JSON that is safe to copy and to merge in a flow, and the members at a path in it.

import { Problem, problems } from "./problem";

/** A value that JSON can express. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** In levels. Node-RED's own copying of messages fails at some 2,000. */
const maxDepth = 256;

/** Parses JSON (RFC 8259) into a value that is safe to copy and to merge in a flow. */
export function parseJson(text: string): Json | Problem {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return problems.jsonMalformed;
  }
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && isDeeperThan(maxDepth, value)) return problems.jsonTooDeep;
  if (mayNamePrototype(text)) dropPrototypes(value);
  return value;
}

/** The JSON that the flow gets: a value, or in a text. */
export function readJson(body: unknown): Json | undefined {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return body as Json | undefined;
  const json = parseJson(body.toString());
  return json instanceof Problem ? undefined : json;
}

/** Makes a value of another parser as safe. */
export function secureJson(value: Json): Json | Problem {
  if (isDeeperThan(maxDepth, value)) return problems.jsonTooDeep;
  dropPrototypes(value);
  return value;
}

/** Descends only as many levels as are allowed: no depth exhausts the stack. */
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

/** Whether JSON may contain a `__proto__` key, escaped or not. */
function mayNamePrototype(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u");
}

/** JSON.parse makes own keys of them; a copy by assignment would set real prototypes. */
function dropPrototypes(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  Reflect.deleteProperty(value, "__proto__");
  for (const child of Object.values(value)) dropPrototypes(child);
}

/**
 * The values at a path: own members, elements by position, and for `*` each element of an array. `length` is no member,
 * and what is no array has no elements, whatever the names of its members.
 *
 * @param max it stops behind so many values
 */
export function findMembers(value: Json, path: readonly string[], max = Infinity): Json[] {
  const found: Json[] = [];
  collectMembers(found, max, value, path, 0);
  return found;
}

function collectMembers(found: Json[], max: number, value: Json, path: readonly string[], index: number): void {
  const step = path[index];
  if (step === undefined) return void found.push(value);
  if (typeof value !== "object" || value === null) return;
  if (step !== "*") {
    const isMember = Object.hasOwn(value, step) && (!Array.isArray(value) || /^\d+$/.test(step));
    const member = isMember ? (value as Record<string, Json>)[step] : undefined;
    if (member !== undefined) collectMembers(found, max, member, path, index + 1);
  } else if (Array.isArray(value)) {
    for (const element of value) {
      if (found.length > max) return;
      const { length } = found;
      collectMembers(found, max, element, path, index + 1);
      // A missing member must not go unnoticed.
      if (found.length === length) found.push(null);
    }
  }
}

/** Nothing for what is no text and no number. Parsing has rounded whole numbers beyond 2^53 (RFC 8259 §6). */
export function toText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  const isExact = typeof value === "number" && Number.isFinite(value) && !(Math.abs(value) > Number.MAX_SAFE_INTEGER);
  return isExact ? String(value) : undefined;
}
