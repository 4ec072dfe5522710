// Reads values of a request by their places.

import type { Json } from "../../request/decode";
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
  return /^(?:json\??|form):/.test(source);
}

const text = new TextDecoder();

/** Senders sign no larger form, and reading one takes Node seconds. */
const maxFormFields = 1000;
const maxFormLength = 1024 * 1024;

/** Reads the form of an unverified request. */
export function readForm(form: string): URLSearchParams | undefined {
  const isTooMuch = form.length > maxFormLength || form.split("&", maxFormFields + 1).length > maxFormFields;
  return isTooMuch ? undefined : new URLSearchParams(form);
}

/** Whatever its content type says (RFC 8259). The value is unverified and never handed on. */
function readJson(body: Buffer): Json | undefined {
  try {
    return JSON.parse(text.decode(body)) as Json;
  } catch {
    return undefined;
  }
}

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

export class Fields {
  readonly #head: RequestHead;
  readonly #body: () => Buffer;
  /** An array, since the JSON may be `undefined`. */
  #json: [Json | undefined] | undefined;
  #form: [URLSearchParams | undefined] | undefined;

  /** @param body its bytes; missing: none */
  constructor(head: RequestHead, body: () => Buffer = () => Buffer.alloc(0)) {
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
        return new URLSearchParams(this.#head.search).getAll(name);
      case "form":
        this.#form ??= [readForm(text.decode(this.#body()))];
        return this.#form[0]?.getAll(name) ?? [];
      case "json":
      case "json?":
        return this.json === undefined ? [] : findMembers(this.json, name.split("."), most);
      case "lit":
        return [name];
      default:
        return source === "method" ? [this.#head.method] : [];
    }
  }

  /** All texts at a place; an empty one stands for a value that is no text. */
  texts(source: Source, most?: number): string[] {
    return this.values(source, most).map(toText);
  }

  /** The only text at a place; not empty. */
  onlyText(source: Source): string | undefined {
    const [only = "", ...repeated] = this.texts(source);
    return only === "" || repeated.length > 0 ? undefined : only;
  }

  /** Nothing when the body is no JSON. */
  get json(): Json | undefined {
    this.#json ??= [readJson(this.#body())];
    return this.#json[0];
  }

  get isForm(): boolean {
    const [type = "", ...repeated] = fieldValues(this.#head.rawHeaders, "content-type");
    return repeated.length === 0 && /^application\/x-www-form-urlencoded *(?:;|$)/i.test(type);
  }
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

/** Whole numbers beyond 2^53 are no text: parsing has rounded them (RFC 8259 §6). */
function toText(value: Json): string {
  if (typeof value === "string") return value;
  const isExact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? String(value) : "";
}

/** A number in JSON becomes text. */
interface SenderDelivery {
  event?: string;
  /** The sender's own id. */
  id?: string;
}

/** The subscriptions that a verified request belongs to, and when each expires, in ms since the epoch. */
export function readSubscriptions(
  { subscriptions }: Pick<Sender, "subscriptions">,
  head: RequestHead,
  content: () => Buffer,
): { id: string; expiresAt: number }[] {
  if (!subscriptions) return [];
  const fields = new Fields(head, content);
  const expiries = fields.texts(subscriptions.expiries).map((time) => Date.parse(time));
  const all = fields.texts(subscriptions.ids).map((id, index) => ({ id, expiresAt: expiries[index] ?? NaN }));
  return all.filter(({ id, expiresAt }) => id !== "" && !Number.isNaN(expiresAt));
}

/** @param content the decoded body, read only where the sender has a value there */
export function readSenderDelivery(
  { event, id }: Pick<Sender, "event" | "id">,
  head: RequestHead,
  content: () => Buffer,
): SenderDelivery {
  const fields = new Fields(head, content);
  const delivery: SenderDelivery = {};
  const type = event && fields.onlyText(event);
  if (type !== undefined) delivery.event = type;
  let own: string | undefined;
  for (const source of id?.from ?? []) own ??= fields.onlyText(source);
  if (own !== undefined) delivery.id = own;
  return delivery;
}
