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

/** For a run of blanks, Node.js takes a time that grows with the square of its length, and a form has 1,000 types. */
const longRun = /[\t ]{9,}/g;

/** @param contentType the header field */
export function parseMediaType(contentType = ""): MIMEType | undefined {
  try {
    return new MIMEType(contentType.replace(longRun, " "));
  } catch {
    return undefined;
  }
}
