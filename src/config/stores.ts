// Where deliveries are kept that must not be lost.

import type { ClusterNode, RedisOptions } from "ioredis";
import type { BrokenRule } from "./rules";

/** In a file of this instance, on a server that all instances share, or nowhere: as Node.js and the settings allow. */
export type StoreKind = "file" | "server" | "none";

/** Keeps an endpoint closed that is to lose nothing where nothing can be kept. */
export function keepingRule(isGuaranteed: boolean, keeping: StoreKind): BrokenRule | undefined {
  return isGuaranteed && keeping === "none" ? "storeMissing" : undefined;
}

// What the settings file says of where deliveries are kept.

export type StoreSettings =
  /** In a file: in the user directory, unless a folder is named. */
  | { readonly type: "sqlite"; readonly folder?: string }
  /** In a server; a namespace tells its deliveries from others in the same server. */
  | ({ readonly type: "bullmq"; readonly namespace?: string } & ConnectionSettings);

/** What is not understood: the name of a field, as its value may hold a password. */
interface Misunderstood {
  readonly field: "type" | "folder" | "url" | "connection" | "cluster" | "namespace";
}

/** @param given `webhookTriggerStore`; nothing for a file */
export function parseStoreSettings(given: unknown): StoreSettings | Misunderstood {
  if (given === undefined) return { type: "sqlite" };
  const fields = new Map<string, unknown>(Object.entries(typeof given === "object" && given !== null ? given : {}));
  const [type, folder] = [fields.get("type"), fields.get("folder")];
  if (type === "bullmq") return parseServer(fields);
  if (type !== "sqlite") return { field: "type" };
  if (folder === undefined) return { type };
  return isText(folder) ? { type, folder } : { field: "folder" };
}

/** What is in them is up to ioredis. */
function parseServer(fields: ReadonlyMap<string, unknown>): StoreSettings | Misunderstood {
  const [url, connection, cluster, namespace] = ["url", "connection", "cluster", "namespace"].map((name) => fields.get(name)); // prettier-ignore
  if (url !== undefined && !isText(url)) return { field: "url" };
  if (connection !== undefined && !isObject(connection)) return { field: "connection" };
  if (cluster !== undefined && (!Array.isArray(cluster) || cluster.length === 0)) return { field: "cluster" };
  if (namespace !== undefined && !isText(namespace)) return { field: "namespace" };
  if (url === undefined && connection === undefined && cluster === undefined) return { field: "url" };
  return {
    type: "bullmq",
    ...(url !== undefined && { url }),
    ...(connection !== undefined && { connection }),
    ...(cluster !== undefined && { cluster: cluster as ClusterNode[] }),
    ...(namespace !== undefined && { namespace }),
  };
}

/**
 * Where deliveries can be kept.
 *
 * @param hasFile whether this Node.js can keep them in a file
 */
export function chooseStore(settings: StoreSettings | Misunderstood, hasFile: boolean): StoreKind {
  if ("field" in settings) return "none";
  if (settings.type === "bullmq") return "server";
  return hasFile ? "file" : "none";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

/** Where the server is: the part of `webhookTriggerStore` that is not ours. */
export interface ConnectionSettings {
  /** `redis://` or, for TLS, `rediss://`, with the user, the password and the number of the database, where needed. */
  readonly url?: string;
  /** Options of ioredis: also Sentinel, TLS. */
  readonly connection?: RedisOptions;
  /** Nodes of a cluster. */
  readonly cluster?: readonly ClusterNode[];
}
