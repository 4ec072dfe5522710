// Media types, and which of them are texts.

import { MIMEType } from "node:util";
import { fieldValues, type RequestHead } from "./head";

/** RFC 6839 §3.1: +json; the top-level type does not matter. */
export const jsonType = /^application\/json$|\+json$/;
export const xmlType = /^(?:application|text)\/xml$|\+xml$/;
export const textType = new RegExp(`^text/|${xmlType.source}`);

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

/** Whether a body is a form with files, by its content type. */
export function isMultipart(contentType = ""): boolean {
  // Parsing each content type would take longer than all the rest.
  return /^\s*multipart\//i.test(contentType) && parseMediaType(contentType)?.essence === "multipart/form-data";
}

/** Which kind of form a request has by its content type, if it has one, and no other type. */
export function findFormKind({ rawHeaders }: Pick<RequestHead, "rawHeaders">): "urlencoded" | "multipart" | undefined {
  const [type = "", ...repeated] = fieldValues(rawHeaders, "content-type");
  if (repeated.length > 0) return undefined;
  if (/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return "urlencoded";
  return isMultipart(type) ? "multipart" : undefined;
}
