// Forms with files: multipart/form-data (RFC 7578).

import type { MIMEType } from "node:util";
import { findCharset, findReader, readAsText, utf8 } from "./charset";
import { type FieldValue, findOwnCharset, type FormFields, maxParts, unescape } from "./form";
import { jsonType, parseMediaType, textType, xmlType } from "./media-types";
import { Problem, problems } from "./problem";
import { toObject } from "./head";

/** RFC 2046 §5.1.1, without its limits on characters, which some senders ignore. */
const boundaryForm = /^[ -~]{1,70}$/;

/** A file, with the names that core's `http in` uses. */
export interface UploadedFile {
  fieldname: string;
  /** The last part of its path; empty where the part has no file name. */
  originalname: string;
  /** Its content transfer encoding, which is not undone (RFC 7578 §4.7). */
  encoding: string;
  mimetype: string;
  buffer: Buffer;
  /** In bytes. */
  size: number;
}

export interface MultipartForm {
  /** Brackets in names mean nothing. */
  fields: FormFields;
  files: UploadedFile[];
}

/** A part of a form, before its text is read. */
interface FormPart {
  readonly name: string;
  /** Missing for a field. */
  readonly fileName: string | undefined;
  readonly encoding: string;
  readonly type: MIMEType | undefined;
  readonly content: Buffer;
}

/**
 * @param bytes the whole body, unpacked
 * @param contentType the header field
 */
export function parseMultipart(bytes: Buffer, contentType: string | undefined): MultipartForm | Problem {
  const boundary = parseMediaType(contentType)?.params.get("boundary") ?? "";
  const parts = boundaryForm.test(boundary) ? cutParts(bytes, boundary) : problems.formMalformed;
  if (parts instanceof Problem) return parts;
  const read = readFields(parts.filter(isField));
  if (read instanceof Problem) return read;
  const files = parts.filter((part) => !isField(part)).map(toFile);
  // Browsers send an empty part for an input without a file (HTML Standard §4.10.21.4).
  return { fields: toObject(read), files: files.filter(({ originalname, size }) => originalname !== "" || size > 0) };
}

/** What has no file name, and is a text. */
function isField({ fileName, type }: FormPart): boolean {
  return fileName === undefined && (!type || [textType, jsonType].some((texts) => texts.test(type.essence)));
}

/** By the charset of each part, else by that of the form. */
function readFields(parts: readonly FormPart[]): [name: string, value: FieldValue][] | Problem {
  const assumed = readTexts(parts);
  if (assumed instanceof Problem) return assumed;
  const own = findOwnCharset(assumed);
  if (own instanceof Problem) return own;
  return own ? readTexts(parts, own) : assumed;
}

function readTexts(parts: readonly FormPart[], otherwise = utf8): [name: string, value: FieldValue][] | Problem {
  const texts: [string, FieldValue][] = [];
  for (const { name, type, content } of parts) {
    const label = type?.params.get("charset") ?? undefined;
    const declared = label === undefined ? undefined : findCharset(label);
    if (label !== undefined && !declared) return problems.charsetUnknown;
    const [reader, bytes] = findReader(content, { declared, isXml: xmlType.test(type?.essence ?? ""), otherwise });
    const text = readAsText(bytes, reader);
    // Copied, or its memory would keep the whole body.
    texts.push([name, typeof text === "string" ? text : Buffer.from(content)]);
  }
  return texts;
}

function toFile({ name, fileName = "", encoding, type, content }: FormPart): UploadedFile {
  const buffer = Buffer.from(content);
  const described = { fieldname: name, originalname: fileName, encoding, mimetype: type?.essence ?? "text/plain" };
  return { ...described, buffer, size: buffer.length };
}

// Parts (RFC 2046 §5.1.1, RFC 7578 §4.2).

const crlf = "\r\n";
/** In bytes, of the head of a part. */
const maxHead = 16 * 1024;
/** In bytes, of all parts: reading a head takes a hundred times as long as cutting off a file. */
const maxHeads = 256 * 1024;

function cutParts(bytes: Buffer, boundary: string): FormPart[] | Problem {
  const delimiter = Buffer.from(`${crlf}--${boundary}`, "latin1");
  const parts: FormPart[] = [];
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let position = isFirst ? -2 : bytes.indexOf(delimiter);
  let heads = 0;
  while (position !== -1) {
    const line = position + delimiter.length;
    if (bytes.toString("latin1", line, line + 2) === "--") return parts;
    if (parts.length === maxParts) return problems.partsTooMany;
    const end = bytes.indexOf(delimiter, line);
    const part = end === -1 ? undefined : readPart(bytes.subarray(line, end));
    if (!part) return problems.formMalformed;
    parts.push(part);
    heads += end - line - part.content.length;
    if (heads > maxHeads) return problems.partsTooMany;
    position = end;
  }
  return problems.formMalformed;
}

/** @param bytes from the end of one delimiter to the next one */
function readPart(bytes: Buffer): FormPart | undefined {
  const [start, length] = [bytes.indexOf(crlf), bytes.indexOf(crlf + crlf)];
  // Blanks may follow a delimiter.
  if (length === -1 || length > maxHead || !/^[ \t]*$/.test(bytes.toString("latin1", 0, start))) return undefined;
  const fields = readHead(bytes.toString("latin1", start, length));
  const { name, filename: fileName } = readDisposition(fields?.get("content-disposition")) ?? {};
  if (!fields || name === undefined) return undefined;
  const type = fields.has("content-type") ? parseMediaType(fields.get("content-type")) : undefined;
  const encoding = fields.get("content-transfer-encoding")?.toLowerCase() ?? "7bit";
  const content = bytes.subarray(length + 2 * crlf.length);
  return { name, fileName: fileName && shortenPath(fileName), encoding, type, content };
}

const fieldForm = /^([!#$%&'*+.^_`|~\w-]+):([\t -~\x80-\xff]*)$/;

/**
 * @param head each line begins with a line break
 * @returns nothing where it is malformed, or a field is repeated that can be read in two ways then
 */
function readHead(head: string): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  // RFC 5322 §2.2.3: a line that begins with a blank continues the one before.
  for (const line of head
    .replace(/\r\n(?=[\t ])/g, "")
    .split(crlf)
    .slice(1)) {
    const [, name = "", value = ""] = fieldForm.exec(line) ?? [];
    if (name === "" || fields.has(name.toLowerCase())) return undefined;
    // Not in the expression, which would try each number of blanks.
    fields.set(name.toLowerCase(), value.replace(/^[\t ]+/, ""));
  }
  return fields;
}

const parameterForm = /;[\t ]*([!#$%&'*+.^_`|~\w-]+)[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^\t ";]+))[\t ]*/y;

/** The name of a part and of its file (RFC 6266 §4.1), which may be in the extended form of RFC 5987. */
function readDisposition(disposition = ""): { name?: string; filename?: string } | undefined {
  const [type = ""] = /^form-data[\t ]*/i.exec(disposition) ?? [];
  const values = new Map<string, string>();
  let index = type.length;
  while (type !== "" && index < disposition.length) {
    parameterForm.lastIndex = index;
    const [whole, name = "", quoted, plain = ""] = parameterForm.exec(disposition) ?? [];
    if (whole === undefined || values.has(name.toLowerCase())) return undefined;
    // Old browsers send whole paths, with backslashes that escape nothing.
    values.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, "$1") ?? plain);
    index += whole.length;
  }
  const read = (name: string) => readExtended(values.get(`${name}*`)) ?? readName(values.get(name));
  const [name, filename] = [read("name"), read("filename")];
  return { ...(name !== undefined && { name }), ...(filename !== undefined && { filename }) };
}

/** RFC 5987 §3.2. */
function readExtended(value = ""): string | undefined {
  const [, charset = "", text = ""] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  return charset === "" ? undefined : findCharset(charset)?.decode(unescape(Buffer.from(text, "latin1")));
}

/** @param name bytes as Latin-1, which are UTF-8, or else windows-1252 */
function readName(name: string | undefined): string | undefined {
  const bytes = Buffer.from(name ?? "", "latin1");
  return name === undefined ? undefined : (utf8.decode(bytes) ?? findCharset("windows-1252")?.decode(bytes));
}

/** The last part of a path, as browsers escape it (HTML Standard §4.10.21.8), and core's `http in` reads it. */
function shortenPath(path: string): string {
  const last = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  if (last === "." || last === "..") return "";
  return last.replace(/%(0A|0D|22)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
