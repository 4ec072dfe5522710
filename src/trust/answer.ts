// What a handshake is answered: nothing of a request is said back that may not be.

import type { Handshake, Mac, Source } from "./senders/record";
import { type Fields, placeOf } from "./signature/fields";

/** What a sender is answered. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether it is what every request of the method gets that is no handshake. */
  isFallback?: true;
  /** A secret that the sender has brought, to be shown to the operator and to nobody else. */
  show?: string;
}

/** Says a piece of an answer; nothing where the request lacks what it is made of. */
type Say = (piece: Source | Mac) => string | undefined;

/**
 * Answers a handshake. Where the request lacks what is to be said back, or that looks otherwise than it may, the answer
 * is that it was wrong.
 *
 * @param mac makes an HMAC-SHA256 under the secret; only of what may be said back
 */
export function answerTo(
  { restrict = [], reply, show }: Handshake,
  request: Fields,
  mac: (text: string) => Buffer | undefined,
): Answer {
  const refusal = { status: 400, headers: {}, body: "" };
  const isAllowed = restrict.every(([source, pattern]) => pattern.test(textAt(request, source) ?? ""));
  if (!isAllowed) return refusal;
  const say: Say = (piece) => (typeof piece === "string" ? textAt(request, piece) : macOf(piece, request, mac));
  const headers = mapped(reply.headers ?? {}, say);
  const body = bodyOf(reply.body ?? "lit:", say);
  const shown = show === undefined ? "" : textAt(request, show);
  if (!headers || body === undefined || shown === undefined) return refusal;
  const type = typeof reply.body === "object" ? { "Content-Type": "application/json" } : {};
  return { status: reply.status, headers: { ...type, ...headers }, body, ...(shown !== "" && { show: shown }) };
}

/** A literal may be empty. */
function textAt(request: Fields, source: Source): string | undefined {
  return source === "lit:" ? "" : request.onlyTextAt(placeOf(source));
}

function macOf(
  { mac: encoding, of, prefix = "" }: Mac,
  request: Fields,
  mac: (text: string) => Buffer | undefined,
): string | undefined {
  const text = textAt(request, of);
  const digest = text === undefined ? undefined : mac(text);
  return digest && prefix + digest.toString(encoding);
}

function bodyOf(body: NonNullable<Handshake["reply"]["body"]>, say: Say): string | undefined {
  if (typeof body === "string") return say(body);
  const members = mapped(body, (piece) => (typeof piece === "number" ? piece : say(piece)));
  return members && JSON.stringify(members);
}

/** What all members become; nothing when one becomes nothing. */
function mapped<From, To>(
  members: Readonly<Record<string, From>>,
  map: (value: From) => To | undefined,
): Record<string, To> | undefined {
  const entries = Object.entries(members).map(([name, value]) => ({ name, value: map(value) }));
  const whole = entries.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return whole.length === entries.length ? Object.fromEntries(whole) : undefined;
}
