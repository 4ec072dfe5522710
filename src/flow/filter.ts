// Which verified requests start the flow: their events, and what must hold.

import { RequestValues } from "../auth/request-values";
import type { RequestHead } from "../request/head";
import type { Source } from "../auth/senders/sender";
import { parseNumber } from "../config/values";
import type { FilterCondition, WebhookConfig } from "../config/parse";
import { findMembers, type Json, readJson, toText } from "../request/json";

/** A request as a filter sees it. */
interface FilterRequest {
  /** Several for a batch. */
  readonly events: readonly string[];
  readonly head: RequestHead;
  /** The body as a text. */
  readonly text: () => string;
  /** Of the message; without the query where `payload` would have both. */
  readonly payload: () => unknown;
}

/** A request that starts the flow; with the first of its events that does. */
interface Passed {
  readonly event: string | undefined;
}

/**
 * Whether a request starts the flow. A batch does where one of its events does.
 *
 * @returns nothing for a request that does not pass
 */
export function filterRequest(
  { events: wanted, conditions }: Pick<WebhookConfig, "events" | "conditions">,
  request: FilterRequest,
): Passed | undefined {
  const events: ReadonlySet<string | undefined> = new Set(request.events.length > 0 ? request.events : [undefined]);
  let passing = [...events].filter((event) => wanted.length === 0 || findEvent(wanted, event) !== -1);
  for (const condition of conditions) {
    if (condition.place === "event") {
      passing = passing.filter((event) => holds(condition, event === undefined ? [] : [event]));
    } else if (passing.length > 0 && !holdsAtPlace(condition, request)) passing = [];
  }
  return passing.length === 0 ? undefined : { event: passing[0] };
}

/** The position of the first name that an event has; -1 where there is none. */
export function findEvent(events: readonly string[], event: string | undefined): number {
  if (event === undefined) return -1;
  return events.findIndex((name) => (name.endsWith("*") ? event.startsWith(name.slice(0, -1)) : event === name));
}

/** With `*` in its place, a condition holds if it does for one of the elements; those without the member have no value. */
function holdsAtPlace(condition: FilterCondition, request: FilterRequest): boolean {
  const values = readPlace(condition.place, request);
  if (values.length === 0 || !/^json:(?:.*\.)?\*(?:\.|$)/.test(condition.place)) return holds(condition, values);
  return values.some((value) => holds(condition, value === null ? [] : [value]));
}

/** Texts, or values of JSON; several for a repeated header field or parameter. */
function readPlace(place: string, { head, text, payload }: FilterRequest): readonly unknown[] {
  if (place === "body") return [text()];
  if (!place.startsWith("json:")) return new RequestValues(head).values(place as Source);
  const json = readJson(payload());
  return json === undefined ? [] : findMembers(json, place.slice("json:".length).split("."));
}

/** What is missing, is there twice, or cannot be compared is no value: it is not any other, and nothing else holds for it. */
function holds({ operator, value: wanted }: FilterCondition, values: readonly unknown[]): boolean {
  const [found] = values;
  if (operator === "exists") return found !== undefined;
  if (operator === "missing") return found === undefined;
  if (values.length > 1) return operator === "isNot";
  if (operator === "contains" && Array.isArray(found)) return found.some((each) => toComparable(each) === wanted);
  const text = toComparable(found);
  if (operator === "isNot") return text !== wanted;
  if (text === undefined) return false;
  if (operator === "is") return text === wanted;
  if (operator === "contains") return text.includes(wanted);
  const number = parseNumber(text) ?? NaN;
  return operator === "above" ? number > Number(wanted) : number < Number(wanted);
}

/** Nothing for objects, and for numbers that parsing has changed (RFC 8259 §6). */
function toComparable(value: unknown): string | undefined {
  return typeof value === "boolean" || value === null ? String(value) : toText(value as Json);
}
