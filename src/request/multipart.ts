// Forms with files: multipart/form-data (RFC 7578).

import busboy, { type FileInfo } from "busboy";
import type { Readable } from "node:stream";
import { MIMEType } from "node:util";
import { type Problem, problems } from "./problem";
import { type Parameters, toObject } from "./target";

/** How many parts a form may have. */
export const maxParts = 1000;

/** RFC 2046 §5.1.1: how long a boundary may be. Not all senders keep to the characters that it may have. */
const boundaryForm = /^[ -~]{1,70}$/;

/** A file of a form, with the names that core's `http in` has for what is known of it. */
export interface File {
  fieldname: string;
  /** The last part of its path, in UTF-8; empty where it has none. */
  originalname: string;
  /** Its content transfer encoding, which is not undone (RFC 7578 §4.7). */
  encoding: string;
  mimetype: string;
  buffer: Buffer;
  /** In bytes. */
  size: number;
}

export interface Form {
  /** By their names as they stand: brackets in them mean nothing. */
  fields: Parameters;
  files: File[];
}

/** Whether a body is a form with files, by its content type. */
export function isMultipart(contentType = ""): boolean {
  // To parse each of them would take longer than all the rest.
  return /^\s*multipart\//i.test(contentType) && parseType(contentType)?.essence === "multipart/form-data";
}

/**
 * Reads a form.
 *
 * @param bytes all of the body, its content codings undone
 * @param contentType the field as it came
 */
export async function parseMultipart(bytes: Buffer, contentType: string | undefined): Promise<Form | Problem> {
  const boundary = parseType(contentType)?.params.get("boundary") ?? "";
  if (!boundaryForm.test(boundary)) return problems.formMalformed;
  const reading = new Reading(boundary);
  return (await reading.read(bytes)) ?? reading.result(bytes);
}

function parseType(contentType = ""): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}

/** A file as its bytes come. */
interface Growing {
  about: Omit<File, "buffer" | "size">;
  chunks: Buffer[];
}

/** One form, as it is read. */
class Reading {
  readonly #boundary: string;
  readonly #fields: [name: string, value: string][] = [];
  readonly #files: Growing[] = [];

  constructor(boundary: string) {
    this.#boundary = boundary;
  }

  /** Takes all parts, and tells why the form is refused if it is. The parser and its files may fail more than once. */
  async read(bytes: Buffer): Promise<Problem | undefined> {
    const parser = busboy({
      headers: { "content-type": `multipart/form-data; boundary="${this.#boundary.replace(/["\\]/g, "\\$&")}"` },
      defParamCharset: "utf8",
      // The limit for bodies holds for each part. It tells when there are so many of them, not when there are more.
      limits: { fieldSize: Infinity, fileSize: Infinity, parts: maxParts + 1 },
    });
    return new Promise((settle) => {
      parser.on("field", (name: string | undefined, value: string | undefined) => {
        if (value === undefined) settle(problems.charsetUnknown);
        else if (name !== undefined) this.#fields.push([name, value]);
      });
      parser.on("file", (name: string | undefined, stream, info) => {
        const chunks = readAll(stream);
        if (name !== undefined) this.#files.push({ about: describe(name, info), chunks });
      });
      parser.on("partsLimit", () => settle(problems.partsTooMany));
      parser.on("error", () => settle(problems.formMalformed));
      parser.on("close", () => settle(undefined));
      parser.end(bytes);
    });
  }

  /**
   * What has been read, unless a part was passed over: without a name (RFC 7578 §4.2), or because the parser could make
   * nothing of it, of which it does not tell.
   */
  result(bytes: Buffer): Form | Problem {
    if (this.#fields.length + this.#files.length !== countParts(bytes, this.#boundary)) return problems.formMalformed;
    // What browsers send for an input with no file chosen (HTML Standard §4.10.21.4) is none.
    const files = this.#files.filter(({ about, chunks }) => about.originalname !== "" || chunks.length > 0);
    return { fields: toObject(this.#fields), files: files.map(readFile) };
  }
}

/** The bytes of a stream as they come. Where it fails, so does the parser. */
function readAll(stream: Readable): Buffer[] {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => undefined);
  return chunks;
}

function describe(fieldname: string, { filename = "", encoding, mimeType }: FileInfo): Growing["about"] {
  return { fieldname, originalname: unescaped(filename), encoding, mimetype: mimeType };
}

/** In memory of its own: the body's would be kept as long as the smallest of its files. */
function readFile({ about, chunks }: Growing): File {
  const buffer = Buffer.concat(chunks);
  return { ...about, buffer, size: buffer.length };
}

/** How browsers write what cannot stand in a name (HTML Standard §4.10.21.8), and core's `http in` reads it. */
function unescaped(name: string): string {
  return name.replace(/%(0A|0D|22)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** How many parts there are between the first delimiter and the last one (RFC 2046 §5.1.1). */
function countParts(bytes: Buffer, boundary: string): number {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let position = isFirst ? -2 : bytes.indexOf(delimiter);
  for (let parts = 0; position !== -1; parts++) {
    const end = position + delimiter.length;
    if (bytes.toString("latin1", end, end + 2) === "--") return parts;
    position = bytes.indexOf(delimiter, end);
  }
  return NaN;
}
