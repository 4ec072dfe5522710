// Where requests have values: places that the form offers for conditions.

import type { RequestHead } from "./head";
import type { Json } from "./json";

/** How many of a kind, how deep, and how long a name is. */
const maxPlaces = 200;
const maxDepth = 6;
const maxNameLength = 60;

/** Adds where a request has values that a condition can be on, of each kind a bounded number. */
export function addPlaces(
  places: Set<string>,
  { rawHeaders, search }: Pick<RequestHead, "rawHeaders" | "search">,
  json: Json | undefined,
): void {
  addMembers(places, json ?? null);
  const names = [...new URLSearchParams(search).keys()].map((name) => `query:${name}`);
  const fields = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => `header:${name}`);
  for (const name of [...names, ...fields].slice(0, maxPlaces)) if (name.length <= maxNameLength) places.add(name);
}

/** The values in JSON that can be compared; of an array, those in its first element stand for all. */
function addMembers(places: Set<string>, json: Json, path = "", depth = 0): void {
  if (places.size >= maxPlaces || depth > maxDepth) return;
  if (typeof json !== "object" || json === null) {
    if (path !== "") places.add(`json:${path}`);
    return;
  }
  const isName = (name: string) => name.length <= maxNameLength && /^[^.*]+$/.test(name);
  const members = Object.entries(json).filter(([name]) => isName(name));
  const shown = Array.isArray(json) ? [["*", json[0] ?? null] as const] : members.slice(0, maxPlaces);
  for (const [name, value] of shown) addMembers(places, value, path === "" ? name : `${path}.${name}`, depth + 1);
}
