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
    const distance = isPart(key, candidate) ? 0 : distanceOf(key, candidate);
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return least <= mostWrong ? nearest : undefined;
}

/** Whether whole segments of one are missing in the other, at its beginning or its end. */
function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length > 1 && (long.startsWith(`${short}/`) || long.endsWith(short));
}

/** How many letters have to be changed, up to a few (V. Levenshtein, 1966). */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostWrong || Math.min(one.length, other.length) < shortest) return Infinity;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    for (let column = 1; column <= other.length; column++) {
      const [above = 0, before = 0, left = 0] = [row[column], row[column - 1], next[column - 1]];
      next.push(Math.min(above + 1, left + 1, before + (one[line - 1] === other[column - 1] ? 0 : 1)));
    }
    if (Math.min(...next) > mostWrong) return Infinity;
    row = next;
  }
  return row[other.length] ?? Infinity;
}
