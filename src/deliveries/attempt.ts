// What becomes of a delivery before, by and after an attempt, and the pace of a node: the same in each engine.

import { backoffAfter, type Pace } from "../config/parse";
import type { Attempt, Delivery, Pause, StoredDelivery } from "./delivery";
import type { AttemptResult, ReservationEnd, RetryTime } from "./queue";
import { interrupted } from "./states";

/** How often a node with an open circuit breaker is tried, in ms. */
export const breakerIntervalMs = 60_000;

/** What an attempt changes. */
export type AttemptedDelivery = Pick<StoredDelivery, "delivery" | "attempts">;

/** And how long it waits for the next attempt, in ms; while one runs, how long if a crash ends that. */
export interface AttemptChange extends AttemptedDelivery {
  readonly waitMs: number;
}

/**
 * What becomes of a delivery that is due: it is `running`, has `failed` where its attempts are used up, or waits, as
 * `retrying`, where a crash has ended the last attempt just now.
 *
 * @param now in ms since the epoch
 */
export function beginAttempt(stored: AttemptedDelivery, pace: Pace, now: number): AttemptChange {
  const { nextAt: _, ...delivery } = stored.delivery;
  const { attempts } = stored;
  const hasCrashed = delivery.state === "running";
  if (delivery.attempt >= pace.attempts) {
    // The process ended during the last attempt, or the node has fewer attempts by now.
    const { error = interrupted } = hasCrashed ? {} : delivery;
    return { delivery: { ...delivery, state: "failed", error }, attempts, waitMs: 0 };
  }
  const maxAttempts = pace.attempts;
  if (hasCrashed) return afterCrash({ delivery: { ...delivery, maxAttempts }, attempts }, backoffAfter(pace, delivery.attempt), now); // prettier-ignore
  const attempt = delivery.attempt + 1;
  return {
    delivery: { ...delivery, state: "running", attempt, maxAttempts },
    attempts: [...attempts, { at: now }],
    waitMs: backoffAfter(pace, attempt),
  };
}

/**
 * @param pace missing where the node is closed
 * @param now in ms since the epoch
 */
export function endAttempt(
  { delivery, attempts }: AttemptedDelivery,
  result: AttemptResult,
  pace: Pace | undefined,
  now: number,
): AttemptChange {
  const { nextAt: _, error: __, ...rest } = delivery;
  const { attempt, maxAttempts = 1 } = delivery;
  const earlier = attempts.slice(0, -1);
  const ended = { at: now, ...attempts.at(-1), ended: now };
  const waitMs = 0;
  if (result.as === "interrupted") return { delivery: { ...rest, state: "queued", attempt: attempt - 1 }, attempts: earlier, waitMs }; // prettier-ignore
  if (result.as === "succeeded") return { delivery: { ...rest, state: "succeeded" }, attempts: [...earlier, ended], waitMs }; // prettier-ignore
  const { error, retryAfterMs, isSenderTold = false } = result;
  const all = [...earlier, { ...ended, error }];
  const max = pace?.attempts ?? maxAttempts;
  if (isSenderTold || attempt >= max) return { delivery: { ...rest, state: "failed", error }, attempts: all, waitMs };
  return waitForNext({ ...rest, error, maxAttempts: max }, all, retryAfterMs ?? (pace ? backoffAfter(pace, attempt) : 0), now); // prettier-ignore
}

/**
 * A delivery whose process has ended during an attempt: the attempt counts.
 *
 * @param waitMs as after a failure; after the last attempt, it fails as soon as its node looks at it
 */
export function afterCrash({ delivery, attempts }: AttemptedDelivery, waitMs: number, now: number): AttemptChange {
  const { attempt, maxAttempts = Infinity } = delivery;
  return waitForNext({ ...delivery, error: interrupted }, attempts, attempt < maxAttempts ? waitMs : 0, now);
}

function waitForNext(delivery: Delivery, attempts: readonly Attempt[], waitMs: number, now: number): AttemptChange {
  return { delivery: { ...delivery, state: "retrying", nextAt: now + waitMs }, attempts, waitMs };
}

/** What becomes of a delivery that is `retrying` where a user says when it is retried. @param now in ms since the epoch */
export function changeRetry({ nextAt: _, ...delivery }: Delivery, when: RetryTime, now: number): Delivery {
  return when === "now" ? { ...delivery, nextAt: now } : { ...delivery, state: "failed" };
}

/** What becomes of the key of a delivery that its request has started; nothing where it stays as it is. */
export function findKeyEnd(result: AttemptResult): ReservationEnd | undefined {
  if (result.as === "succeeded") return { reply: result.reply };
  return result.as === "failed" && result.isSenderTold ? "released" : undefined;
}

/** How many attempts of a node may run at once (0: any number), and how much time is between two starts, in ms. */
export interface StartLimits {
  readonly concurrency: number;
  readonly intervalMs: number;
}

/** With an open circuit breaker one attempt at a time, and one per interval. */
export function findLimits(
  { concurrency, ratePerMinute }: Pace,
  pause: Pause | undefined,
  intervalOfTrialsMs: number,
): StartLimits {
  if (pause === "breaker") return { concurrency: 1, intervalMs: intervalOfTrialsMs };
  return { concurrency, intervalMs: ratePerMinute > 0 ? 60_000 / ratePerMinute : 0 };
}
