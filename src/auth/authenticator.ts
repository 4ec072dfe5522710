// Authenticates the requests of an endpoint, by a token or a signature.

import type { Problem } from "../request/problem";
import type { CredentialPlace } from "../request/request-info";
import type { Redactor } from "./redactor";
import type { Authenticated, Explanation } from "./result";
import type { Handshake, Mac, Scheme, Sender, Source } from "./senders/sender";
import { Fields, type RequestHead, parseSource } from "./signature/fields";

export interface Authenticator extends CredentialPlace {
  /** The methods besides POST that handshakes use. */
  readonly methods: readonly string[];
  /** Missing where the sender uses a token. */
  readonly scheme: Scheme | undefined;
  /** The problem of a request without a credential. */
  readonly missing: Problem;
  /** Whether middleware in front has removed the header field of the credential. */
  isTakenFrom(request: ReceivedFields): boolean;
  /**
   * Checks the head of a request.
   *
   * @param at when it came, in ms since the epoch
   */
  begin(head: RequestHead, at: number): AuthResult;
  /** Redacts the credentials of the endpoint. */
  readonly redactor: Redactor;
  /** Explains a refusal to the operator. Takes as long as some forty verifications. */
  explain(refused: RefusedRequestFacts): Explanation;
}

/** The header fields of a request: as middleware has left them, and as sent. */
export interface ReceivedFields {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly rawHeaders: readonly string[];
}

/** The result for the head of a request: authenticated, to be verified by the body, a handshake's reply, or refused. */
export type AuthResult = Authenticated | PendingVerification | HandshakeAnswer | Problem;

/** A verification that needs the body. */
export interface PendingVerification {
  /** The most bytes of the body, and the problem of a longer one. */
  readonly limit?: { readonly bytes: number; readonly otherwise: Problem };
  /** Whether the sender is unknown until the body is verified. */
  readonly isUnverified: boolean;
  /** Whether it needs the bytes as sent. */
  readonly needsBytes: boolean;
  /** @param body the whole body */
  verdict(body: Buffer): Authenticated | HandshakeAnswer | Problem;
}

/** A refused request, as far as it was read. */
export interface RefusedRequestFacts {
  head: RequestHead;
  body?: Buffer | undefined;
  /** When it came, in ms since the epoch. */
  at: number;
  /** Missing where unknown. */
  ip?: string | undefined;
}

export function isAuthenticated(entry: AuthResult): entry is Authenticated {
  return "credential" in entry;
}

export function isPendingVerification(entry: AuthResult): entry is PendingVerification {
  return "verdict" in entry;
}

// Replies to handshakes: nothing of a request is echoed that must not be.

export interface HandshakeAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether other requests of the method get it, too. */
  isFallback?: true;
  /** A secret that the sender has sent, for the operator only. */
  show?: string;
}

/** Resolves a part of a reply; nothing where the request lacks it. */
type Say = (piece: Source | Mac) => string | undefined;

/**
 * Composes the reply to a handshake; 400 where the request lacks an echoed value, or it has a wrong form.
 *
 * @param mac an HMAC-SHA256 under the secret, only of values that may be echoed
 */
export function createHandshakeAnswer(
  { restrict = [], reply, show }: Handshake,
  request: Fields,
  mac: (text: string) => Buffer | undefined,
): HandshakeAnswer {
  const refusal = { status: 400, headers: {}, body: "" };
  const isAllowed = restrict.every(([source, pattern]) => pattern.test(textAt(request, source) ?? ""));
  if (!isAllowed) return refusal;
  const say: Say = (piece) => (typeof piece === "string" ? textAt(request, piece) : computeMac(piece, request, mac));
  const headers = mapped(reply.headers ?? {}, say);
  const body = composeBody(reply.body ?? "lit:", say);
  const shown = show === undefined ? "" : textAt(request, show);
  if (!headers || body === undefined || shown === undefined) return refusal;
  const type = typeof reply.body === "object" ? { "Content-Type": "application/json" } : {};
  return { status: reply.status, headers: { ...type, ...headers }, body, ...(shown !== "" && { show: shown }) };
}

/** A literal may be empty. */
function textAt(request: Fields, source: Source): string | undefined {
  return source === "lit:" ? "" : request.onlyTextAt(parseSource(source));
}

function computeMac(
  { mac: encoding, of, prefix = "" }: Mac,
  request: Fields,
  mac: (text: string) => Buffer | undefined,
): string | undefined {
  const text = textAt(request, of);
  const digest = text === undefined ? undefined : mac(text);
  return digest && prefix + digest.toString(encoding);
}

function composeBody(body: NonNullable<Handshake["reply"]["body"]>, say: Say): string | undefined {
  if (typeof body === "string") return say(body);
  const members = mapped(body, (piece) => (typeof piece === "number" ? piece : say(piece)));
  return members && JSON.stringify(members);
}

/** Maps all members; nothing when one has no value. */
function mapped<From, To>(
  members: Readonly<Record<string, From>>,
  map: (value: From) => To | undefined,
): Record<string, To> | undefined {
  const entries = Object.entries(members).map(([name, value]) => ({ name, value: map(value) }));
  const whole = entries.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return whole.length === entries.length ? Object.fromEntries(whole) : undefined;
}

// The event and the id of a delivery.

/** A number in JSON becomes text. */
interface SenderDelivery {
  event?: string;
  /** The sender's own id. */
  id?: string;
}

/** @param content the decoded body, read only where the sender has a value there */
export function readSenderDelivery(
  { event, id }: Pick<Sender, "event" | "id">,
  head: RequestHead,
  content: () => Buffer,
): SenderDelivery {
  const fields = new Fields(head, content);
  const told = event && fields.onlyTextAt(parseSource(event));
  const place = id?.from.find((source) => fields.onlyTextAt(parseSource(source)) !== undefined);
  const own = place && fields.onlyTextAt(parseSource(place));
  return { ...(told !== undefined && { event: told }), ...(own !== undefined && { id: own }) };
}
