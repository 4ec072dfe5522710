// Paths with parameters, such as `/devices/:id/state`, as in Express.

import { getPathKey } from "./target";

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

interface PatternBranch {
  readonly literals: Map<string, PatternBranch>;
  parameter: PatternBranch | undefined;
  /** The key of the pattern that ends here. */
  key: string | undefined;
}

/**
 * Finds the pattern of a path in a tree of segments: the time grows with the number of patterns that a path could still
 * match at each of its segments, and not with the number of all.
 */
export class PathPatterns {
  readonly #root: PatternBranch = createBranch();

  /** @param keys of `getPatternKey` */
  constructor(keys: Iterable<string>) {
    for (const key of keys) this.#add(key);
  }

  #add(key: string): void {
    let branch = this.#root;
    for (const segment of toSegments(key)) {
      if (segment === ":") branch = branch.parameter ??= createBranch();
      else {
        const next = branch.literals.get(segment) ?? createBranch();
        branch.literals.set(segment, next);
        branch = next;
      }
    }
    branch.key = key;
  }

  /** The key of the pattern with the most literal segments; of several, the one whose literal comes first. */
  find(path: string): string | undefined {
    return findBest(this.#root, toSegments(getPathKey(path)), 0)?.key;
  }
}

interface PatternMatch {
  readonly key: string;
  readonly literals: number;
}

function findBest(branch: PatternBranch, segments: readonly string[], index: number): PatternMatch | undefined {
  const segment = segments[index];
  if (segment === undefined) return branch.key === undefined ? undefined : { key: branch.key, literals: 0 };
  const literal = branch.literals.get(segment);
  const byLiteral = literal && findBest(literal, segments, index + 1);
  // A value is never empty.
  const others = segment === "" ? undefined : branch.parameter;
  const byParameter = others && findBest(others, segments, index + 1);
  if (!byLiteral) return byParameter;
  const found = { key: byLiteral.key, literals: byLiteral.literals + 1 };
  return byParameter && byParameter.literals > found.literals ? byParameter : found;
}

function toSegments(key: string): string[] {
  return key.split("/").slice(1);
}

function createBranch(): PatternBranch {
  return { literals: new Map(), parameter: undefined, key: undefined };
}
