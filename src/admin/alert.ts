// What a `webhook-watch` node tells. The editor reads this file as well.

export const alertEvents = [
  ...(["delivery-failed", "silent", "heard", "store-down", "store-up", "paused", "resumed"] as const),
  ...(["refusals", "second-credential"] as const),
] as const;
export type AlertEvent = (typeof alertEvents)[number];

/** Without secrets, and in the language of the runtime. */
export interface Alert {
  readonly event: AlertEvent;
  /** The id, the name and the path of the webhook trigger; missing for the store, which is of all. */
  readonly node?: string;
  readonly name?: string;
  readonly path?: string;
  /** The id of the delivery that has failed. */
  readonly delivery?: string;
  readonly reason: string;
  /** What to do about it; missing where that is nothing. */
  readonly fix?: string;
  /** In ms since the epoch. */
  readonly at: number;
}
