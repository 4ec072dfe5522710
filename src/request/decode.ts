// Decodes a body by its content type.

import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { decodeContent } from "./body";
import { type File, isMultipart, parseMediaType, parseMultipart } from "./multipart";
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
  /** The files of a multipart form. */
  files?: File[];
  /** The unpacked body. */
  bytes: () => Buffer;
}

/**
 * @param bytes as sent; unused where a parser in front has read the body
 * @param limit of the unpacked body, in bytes
 * @throws {Interference} when a parser in front has left nothing
 */
export function parseContentType(
  { network, request, parsed }: Described,
  bytes: Buffer,
  limit: number,
): Content | Problem | Promise<Content | Problem> {
  const { "content-type": type, "content-encoding": codings } = request.headers;
  if (parsed) return takeParsed(parsed, type);
  if (codings === undefined && !isMultipart(type)) return plain(bytes, type);
  return unpacked(bytes, type, codings, { limit, network });
}

function plain(bytes: Buffer, type: string | undefined): Content | Problem {
  const decoded = decodeBody(bytes, type);
  const value = decoded instanceof Problem ? decoded : unwrap(decoded, bytes);
  return value instanceof Problem ? value : { value, bytes: () => bytes };
}

const wrapper = "payload";

/** GitHub, Slack and others send JSON as the only field of a form. */
export function unwrap(decoded: Body, bytes: Buffer): Body | Problem {
  const isForm = typeof decoded === "object" && bytes.toString("latin1", 0, wrapper.length + 1) === `${wrapper}=`;
  if (!isForm || Buffer.isBuffer(decoded) || Object.keys(decoded ?? {}).length !== 1) return decoded;
  const { [wrapper]: json } = decoded as Parameters;
  const value = typeof json === "string" && /^\s*[[{]/.test(json) ? parseJson(json) : problems.jsonMalformed;
  return value === problems.jsonMalformed ? decoded : value;
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
  return form instanceof Problem ? form : { value: form.fields, files: form.files, bytes: () => bytes };
}

function takeParsed({ value, files }: NonNullable<Described["parsed"]>, type: string | undefined): Content | Problem {
  if (value === undefined) throw new Interference("bodyRead");
  const body = Buffer.isBuffer(value) ? decodeBody(value, type) : secureJson(value as Json);
  if (body instanceof Problem) return body;
  const bytes = () => (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(body)));
  return { value: body, ...(files && { files }), bytes };
}

/** The body in a message: JSON value, string, object of form fields, or Buffer. */
export type Body = Json | Buffer;

type Decode = (bytes: Buffer) => Body | Problem;

/** By media type; the first matching row decodes. Without a match, bytes stay a Buffer. */
const decoders: readonly (readonly [RegExp, (charset: string) => Decode])[] = [
  // RFC 6839 §3.1: +json; the top-level type does not matter.
  [/^application\/json$|\+json$/, (charset) => decodeText(charset, parseJson)],
  [/^text\/|^application\/xml$|\+xml$/, (charset) => decodeText(charset, (text) => text)],
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
export function decodeBody(bytes: Buffer, contentType: string | undefined): Body | Problem {
  if (bytes.length === 0) return "";
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
  return decoderWith?.(type?.params.get("charset") ?? "utf-8") ?? ((bytes) => bytes);
}

const utf8 = new TextDecoder();
const utf16be = new TextDecoder("utf-16be");

function textIfUtf8(bytes: Buffer): string | Buffer {
  return isUtf8(bytes) ? utf8.decode(bytes) : bytes;
}

/** WHATWG Encoding Standard: its labels, no byte-order mark, malformed bytes as U+FFFD. */
function decodeText(charset: string, parse: (text: string) => Body | Problem): Decode {
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
function parseForm(text: string): Body | Problem {
  if (/^\s*[[{]/.test(text)) {
    const value = parseJson(text);
    if (value !== problems.jsonMalformed) return value;
  }
  return text.includes("=") ? toObject(new URLSearchParams(text)) : text;
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
