// The settings of where deliveries are stored, and what of them.

import type { ClusterNode, RedisOptions } from "ioredis";
import { isBuiltin } from "node:module";
import { isObject } from "./values";

/** The name of the file of deliveries in its folder. */
export const fileName = "webhook-trigger.sqlite";
/** The packages of `npm install` for deliveries on a server. */
export const clientPackages = "bullmq@6 ioredis";

/** Node.js has SQLite without a flag from 22.13 on. */
export function sqliteIsHere(): boolean {
  return isBuiltin("node:sqlite");
}

/** In a file of this instance, on a server that all instances share, or nowhere: as Node.js and the settings allow. */
export type StoreKind = "file" | "server" | "none";

export type StoreSettings =
  /** In a file: in the user directory, unless a folder is named. */
  | { readonly type: "sqlite"; readonly folder?: string }
  /** On a server. The namespace keeps the deliveries apart from others on the same server. */
  | ({ readonly type: "bullmq"; readonly namespace?: string } & ConnectionSettings);

/** Where the server is: the part of `webhookTriggerStore` that ioredis and BullMQ understand. */
export interface ConnectionSettings {
  /** `redis://` or, for TLS, `rediss://`, with the user, the password and the number of the database, where needed. */
  readonly url?: string;
  /** Options of ioredis: also Sentinel, TLS. */
  readonly connection?: RedisOptions;
  readonly cluster?: readonly ClusterNode[];
}

/** What is not valid: only the name of its field, as its value may hold a password; empty for all of it. */
interface InvalidField {
  readonly field: string;
}

/** @param given `webhookTriggerStore` */
export function parseStoreSettings(given: unknown): StoreSettings | InvalidField {
  if (!isObject(given)) return { field: "" };
  const { type, folder, url, connection, cluster, namespace } = given;
  if (type === "sqlite") {
    if (folder === undefined) return { type };
    return isText(folder) ? { type, folder } : { field: "folder" };
  }
  if (type !== "bullmq") return { field: "type" };
  if (url !== undefined && !isText(url)) return { field: "url" };
  if (connection !== undefined && !isObject(connection)) return { field: "connection" };
  if (cluster !== undefined && (!Array.isArray(cluster) || cluster.length === 0)) return { field: "cluster" };
  if (namespace !== undefined && !isText(namespace)) return { field: "namespace" };
  if (url === undefined && connection === undefined && cluster === undefined) return { field: "url" };
  return given as unknown as StoreSettings;
}

/** @param hasFile whether this version of Node.js can store deliveries in a file */
export function chooseStore(settings: StoreSettings, hasFile: boolean): StoreKind {
  if (settings.type === "bullmq") return "server";
  return hasFile ? "file" : "none";
}

export interface DeliverySettings {
  /** How many finished deliveries of a node stay in memory; with 0 there is no list. */
  readonly keep: number | undefined;
  /** How many bytes all deliveries may take, in memory or in the store. */
  readonly bytes: number | undefined;
  /** Whether bodies are listed without guaranteed delivery. */
  readonly bodies: boolean;
}

/** @param given `webhookTriggerDeliveries` */
export function parseDeliverySettings(given: unknown): DeliverySettings | InvalidField {
  if (!isObject(given)) return { field: "" };
  const { keep, bytes, bodies = true } = given;
  if (keep !== undefined && !isCount(keep)) return { field: "keep" };
  if (bytes !== undefined && !isCount(bytes)) return { field: "bytes" };
  return typeof bodies === "boolean" ? { keep, bytes, bodies } : { field: "bodies" };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
