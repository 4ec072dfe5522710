// Which endpoint somebody may have meant who has called another path.

import { pathKey } from "./request/target";

/** How many letters may be missing, too many or others. */
const mostWrong = 2;
/** A shorter path is like many others. */
const shortest = 4;

/**
 * The path that is most like another one: a part of it, the other way round, or all but a few letters.
 *
 * @param paths of endpoints, by their keys
 */
export function nearestOf(path: string, paths: Iterable<string>): string | undefined {
  const key = pathKey(path);
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of paths) {
    const distance = isPart(key, candidate) ? 0 : isLong(key, candidate) ? distanceOf(key, candidate) : Infinity;
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return least <= mostWrong ? nearest : undefined;
}

/** Whether both tell enough to be compared letter by letter. */
function isLong(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= shortest;
}

/** Whether whole segments of one are missing in the other, at its beginning or its end. */
function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length > 1 && (long.startsWith(`${short}/`) || long.endsWith(short));
}

/**
 * How many letters have to be changed, up to a few (V. Levenshtein, 1966). A stranger may ask for it, of each endpoint: what
 * is alike is passed over, so that it takes as long as to read both.
 */
function distanceOf(one: string, other: string, most = mostWrong): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  let place = 0;
  while (place < one.length && one.charCodeAt(place) === other.charCodeAt(place)) place++;
  const [rest, otherRest] = [one.slice(place), other.slice(place)];
  if (rest === otherRest) return 0;
  if (most === 0) return Infinity;
  const [next, otherNext] = [rest.slice(1), otherRest.slice(1)];
  const changed = distanceOf(next, otherNext, most - 1);
  const missing = distanceOf(next, otherRest, most - 1);
  const tooMany = distanceOf(rest, otherNext, most - 1);
  return 1 + Math.min(changed, missing, tooMany);
}
