// The fields of forms, and application/x-www-form-urlencoded (WHATWG URL Standard §5.1).

import { type Charset, findCharset, readAsText, type TextReader, utf8 } from "./charset";
import { Problem, problems } from "./problem";
import { toObject } from "./head";

/** How many fields or parts a form may have. */
export const maxParts = 1000;

/** The bytes, where they are not in their charset. */
export type FieldValue = string | Buffer;

/** A repeated name has all of its values, in order. */
export type FormFields = Record<string, FieldValue | FieldValue[]>;

/**
 * A form in UTF-16 or ISO-2022-JP, where the byte of an ampersand may be part of a letter, in UTF-8.
 *
 * @param text the same bytes, if they are text
 */
export function toPlainForm(bytes: Buffer, text: string | Buffer, reader: TextReader): [Buffer, TextReader] {
  // Outside of escapes, no other charset has these bytes, and in escapes there are none.
  const isWide = /^(?:utf-16|iso-2022)/.test(reader.charset.name) && (bytes.includes(0) || bytes.includes(0x1b));
  return isWide && typeof text === "string" ? [Buffer.from(text), { charset: utf8 }] : [bytes, reader];
}

/**
 * The fields of a form: it is cut and unescaped before its bytes are read.
 *
 * @returns nothing where a name is not in the charset
 */
export function readFields(bytes: Buffer, reader: TextReader): FormFields | undefined | Problem {
  const pieces = bytes.toString("latin1").split("&", maxParts + 1);
  if (pieces.length > maxParts) return problems.partsTooMany;
  const raw = pieces.filter((piece) => piece !== "").map(cut);
  const fields = readAll(raw, reader);
  if (fields instanceof Problem) return fields;
  const charset = reader.isAssumed ? findOwnCharset(fields) : undefined;
  if (charset instanceof Problem) return charset;
  const read = charset && charset !== utf8 ? readAll(raw, { charset }) : fields;
  if (read instanceof Problem) return read;
  return read.every(hasTextName) ? toObject(read) : undefined;
}

function hasTextName(field: readonly [name: FieldValue, value: FieldValue]): field is [string, FieldValue] {
  return typeof field[0] === "string";
}

/** @param piece bytes as Latin-1 */
function cut(piece: string): readonly [name: string, value: string] {
  const equals = piece.indexOf("=");
  return equals === -1 ? [piece, ""] : [piece.slice(0, equals), piece.slice(equals + 1)];
}

function readAll(
  raw: readonly (readonly [name: string, value: string])[],
  reader: TextReader,
): (readonly [name: FieldValue, value: FieldValue])[] | Problem {
  const fields: (readonly [FieldValue, FieldValue])[] = [];
  for (const [rawName, rawValue] of raw) {
    const name = readPiece(rawName, reader);
    const value = readPiece(rawValue, reader);
    if (name instanceof Problem) return name;
    if (value instanceof Problem) return value;
    fields.push([name, value]);
  }
  return fields;
}

/** @param piece bytes as Latin-1, with escapes */
function readPiece(piece: string, reader: TextReader): FieldValue | Problem {
  const isPlain = reader.charset === utf8 && /^[\x01-\x24\x26-\x2a\x2c-\x7f]*$/.test(piece);
  return isPlain ? piece : readAsText(unescape(Buffer.from(piece, "latin1"), true), reader);
}

const [blank, percent, plus] = [0x20, 0x25, 0x2b];

/**
 * Undoes percent-encoding (WHATWG URL Standard §1.3), in place. What only looks like an escape is none.
 *
 * @param isForm whether a plus is a blank
 */
export function unescape(bytes: Buffer, isForm = false): Buffer {
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    let byte = bytes[index] ?? 0;
    if (isForm && byte === plus) byte = blank;
    else if (byte === percent) {
      const escaped = (parseDigit(bytes[index + 1]) << 4) | parseDigit(bytes[index + 2]);
      if (escaped >= 0) {
        byte = escaped;
        index += 2;
      }
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

/** -1 for what is no hexadecimal digit. */
function parseDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/**
 * The charset that a form names: in its field `_charset_` (HTML Standard §4.10.21.5), or as some senders do that cannot
 * set the content type, in `charset`, which may mean anything and counts only where the form is no UTF-8.
 */
export function findOwnCharset(
  fields: readonly (readonly [name: FieldValue, value: FieldValue])[],
): Charset | undefined | Problem {
  const find = (name: string) => {
    const [, value] = fields.find((field) => field[0] === name) ?? [];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const own = find("_charset_");
  if (own !== undefined) return findCharset(own) ?? problems.charsetUnknown;
  const label = fields.every((field) => field.every((each) => typeof each === "string")) ? undefined : find("charset");
  return label === undefined ? undefined : findCharset(label);
}
