// Where one is on the page of deliveries: what stands behind the `#` of its address.

import type { Summary } from "./summary";

/** Empty: all. */
export interface ListFilter {
  readonly node: string;
  readonly state: Summary["state"] | "";
  readonly text: string;
  /** Of failures. */
  readonly error: string;
}

/** A delivery by its id, or the list. */
export type Place = { readonly delivery: string } | Partial<ListFilter>;

/** Empty for the whole list. */
export function formatPlace(place: Place): string {
  return "delivery" in place ? encodeURIComponent(place.delivery) : formatQuery(place);
}

/** @param query of a URL, without what is empty */
export function formatQuery(query: Readonly<Record<string, string>> | Partial<ListFilter>): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return given.length > 0 ? `?${String(new URLSearchParams(given))}` : "";
}
