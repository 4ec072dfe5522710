// What the runs of a delivery say of it.

import type { Kept, Run } from "./delivery";
import { mostAttempts } from "./flow";

/** How often the flow has failed with it, or was interrupted; what a deploy has ended is neither. */
export function attemptsOf(runs: readonly Run[]): number {
  return runs.filter(({ ended, error }) => ended === undefined || error !== undefined).length;
}

/** Whether it has had all of its attempts, the present one included. */
export function hasHadAll(runs: readonly Run[]): boolean {
  return attemptsOf(runs) >= mostAttempts;
}

/** Whether it was under way when the process ended, and not for the first time that it has come to no good end. */
export function isSuspect({ runs }: Kept): boolean {
  const last = runs.at(-1);
  return last !== undefined && last.ended === undefined && attemptsOf(runs) > 1;
}

/**
 * Those with which the flow is not started again, since they end the process each time. Of all that were under way, it was
 * the one that was started last, if it was any; or, when that has been so twice as often as a flow may fail, any.
 */
export function hopelessOf(deliveries: readonly Kept[]): Kept[] {
  const suspects = deliveries.filter((kept) => isSuspect(kept) && hasHadAll(kept.runs));
  const latest = Math.max(...deliveries.filter(isSuspect).map(lastStart));
  return suspects.filter((kept) => lastStart(kept) === latest || attemptsOf(kept.runs) >= 2 * mostAttempts);
}

/** When the flow was last started with it, in ms since the epoch. */
function lastStart({ runs }: Kept): number {
  return runs.at(-1)?.at ?? 0;
}

/** The last run, which ends now. */
export function endedRun(runs: readonly Run[], error?: string): Run {
  const now = Date.now();
  return { at: runs.at(-1)?.at ?? now, ended: now, ...(error !== undefined && { error }) };
}
