// Why a request is not let in by its signature: for the operator alone.

import type { Source } from "../senders/record";

/** What was wrong with a request, with nothing of its secrets in it. Bytes are those of one signature. */
export type Why =
  | { kind: "missing" | "repeated" | "timeMalformed"; source: Source }
  | { kind: "signatureMalformed"; source: Source }
  | { kind: "signatureLength"; source: Source; bytes: number; expected: number }
  | { kind: "tooManySignatures"; count: number; most: number }
  /** `seconds` is how long ago it was signed: less than nothing when that is still to come. */
  | { kind: "timeOutside"; source: Source; seconds: number; tolerance: number }
  | { kind: "signatureWrong" | "tokenWrong" | "bodyDigestWrong" };

export interface Refusal {
  why: Why;
}

/** Which of the two secrets fitted. */
export type Credential = "first" | "second";

export interface Admission {
  credential: Credential;
  /** Whether it is a test request of the editor's, which has neither of the two. */
  isTrial?: true;
  /** When it was signed, in ms since the epoch; nothing where that is not told. */
  sentAt?: number;
}
