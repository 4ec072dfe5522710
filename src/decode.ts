import { isUtf8 } from "node:buffer";
import { MIMEType, TextDecoder } from "node:util";
import { type Json, parseJson } from "./json";
import { toObject } from "./parameters";
import { Problem, problems } from "./problem";

/** A body as a flow gets it: a JSON value, a string, an object of form fields, or a Buffer. */
export type Body = Json | Buffer;

type Decoder = (bytes: Buffer, charset: string) => Body | Problem;

/** How bodies are decoded, by media type: the first row whose pattern fits. Where none fits, the bytes stay bytes. */
const decoders: readonly (readonly [RegExp, Decoder])[] = [
  // RFC 6839 §3.1: +json; the top-level type does not matter.
  [/^application\/json$|\+json$/, (bytes, charset) => decodeText(bytes, charset, parseJson)],
  [/^text\/|^application\/xml$|\+xml$/, (bytes, charset) => decodeText(bytes, charset, (text) => text)],
  [/^application\/x-www-form-urlencoded$/, (bytes, charset) => decodeText(bytes, charset, parseForm)],
  [
    /^application\/(?!(?:.*\+|x-|vnd\.|vnd\.google\.)?(?:octet-stream|cbor|protobuf|msgpack|zip|zip-compressed)$)/,
    textIfUtf8,
  ],
];

/**
 * Decodes a body whose content codings are undone.
 *
 * @param contentType the field as it came
 */
export function decodeBody(bytes: Buffer, contentType: string | undefined): Body | Problem {
  if (bytes.length === 0) return "";
  if (contentType === undefined || contentType === "") return textIfUtf8(bytes);
  const type = parseMediaType(contentType);
  if (!type) return bytes;
  const [, decode] = decoders.find(([pattern]) => pattern.test(type.essence)) ?? [undefined, asBuffer];
  return decode(bytes, type.params.get("charset") ?? "utf-8");
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

function textIfUtf8(bytes: Buffer): string | Buffer {
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : bytes;
}

/** Decodes by the WHATWG Encoding Standard: its labels, a byte-order mark skipped, malformed bytes as U+FFFD. */
function decodeText<T>(bytes: Buffer, charset: string, parse: (text: string) => T): T | Problem {
  const decoder = textDecoder(charset);
  return decoder ? parse(decoder.decode(bytes)) : problems.charsetUnknown;
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
