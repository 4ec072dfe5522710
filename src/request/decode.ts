// Decodes a body by its content type.

import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { decodeContent } from "./body";
import { type File, isMultipart, maxParts, parseMediaType, parseMultipart } from "./multipart";
import { Interference, Problem, problems } from "./problem";
import { type Parameters, toObject } from "./target";

interface Described {
  /** Of the sender; missing for a stored body, which is not counted. */
  network?: string;
  /** The value of a body parser in front. */
  parsed?: { readonly value: unknown; readonly files?: File[] } | undefined;
  request: { headers: { "content-type"?: string | undefined; "content-encoding"?: string | undefined } };
}

export interface Content {
  value: Body;
  /** The fields of a form, also where its only one holds JSON. */
  form?: Parameters;
  /** The files of a multipart form. */
  files?: File[];
  /** The unpacked body. */
  bytes: () => Buffer;
}

/**
 * The body of a request, decoded when it is first read, and once: what is verified, filtered and compared is what the
 * flow gets.
 */
export class DecodedBody {
  /** As sent. */
  readonly bytes: Buffer;
  readonly #described: Described;
  #content: Content | Problem | undefined;

  /** @param bytes unused where a parser in front has read the body */
  constructor(described: Described, bytes: Buffer) {
    this.#described = described;
    this.bytes = bytes;
  }

  /** By the header fields as sent, of which Node.js takes the first. */
  static of({ rawHeaders }: { readonly rawHeaders: readonly string[] }, bytes: Buffer): DecodedBody {
    const find = (name: string) => {
      const index = rawHeaders.findIndex((each, at) => at % 2 === 0 && each.toLowerCase() === name);
      return index === -1 ? undefined : rawHeaders[index + 1];
    };
    const headers = { "content-type": find("content-type"), "content-encoding": find("content-encoding") };
    return new DecodedBody({ request: { headers } }, bytes);
  }

  /** Whether content codings must be undone. */
  get isPacked(): boolean {
    const { request, parsed } = this.#described;
    return !parsed && (request.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity";
  }

  /**
   * Nothing until `decode` where that takes time: for a packed body, and a form with files.
   *
   * @throws {Interference} when a parser in front has left nothing
   */
  get content(): Content | Problem | undefined {
    const { request, parsed } = this.#described;
    const type = request.headers["content-type"];
    if (parsed) this.#content ??= takeParsed(parsed, type);
    else if (!this.isPacked && !isMultipart(type)) this.#content ??= plain(this.bytes, type);
    return this.#content;
  }

  /**
   * @param limit of the unpacked body, in bytes
   * @throws {Interference} when a parser in front has left nothing
   */
  decode(limit: number): Content | Problem | Promise<Content | Problem> {
    return this.content ?? this.#unpack(limit);
  }

  async #unpack(limit: number): Promise<Content | Problem> {
    const { network, request } = this.#described;
    const { "content-type": type, "content-encoding": codings } = request.headers;
    return (this.#content = await unpacked(this.bytes, type, codings, { limit, network }));
  }
}

function plain(bytes: Buffer, type: string | undefined): Content | Problem {
  const decoded = decodeBody(bytes, type);
  return decoded instanceof Problem ? decoded : { ...decoded, bytes: () => bytes };
}

/** GitHub, Slack and others send JSON as the only field of a form. */
function unwrap(form: Parameters): Body | Problem {
  const { payload: json } = form;
  const isAlone = typeof json === "string" && Object.keys(form).length === 1;
  const value = isAlone && /^\s*[[{]/.test(json) ? parseJson(json) : problems.jsonMalformed;
  return value === problems.jsonMalformed ? form : value;
}

/** The JSON that the flow gets: a value, or in a text. */
export function readJson(body: unknown): Json | undefined {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return body as Json | undefined;
  const json = parseJson(body.toString());
  return json instanceof Problem ? undefined : json;
}

async function unpacked(
  packed: Buffer,
  type: string | undefined,
  codings: string | undefined,
  { limit, network }: { limit: number; network: string | undefined },
): Promise<Content | Problem> {
  const bytes = codings === undefined ? packed : await decodeContent(packed, codings, limit, network);
  if (bytes instanceof Problem) return bytes;
  if (!isMultipart(type)) return plain(bytes, type);
  const form = await parseMultipart(bytes, type);
  if (form instanceof Problem) return form;
  return { value: form.fields, form: form.fields, files: form.files, bytes: () => bytes };
}

function takeParsed({ value, files }: NonNullable<Described["parsed"]>, type: string | undefined): Content | Problem {
  if (value === undefined) throw new Interference("bodyRead");
  if (Buffer.isBuffer(value)) {
    const decoded = decodeBody(value, type);
    return decoded instanceof Problem ? decoded : { ...decoded, ...(files && { files }), bytes: () => value };
  }
  const body = secureJson(value as Json);
  if (body instanceof Problem) return body;
  return { value: body, ...(files && { files }), bytes: () => Buffer.from(JSON.stringify(body)) };
}

/** The body in a message: JSON value, string, object of form fields, or Buffer. */
export type Body = Json | Buffer;

type Decoded = Pick<Content, "value" | "form">;
type Decode = (bytes: Buffer) => Decoded | Problem;

/** By media type; the first matching row decodes. Without a match, bytes stay a Buffer. */
const decoders: readonly (readonly [RegExp, (charset: string) => Decode])[] = [
  // RFC 6839 §3.1: +json; the top-level type does not matter.
  [/^application\/json$|\+json$/, (charset) => decodeText(charset, (text) => toDecoded(parseJson(text)))],
  [/^text\/|^application\/xml$|\+xml$/, (charset) => decodeText(charset, (value) => ({ value }))],
  [/^application\/x-www-form-urlencoded$/, (charset) => decodeText(charset, parseForm)],
  [
    /^application\/(?!(?:.*\+|x-|vnd\.|vnd\.google\.)?(?:octet-stream|cbor|protobuf|msgpack|zip|zip-compressed)$)/,
    () => textIfUtf8,
  ],
];

/** Parsed content types are kept: senders use only a few. */
const known = new Map<string, Decode>();
const maxKnown = 100;

/** @param contentType the header field */
export function decodeBody(bytes: Buffer, contentType: string | undefined): Decoded | Problem {
  if (bytes.length === 0) return { value: "" };
  if (contentType === undefined || contentType === "") return textIfUtf8(bytes);
  let decode = known.get(contentType);
  if (!decode) {
    decode = decoderFor(contentType);
    if (known.size < maxKnown) known.set(contentType, decode);
  }
  return decode(bytes);
}

function decoderFor(contentType: string): Decode {
  const type = parseMediaType(contentType);
  const [, decoderWith] = (type && decoders.find(([pattern]) => pattern.test(type.essence))) ?? [];
  return decoderWith?.(type?.params.get("charset") ?? "utf-8") ?? ((value) => ({ value }));
}

const utf8 = new TextDecoder();
const utf16be = new TextDecoder("utf-16be");

function textIfUtf8(bytes: Buffer): Decoded {
  return { value: isUtf8(bytes) ? utf8.decode(bytes) : bytes };
}

function toDecoded(value: Body | Problem): Decoded | Problem {
  return value instanceof Problem ? value : { value };
}

/** WHATWG Encoding Standard: its labels, no byte-order mark, malformed bytes as U+FFFD. */
function decodeText(charset: string, parse: (text: string) => Decoded | Problem): Decode {
  const decoder = textDecoder(charset);
  if (!decoder) return () => problems.charsetUnknown;
  return (bytes) => parse((isBigEndian(bytes) && decoder.encoding === "utf-16le" ? utf16be : decoder).decode(bytes));
}

/** RFC 2781 §3.2: in UTF-16, the byte-order mark tells the order of bytes. */
function isBigEndian(bytes: Buffer): boolean {
  return bytes[0] === 0xfe && bytes[1] === 0xff;
}

function textDecoder(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset);
  } catch {
    return undefined;
  }
}

/** Many senders, and curl's --data, label JSON and plain text as a form. */
function parseForm(text: string): Decoded | Problem {
  if (/^\s*[[{]/.test(text)) {
    const value = parseJson(text);
    if (value !== problems.jsonMalformed) return toDecoded(value);
  }
  if (!text.includes("=")) return { value: text };
  // Node.js takes a time for fields without a value that grows with the square of their number.
  if (text.split("&", maxParts + 1).length > maxParts) return problems.partsTooMany;
  // A plus sign is a blank, and takes Node.js longer.
  const form = toObject(new URLSearchParams(text.split("+").join(" ")));
  const value = unwrap(form);
  return value instanceof Problem ? value : { value, form };
}

// JSON that is safe to copy and to merge in a flow.

/** A value that JSON can express. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** In levels. Node-RED's own copying of messages fails at some 2,000. */
const deepest = 256;

/** Parses JSON (RFC 8259) into a value that is safe to copy and to merge in a flow. */
export function parseJson(text: string): Json | Problem {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return problems.jsonMalformed;
  }
  // Each level takes two characters at least.
  if (text.length > 2 * deepest && isDeeperThan(deepest, value)) return problems.jsonTooDeep;
  if (mayNamePrototype(text)) dropPrototypes(value);
  return value;
}

/** Makes a value of another parser as safe. */
function secureJson(value: Json): Json | Problem {
  if (isDeeperThan(deepest, value)) return problems.jsonTooDeep;
  dropPrototypes(value);
  return value;
}

/** Descends only as many levels as are allowed: no depth exhausts the stack. */
export function isDeeperThan(levels: number, value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(levels - 1, item)) return true;
  } else {
    for (const name in value) if (isDeeperThan(levels - 1, value[name] ?? null)) return true;
  }
  return false;
}

/** Whether JSON may contain a `__proto__` key, escaped or not. */
function mayNamePrototype(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u");
}

/** JSON.parse makes own keys of them; a copy by assignment would set real prototypes. */
function dropPrototypes(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  Reflect.deleteProperty(value, "__proto__");
  for (const child of Object.values(value)) dropPrototypes(child);
}

// Text of bytes, to be shown.

const ellipsis = "…";

/**
 * @param isCut whether the last character may be incomplete
 * @returns nothing where they are no text
 */
export function decodeIfText(bytes: Uint8Array, isCut = false): string | undefined {
  // Text contains no zero, and most binary data does.
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

/**
 * @param most bytes or characters
 * @returns with an ellipsis where it was longer; nothing where it is no text
 */
export function shorten(said: string | Uint8Array, most: number): string | undefined {
  const isCut = said.length > most;
  const beginning = typeof said === "string" ? said.slice(0, most) : decodeIfText(said.subarray(0, most), isCut);
  return beginning === undefined || !isCut ? beginning : beginning + ellipsis;
}
