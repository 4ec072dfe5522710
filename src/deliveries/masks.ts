// What stands in the place of what lets somebody in, where deliveries are shown.

import { senders } from "../trust/senders/table";

export const mask = "•".repeat(8);

/** Of a request, so many names are kept where their values are not. */
const mostNames = 50;
/** A longer one may be anything. */
const longestName = 40;

/** The header fields in which known senders sign, in lower case. */
const ofSenders = new Set(
  Object.values(senders).flatMap(({ scheme }) => scheme.sig.headers.map((name) => name.toLowerCase())),
);
/** How those call it who are not known. */
const telling = /auth|cookie|signature|secret|token|passw|credential|hmac|api-?key|jwt|session/i;
const tellingInQuery = /auth|sig|secret|token|passw|credential|hmac|key|jwt|session|code/i;

type Values = Readonly<Record<string, string | string[]>>;

/** Header fields as they are shown. */
export function maskHeaders(headers: Values): Record<string, string | string[]> {
  return maskedWhere(headers, (name) => ofSenders.has(name) || telling.test(name));
}

/** Parameters of a query as they are shown. */
export function maskQuery(parameters: Values): Record<string, string | string[]> {
  return maskedWhere(parameters, (name) => tellingInQuery.test(name));
}

/** With a mask for each value, by names that say what came and nothing more. */
export function namesOnly(names: readonly string[]): Record<string, string> {
  const harmless = names.filter((name) => name.length <= longestName && /^[\w.-]+$/.test(name));
  return Object.fromEntries(harmless.slice(0, mostNames).map((name) => [name, mask]));
}

function maskedWhere(values: Values, isTelling: (name: string) => boolean): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isTelling(name) ? mask : value]));
}
