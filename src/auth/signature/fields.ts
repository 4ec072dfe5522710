// Reads values of a request by their places.

import { decodeIfText, type DecodedBody, type Json, readJson } from "../../request/decode";
import type { FieldValue, FormFields } from "../../request/form";
import { isMultipart } from "../../request/multipart";
import { Problem } from "../../request/problem";
import { findParameters } from "../../request/target";
import type { Sender, Source } from "../senders/sender";

/** The head of a request. */
export interface RequestHead {
  method: string;
  /** Names and values in turn, as sent: elsewhere Node drops or joins repeated fields. */
  rawHeaders: readonly string[];
  /** The query without its question mark, as sent. */
  search: string;
}

export function isInBody(source: Source): boolean {
  return /^(?:json\??|form!?):/.test(source);
}

/** Unverified bodies from which values are read have so many bytes at most: reading larger ones takes Node seconds. */
export const maxReadBytes = 1024 * 1024;

/** The values of all fields with a name in lower case, trimmed (RFC 9110 §5.5). */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? "";
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    values.push(withoutBlanks(rawHeaders[index + 1] ?? ""));
  }
  return values;
}

/** In linear time, which an expression for blanks at the end does not take. */
export function withoutBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

/** RFC 9110 §5.6.3: a tab or a space. */
function isBlank(code: number): boolean {
  return code === 9 || code === 32;
}

/** Which kind of form a request has by its content type, if it has one, and no other type. */
export function findFormKind({ rawHeaders }: Pick<RequestHead, "rawHeaders">): "urlencoded" | "multipart" | undefined {
  const [type = "", ...repeated] = fieldValues(rawHeaders, "content-type");
  if (repeated.length > 0) return undefined;
  if (/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return "urlencoded";
  return isMultipart(type) ? "multipart" : undefined;
}

export class Fields {
  readonly #head: RequestHead;
  readonly #body: DecodedBody | undefined;
  /** An array, since the JSON may be `undefined`. */
  #json: [Json | undefined] | undefined;

  /** @param body missing: none */
  constructor(head: RequestHead, body?: DecodedBody) {
    this.#head = head;
    this.#body = body;
  }

  /**
   * All values at a place: texts, or those of JSON.
   *
   * @param most a list is read no further than behind so many
   */
  values(source: Source, most?: number): Json[] {
    const colon = source.indexOf(":");
    const name = source.slice(colon + 1);
    switch (source.slice(0, Math.max(colon, 0))) {
      case "header":
        return fieldValues(this.#head.rawHeaders, name.toLowerCase());
      case "query":
        return findParameters(this.#head.search, name);
      case "form":
        return this.form && Object.hasOwn(this.form, name) ? [this.form[name] ?? []].flat().map(toJson) : [];
      case "form!": {
        const names = this.isForm && this.form ? Object.keys(this.form) : [];
        return names.length === 1 ? this.values(`form:${name}`) : [];
      }
      case "json":
      case "json?":
        return this.json === undefined ? [] : findMembers(this.json, name.split("."), most);
      case "ce":
        return this.#readAttribute(name, most);
      case "lit":
        return [name];
      default:
        return source === "method" ? [this.#head.method] : [];
    }
  }

  /** The content type tells where CloudEvents have their attributes (HTTP protocol binding §3). */
  #readAttribute(name: string, most?: number): Json[] {
    const [type = ""] = fieldValues(this.#head.rawHeaders, "content-type");
    const mode = /^application\/cloudevents(-batch)?/i.exec(type);
    if (mode) return this.values(`json:${mode[1] === undefined ? "" : "*."}${name}`, most);
    const [value, ...repeated] = fieldValues(this.#head.rawHeaders, `ce-${name}`);
    return value === undefined || repeated.length > 0 ? [] : [decodeAttribute(value)];
  }

  /** All texts at a place; an empty one stands for a value that is no text. */
  texts(source: Source, most?: number): string[] {
    return this.values(source, most).map((value) => toText(value) ?? "");
  }

  /** The only text at a place; not empty. */
  onlyText(source: Source): string | undefined {
    const [only = "", ...repeated] = this.texts(source);
    return only === "" || repeated.length > 0 ? undefined : only;
  }

  /** Nothing when the flow gets no JSON. */
  get json(): Json | undefined {
    this.#json ??= [readJson(this.#content?.value)];
    return this.#json[0];
  }

  /** Nothing when the body is no form. */
  get form(): FormFields | undefined {
    return this.#content?.form;
  }

  get #content() {
    const content = this.#body?.content;
    return content instanceof Problem ? undefined : content;
  }

  get isForm(): boolean {
    return findFormKind(this.#head) === "urlencoded";
  }
}

/** An object stands for bytes, which are no text. */
function toJson(value: FieldValue): Json {
  return typeof value === "string" ? value : {};
}

/** CloudEvents' HTTP protocol binding §3.1.3.2; empty where it is no UTF-8. */
function decodeAttribute(value: string): string {
  const isQuoted = /^"(?:[^"\\]|\\.)*"$/.test(value);
  const text = isQuoted ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return decodeIfText(Buffer.from(bytes, "latin1")) ?? "";
}

/**
 * The values at a path: own members, elements by position, and for `*` each element of an array. `length` is no member,
 * and what is no array has no elements, whatever the names of its members.
 *
 * @param most it stops behind so many values
 */
export function findMembers(value: Json, path: readonly string[], most = Infinity): Json[] {
  const found: Json[] = [];
  collectMembers(found, most, value, path, 0);
  return found;
}

function collectMembers(found: Json[], most: number, value: Json, path: readonly string[], index: number): void {
  const step = path[index];
  if (step === undefined) return void found.push(value);
  if (typeof value !== "object" || value === null) return;
  if (step !== "*") {
    const isMember = Object.hasOwn(value, step) && (!Array.isArray(value) || /^\d+$/.test(step));
    const member = isMember ? (value as Record<string, Json>)[step] : undefined;
    if (member !== undefined) collectMembers(found, most, member, path, index + 1);
  } else if (Array.isArray(value)) {
    for (const element of value) {
      if (found.length > most) return;
      const { length } = found;
      collectMembers(found, most, element, path, index + 1);
      // A missing member must not go unnoticed.
      if (found.length === length) found.push(null);
    }
  }
}

/** Nothing for what is no text and no number. Parsing has rounded whole numbers beyond 2^53 (RFC 8259 §6). */
export function toText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  const isExact = typeof value === "number" && Number.isFinite(value) && !(Math.abs(value) > Number.MAX_SAFE_INTEGER);
  return isExact ? String(value) : undefined;
}

/** The subscriptions that a verified request belongs to, and when each expires, in ms since the epoch. */
export function readSubscriptions(
  { subscriptions }: Pick<Sender, "subscriptions">,
  fields: Fields,
): { id: string; expiresAt: number }[] {
  if (!subscriptions) return [];
  const expiries = fields.texts(subscriptions.expiries).map((time) => Date.parse(time));
  const all = fields.texts(subscriptions.ids).map((id, index) => ({ id, expiresAt: expiries[index] ?? NaN }));
  return all.filter(({ id, expiresAt }) => id !== "" && !Number.isNaN(expiresAt));
}

/** A number in JSON becomes text. */
export interface SenderDelivery {
  /** Several for a batch, in their order. */
  readonly events: readonly string[];
  /** The sender's own id; of a batch, the first one. */
  readonly id: string | undefined;
  /** See `readKey`. */
  readonly key: string | undefined;
}

export function readSenderDelivery({ events = [], id }: Pick<Sender, "events" | "id">, fields: Fields): SenderDelivery {
  const ids = id ? readEach(id.from, fields) : [];
  return {
    events: readEach(events, fields).filter(isPresent),
    id: ids.find(isPresent),
    key: composeKey(ids, id?.scope ?? [], fields),
  };
}

/** Of the ids of all events, whatever their order; nothing where an event has none, since it may be new. */
export function readKey(from: readonly Source[], fields: Fields): string | undefined {
  return composeKey(readEach(from, fields), [], fields);
}

function composeKey(ids: readonly string[], scope: readonly Source[], fields: Fields): string | undefined {
  if (ids.length === 0 || !ids.every(isPresent)) return undefined;
  const scopes = scope.map((source) => fields.texts(source));
  const keys = ids.map((id, index) => JSON.stringify([id, ...scopes.map((texts) => texts[index] ?? "")]));
  return [...new Set(keys)].sort().join();
}

/** The text at the first place that has one. Elements of a batch may have it at one of several places each. */
function readEach(sources: readonly Source[], fields: Fields): readonly string[] {
  const found: string[] = [];
  for (const source of sources) {
    if (source.startsWith("ce:") || source.includes("*")) {
      for (const [index, text] of fields.texts(source).entries()) found[index] ||= text;
    } else if (!found.some(isPresent)) {
      const only = fields.onlyText(source);
      if (only !== undefined) return [only];
    }
  }
  return found;
}

function isPresent(text: string): boolean {
  return text !== "";
}
