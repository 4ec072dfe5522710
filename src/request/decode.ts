// Decodes a body by its content type.

import { TextDecoder } from "node:util";
import { decodeContent, decodeContentSync } from "./body";
import { type Charset, findCharset, findReader, readAsText, type TextReader, utf8 } from "./charset";
import { type FormFields, readFields, toPlainForm } from "./form";
import { fieldValues, type RequestHead } from "./head";
import { type Json, parseJson, secureJson } from "./json";
import { isMultipart, jsonType, parseMediaType, textType, xmlType } from "./media-types";
import { parseMultipart, type UploadedFile } from "./multipart";
import { ReasonError, Problem, problems } from "./problem";

interface BodyDescription {
  /** Of the sender, asked for a packed body; missing for a stored one, which is not counted. */
  network?: () => string;
  /** The value of a body parser in front. */
  parsed?: { readonly value: unknown; readonly files?: UploadedFile[] } | undefined;
  /** Whether the bytes were signed, and the header fields were not. */
  isSigned?: boolean;
  request: { headers: { "content-type"?: string | undefined; "content-encoding"?: string | undefined } };
}

export interface Content {
  value: Body;
  /** The fields of a form, also where its only one holds JSON. */
  form?: FormFields;
  /** The files of a multipart form. */
  files?: UploadedFile[];
  /** The unpacked body; JSON of a value that a parser in front has left. */
  bytes: () => Buffer;
  /** Whether a parser in front has left no more than a value. */
  isParsed?: true;
}

/**
 * The body of a request, decoded when it is first read, and once: what is verified, filtered and compared is what the
 * flow gets.
 */
export class DecodedBody {
  /** As sent. */
  readonly bytes: Buffer;
  readonly #described: BodyDescription;
  #content: Content | Problem | undefined;

  /** @param bytes unused where a parser in front has read the body */
  constructor(described: BodyDescription, bytes: Buffer) {
    this.#described = described;
    this.bytes = bytes;
  }

  /** By the header fields as sent, of which Node.js takes the first. */
  static of({ rawHeaders }: Pick<RequestHead, "rawHeaders">, bytes: Buffer): DecodedBody {
    const [type] = fieldValues(rawHeaders, "content-type");
    const [codings] = fieldValues(rawHeaders, "content-encoding");
    return new DecodedBody({ request: { headers: { "content-type": type, "content-encoding": codings } } }, bytes);
  }

  /** The value of a body parser in front, which replaces the bytes. */
  get parsed(): BodyDescription["parsed"] {
    return this.#described.parsed;
  }

  /** Whether content codings must be undone. */
  get isPacked(): boolean {
    const { request } = this.#described;
    return !this.parsed && (request.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity";
  }

  /**
   * Nothing until `decode` for a packed body, which takes time.
   *
   * @throws {ReasonError} when a parser in front has left nothing
   */
  get content(): Content | Problem | undefined {
    const { request, parsed, isSigned } = this.#described;
    const type = request.headers["content-type"];
    if (parsed) this.#content ??= takeParsed(parsed, type, isSigned);
    else if (!this.isPacked) this.#content ??= plain(this.bytes, type, isSigned);
    return this.#content;
  }

  /**
   * @param limit of the unpacked body, in bytes
   * @throws {ReasonError} when a parser in front has left nothing
   */
  decode(limit: number): Content | Problem | Promise<Content | Problem> {
    return this.content ?? this.#unpack(limit);
  }

  async #unpack(limit: number): Promise<Content | Problem> {
    const { network, request, isSigned } = this.#described;
    const { "content-type": type, "content-encoding": codings } = request.headers;
    const bytes = codings === undefined ? this.bytes : await decodeContent(this.bytes, codings, limit, network?.());
    return (this.#content = bytes instanceof Problem ? bytes : plain(bytes, type, isSigned));
  }
}

/** Decodes a body at once and apart from the flow's, which may change its own: for middleware that reads it. */
export function decodeSync({ headers }: BodyDescription["request"], bytes: Buffer, limit: number): Content | Problem {
  const unpacked = decodeContentSync(bytes, headers["content-encoding"] ?? "", limit);
  return unpacked instanceof Problem ? unpacked : plain(unpacked, headers["content-type"]);
}

function plain(bytes: Buffer, type: string | undefined, isSigned?: boolean): Content | Problem {
  if (isMultipart(type)) {
    const form = parseMultipart(bytes, type);
    return form instanceof Problem
      ? form
      : { value: form.fields, form: form.fields, files: form.files, bytes: () => bytes };
  }
  const decoded = decodeBody(bytes, type, isSigned);
  return decoded instanceof Problem ? decoded : { ...decoded, bytes: () => bytes };
}

function takeParsed(
  { value, files }: NonNullable<BodyDescription["parsed"]>,
  type: string | undefined,
  isSigned?: boolean,
): Content | Problem {
  if (value === undefined) throw new ReasonError("bodyRead");
  if (Buffer.isBuffer(value)) {
    const decoded = decodeBody(value, type, isSigned);
    return decoded instanceof Problem ? decoded : { ...decoded, ...(files && { files }), bytes: () => value };
  }
  const body = secureJson(value as Json);
  if (body instanceof Problem) return body;
  return { value: body, ...(files && { files }), bytes: () => Buffer.from(JSON.stringify(body)), isParsed: true };
}

/** The body in a message: JSON value, string, object of form fields, or Buffer. */
export type Body = Json | Buffer | FormFields;

type DecodedValue = Pick<Content, "value" | "form">;
/** @param text behind its mark */
type Parse = (text: Buffer, reader: TextReader) => DecodedValue | Problem;
type Decode = (bytes: Buffer, isSigned: boolean) => DecodedValue | Problem;

/** What nobody reads as a text. */
const binaryType =
  /^application\/(?:.*\+|x-|vnd\.|vnd\.google\.)?(?:octet-stream|cbor|protobuf|msgpack|zip|zip-compressed)$/;

/** By media type; the first matching row decodes. Without a match, bytes stay a Buffer. */
const parsers: readonly (readonly [RegExp, Parse])[] = [
  [jsonType, parseJsonBody],
  [textType, parseText],
  [/^application\/x-www-form-urlencoded$/, parseForm],
];

/** Parsed content types are kept: senders use only a few. */
const decoders = new Map<string, Decode>();
const maxDecoders = 100;

/**
 * @param contentType the header field
 * @param isSigned whether the bytes were signed, and the content type was not
 */
function decodeBody(bytes: Buffer, contentType: string | undefined, isSigned = false): DecodedValue | Problem {
  if (bytes.length === 0) return { value: "" };
  if (contentType === undefined || contentType === "") return textIfUtf8(bytes);
  let decode = decoders.get(contentType);
  if (!decode) {
    decode = decoderFor(contentType);
    if (decoders.size < maxDecoders) decoders.set(contentType, decode);
  }
  return decode(bytes, isSigned);
}

function decoderFor(contentType: string): Decode {
  const { essence = "", params } = parseMediaType(contentType) ?? {};
  const [, parse] = parsers.find(([pattern]) => pattern.test(essence)) ?? [];
  if (!parse && (!essence.startsWith("application/") || binaryType.test(essence))) return (value) => ({ value });
  const label = params?.get("charset") ?? undefined;
  const declared = label === undefined ? undefined : findCharset(label);
  // Files on the way are labelled with charsets such as "binary".
  if (!parse && !declared) return textIfUtf8;
  if (label !== undefined && !declared) return () => problems.charsetUnknown;
  return decodeText(declared, xmlType.test(essence), parse ?? parseText);
}

function decodeText(declared: Charset | undefined, isXml: boolean, parse: Parse): Decode {
  return (bytes, isSigned) => {
    const [reader, text] = findReader(bytes, { declared, isXml, isSigned });
    const decoded = parse(text, reader);
    // What was kept is whole.
    return decoded instanceof Problem || decoded.value !== text ? decoded : { value: bytes };
  };
}

function textIfUtf8(bytes: Buffer): DecodedValue {
  return { value: utf8.decode(bytes)?.replace(/^\ufeff/, "") ?? bytes };
}

function toDecodedValue(value: Body | Problem): DecodedValue | Problem {
  return value instanceof Problem ? value : { value };
}

function parseText(bytes: Buffer, reader: TextReader): DecodedValue | Problem {
  return toDecodedValue(readAsText(bytes, reader));
}

function parseJsonBody(bytes: Buffer, reader: TextReader): DecodedValue | Problem {
  const text = readAsText(bytes, reader);
  if (text instanceof Problem) return text;
  return typeof text === "string" ? toDecodedValue(parseJson(text)) : problems.jsonMalformed;
}

// Forms (application/x-www-form-urlencoded, WHATWG URL Standard §5.1).

/** Many senders, and curl's --data, label JSON and plain text as a form. */
function parseForm(bytes: Buffer, reader: TextReader): DecodedValue | Problem {
  const text = readAsText(bytes, reader);
  if (text instanceof Problem) return text;
  if (typeof text === "string" && /^\s*[[{]/.test(text)) {
    const value = parseJson(text);
    if (value !== problems.jsonMalformed) return toDecodedValue(value);
  }
  const [plainBytes, plainReader] = toPlainForm(bytes, text, reader);
  if (!plainBytes.includes("=")) return { value: text };
  const form = readFields(plainBytes, plainReader);
  if (form instanceof Problem) return form;
  if (!form) return { value: bytes };
  const value = unwrap(form);
  return value instanceof Problem ? value : { value, form };
}

/** GitHub, Slack and others send JSON as the only field of a form. */
function unwrap(form: FormFields): Body | Problem {
  const { payload: json } = form;
  const isAlone = typeof json === "string" && Object.keys(form).length === 1;
  const value = isAlone && /^\s*[[{]/.test(json) ? parseJson(json) : problems.jsonMalformed;
  return value === problems.jsonMalformed ? form : value;
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
