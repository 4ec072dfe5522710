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
 * Paths that reach the same endpoint have the same key: letter case and one trailing slash do not matter,
 * and RFC 3986 §6.2.2.2 makes a percent-encoded unreserved character equal to the character itself.
 */
export function pathKey(path: string): string {
  return inLowerCase(decodeUnreserved(path).replace(/\/$/, ""));
}

/** A path in lower case as Express compares it: only letters of ASCII have two cases, and the Kelvin sign is no k. */
export function inLowerCase(path: string): string {
  return path.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Writes the unreserved characters of a path as themselves (RFC 3986 §6.2.2.2). */
function decodeUnreserved(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : encoded;
  });
}
