// Forms with files: multipart/form-data (RFC 7578).

import type { FileInfo } from "busboy";
import { MIMEType } from "node:util";
import { type Problem, problems } from "./problem";
import { type Parameters, toObject } from "./target";

/** How many parts a form may have. */
export const maxParts = 1000;

/** RFC 2046 §5.1.1, without its limits on characters, which some senders ignore. */
const boundaryForm = /^[ -~]{1,70}$/;

/** A file, with the names that core's `http in` uses. */
export interface File {
  fieldname: string;
  /** The last part of its path, in UTF-8. */
  originalname: string;
  /** Its content transfer encoding, which is not undone (RFC 7578 §4.7). */
  encoding: string;
  mimetype: string;
  buffer: Buffer;
  /** In bytes. */
  size: number;
}

export interface Form {
  /** Brackets in names mean nothing. */
  fields: Parameters;
  files: File[];
}

/** Whether a body is a form with files, by its content type. */
export function isMultipart(contentType = ""): boolean {
  // Parsing each content type would take longer than all the rest.
  return /^\s*multipart\//i.test(contentType) && parseMediaType(contentType)?.essence === "multipart/form-data";
}

/**
 * @param bytes the whole body, unpacked
 * @param contentType the header field
 */
export async function parseMultipart(bytes: Buffer, contentType: string | undefined): Promise<Form | Problem> {
  const boundary = parseMediaType(contentType)?.params.get("boundary") ?? "";
  if (!boundaryForm.test(boundary)) return problems.formMalformed;
  const fields: [name: string, value: string][] = [];
  const files: { info: Omit<File, "buffer" | "size">; chunks: Buffer[] }[] = [];
  const { default: busboy } = await import("busboy");
  const parser = busboy({
    headers: { "content-type": `multipart/form-data; boundary="${boundary.replace(/["\\]/g, "\\$&")}"` },
    defParamCharset: "utf8",
    // Parts have the body's limit. The parser reports when there are too many.
    limits: { fieldSize: Infinity, fileSize: Infinity, parts: maxParts + 1 },
  });
  // The parser and its files may fail more than once.
  const problem = await new Promise<Problem | undefined>((settle) => {
    parser.on("field", (name: string | undefined, value: string | undefined) => {
      if (value === undefined) settle(problems.charsetUnknown);
      else if (name !== undefined) fields.push([name, value]);
    });
    parser.on("file", (name: string | undefined, stream, info) => {
      const chunks: Buffer[] = [];
      // If the stream fails, so does the parser.
      stream.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
      if (name !== undefined) files.push({ info: describe(name, info), chunks });
    });
    parser.on("partsLimit", () => settle(problems.partsTooMany));
    parser.on("error", () => settle(problems.formMalformed));
    parser.on("close", () => settle(undefined));
    parser.end(bytes);
  });
  if (problem) return problem;
  // The parser skips parts without a name (RFC 7578 §4.2), and those that it cannot read.
  if (fields.length + files.length !== countParts(bytes, boundary)) return problems.formMalformed;
  // Browsers send an empty part for an input without a file (HTML Standard §4.10.21.4).
  const sent = files.filter(({ info, chunks }) => info.originalname !== "" || chunks.length > 0);
  return { fields: toObject(fields), files: sent.map(({ info, chunks }) => readFile(info, chunks)) };
}

/** In characters. For a longer run of blanks, Node.js takes a time that grows with the square of its length. */
const maxBlanks = 1024;

/** @param contentType the header field */
export function parseMediaType(contentType = ""): MIMEType | undefined {
  try {
    return new MIMEType(contentType.length > maxBlanks ? contentType.replace(/[\t ]+/g, " ") : contentType);
  } catch {
    return undefined;
  }
}

function describe(fieldname: string, { filename = "", encoding, mimeType }: FileInfo): Omit<File, "buffer" | "size"> {
  return { fieldname, originalname: unescaped(filename), encoding, mimetype: mimeType };
}

/** Copied, or its memory would keep the whole body. */
function readFile(info: Omit<File, "buffer" | "size">, chunks: readonly Buffer[]): File {
  const buffer = Buffer.concat(chunks);
  return { ...info, buffer, size: buffer.length };
}

/** How browsers escape names (HTML Standard §4.10.21.8), as core's `http in` reads them. */
function unescaped(name: string): string {
  return name.replace(/%(0A|0D|22)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** The parts between the first and the last delimiter (RFC 2046 §5.1.1). */
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
