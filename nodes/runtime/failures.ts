// Notes with what flows have failed that are not followed to their end.

import type { Node } from "node-red";
import type { Recent } from "../../src/recent";
import type { Begun } from "../../src/records";
import { errorOf, longestError } from "./followed";

/** What never loses a delivery follows it, and knows more of it. */
export class Failures {
  readonly #begun: Recent<Begun>;

  /** @param begun what flows were started with that nobody follows */
  constructor(begun: Recent<Begun>) {
    this.#begun = begun;
  }

  /** A node has reported an error about a message, which may have nothing to do with us. */
  readonly heard = (id: string, error: unknown, node: Node): void => {
    // A flow may fail before the delivery is noted.
    setImmediate(() => {
      // Of each the first error is noted: what follows from it tells less.
      const begun = this.#begun.take(id);
      begun?.records.failed(id, begun, (redactor) => redactor.redact(errorOf(node, error)).slice(0, longestError));
    });
  };
}
