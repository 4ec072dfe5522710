// How a caller presents a token.

import type { WebhookConfig } from "../config/parse";

/** Where a request carries something: in header fields, or in the query of its URL, question mark included. */
export interface Presentation {
  headers: Readonly<Record<string, string>>;
  search: string;
}

/**
 * How a caller presents a token, so that `authenticate` finds it: the counterpart for test requests and for what the
 * form shows. RFC 6750 §2.1: `Authorization` holds it as a Bearer token; other fields hold it as it is.
 */
export function present({ method, name }: WebhookConfig["placement"], token: string): Presentation {
  if (method === "query") return { headers: {}, search: `?${String(new URLSearchParams([[name, token]]))}` };
  const value = name.toLowerCase() === "authorization" ? `Bearer ${token}` : token;
  return { headers: { [name]: value }, search: "" };
}

/** The body of a test request, as plain text. */
export const testBody = "hello world";
