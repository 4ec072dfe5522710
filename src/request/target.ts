// What of a request target is the path, and which paths are the same.

/** The parts of a request target that say where it goes (RFC 9112 §3.2). */
export interface Target {
  path: string;
  /** The query without its question mark. */
  search: string;
}

/** Splits a request target in origin-form (`/path?query`) or absolute-form (`http://host/path?query`). */
export function parseTarget(target: string): Target {
  const origin = target.startsWith("/") ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const hash = origin.indexOf("#");
  const sent = hash === -1 ? origin : origin.slice(0, hash);
  const mark = sent.indexOf("?");
  return mark === -1 ? { path: sent, search: "" } : { path: sent.slice(0, mark), search: sent.slice(mark + 1) };
}

/**
 * Paths that reach the same endpoint have the same key: letter case and one trailing slash do not matter, as in Express.
 * Percent-encoding is not decoded.
 */
export function getPathKey(path: string): string {
  return toLowerCase(path.endsWith("/") ? path.slice(0, -1) : path);
}

/** A path in lower case as Express compares it: only letters of ASCII have two cases. */
function toLowerCase(path: string): string {
  return path.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

// Parameters of a query or a form, by name.

/** Parameters by name; a repeated name has all of its values, in order. */
export type Parameters = Record<string, string | string[]>;

/**
 * Makes a flat object of parameters. `__proto__` is left out: Node-RED's copying of messages would turn it
 * into the real prototype.
 */
export function toObject(parameters: Iterable<[name: string, value: string]>): Parameters {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of parameters) {
    const earlier = values.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else values.set(name, earlier === undefined ? value : [earlier, value]);
  }
  values.delete("__proto__");
  return Object.fromEntries(values);
}
