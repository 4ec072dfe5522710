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
/** How those call it who are not known: of keys, all but that of a repeat let somebody in. */
const telling =
  /auth|cookie|signature|secret|token|passw|credential|hmac|api-?key|(?<!idempotency)(?:^|-)key$|jwt|session/i;
const tellingInQuery = /auth|sig|secret|token|passw|credential|hmac|key|jwt|session|code/i;

type Values = Readonly<Record<string, string | string[]>>;

/** Whether the value of a header field is shown to nobody. @param name in lower case */
export function isMasked(name: string): boolean {
  return ofSenders.has(name) || telling.test(name);
}

/**
 * Header fields as they are shown.
 *
 * @param signedIn those that hold signatures besides, in lower case
 */
export function maskHeaders(headers: Values, signedIn: readonly string[] = []): Record<string, string | string[]> {
  return maskedWhere(headers, (name) => isMasked(name) || signedIn.includes(name));
}

/**
 * Parameters of a query as they are shown.
 *
 * @param signedIn those that hold signatures besides, in lower case
 */
export function maskQuery(parameters: Values, signedIn: readonly string[] = []): Record<string, string | string[]> {
  return maskedWhere(parameters, (name) => tellingInQuery.test(name) || signedIn.includes(name.toLowerCase()));
}

/** With a mask for each value, by names that say what came and nothing more. */
export function namesOnly(names: readonly string[]): Record<string, string> {
  const harmless = names.filter((name) => name.length <= longestName && /^[\w.-]+$/.test(name));
  return Object.fromEntries(harmless.slice(0, mostNames).map((name) => [name, mask]));
}

function maskedWhere(values: Values, isTelling: (name: string) => boolean): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isTelling(name) ? mask : value]));
}
