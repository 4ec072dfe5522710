// What lets requests in at an endpoint, whether that is a token or a signature.

import type { Problem } from "../problem";
import type { CredentialPlace } from "../request/request-info";
import type { Answer } from "./answer";
import type { Explanation } from "./diagnosis/explanation";
import type { Head } from "./signature/fields";
import type { Admission } from "./signature/why";
import type { Redactor } from "./redactor";
import type { Scheme } from "./senders/record";

export interface Gate extends CredentialPlace {
  /** The methods besides POST by which the sender may ask something. */
  readonly methods: readonly string[];
  /** How requests are signed; nothing where a token lets them in. */
  readonly scheme: Scheme | undefined;
  /** Why a request is refused that lacks what lets it in. */
  readonly missing: Problem;
  /** Whether something in front has taken away a field that is to let the request in. */
  isTakenFrom(request: Fields): boolean;
  /**
   * Judges a request by its head.
   *
   * @param at when it came, in ms since the epoch
   */
  begin(head: Head, at: number): Entry;
  /** Replaces its secrets in texts. */
  readonly redactor: Redactor;
  /** Tells the operator why a request was refused. It may take as long as some forty requests do. */
  explain(refused: Refused): Explanation;
}

/** The header fields of a request: as something in front has left them, and as they came. */
export interface Fields {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly rawHeaders: readonly string[];
}

/** What becomes of a request, as far as its head tells: it may come in, has more to prove, or is done with. */
export type Entry = Admission | Claim | Answer | Problem;

/** What a request still has to prove by its body. */
export interface Claim {
  /** The most bytes that its body may have to prove anything, and why it is refused where it has more. */
  readonly longest?: { readonly bytes: number; readonly otherwise: Problem };
  /** Whether its sender is not known before its body has proven it. */
  readonly isUnverified: boolean;
  /** Whether it is proven by the bytes of the body as they came: no other form of it will do. */
  readonly needsBytes: boolean;
  /** @param body all of it */
  verdict(body: Buffer): Admission | Answer | Problem;
}

/** A request that was refused, as far as it was read. */
export interface Refused {
  head: Head;
  body?: Buffer | undefined;
  /** When it came, in ms since the epoch. */
  at: number;
  /** The address of its sender, where that is known. */
  ip?: string | undefined;
}

export function isAdmission(entry: Entry): entry is Admission {
  return "credential" in entry;
}

export function isClaim(entry: Entry): entry is Claim {
  return "verdict" in entry;
}
