// Authenticates the requests of an endpoint: its results, and the reasons for a refusal.

import type { DecodedBody } from "../request/decode";
import type { RequestHead } from "../request/head";
import { Problem, type Reason } from "../request/problem";
import type { CredentialPlace } from "../request/request-info";
import type { OutgoingRequest } from "./outgoing";
import type { Redactor } from "./redactor";
import type { Scheme, Source } from "./senders/sender";
import type { SenderId } from "./senders/table";

/** Checks the requests of an endpoint; prepared, so that a request costs little. */
export interface Authenticator extends CredentialPlace {
  /** The problem of a request without a credential. */
  readonly missing: Problem;
  /** The methods besides POST that handshakes use. */
  readonly handshakeMethods: readonly string[];
  /** Missing where the sender uses a token. */
  readonly scheme?: Scheme;
  /** The header fields of the credential, in lower case. */
  readonly fields: readonly string[];
  readonly redactor: Redactor;
  /** How long what `sign` gives is valid, in seconds: `null` for good; missing where that is the secret itself. */
  readonly validFor?: number | null;

  /**
   * Checks the head of a request.
   *
   * @param at when it arrived, in ms since the epoch
   * @param ip of the sender
   */
  checkHead(head: RequestHead, at: number, ip?: string): AuthResult;

  /** Whether a request that has its sender's credential, or needs none, says that it is a test. */
  isSignedTest(head: RequestHead): boolean;

  /**
   * Gives a request what its sender gives it: the first credential, and what is signed with it.
   *
   * @param at when it is sent, in ms since the epoch
   * @returns nothing where only the sender has the key; the reason where the request lacks what the sender signs
   */
  sign(request: OutgoingRequest, at: number): Signing | Promise<Signing>;

  /** Explains a refusal to the operator. Takes as long as some forty verifications; size and rate are bounded where it is used. */
  explain(refused: RefusedRequestFacts): Explanation;
}

type Signing = OutgoingRequest | RefusalReason | undefined;

/** The result for the head of a request, as far as it is known at once. */
export type AuthResult = HeadResult | PendingHead;

/** The result for the head of a request: authenticated, to be verified by the body, a handshake's reply, or refused. */
export type HeadResult = Authenticated | PendingVerification | LongVerification | HandshakeReply | Problem;

/** The verification of a head that takes time. The body is not read before. */
interface PendingHead {
  authenticate(): Promise<HeadResult>;
}

/** A verification that needs the body. */
export interface PendingVerification {
  /** The most bytes of the body, and the problem of a longer one; missing: those of the endpoint. */
  readonly maxBody?: { readonly bytes: number; readonly otherwise: Problem } | undefined;
  /** Whether the sender is unknown until the body is verified. */
  readonly isUnverified: boolean;
  /** Whether it needs the bytes as sent. */
  readonly needsBytes: boolean;
  /** @param body as the flow will get it */
  verify(body: DecodedBody): BodyVerdict;
}

/** One that takes time. */
export interface LongVerification extends Omit<PendingVerification, "verify"> {
  /** @param body as the flow will get it */
  verifyLater(body: DecodedBody): Promise<BodyVerdict>;
}

export type BodyVerdict = Authenticated | HandshakeReply | Problem;

/** The reply to a handshake. */
export interface HandshakeReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether other requests of the method get it, too. */
  isFallback?: true;
  /** Whether it was authenticated, as a request that starts the flow is. */
  isVerified?: true;
  /** A secret that the sender has sent, for the operator only. */
  show?: string;
}

/** Problems have a status as well. */
export function isHandshakeReply(result: AuthResult | BodyVerdict): result is HandshakeReply {
  return "status" in result && !(result instanceof Problem);
}

/** A refused request, as far as it was read. */
export interface RefusedRequestFacts {
  head: RequestHead;
  /** Missing where it was not read, or is too long to be examined. */
  body?: Buffer | undefined;
  /** When it arrived, in ms since the epoch. */
  at: number;
  /** Missing where unknown. */
  ip?: string | undefined;
  /** Whose token it has; missing where that was wrong, or no caller's. */
  caller?: string | undefined;
}

/** Contains no secret. Bytes are those of one signature. */
export type RefusalReason =
  | {
      kind: "missing" | "repeated" | "valueWrong" | "valueMalformed" | "timeMalformed" | "signatureMalformed";
      source: Source;
    }
  /** Signed values cannot be read in the body. */
  | { kind: "bodyPacked" | "bodyNoForm" | "bodyNoJson" }
  | { kind: "signatureLength"; source: Source; bytes: number; expected: number }
  | { kind: "tooManySignatures"; count: number; most: number }
  /** `seconds` since it was signed; negative when that is in the future. */
  | { kind: "timeOutside"; source: Source; seconds: number; tolerance: number }
  | { kind: "signatureWrong" | "tokenWrong" | "bodyDigestWrong" }
  | { kind: "certificate.topic" | "certificate.expired" | "certificate.raw" };

/** Which of the two credentials was used; the first one as well where it was a caller's token. */
export type Credential = "first" | "second";

export interface Authenticated {
  credential: Credential;
  /** The name of the caller whose token it has. */
  caller?: string;
  /** Whether it is a test request. */
  isTest?: true;
  /** Those of a JSON Web Token. */
  claims?: Readonly<Record<string, unknown>>;
  /** When it was signed, in ms since the epoch. */
  sentAt?: number;
}

export const byFirst: Authenticated = { credential: "first" };
export const bySecond: Authenticated = { credential: "second" };
export const byCaller = (caller: string): Authenticated => ({ credential: "first", caller });
export const byTest: Authenticated = { credential: "first", isTest: true };

/** The explanation of a refusal. */
export interface Explanation {
  /** What was wrong and how to fix it, the most certain first. */
  reasons: Reason[];
  /** The sender that it seems to be from. */
  looksLike?: SenderId;
}

/** Of a caller whose token was right until a deploy. */
export const callerRemoved: Explanation = { reasons: [{ key: "callerUnknown", values: {} }] };
