// From the bytes of a body to a value: its content codings undone, and decoded by its content type.

import { isUtf8 } from "node:buffer";
import { MIMEType, TextDecoder } from "node:util";
import { Interference, Problem, problems } from "../problem";
import { decodeContent } from "./body";
import { type Json, parseJson, secureJson } from "./json";
import { type File, isMultipart, parseMultipart } from "./multipart";
import { toObject } from "./parameters";

/** What a body is taken apart by, besides itself. */
interface Described {
  /** What a middleware in front has made of it. */
  parsed?: { readonly value: unknown; readonly files?: File[] } | undefined;
  request: { headers: { "content-type"?: string | undefined; "content-encoding"?: string | undefined } };
}

export interface Content {
  value: Body;
  /** The files of a form that may have some. */
  files?: File[];
  /** The body without its content codings, or what is left of it. */
  bytes: () => Buffer;
}

/**
 * @param bytes the body as it came; of no interest where a parser in front has read it
 * @param limit the most bytes that it may have without its content codings
 * @throws {Interference} when a parser in front has left nothing of it
 */
export function contentOf(
  { request, parsed }: Described,
  bytes: Buffer,
  limit: number,
): Content | Problem | Promise<Content | Problem> {
  const { "content-type": type, "content-encoding": codings } = request.headers;
  if (parsed) return whatIsLeft(parsed, type);
  if (codings === undefined && !isMultipart(type)) return plain(bytes, type);
  return unpacked(bytes, type, codings, limit);
}

function plain(bytes: Buffer, type: string | undefined): Content | Problem {
  const value = decodeBody(bytes, type);
  return value instanceof Problem ? value : { value, bytes: () => bytes };
}

async function unpacked(
  packed: Buffer,
  type: string | undefined,
  codings: string | undefined,
  limit: number,
): Promise<Content | Problem> {
  const bytes = codings === undefined ? packed : await decodeContent(packed, codings, limit);
  if (bytes instanceof Problem) return bytes;
  if (!isMultipart(type)) return plain(bytes, type);
  const form = await parseMultipart(bytes, type);
  return form instanceof Problem ? form : { value: form.fields, files: form.files, bytes: () => bytes };
}

function whatIsLeft({ value, files }: NonNullable<Described["parsed"]>, type: string | undefined): Content | Problem {
  const body = decodeParsed(value, type);
  if (body instanceof Problem) return body;
  const bytes = () => (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(body)));
  return { value: body, ...(files && { files }), bytes };
}

/** A body as a flow gets it: a JSON value, a string, an object of form fields, or a Buffer. */
export type Body = Json | Buffer;

type Decode = (bytes: Buffer) => Body | Problem;

/** How bodies are decoded, by media type: the first row whose pattern fits. Where none fits, the bytes stay bytes. */
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

/** Senders use few content types, and each of them over and over: what was parsed once is kept. */
const known = new Map<string, Decode>();
const mostKnown = 100;

/**
 * Decodes a body whose content codings are undone.
 *
 * @param contentType the field as it came
 */
export function decodeBody(bytes: Buffer, contentType: string | undefined): Body | Problem {
  if (bytes.length === 0) return "";
  if (contentType === undefined || contentType === "") return textIfUtf8(bytes);
  let decode = known.get(contentType);
  if (!decode) {
    decode = decoderFor(contentType);
    if (known.size < mostKnown) known.set(contentType, decode);
  }
  return decode(bytes);
}

/**
 * Takes over a body that a parser in front has read: bytes are decoded as ever, anything else is as it left it.
 *
 * @throws {Interference} when it has left nothing
 */
export function decodeParsed(value: unknown, contentType: string | undefined): Body | Problem {
  if (value === undefined) throw new Interference("bodyRead");
  return Buffer.isBuffer(value) ? decodeBody(value, contentType) : secureJson(value as Json);
}

function decoderFor(contentType: string): Decode {
  const type = parseMediaType(contentType);
  const [, decoderWith] = (type && decoders.find(([pattern]) => pattern.test(type.essence))) ?? [];
  return decoderWith?.(type?.params.get("charset") ?? "utf-8") ?? asBuffer;
}

function parseMediaType(contentType: string): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}

function asBuffer(bytes: Buffer): Buffer {
  return bytes;
}

const utf8 = new TextDecoder();
const utf16be = new TextDecoder("utf-16be");

function textIfUtf8(bytes: Buffer): string | Buffer {
  return isUtf8(bytes) ? utf8.decode(bytes) : bytes;
}

/** Decodes by the WHATWG Encoding Standard: its labels, a byte-order mark skipped, malformed bytes as U+FFFD. */
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

/** Many senders, curl's --data among them, label JSON and plain text as a form: the text itself tells. */
function parseForm(text: string): Body | Problem {
  if (/^\s*[[{]/.test(text)) {
    const value = parseJson(text);
    if (value !== problems.jsonMalformed) return value;
  }
  return text.includes("=") ? toObject(new URLSearchParams(text)) : text;
}
