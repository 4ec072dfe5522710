// The text in bytes that somebody looks at.

import { isUtf8 } from "node:buffer";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** What stands for the rest of a text. */
export const ellipsis = "…";

/**
 * @param isCut whether the last character may be cut in its middle
 * @returns nothing where they are no text
 */
export function textOf(bytes: Uint8Array, isCut = false): string | undefined {
  // No text that anybody sends has one, and most of what is no text does.
  if (bytes.includes(0)) return undefined;
  const whole = isCut ? bytes.subarray(0, endOfLast(bytes)) : bytes;
  return isUtf8(whole) ? utf8.decode(whole) : undefined;
}

/** Where the last character ends that is there as a whole: the first of its bytes says how many it has (RFC 3629 §3). */
function endOfLast(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinued(bytes[start])) start--;
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? start : bytes.length;
}

function isContinued(byte = 0): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

/**
 * @param most how many bytes, or characters, of it at most
 * @returns with an ellipsis where there was more; nothing where it is no text
 */
export function beginningOf(said: string | Uint8Array, most: number): string | undefined {
  const isCut = said.length > most;
  const beginning = typeof said === "string" ? said.slice(0, most) : textOf(said.subarray(0, most), isCut);
  return beginning === undefined || !isCut ? beginning : beginning + ellipsis;
}
