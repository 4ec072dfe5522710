// The first words of a body: what a delivery was, where no event is known.

import type { Delivery } from "./delivery";

/** Of a body, so many bytes are looked at. */
const looked = 120;
/** So many characters are told. */
const longest = 80;
/** What stands for bytes that are no text. */
const replacement = "\uFFFD";

export function withWords(delivery: Delivery, body: Buffer): Delivery {
  if (delivery.webhook?.event !== undefined) return delivery;
  const words = wordsOf(body);
  return words === undefined ? delivery : { ...delivery, words };
}

/** @returns nothing where it is empty, or is no text */
export function wordsOf(body: Buffer): string | undefined {
  // The last character may be cut in its middle.
  const text = body.toString("utf8", 0, looked).replace(new RegExp(`${replacement}+$`), "");
  const words = text.replace(/\s+/g, " ").trim().slice(0, longest);
  return words === "" || Array.from(words).some(isNoText) ? undefined : words;
}

function isNoText(character: string): boolean {
  return character < " " || character === replacement;
}
