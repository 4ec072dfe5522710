// The payload that a delivery has brought, as JSON that can be changed.

import type { Detail } from "../../../src/deliveries/summary";
import type { EditorNode } from "../host";
import { jsonIn } from "./body";

/**
 * Writes the payload as the flow gets it, as far as that can be seen here.
 *
 * @param node whether it hands parameters over with the body is its own to say
 * @returns an empty text where there is no JSON for it
 */
export function payloadText(detail: Detail, node: EditorNode | null): string {
  const { body, headers, query } = detail;
  if (body.encoding === "base64" || body.truncated) return "";
  const payload = jsonIn(body)?.value ?? (isForm(headers) ? fieldsOf(body.data) : body.data);
  return JSON.stringify(hasQuery(node) ? { body: payload, query } : payload, null, 2);
}

/** @returns nothing where the text is no JSON */
export function payloadIn(text: string): { payload: unknown } | undefined {
  try {
    return { payload: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function isForm(headers: Detail["headers"]): boolean {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return String(type).toLowerCase().startsWith("application/x-www-form-urlencoded");
}

/** The fields of a form; of those that are there more than once, all values. */
function fieldsOf(data: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(data);
  const entries = [...new Set(fields.keys())].map((name): [string, string | string[]] => {
    const [first = "", ...others] = fields.getAll(name);
    return [name, others.length > 0 ? [first, ...others] : first];
  });
  return Object.fromEntries(entries);
}

function hasQuery(node: EditorNode | null): boolean {
  return [true, "true"].some((value) => node?.returnQueryParams === value);
}
