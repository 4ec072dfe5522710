// How a caller presents what lets it in.

import type { TokenAccess } from "../config/parse";

/** Where a request carries something: in header fields, or in the query of its URL, question mark included. */
export interface Presentation {
  headers: Readonly<Record<string, string>>;
  search: string;
}

/** The field in which a test request carries its stand-in where requests are signed, in lower case. */
export const testField = "x-webhook-trigger-test";

/**
 * How a caller presents a token, so that the gate finds it: the counterpart for test requests and for what the form
 * shows. RFC 6750 §2.1: `Authorization` holds it as a Bearer token; other fields hold it as it is.
 */
export function present({ method, name }: Pick<TokenAccess, "method" | "name">, token: string): Presentation {
  if (method === "query") return { headers: {}, search: `?${String(new URLSearchParams([[name, token]]))}` };
  const value = name.toLowerCase() === "authorization" ? `Bearer ${token}` : token;
  return { headers: { [name]: value }, search: "" };
}

/** What stands in the place of a credential where a delivery is shown. */
export const mask = "•".repeat(8);

/** The body of a test request, as plain text. */
export const testBody = "hello world";

/** How the answer to a test request tells the id of the message, where it is the flow that answers. */
export const messageField = "X-Webhook-Trigger-Message";
