// Reads values of a request by their places.

import type { Json } from "../../request/decode";
import type { Source } from "../senders/sender";

/** The head of a request. */
export interface RequestHead {
  method: string;
  /** Names and values in turn, as sent: elsewhere Node drops or joins repeated fields. */
  rawHeaders: readonly string[];
  /** The query without its question mark, as sent. */
  search: string;
}

/** A parsed `Source`. */
export interface SourcePlace {
  source: Source;
  from: string;
  /** Field names are in lower case. */
  name: string;
}

export function parseSource(source: Source): SourcePlace {
  const colon = source.indexOf(":");
  if (colon === -1) return { source, from: source, name: "" };
  const from = source.slice(0, colon);
  const name = source.slice(colon + 1);
  return { source, from, name: from === "header" ? name.toLowerCase() : name };
}

export function isInBody({ from }: SourcePlace): boolean {
  return from === "json" || from === "form";
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

/** Most values need no trimming. */
export function withoutBlanks(value: string): string {
  return /^[\t ]|[\t ]$/.test(value) ? value.replace(/^[\t ]+/, "").replace(/[\t ]+$/, "") : value;
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

  /** All texts at a place; an empty one stands for a value that is no text. */
  textsAt(place: SourcePlace): string[] {
    if (place.from === "json") return this.valuesAt(place.name).map((value) => jsonToText(value) ?? "");
    return this.#parametersAt(place);
  }

  /** The only text at a place; not empty. */
  onlyTextAt(place: SourcePlace): string | undefined {
    const [text = "", ...repeated] = this.textsAt(place);
    return text === "" || repeated.length > 0 ? undefined : text;
  }

  /** All JSON values at a path in the body. */
  valuesAt(path: string): Json[] {
    return this.json === undefined ? [] : valuesIn(this.json, path.split("."));
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

  #parametersAt({ from, name }: SourcePlace): string[] {
    if (from === "header") return fieldValues(this.#head.rawHeaders, name);
    if (from === "query") return new URLSearchParams(this.#head.search).getAll(name);
    if (from === "form") return this.#formValues(name);
    return from === "lit" ? [name] : [];
  }

  #formValues(name: string): string[] {
    this.#form ??= [readForm(text.decode(this.#body()))];
    return this.#form[0]?.getAll(name) ?? [];
  }
}

/** Own members only, and elements by position: `length` is no member. */
function valuesIn(value: Json, [step, ...rest]: string[]): Json[] {
  if (step === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    if (step === "*") return value.flatMap((element) => orNull(valuesIn(element, rest)));
    const element = /^\d+$/.test(step) ? value[Number(step)] : undefined;
    return element === undefined ? [] : valuesIn(element, rest);
  }
  const member = Object.hasOwn(value, step) ? value[step] : undefined;
  return member === undefined ? [] : valuesIn(member, rest);
}

/** A missing element must not go unnoticed. */
function orNull(values: Json[]): Json[] {
  return values.length === 0 ? [null] : values;
}

/** A string or number of JSON as text. Not whole numbers beyond 2^53: parsing has rounded them (RFC 8259 §6). */
function jsonToText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  const isExact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? String(value) : undefined;
}
