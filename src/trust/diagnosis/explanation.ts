// What an operator is told of a refused request.

import type { SenderId } from "../senders/table";

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
