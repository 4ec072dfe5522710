// What lets requests in at an endpoint, whether that is a token or a signature.

import type { Problem } from "../request/problem";
import type { CredentialPlace } from "../request/request-info";
import type { Redactor } from "./redactor";
import type { Authenticated, Explanation } from "./result";
import type { Handshake, Mac, Scheme, Sender, Source } from "./senders/sender";
import { Fields, type RequestHead, parseSource } from "./signature/fields";

export interface Authenticator extends CredentialPlace {
  /** The methods besides POST by which the sender may ask something. */
  readonly methods: readonly string[];
  /** How requests are signed; nothing where a token lets them in. */
  readonly scheme: Scheme | undefined;
  /** Why a request is refused that lacks what lets it in. */
  readonly missing: Problem;
  /** Whether something in front has taken away a field that is to let the request in. */
  isTakenFrom(request: ReceivedFields): boolean;
  /**
   * Judges a request by its head.
   *
   * @param at when it came, in ms since the epoch
   */
  begin(head: RequestHead, at: number): AuthResult;
  /** Replaces its secrets in texts. */
  readonly redactor: Redactor;
  /** Tells the operator why a request was refused. It may take as long as some forty requests do. */
  explain(refused: RefusedRequestFacts): Explanation;
}

/** The header fields of a request: as something in front has left them, and as they came. */
export interface ReceivedFields {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly rawHeaders: readonly string[];
}

/** What becomes of a request, as far as its head tells: it may come in, has more to prove, or is done with. */
export type AuthResult = Authenticated | PendingVerification | HandshakeAnswer | Problem;

/** What a request still has to prove by its body. */
export interface PendingVerification {
  /** The most bytes that its body may have to prove anything, and why it is refused where it has more. */
  readonly limit?: { readonly bytes: number; readonly otherwise: Problem };
  /** Whether its sender is not known before its body has proven it. */
  readonly isUnverified: boolean;
  /** Whether it is proven by the bytes of the body as they came: no other form of it will do. */
  readonly needsBytes: boolean;
  /** @param body all of it */
  verdict(body: Buffer): Authenticated | HandshakeAnswer | Problem;
}

/** A request that was refused, as far as it was read. */
export interface RefusedRequestFacts {
  head: RequestHead;
  body?: Buffer | undefined;
  /** When it came, in ms since the epoch. */
  at: number;
  /** The address of its sender, where that is known. */
  ip?: string | undefined;
}

export function isAuthenticated(entry: AuthResult): entry is Authenticated {
  return "credential" in entry;
}

export function isPendingVerification(entry: AuthResult): entry is PendingVerification {
  return "verdict" in entry;
}

// What a handshake is answered: nothing of a request is said back that may not be.

/** What a sender is answered. */
export interface HandshakeAnswer {
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

/** What all members become; nothing when one becomes nothing. */
function mapped<From, To>(
  members: Readonly<Record<string, From>>,
  map: (value: From) => To | undefined,
): Record<string, To> | undefined {
  const entries = Object.entries(members).map(([name, value]) => ({ name, value: map(value) }));
  const whole = entries.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return whole.length === entries.length ? Object.fromEntries(whole) : undefined;
}

// What a sender tells of a delivery.

/** What is known; a text also where it is a number in JSON. */
interface SenderDelivery {
  event?: string;
  /** The sender's own id of the delivery. */
  id?: string;
}

/**
 * Finds the type of the event and the id of the delivery.
 *
 * @param content the body without its content codings; it is read only where the sender tells in it
 */
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
