// What has been let in, and how it gets to the flow.

import type { ServerResponse } from "node:http";
import type { Owed } from "./custody";
import type { Arrival } from "./request/summary";
import type { Head } from "./trust/signature/fields";
import type { Admission } from "./trust/signature/why";

/** A request that has been let in, and all of its body. */
export interface Admitted {
  readonly arrival: Arrival;
  readonly head: Head;
  readonly response: ServerResponse;
  readonly admission: Admission;
  /** As it came; of no interest where a parser in front has read it. */
  readonly bytes: Buffer;
  /** When it was met, as `performance.now()` tells time. */
  readonly start: number;
}

/** How a delivery gets to the flow. */
export interface Hand {
  on(owed?: Owed): void;
  /** Its sender will not hear of it. */
  back?(): void;
  /** Whether it had the key of a delivery, which is settled. */
  hasKey?: boolean;
}
