// By what a repeated delivery is known.

import { isFieldName } from "./rules";

/**
 * What all duplicates of a delivery have in common:
 *
 * - empty: the sender's own id of the delivery
 * - `header:NAME`: the only field of that name
 * - `query:NAME`: the only parameter of the URL of that name
 * - `json:a.0.b`: a string or number in the body, which is JSON
 * - `body`: the bytes of the body as they were sent
 */
export type DuplicateKey = "" | "body" | `${"header" | "query" | "json"}:${string}`;

/** @returns nothing where it is none */
export function parseDuplicateKey(value: unknown): DuplicateKey | undefined {
  return typeof value === "string" && isDuplicateKey(value) ? value : undefined;
}

function isDuplicateKey(key: string): key is DuplicateKey {
  const [, from, name = ""] = /^(header|query|json):(.+)$/s.exec(key) ?? [];
  if (from === "header") return isFieldName(name);
  // An asterisk would stand for every element of an array, and two values are no key.
  if (from === "json") return name.split(".").every((step) => step !== "" && step !== "*");
  return from === "query" || key === "body" || key === "";
}
