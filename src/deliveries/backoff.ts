// What becomes of a delivery when an attempt has ended.

import type { Delivery } from "./delivery";
import type { AttemptResult, Pace } from "./queue";

/** The time from a failure until the next attempt, in the unit of the pace. @param failures how many there were, this one included */
export function backoffAfter(
  { backoffFirst, backoffLongest }: Pick<Pace, "backoffFirst" | "backoffLongest">,
  failures: number,
): number {
  return Math.min(backoffLongest, backoffFirst * 2 ** (failures - 1));
}

/** The delivery after an attempt, which its `attempt` counts; an interrupted attempt is taken back. @param now in ms since the epoch */
export function afterAttempt(delivery: Delivery, result: AttemptResult, pace: Pace, now: number): Delivery {
  const { nextAt: _, error: __, ...rest } = delivery;
  const { attempt } = delivery;
  if (result.as === "succeeded") return { ...rest, state: "succeeded" };
  if (result.as === "interrupted") return { ...rest, state: "queued", attempt: attempt - 1 };
  const { error, retryAfterMs, isTold = false } = result;
  if (isTold || attempt >= pace.attempts) return { ...rest, state: "failed", error };
  const nextAt = now + (retryAfterMs ?? backoffAfter(pace, attempt));
  return { ...rest, state: "retrying", error, nextAt, maxAttempts: pace.attempts };
}
