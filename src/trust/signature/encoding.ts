// Bytes written as text, read strictly: what is not all of the alphabet is no bytes.

import type { Encoding } from "../senders/record";

const alphabets: Readonly<Record<Encoding, RegExp>> = {
  hex: /^(?:[0-9a-f]{2})*$/i,
  base64: /^[A-Za-z0-9+/]*={0,2}$/,
  base64url: /^[A-Za-z0-9_-]*={0,2}$/,
};

/**
 * Decodes RFC 4648 without the leniency of `Buffer.from`, which stops at what it does not know, or skips it. Padding may
 * be absent; where it is, it is right.
 *
 * @returns nothing when the text is not in this encoding
 */
export function decodeStrictly(text: string, encoding: Encoding): Buffer | undefined {
  if (!alphabets[encoding].test(text)) return undefined;
  if (encoding === "hex") return Buffer.from(text, "hex");
  const padding = text.indexOf("=");
  const length = padding === -1 ? text.length : padding;
  if (length % 4 === 1) return undefined;
  return padding !== -1 && text.length % 4 !== 0 ? undefined : Buffer.from(text, encoding);
}

/** Whether base64 has no bits beside the bytes that it stands for (RFC 4648 §3.5): two texts would be one signature. */
export function isCanonical(text: string, bytes: Buffer, encoding: Encoding): boolean {
  return encoding === "hex" || bytes.toString(encoding).replace(/=+$/, "") === text.replace(/=+$/, "");
}
