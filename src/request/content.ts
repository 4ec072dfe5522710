// What a body has in it: its content codings undone, and taken apart by its content type.

import { Problem } from "../problem";
import { decodeContent } from "./body";
import { type Body, decodeBody, decodeParsed } from "./decode";
import { type File, isMultipart, parseMultipart } from "./multipart";

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
