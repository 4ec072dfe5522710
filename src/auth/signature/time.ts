// The time at which a request was signed.

import type { RefusalReason } from "../authenticator";
import type { Scheme, TimeUnit } from "../senders/sender";

/**
 * @param at when the request came, in ms since the epoch
 * @returns when it was signed, in ms since the epoch, if that is near enough
 */
export function judgeTime(
  text: string,
  { source, unit, tolerance }: NonNullable<Scheme["ts"]>,
  at: number,
): number | RefusalReason {
  const sentAt = parseTime(text, unit);
  if (sentAt === undefined) return { kind: "timeMalformed", source };
  const seconds = (at - sentAt) / 1000;
  const isNear = tolerance === null || Math.abs(seconds) <= tolerance;
  return isNear ? sentAt : { kind: "timeOutside", source, seconds, tolerance };
}

/**
 * Writes a timestamp as senders do.
 *
 * @param at in ms since the epoch
 */
export function formatTime(at: number, unit: TimeUnit): string {
  if (unit === "iso8601") return new Date(at).toISOString();
  return String(unit === "s" ? Math.floor(at / 1000) : at);
}

/** RFC 3339 §5.6, with up to nine digits of a fraction. */
const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses a timestamp strictly.
 *
 * @returns ms since the epoch; nothing when it is malformed
 */
export function parseTime(text: string, unit: TimeUnit): number | undefined {
  if (unit !== "iso8601") return /^[0-9]{1,16}$/.test(text) ? Number(text) * (unit === "s" ? 1000 : 1) : undefined;
  const [whole, date = "", minutes = "", seconds = "", fraction = "0", sign, ...offset] = rfc3339.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const start = Date.parse(`${date}T${minutes}00Z`);
  // An invalid day would become one of the next month.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(date)) return undefined;
  const [hours = "0", more = "0"] = offset;
  const ahead = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(more));
  return start + (Number(seconds) + Number(fraction) - 60 * ahead) * 1000;
}
