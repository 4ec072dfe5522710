// What all lines stand on.

import type { Ledger } from "./ledger";
import type { Store } from "./store";

/** How long things take, in ms. */
export interface Timing {
  /** From when there is no room until more are taken into memory all the same: what never ends must not hold up the rest. */
  readonly patience: number;
  /** Until those are looked for that had no place in memory after a failure. */
  readonly lookAgainAfter: number;
  /** How long the flow has a delivery alone that may have ended the process before. */
  readonly alone: number;
}

export const timing: Timing = {
  patience: 1000,
  lookAgainAfter: 60_000,
  alone: 5000,
};

/** What is common to all lines. */
export interface Ground {
  readonly store: Store;
  readonly ledger: Ledger;
  /** Whether flows run. */
  readonly isOpen: boolean;
  readonly timing: Timing;
}
