// What is kept of the head of a request that was refused: names of fields, and a few values that are harmless.

import type { Head as KeptHead } from "./deliveries/delivery";
import { mask } from "./trust/present";
import type { Redactor } from "./trust/redactor";
import type { Head } from "./trust/signature/fields";

/** Of a value, so many characters are kept. */
const maxValueLength = 200;
/** Of a request, so many names are kept. */
const maxNames = 50;
/** In characters. A token has 40, and proxies may have changed its letter case. */
const maxNameLength = 39;
/** Fields whose values are kept. Other values may be credentials that are almost right. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

export function shapeOf(
  { rawHeaders, search }: Pick<Head, "rawHeaders" | "search">,
  redactor: Pick<Redactor, "contains" | "redact">,
): Pick<KeptHead, "search" | "headers"> {
  const fields = rawHeaders.filter((_, index) => index % 2 === 0);
  const kept = harmless.flatMap((field) => {
    const value = valueOf(rawHeaders, field);
    return value === undefined ? [] : [[field, redactor.redact(value).slice(0, maxValueLength)] as const];
  });
  const headers = { ...masked(fields, redactor, (name) => name.toLowerCase()), ...Object.fromEntries(kept) };
  const parameters = masked([...new URLSearchParams(search).keys()], redactor);
  return { headers, search: String(new URLSearchParams(parameters)) };
}

/** Harmless names, each with a mask for its value. */
function masked(
  names: readonly string[],
  redactor: Pick<Redactor, "contains">,
  written = (name: string) => name,
): Record<string, string> {
  const kept = names.filter(
    (name) => name.length <= maxNameLength && /^[\w.-]+$/.test(name) && !redactor.contains(name),
  );
  return Object.fromEntries(kept.slice(0, maxNames).map((name) => [written(name), mask]));
}

/** How long a body is, in bytes, as the request says: nobody has read it. */
export function lengthOf({ rawHeaders }: Pick<Head, "rawHeaders">): number {
  const length = Number(valueOf(rawHeaders, "content-length"));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function valueOf(rawHeaders: readonly string[], field: string): string | undefined {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === field);
  return at === -1 ? undefined : rawHeaders[at + 1];
}
