// How a sender presents a token.

import type { TokenAccess } from "../config/parse";

/** Header fields and the query (with its question mark) of a request. */
export interface Presentation {
  headers: Readonly<Record<string, string>>;
  search: string;
}

/** The header field of the test credential where requests are signed, in lower case. */
export const testField = "x-webhook-trigger-test";

/**
 * How a sender presents a token, for test requests and the form. RFC 6750 §2.1: `Authorization` holds it as a Bearer
 * token; other fields hold it as it is.
 */
export function present({ method, name }: Pick<TokenAccess, "method" | "name">, token: string): Presentation {
  if (method === "query") return { headers: {}, search: `?${String(new URLSearchParams([[name, token]]))}` };
  const value = name.toLowerCase() === "authorization" ? `Bearer ${token}` : token;
  return { headers: { [name]: value }, search: "" };
}

/** Stands for a credential in a shown delivery. */
export const mask = "•".repeat(8);

/** The body of a test request, and the query of one by GET. */
export const testBody = "hello world";
export const testQuery = "text=hello+world";

/** @param search with its question mark, or empty */
export function joinQueries(search: string, query: string): string {
  if (query === "") return search;
  return `${search === "" ? "?" : `${search}&`}${query}`;
}

/** The header field with the message's id in the reply to a test request, where the flow replies. */
export const messageField = "X-Webhook-Trigger-Message";
