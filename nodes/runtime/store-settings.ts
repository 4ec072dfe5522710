// What the settings file says of where deliveries are kept.

import type { Keeping } from "../../src/config/keeping";

export type StoreSettings =
  /** In a file: in the user directory, unless a folder is named. */
  | { readonly type: "sqlite"; readonly folder?: string }
  /** In a server; a namespace tells its deliveries from others in the same server. */
  | { readonly type: "valkey"; readonly url: string; readonly namespace?: string };

/** What is not understood: the name of a field, as its value may hold a password. */
export interface Misunderstood {
  readonly field: "type" | "folder" | "url" | "namespace";
}

/** @param given `webhookTriggerStore`; nothing for a file */
export function parseStoreSettings(given: unknown): StoreSettings | Misunderstood {
  if (given === undefined) return { type: "sqlite" };
  const fields = new Map(Object.entries(typeof given === "object" && given !== null ? given : {}));
  const [type, folder, url, namespace] = ["type", "folder", "url", "namespace"].map((name): unknown =>
    fields.get(name),
  );
  if (type === "sqlite") {
    if (folder === undefined) return { type };
    return isText(folder) ? { type, folder } : { field: "folder" };
  }
  if (type !== "valkey") return { field: "type" };
  if (!isText(url)) return { field: "url" };
  if (namespace === undefined) return { type, url };
  return isText(namespace) ? { type, url, namespace } : { field: "namespace" };
}

/**
 * Where deliveries can be kept.
 *
 * @param hasFile whether this Node.js can keep them in a file
 */
export function keepingBy(settings: StoreSettings | Misunderstood, hasFile: boolean): Keeping {
  if ("field" in settings) return "none";
  if (settings.type === "valkey") return "server";
  return hasFile ? "file" : "none";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

/** What is kept of deliveries. */
export interface DeliverySettings {
  /** How many of a node are kept in memory, besides unfinished ones; with 0, nothing is noted for whoever looks. */
  readonly keep: number | undefined;
  /** How much they may take, all together, in bytes: in memory, or where they outlive the process. */
  readonly bytes: number | undefined;
  /** Whether bodies are kept of what may be lost. */
  readonly bodies: boolean;
}

/** @param given `webhookTriggerDeliveries`; nothing for what is usual */
export function parseDeliverySettings(given: unknown): DeliverySettings | { readonly field: string } {
  if (given === undefined) return { keep: undefined, bytes: undefined, bodies: true };
  if (typeof given !== "object" || given === null) return { field: "webhookTriggerDeliveries" };
  const { keep, bytes, bodies = true } = given as Partial<Record<keyof DeliverySettings, unknown>>;
  if (keep !== undefined && !isCount(keep)) return { field: "keep" };
  if (bytes !== undefined && !isCount(bytes)) return { field: "bytes" };
  if (typeof bodies !== "boolean") return { field: "bodies" };
  return { keep, bytes, bodies };
}

export function isMisunderstood(settings: object): settings is { readonly field: string } {
  return "field" in settings;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
