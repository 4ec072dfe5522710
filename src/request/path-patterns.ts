// Which paths are the same, also those with parameters, such as `/devices/:id/state`: as in Express.

/**
 * Paths of the same endpoint have the same key: letter case and one trailing slash are ignored, as in Express.
 * Percent-encoding is not decoded.
 */
export function getPathKey(path: string): string {
  return toLowerCase(path.endsWith("/") ? path.slice(0, -1) : path);
}

/** Only ASCII letters, as Express compares. */
function toLowerCase(path: string): string {
  return path.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const parameterSegment = /^:[A-Za-z0-9_]+$/;

/** Replaces each parameter of a path. */
export function fillParameters(path: string, getValue: () => string): string {
  return path.replace(/:[^/]*/g, getValue);
}

/** Patterns that match the same paths have the same key: the names of their parameters do not matter. */
export function getPatternKey(path: string): string {
  return fillParameters(getPathKey(path), () => ":");
}

/**
 * The parameters of a request's path, decoded.
 *
 * @param path one that the pattern matches
 * @returns nothing where an escape is broken
 */
export function readParameters(pattern: string, path: string): Record<string, string> | undefined {
  const segments = path.split("/");
  const found: [string, string][] = [];
  for (const [index, segment] of pattern.split("/").entries()) {
    if (!parameterSegment.test(segment)) continue;
    try {
      found.push([segment.slice(1), decodeURIComponent(segments[index] ?? "")]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(found);
}

/** Whether a path has the letter case of a pattern that matches it, but for its parameters. */
export function hasCaseOf(pattern: string, path: string): boolean {
  const segments = path.split("/");
  return pattern.split("/").every((segment, index) => parameterSegment.test(segment) || segment === segments[index]);
}

/**
 * Prepares the search for the pattern of a path: the one with the most literal segments; of several, the one whose
 * literal comes first. Patterns with parameters in the same segments cost one look-up together.
 *
 * @param keys of `getPatternKey`
 * @returns the key of the pattern
 */
export function preparePatterns(keys: readonly string[]): (path: string) => string | undefined {
  const groups = new Map<string, Set<string>>();
  for (const key of keys) {
    const shape = key.split("/").map((segment) => (segment === ":" ? "1" : "0")).join(""); // prettier-ignore
    groups.set(shape, (groups.get(shape) ?? new Set()).add(key));
  }
  const count = (shape: string) => shape.split("1").length;
  const sorted = [...groups].sort(([one], [other]) => count(one) - count(other) || (one < other ? -1 : 1));
  return (path) => {
    const segments = getPathKey(path).split("/");
    for (const [shape, alike] of sorted) {
      if (shape.length !== segments.length) continue;
      // A value is never empty.
      const key = segments.map((text, index) => (shape[index] === "1" && text !== "" ? ":" : text)).join("/");
      if (alike.has(key)) return key;
    }
    return undefined;
  };
}
