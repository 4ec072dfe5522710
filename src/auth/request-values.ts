// Reads values of a request by their places, and with them what a sender says of a delivery.

import { type DecodedBody, decodeIfText } from "../request/decode";
import { type FieldValue, type FormFields, unescape } from "../request/form";
import { fieldValues, findParameters, type RequestHead } from "../request/head";
import { findFormKind } from "../request/media-types";
import { findMembers, type Json, readJson, toText } from "../request/json";
import { Problem } from "../request/problem";
import type { Sender, Source } from "./senders/sender";

/** Whether a place is in the body, and not the body itself. */
export function isMemberOfBody(source: Source): boolean {
  return /^(?:json\??|form!?):/.test(source);
}

/** Unverified bodies from which values are read have so many bytes at most: reading larger ones takes Node seconds. */
export const maxReadBytes = 1024 * 1024;

export class RequestValues {
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
   * @param max a list is read no further than behind so many
   */
  values(source: Source, max?: number): Json[] {
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
        return this.json === undefined ? [] : findMembers(this.json, name.split("."), max);
      case "ce":
        return this.#readAttribute(name, max);
      case "lit":
        return [name];
      default:
        return source === "method" ? [this.#head.method] : [];
    }
  }

  /** The content type tells where CloudEvents have their attributes (HTTP protocol binding §3). */
  #readAttribute(name: string, max?: number): Json[] {
    const [type = ""] = fieldValues(this.#head.rawHeaders, "content-type");
    const mode = /^application\/cloudevents(-batch)?/i.exec(type);
    if (mode) return this.values(`json:${mode[1] === undefined ? "" : "*."}${name}`, max);
    const [value, ...repeated] = fieldValues(this.#head.rawHeaders, `ce-${name}`);
    return value === undefined || repeated.length > 0 ? [] : [decodeAttribute(value)];
  }

  /** All texts at a place; an empty one stands for a value that is no text. */
  texts(source: Source, max?: number): string[] {
    return this.values(source, max).map((value) => toText(value) ?? "");
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
  return decodeIfText(unescape(Buffer.from(text, "latin1"))) ?? "";
}

// What a sender says of a delivery: its events, its id, its subscriptions.

/** The subscriptions that a verified request belongs to, and when each expires, in ms since the epoch. */
export function readSubscriptions(
  { ids, expiries: times }: NonNullable<Sender["subscriptions"]>,
  values: RequestValues,
): { id: string; expiresAt: number }[] {
  const expiries = values.texts(times).map((time) => Date.parse(time));
  const all = values.texts(ids).map((id, index) => ({ id, expiresAt: expiries[index] ?? NaN }));
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

export function readSenderDelivery(
  { events = [], id }: Pick<Sender, "events" | "id">,
  values: RequestValues,
): SenderDelivery {
  const ids = id ? readEach(id.from, values) : [];
  return {
    events: readEach(events, values).filter(isPresent),
    id: ids.find(isPresent),
    key: composeKey(ids, id?.scope ?? [], values),
  };
}

/** Of the ids of all events, whatever their order; nothing where an event has none, since it may be new. */
export function readKey(from: readonly Source[], values: RequestValues): string | undefined {
  return composeKey(readEach(from, values), [], values);
}

function composeKey(ids: readonly string[], scope: readonly Source[], values: RequestValues): string | undefined {
  if (ids.length === 0 || !ids.every(isPresent)) return undefined;
  const scopes = scope.map((source) => values.texts(source));
  const keys = ids.map((id, index) => JSON.stringify([id, ...scopes.map((texts) => texts[index] ?? "")]));
  return [...new Set(keys)].sort().join();
}

/** The text at the first place that has one. Elements of a batch may have it at one of several places each. */
function readEach(sources: readonly Source[], values: RequestValues): readonly string[] {
  const found: string[] = [];
  for (const source of sources) {
    if (source.startsWith("ce:") || source.includes("*")) {
      for (const [index, text] of values.texts(source).entries()) found[index] ||= text;
    } else if (!found.some(isPresent)) {
      const only = values.onlyText(source);
      if (only !== undefined) return [only];
    }
  }
  return found;
}

function isPresent(text: string): boolean {
  return text !== "";
}
