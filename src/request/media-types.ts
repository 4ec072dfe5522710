// Media types, and which of them are texts.

import { MIMEType } from "node:util";

/** RFC 6839 §3.1: +json; the top-level type does not matter. */
export const jsonType = /^application\/json$|\+json$/;
const xmlType = /^(?:application|text)\/xml$|\+xml$/;
export const textType = new RegExp(`^text/|${xmlType.source}`);

export function isXmlType(essence: string): boolean {
  return xmlType.test(essence);
}

/** Whether a part of a form is a text. */
export function isTextType(essence: string): boolean {
  return textType.test(essence) || jsonType.test(essence);
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
