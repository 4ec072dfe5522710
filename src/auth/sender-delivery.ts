// What a sender says of a delivery: its events, its id, its subscriptions.

import type { Fields } from "./request-values";
import type { Sender, Source } from "./senders/sender";

/** The subscriptions that a verified request belongs to, and when each expires, in ms since the epoch. */
export function readSubscriptions(
  { subscriptions }: Pick<Sender, "subscriptions">,
  fields: Fields,
): { id: string; expiresAt: number }[] {
  if (!subscriptions) return [];
  const expiries = fields.texts(subscriptions.expiries).map((time) => Date.parse(time));
  const all = fields.texts(subscriptions.ids).map((id, index) => ({ id, expiresAt: expiries[index] ?? NaN }));
  return all.filter(({ id, expiresAt }) => id !== "" && !Number.isNaN(expiresAt));
}

/** A number in JSON becomes text. */
export interface SenderDelivery {
  /** Several for a batch, in their order. */
  readonly events: readonly string[];
  /** The sender's own id; of a batch, the first one. */
  readonly id: string | undefined;
  /** See `readKey`. */
  readonly key: string | undefined;
}

export function readSenderDelivery({ events = [], id }: Pick<Sender, "events" | "id">, fields: Fields): SenderDelivery {
  const ids = id ? readEach(id.from, fields) : [];
  return {
    events: readEach(events, fields).filter(isPresent),
    id: ids.find(isPresent),
    key: composeKey(ids, id?.scope ?? [], fields),
  };
}

/** Of the ids of all events, whatever their order; nothing where an event has none, since it may be new. */
export function readKey(from: readonly Source[], fields: Fields): string | undefined {
  return composeKey(readEach(from, fields), [], fields);
}

function composeKey(ids: readonly string[], scope: readonly Source[], fields: Fields): string | undefined {
  if (ids.length === 0 || !ids.every(isPresent)) return undefined;
  const scopes = scope.map((source) => fields.texts(source));
  const keys = ids.map((id, index) => JSON.stringify([id, ...scopes.map((texts) => texts[index] ?? "")]));
  return [...new Set(keys)].sort().join();
}

/** The text at the first place that has one. Elements of a batch may have it at one of several places each. */
function readEach(sources: readonly Source[], fields: Fields): readonly string[] {
  const found: string[] = [];
  for (const source of sources) {
    if (source.startsWith("ce:") || source.includes("*")) {
      for (const [index, text] of fields.texts(source).entries()) found[index] ||= text;
    } else if (!found.some(isPresent)) {
      const only = fields.onlyText(source);
      if (only !== undefined) return [only];
    }
  }
  return found;
}

function isPresent(text: string): boolean {
  return text !== "";
}
