// Which verified requests start the flow: their events, and what must hold.

import { mask } from "../auth/present";
import { type Redactor, redactHeaders, redactQuery } from "../auth/redactor";
import { RequestValues } from "../auth/request-values";
import type { RequestHead } from "../request/head";
import type { Source } from "../auth/senders/sender";
import { parseNumber } from "../config/values";
import type { FilterCondition, WebhookConfig } from "../config/parse";
import type { FilterReason } from "../deliveries/delivery";
import { findMembers, type Json, readJson, toText } from "../request/json";

/** What the conditions of a filter see of a body. */
export interface FilterBody {
  /** The whole of it. */
  readonly text: () => string;
  /** Of the message; without the query where `payload` would have both. */
  readonly payload: () => unknown;
}

/** A request as a filter sees it. */
interface FilterRequest extends FilterBody {
  /** Several for a batch. */
  readonly events: readonly string[];
  readonly head: RequestHead;
}

/** A request that starts the flow; with the first of its events that does. */
interface Passed {
  readonly event: string | undefined;
}

/** A request that does not start the flow. */
interface Stopped {
  readonly why: FilterReason;
}

/** Whether a request starts the flow. A batch does where one of its events does. @param redactor for the reason */
export function filterRequest(
  { events: wanted, conditions }: Pick<WebhookConfig, "events" | "conditions">,
  request: FilterRequest,
  redactor: Pick<Redactor, "redact">,
): Passed | Stopped {
  const stop = (place: string, operator: FilterReason["operator"], value: string, found: readonly unknown[]) => ({
    why: { place, operator, value: redactor.redact(value), found: describeFound(place, found, redactor) },
  });
  const events: ReadonlySet<string | undefined> = new Set(request.events.length > 0 ? request.events : [undefined]);
  let json: [Json | undefined] | undefined;
  const read = () => (json ??= [readJson(request.payload())])[0];
  let whole: string | undefined;
  const text = () => (whole ??= request.text());
  let passing = [...events].filter((event) => wanted.length === 0 || findEvent(wanted, event) !== -1);
  if (passing.length === 0) return stop("event", "listed", wanted.join(", "), request.events);
  for (const condition of conditions) {
    const { place, operator, value } = condition;
    const isEvent = place === "event";
    const before = passing;
    const values = isEvent ? before : readPlace(place, { head: request.head, text }, read);
    if (isEvent) passing = before.filter((event) => holds(condition, event === undefined ? [] : [event]));
    else if (!holdsAtPlace(condition, values)) passing = [];
    if (passing.length === 0) return stop(place, operator, value, values);
  }
  return { event: passing[0] };
}

/** The most values that a reason has, and the longest text of them all, in characters. */
const maxFound = 10;
const maxFoundLength = 200;
/** Of a value, before its secrets are redacted: a part of one is not found. */
const maxSearchedLength = 64 * 1024;

/** @returns `null` where no value was found */
function describeFound(place: string, values: readonly unknown[], redactor: Pick<Redactor, "redact">): string | null {
  const texts = values
    .filter((value) => value !== undefined && !(value === null && isForEach(place)))
    .slice(0, maxFound)
    .map((value) => redactor.redact(describeValue(value).slice(0, maxSearchedLength)));
  if (texts.length === 0) return null;
  // A copy: a part of a string keeps the whole of it in memory.
  return isMasked(place) ? mask : Buffer.from(texts.join(", ").slice(0, maxFoundLength)).toString();
}

/** Whether the values there are masked in lists and details. */
export function isMasked(place: string): boolean {
  const [kind, name = ""] = place.toLowerCase().split(/:(.*)/s);
  const value = { [name]: "" };
  const shown = kind === "header" ? redactHeaders(value) : kind === "query" ? redactQuery(value) : value;
  return shown[name] === mask;
}

function describeValue(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "[…]" : "{…}";
}

/** The position of the first name that an event has; -1 where there is none. */
export function findEvent(events: readonly string[], event: string | undefined): number {
  if (event === undefined) return -1;
  return events.findIndex((name) => (name.endsWith("*") ? event.startsWith(name.slice(0, -1)) : event === name));
}

/** With `*` in its place, a condition holds if it does for one of the elements; those without the member have no value. */
function holdsAtPlace(condition: FilterCondition, values: readonly unknown[]): boolean {
  if (values.length === 0 || !isForEach(condition.place)) return holds(condition, values);
  return values.some((value) => holds(condition, value === null ? [] : [value]));
}

function isForEach(place: string): boolean {
  return /^json:(?:.*\.)?\*(?:\.|$)/.test(place);
}

/** Texts, or values of JSON; several for a repeated header field or parameter. */
function readPlace(
  place: string,
  { head, text }: Pick<FilterRequest, "head" | "text">,
  readPayload: () => Json | undefined,
): readonly unknown[] {
  if (place === "body") return [text()];
  if (!place.startsWith("json:")) return new RequestValues(head).values(place as Source);
  const json = readPayload();
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
