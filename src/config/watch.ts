// The saved fields of a webhook watch. The runtime and the editor's form both read them here.

/** What a webhook watch reports, in the order of its form. */
export const watchEvents = [
  "delivery-failed",
  "silent",
  "heard",
  "store-down",
  "store-up",
  "paused",
  "resumed",
  "refusals",
  "second-credential",
  "subscription-expiring",
] as const;

export type WatchEvent = (typeof watchEvents)[number];

export interface SavedWatch {
  name: string;
  /** The ids of webhook triggers; `null`: all of them. */
  scope: readonly string[] | null;
  /** `null`: all of them, later ones as well. */
  events: readonly WatchEvent[] | null;
}

export const watchDefaults: SavedWatch = { name: "", scope: null, events: null };
