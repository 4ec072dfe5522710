// What a test request has in it, and how a sender presents a token.

import type { TokenAccess } from "../config/parse";
import type { Sender, Source } from "./senders/sender";

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

/** Stands there in the place of an id where the test request was a handshake. */
export const handshakeMark = "handshake";

/** A body, with the header fields that tell what it is. */
interface TestRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Stands for an id, and for an event where the node takes all. */
const sampleValue = "test";

/**
 * The body of a test request: a text, or for a sender with events JSON or a form, with an event and an id where it has
 * them.
 *
 * @param events those that the node takes; empty for all
 */
export function makeTestRequest(
  { events: [event] = [], id }: Pick<Sender, "events" | "id">,
  [wanted = sampleValue]: readonly string[] = [],
): TestRequest {
  if (event === undefined) return { body: testBody, headers: { "Content-Type": "text/plain" } };
  const sources: readonly Source[] = [event, ...(id?.from.slice(0, 1) ?? [])];
  const headers: Record<string, string> = {};
  const form = new URLSearchParams({ text: testBody });
  let json: unknown = { text: testBody };
  for (const source of sources) {
    const value = source === event ? wanted.replace(/\*$/, sampleValue) : sampleValue;
    const [, from, name = ""] = /^(\w+)\??:(.+)$/.exec(source) ?? [];
    if (from === "header") headers[name] = value;
    else if (from === "ce") headers[`ce-${name}`] = value;
    else if (from === "form") form.set(name, value);
    else if (from === "json") json = withMember(json, name.split("."), value);
  }
  const isForm = sources.some((source) => source.startsWith("form:"));
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  return { body: isForm ? String(form) : JSON.stringify(json), headers: { "Content-Type": type, ...headers } };
}

/** Sets a member at a path, in which numbers and `*` are places in arrays: `*` each of them, at least one. */
export function withMember(value: unknown, [step, ...more]: readonly string[], member: string | number): unknown {
  if (step === undefined) return member;
  if (/^(?:\d+|\*)$/.test(step)) {
    const items: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [undefined];
    return items.map((item, index) => (["*", String(index)].includes(step) ? withMember(item, more, member) : item));
  }
  const members = { ...(value as Readonly<Record<string, unknown>> | undefined) };
  return { ...members, [step]: withMember(members[step], more, member) };
}
