// Reads values of a request by the places that records name.

import type { Json } from "../../request/decode";
import type { Source } from "../senders/sender";

/** What of a request is here before its body. */
export interface RequestHead {
  method: string;
  /** Names and values in turn, as they came: Node drops or joins repeated fields elsewhere. */
  rawHeaders: readonly string[];
  /** The query of the URL without its question mark, as it was sent. */
  search: string;
}

/** A place in a request, or what is known without one. */
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

/** Whether it takes the body to read what stands at a place. */
export function isInBody({ from }: SourcePlace): boolean {
  return from === "json" || from === "form";
}

const text = new TextDecoder();

/** A larger form, or one with more fields, is none that a sender signs: to read it takes Node seconds. */
const maxFormFields = 1000;
const maxFormLength = 1024 * 1024;

/** Reads a form of somebody who is not known yet. */
export function readForm(form: string): URLSearchParams | undefined {
  const isTooMuch = form.length > maxFormLength || form.split("&", maxFormFields + 1).length > maxFormFields;
  return isTooMuch ? undefined : new URLSearchParams(form);
}

/** Whatever its content type says (RFC 8259). Of somebody who is not known yet: the value is looked into, and never handed on. */
function readJson(body: Buffer): Json | undefined {
  try {
    return JSON.parse(text.decode(body)) as Json;
  } catch {
    return undefined;
  }
}

/** The values of all fields of a name in lower case, without the blanks around them (RFC 9110 §5.5). */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? "";
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    values.push(withoutBlanks(rawHeaders[index + 1] ?? ""));
  }
  return values;
}

/** Most values have no blanks around them, so that they need not be copied. */
export function withoutBlanks(value: string): string {
  return /^[\t ]|[\t ]$/.test(value) ? value.replace(/^[\t ]+/, "").replace(/[\t ]+$/, "") : value;
}

/** The values in a request, by where they stand. */
export class Fields {
  readonly #head: RequestHead;
  readonly #body: () => Buffer;
  /** In an array, as JSON may be `undefined`. */
  #json: [Json | undefined] | undefined;
  #form: [URLSearchParams | undefined] | undefined;

  /** @param body its bytes; without them, nothing stands in it */
  constructor(head: RequestHead, body: () => Buffer = () => Buffer.alloc(0)) {
    this.#head = head;
    this.#body = body;
  }

  /** All texts at a place. There may be none; one may be empty, as is what stands for a value that is no text. */
  textsAt(place: SourcePlace): string[] {
    if (place.from === "json") return this.valuesAt(place.name).map((value) => jsonToText(value) ?? "");
    return this.#parametersAt(place);
  }

  /** The only text at a place, with something in it. */
  onlyTextAt(place: SourcePlace): string | undefined {
    const [text = "", ...repeated] = this.textsAt(place);
    return text === "" || repeated.length > 0 ? undefined : text;
  }

  /** All JSON values at a path in the body. */
  valuesAt(path: string): Json[] {
    return this.json === undefined ? [] : valuesIn(this.json, path.split("."));
  }

  /** The body as JSON; nothing when it is none. */
  get json(): Json | undefined {
    this.#json ??= [readJson(this.#body())];
    return this.#json[0];
  }

  /** Whether the body is labelled as a form. */
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

/** Members by their own names only, and elements by their positions: `length` is no member. */
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

/** An element that lacks what others have must not go unnoticed. */
function orNull(values: Json[]): Json[] {
  return values.length === 0 ? [null] : values;
}

/**
 * A string or number of JSON as text. Whole numbers beyond 2^53 are none: parsing has rounded them, so that two of them
 * would be one (RFC 8259 §6).
 */
function jsonToText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  const isExact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? String(value) : undefined;
}
