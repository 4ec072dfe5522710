// The result of authentication, and the reasons for a refusal.

import type { Source } from "./senders/sender";
import type { SenderId } from "./senders/table";

/** Contains no secret. Bytes are those of one signature. */
export type RefusalReason =
  | { kind: "missing" | "repeated" | "timeMalformed" | "signatureMalformed"; source: Source }
  | { kind: "signatureLength"; source: Source; bytes: number; expected: number }
  | { kind: "tooManySignatures"; count: number; most: number }
  /** `seconds` since it was signed; negative when that is in the future. */
  | { kind: "timeOutside"; source: Source; seconds: number; tolerance: number }
  | { kind: "signatureWrong" | "tokenWrong" | "bodyDigestWrong" };

/** Which of the two credentials was used. */
export type Credential = "first" | "second";

export interface Authenticated {
  credential: Credential;
  /** Whether it is a test request. */
  isTest?: true;
  /** When it was signed, in ms since the epoch. */
  sentAt?: number;
}

/** A key under `whyNot` in the message catalog, with its values. Never a secret or a token. */
export interface Reason {
  key: string;
  values: Record<string, string | number>;
}

/** The explanation of a refusal. */
export interface Explanation {
  /** What was wrong and how to fix it, the most certain first. */
  reasons: Reason[];
  /** The sender that it seems to be from. */
  looksLike?: SenderId;
}
