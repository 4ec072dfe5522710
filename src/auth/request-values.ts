// Reads values of a request by their places.

import { type DecodedBody, decodeIfText } from "../request/decode";
import { type FieldValue, type FormFields, unescape } from "../request/form";
import { fieldValues, findFormKind, type RequestHead } from "../request/header-fields";
import { findMembers, type Json, readJson, toText } from "../request/json";
import { Problem } from "../request/problem";
import { findParameters } from "../request/target";
import type { Source } from "./senders/sender";

export function isInBody(source: Source): boolean {
  return /^(?:json\??|form!?):/.test(source);
}

/** Unverified bodies from which values are read have so many bytes at most: reading larger ones takes Node seconds. */
export const maxReadBytes = 1024 * 1024;

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
