// What becomes of a delivery when an attempt has ended.

import { backoffAfter, type Pace } from "../config/handling";
import type { Delivery } from "./delivery";
import type { AttemptResult } from "./queue";

/**
 * The delivery after an attempt, which its `attempt` counts; an interrupted attempt is taken back.
 *
 * @param now in ms since the epoch
 */
export function afterAttempt(
  delivery: Delivery,
  result: AttemptResult,
  pace: Pick<Pace, "attempts" | "backoffFirst" | "backoffLongest">,
  now: number,
): Delivery {
  const { nextAt: _, error: __, ...rest } = delivery;
  const { attempt } = delivery;
  if (result.as === "succeeded") return { ...rest, state: "succeeded" };
  if (result.as === "interrupted") return { ...rest, state: "queued", attempt: attempt - 1 };
  const { error, retryAfterMs, isTold = false } = result;
  if (isTold || attempt >= pace.attempts) return { ...rest, state: "failed", error };
  const nextAt = now + (retryAfterMs ?? backoffAfter(pace, attempt));
  return { ...rest, state: "retrying", error, nextAt, maxAttempts: pace.attempts };
}
