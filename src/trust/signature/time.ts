// When a request was signed, and whether that is near enough.

import type { TimeUnit } from "../senders/record";

/** RFC 3339 §5.6, with up to nine digits of a fraction. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Reads a timestamp strictly: digits only, or RFC 3339.
 *
 * @returns ms since the epoch, with a fraction where it has one; nothing when it is malformed
 */
export function parseTime(text: string, unit: TimeUnit): number | undefined {
  if (unit === "iso8601") return parseDate(text);
  return /^[0-9]{1,16}$/.test(text) ? Number(text) * (unit === "s" ? 1000 : 1) : undefined;
}

function parseDate(text: string): number | undefined {
  const [whole, date = "", minutes = "", seconds = "", fraction = "0", sign, ...offset] = rfc3339.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const start = Date.parse(`${date}T${minutes}00Z`);
  // A day that its month does not have would become one of the next.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(date)) return undefined;
  const [hours = "0", more = "0"] = offset;
  const ahead = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(more));
  return start + (Number(seconds) + Number(fraction) - 60 * ahead) * 1000;
}

/** How long ago it was, in seconds; less than nothing when it is still to come. */
export function age(time: number, now: number): number {
  return (now - time) / 1000;
}
