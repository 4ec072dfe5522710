// By what a delivery is known when it comes again.

import { hash } from "node:crypto";
import type { DuplicateKey } from "../config/duplicate-key";
import type { Scheme, Sender } from "../trust/senders/record";
import { Fields, type Head, placeOf } from "../trust/signature/fields";
import { coversBody } from "../trust/signature/settings";

/** What is known of a delivery that may come in. */
export interface Known {
  head: Head;
  /** The body as it was sent. */
  bytes: Buffer;
  /** The body without its content codings; it is read only where the key stands in it. */
  content: () => Buffer;
  /** The sender's own id of the delivery, if it tells one. */
  id: string | undefined;
  /** Whether anybody who has seen the delivery could send it under another id: see `isIdLoose`. */
  isIdLoose: boolean;
}

/**
 * Whether a sender signs the bodies of its deliveries, and not their ids. Such an id is no key by itself: with the id of
 * a delivery that is to come, an old one that is sent again would keep that out. The time of the signature is no part of
 * the key, as senders sign anew what they send again.
 *
 * @param scheme by which requests are let in; nothing where that is a token, and all who have it are trusted
 */
export function isIdLoose({ id }: Pick<Sender, "id">, scheme: Scheme | undefined): boolean {
  return id?.signed === false && scheme !== undefined && coversBody(scheme);
}

/**
 * The key of a delivery, which no other delivery to the endpoint has: 43 characters, whatever it is made of.
 *
 * @returns nothing where a delivery has none, or more than one: it is no repeat then
 */
export function duplicateKeyOf(kind: DuplicateKey, delivery: Known): string | undefined {
  const text = textOf(kind, delivery);
  // With its kind, so that what is known does not mean something else when the kind is changed.
  return text === undefined ? undefined : hash("sha256", `${kind}\n${text}`, "base64url");
}

function textOf(kind: DuplicateKey, { head, bytes, content, id, isIdLoose }: Known): string | undefined {
  if (kind === "body") return bytes.length === 0 ? undefined : digestOf(bytes);
  if (kind !== "") return new Fields(head, content).onlyTextAt(placeOf(kind));
  return id === undefined || !isIdLoose ? id : `${digestOf(bytes)} ${id}`;
}

function digestOf(bytes: Buffer): string {
  return hash("sha256", bytes, "base64url");
}
