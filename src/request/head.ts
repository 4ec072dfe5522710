// The head of a request: its target, and its header fields as sent.

/** The head of a request. */
export interface RequestHead {
  method: string;
  /** Names and values in turn, as sent: elsewhere Node drops or joins repeated fields. */
  rawHeaders: readonly string[];
  /** The query without its question mark, as sent. */
  search: string;
}

/** Path and query of a request target (RFC 9112 §3.2). */
export interface Target {
  path: string;
  /** Without its question mark. */
  search: string;
}

/** Origin-form (`/path?query`) or absolute-form (`http://host/path?query`). */
export function parseTarget(target: string): Target {
  const origin = target.startsWith("/") ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const hash = origin.indexOf("#");
  const sent = hash === -1 ? origin : origin.slice(0, hash);
  const mark = sent.indexOf("?");
  return mark === -1 ? { path: sent, search: "" } : { path: sent.slice(0, mark), search: sent.slice(mark + 1) };
}

/** The values of all fields with a name in lower case, trimmed (RFC 9110 §5.5). */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? "";
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    values.push(withoutBlanks(rawHeaders[index + 1] ?? ""));
  }
  return values;
}

/** In linear time, which an expression for blanks at the end does not take. */
export function withoutBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

/** RFC 9110 §5.6.3: a tab or a space. */
function isBlank(code: number): boolean {
  return code === 9 || code === 32;
}

// Parameters of a query or a form.

/** A repeated name has all of its values, in order. */
export type Parameters = Record<string, string | string[]>;

/** Without `__proto__`, which Node-RED's copying of messages would turn into the real prototype. */
export function toObject<Value>(parameters: Iterable<[name: string, value: Value]>): Record<string, Value | Value[]> {
  const values = new Map<string, Value | Value[]>();
  for (const [name, value] of parameters) {
    const earlier = values.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else values.set(name, earlier === undefined ? value : [earlier, value]);
  }
  values.delete("__proto__");
  return Object.fromEntries(values);
}

/**
 * All values of a parameter, as `URLSearchParams` reads them. No other one is decoded: for a long query of broken
 * escapes, that takes Node.js 15 ms, and strangers send it.
 *
 * @param search a query without its question mark
 */
export function findParameters(search: string, name: string): string[] {
  if (search === "") return [];
  const length = Buffer.byteLength(name);
  const pieces = search.replace(/^\?/, "").split("&");
  const own = pieces.filter((piece) => mayHaveName(piece, name, length));
  return own.flatMap((piece) => new URLSearchParams(`&${piece}`).getAll(name));
}

/** @param length of the name in bytes: each of them is written as itself or as an escape */
function mayHaveName(piece: string, name: string, length: number): boolean {
  const equals = piece.indexOf("=");
  const written = equals === -1 ? piece : piece.slice(0, equals);
  if (written === name) return true;
  return written.length <= 3 * length && Buffer.byteLength(written.replace(/%[0-9a-f]{2}/gi, "%")) === length;
}
