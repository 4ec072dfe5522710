// What the runs of a delivery say of it.

import type { Kept, Attempt } from "./delivery";

/** How often the flow was started with a delivery, and how that ended as far as anybody knows. */
export interface History {
  /** How often, the present run included. */
  readonly attempt: number;
  /** Of a run that the process has not survived, there may be none. */
  readonly attempts: readonly Attempt[];
}

export function historyOf({ delivery: { attempt }, attempts }: Kept): History {
  return { attempt, attempts };
}

/** How often the flow has failed with it, was interrupted, or has it now; what a deploy has ended is none of these. */
export function attemptsOf({ attempt, attempts }: History): number {
  return attempt - attempts.filter(({ ended, error }) => ended !== undefined && error === undefined).length;
}

/** Whether it has had all of its attempts, the present one included. */
export function hasHadAll(history: History, attempts: number): boolean {
  return attemptsOf(history) >= attempts;
}

/** Whether it was under way when the process ended, and has failed before, or has no attempt left. */
export function isSuspect(kept: Kept, attempts: number): boolean {
  return kept.delivery.state === "running" && attemptsOf(historyOf(kept)) > Math.min(1, attempts - 1);
}

/**
 * Those with which the flow is not started again, since they end the process each time. Of all that were under way, it was
 * the one that was started last, if it was any; or, when that has been so twice as often as a flow may fail, any.
 */
export function hopelessOf(deliveries: readonly Kept[], attempts: number): Kept[] {
  const suspects = deliveries.filter((kept) => isSuspect(kept, attempts));
  const latest = Math.max(...suspects.map(lastStart));
  return suspects.filter((kept) => {
    const had = attemptsOf(historyOf(kept));
    return had >= 2 * attempts || (had >= attempts && lastStart(kept) === latest);
  });
}

/** When the flow was last started with it, in ms since the epoch. */
function lastStart({ delivery, attempts }: Kept): number {
  return attempts.at(-1)?.at ?? delivery.at;
}

/** The last run, which ends now. */
export function endedAttempt({ attempts }: History, error?: string): Attempt {
  const now = Date.now();
  return { at: attempts.at(-1)?.at ?? now, ended: now, ...(error !== undefined && { error }) };
}
