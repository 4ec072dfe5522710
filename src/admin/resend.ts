// What of a delivery a test request of it has, besides the body: the form shows it, and the admin API sends it.

import { mask } from "../auth/present";

/** RFC 9110 §7.6.1, and other fields of the connection, the client or a proxy. */
export const connectionFields =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|user-agent|accept|accept-.*|via|forwarded|x-forwarded-.*|x-real-ip|cf-.*)$/;

type Values = Readonly<Record<string, string | string[]>>;

interface ShownRequest {
  readonly method: string;
  readonly headers: Values;
  readonly query: Values;
  /** Whether its body is stored as JSON, which its header fields do not describe. */
  readonly isJson: boolean;
}

/**
 * Without what is masked, and what its connection has had.
 *
 * @param methods that the node takes: the first where the delivery's own is none of them
 * @returns the query without its question mark
 */
export function composeAgain(
  { method, headers, query, isJson }: ShownRequest,
  methods: readonly string[],
): { method: string; search: string; headers: Record<string, string> } {
  const fields = Object.entries(headers).filter(
    ([name, value]) =>
      value !== mask && !connectionFields.test(name) && !(isJson && /^content-(?:type|encoding)$/.test(name)),
  );
  if (isJson) fields.push(["content-type", "application/json"]);
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values === mask ? [] : [values].flat().map((value) => [name, value]),
  );
  return {
    method: methods.includes(method) ? method : (methods[0] ?? ""),
    search: String(new URLSearchParams(pairs)),
    headers: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])),
  };
}
