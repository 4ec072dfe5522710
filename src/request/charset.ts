// Reads texts by their charset (WHATWG Encoding Standard). Bytes that are not in it are kept: nothing is replaced.

import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { type Problem, problems } from "./problem";

export interface Charset {
  /** As the standard has it, in lower case. */
  readonly name: string;
  /** @returns nothing where the bytes are not in the charset; a mark is kept */
  readonly decode: (bytes: Buffer) => string | undefined;
}

export const utf8: Charset = {
  name: "utf-8",
  decode: (bytes) => (isUtf8(bytes) ? bytes.toString() : undefined),
};
/** What no charset is known for. */
const unknown: Charset = { name: "", decode: () => undefined };

const charsets = new Map([[utf8.name, utf8]]);
/** Few senders need more than UTF-8. Node.js has a `TextDecoder`, which reads other letters for many charsets. */
const loadLibrary = () => createRequire(__filename)("@exodus/bytes/encoding.js") as typeof import("@exodus/bytes/encoding.js"); // prettier-ignore

/**
 * @param label a name of the charset
 * @returns nothing where the standard does not know it
 */
export function findCharset(label: string): Charset | undefined {
  if (/^utf-?8$/i.test(label)) return utf8;
  const { normalizeEncoding, TextDecoder } = loadLibrary();
  const name = normalizeEncoding(label);
  // The standard's own name for what is too dangerous to be read.
  if (name === null || name === "replacement") return undefined;
  const found = charsets.get(name);
  if (found) return found;
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  const decode = (bytes: Buffer) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
  const charset = { name, decode };
  charsets.set(name, charset);
  return charset;
}

/** What says how a text is to be read, besides its bytes. */
interface TextLabels {
  /** Of the content type. */
  readonly declared?: Charset | undefined;
  readonly isXml?: boolean;
  /** Where neither the text nor its content type names one. */
  readonly otherwise?: Charset;
  /** Whether the bytes were signed, and the content type was not. */
  readonly isSigned?: boolean;
}

/** How the texts of a body are read. */
export interface TextReader {
  readonly charset: Charset;
  /** Whether nothing has named the charset. */
  readonly isAssumed?: boolean;
  /** Whether whoever is on the way may have named it. */
  readonly isDoubtful?: boolean;
}

const assumed: TextReader = { charset: utf8, isAssumed: true };

/**
 * By the byte-order mark, the content type, the declaration of XML, or else UTF-8.
 *
 * @returns the reader, and the bytes behind the mark
 */
export function findReader(
  bytes: Buffer,
  { declared, isXml, otherwise, isSigned = false }: TextLabels,
): [TextReader, Buffer] {
  const mark = findMark(bytes);
  if (mark) return [{ charset: mark.charset }, bytes.subarray(mark.length)];
  if (declared) return [{ charset: declared, isDoubtful: isSigned && declared !== utf8 }, bytes];
  const charset = (isXml ? findXmlCharset(bytes) : undefined) ?? otherwise;
  return [charset ? { charset } : assumed, bytes];
}

/**
 * @returns the bytes where they are not in the charset; a problem where they can be read in two ways, of which an
 *   unsigned header field chooses one: in some charsets, a character swallows the quote or the backslash behind it
 */
export function readAsText(bytes: Buffer, { charset, isDoubtful }: TextReader): string | Buffer | Problem {
  const text = charset.decode(bytes);
  if (isDoubtful && !bytes.includes(0) && isUtf8(bytes) && bytes.toString() !== text) return problems.charsetUnsigned;
  return text ?? bytes;
}

/** Encoding Standard §6: the byte-order marks. */
function findMark(bytes: Buffer): { charset: Charset; length: number } | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { charset: utf8, length: 3 };
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const charset = isUtf16 && findCharset(first === 0xff ? "utf-16le" : "utf-16be");
  return charset ? { charset, length: 2 } : undefined;
}

/** In bytes. */
const maxDeclaration = 256;
const declarationForm = /^<\?xml\s[^>]*?\bencoding\s*=\s*(["'])([a-z][\w.:-]*)\1/i;

/** XML 1.0 §4.3.3 and appendix F: the first bytes tell the family of encodings; the declaration chooses within it. */
function findXmlCharset(bytes: Buffer): Charset | undefined {
  const head = bytes.toString("latin1", 0, maxDeclaration);
  // UTF-32, which the standard does not know.
  if (/^(?:<\0\0\0|\0\0\0<)/.test(head)) return unknown;
  if (head.startsWith("<\0")) return findCharset("utf-16le");
  if (head.startsWith("\0<")) return findCharset("utf-16be");
  const [, , label] = declarationForm.exec(head) ?? [];
  if (label === undefined) return undefined;
  const declared = findCharset(label) ?? unknown;
  return declared.name.startsWith("utf-16") ? undefined : declared;
}
