// Why a request is not let in by its signature: for the operator alone.

import type { Source } from "./senders/sender";
import type { SenderId } from "./senders/table";

/** What was wrong with a request, with nothing of its secrets in it. Bytes are those of one signature. */
export type RefusalReason =
  | { kind: "missing" | "repeated" | "timeMalformed"; source: Source }
  | { kind: "signatureMalformed"; source: Source }
  | { kind: "signatureLength"; source: Source; bytes: number; expected: number }
  | { kind: "tooManySignatures"; count: number; most: number }
  /** `seconds` is how long ago it was signed: less than nothing when that is still to come. */
  | { kind: "timeOutside"; source: Source; seconds: number; tolerance: number }
  | { kind: "signatureWrong" | "tokenWrong" | "bodyDigestWrong" };

export interface Refusal {
  why: RefusalReason;
}

/** Which of the two secrets fitted. */
export type Credential = "first" | "second";

export interface Authenticated {
  credential: Credential;
  /** Whether it is a test request of the editor's, which has neither of the two. */
  isTest?: true;
  /** When it was signed, in ms since the epoch; nothing where that is not told. */
  sentAt?: number;
}

// What an operator is told of a refused request.

/** A sentence by its key under `whyNot` in the message catalog, and what stands in it. Never a secret or a token. */
export interface Reason {
  key: string;
  values: Record<string, string | number>;
}

export interface Explanation {
  /** What was wrong and how to mend it, the surest first. */
  reasons: Reason[];
  /** The sender that it looks like: a guess that nothing has proven. */
  looksLike?: SenderId;
}
