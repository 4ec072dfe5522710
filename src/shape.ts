// What is kept of the head of a request that was not let in: what it had where, without what that was.

import type { Head as KeptHead } from "./deliveries/delivery";
import { namesOnly } from "./deliveries/masks";
import { Budget } from "./request/budget";
import type { Secrecy } from "./trust/secrecy";
import type { Head } from "./trust/signature/fields";

/** Of a field, so many characters are kept. */
const longestField = 200;
/** What it may be known by. What else it says may be a token that is almost right. */
const harmless = ["host", "user-agent", "content-type", "content-length", "content-encoding"];

/** @param secrecy what keeps secrets out of it */
export function shapeOf(
  { rawHeaders, search }: Pick<Head, "rawHeaders" | "search">,
  secrecy: Pick<Secrecy, "tells" | "names">,
): Pick<KeptHead, "search" | "headers"> {
  const budget = new Budget();
  // Names come in whatever letter case a proxy gives them.
  const isSilent = (text: string) => !secrecy.tells(text, budget) && !secrecy.names(text.toLowerCase(), budget);
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && isSilent(text));
  const kept = harmless.flatMap((field) => {
    const value = valueOf(rawHeaders, field);
    return value !== undefined && isSilent(value) ? [[field, value.slice(0, longestField)] as const] : [];
  });
  const headers = { ...namesOnly(names.map((name) => name.toLowerCase())), ...Object.fromEntries(kept) };
  const parameters = namesOnly([...new URLSearchParams(search).keys()].filter(isSilent));
  return { headers, search: String(new URLSearchParams(parameters)) };
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
