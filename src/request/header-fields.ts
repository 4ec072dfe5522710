// The header fields of a request, as sent.

import { isMultipart } from "./multipart";

/** The head of a request. */
export interface RequestHead {
  method: string;
  /** Names and values in turn, as sent: elsewhere Node drops or joins repeated fields. */
  rawHeaders: readonly string[];
  /** The query without its question mark, as sent. */
  search: string;
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

/** Which kind of form a request has by its content type, if it has one, and no other type. */
export function findFormKind({ rawHeaders }: Pick<RequestHead, "rawHeaders">): "urlencoded" | "multipart" | undefined {
  const [type = "", ...repeated] = fieldValues(rawHeaders, "content-type");
  if (repeated.length > 0) return undefined;
  if (/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return "urlencoded";
  return isMultipart(type) ? "multipart" : undefined;
}
