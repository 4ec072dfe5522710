// The saved fields, with their types and defaults. The runtime and the editor's form both read them here.

/** Where a request carries its token. */
export type TokenMethod = "header" | "query";

/** What a request is let in by: a token, or the signature of its sender. */

/** The fields as a flow file holds them. Any of them may hold a `${NAME}` value, a part of one as well. */
export interface SavedFields extends HandlingFields {
  name: string;
  relativePath: string;
  /** A boolean, or a string when it holds a `${NAME}` value. */
  returnQueryParams: boolean | string;
  verificationMethod: string;
  queryParameter: string;
  headerParameter: string;
  /** Who sends: empty for anybody, the id of a sender that is known, or `custom`. */
  sender: string;
  /** How a sender signs that is not known; `null` for all others. */
  scheme: unknown;
  /** What a sender needs to know besides secrets, by `SettingName`. */
  senderSettings: Readonly<Record<string, unknown>>;
}

/**
 * The fields that say what becomes of requests. Flows that are older have none of them: then their defaults hold. Numbers
 * and booleans are strings when they hold a `${NAME}` value.
 */
export interface HandlingFields {
  /** Who answers: `now` this node, at once, or `flow` its flow. */
  reply: string;
  replyStatus: number | string;
  /** Empty for the reply that tells the id, or for what the sender wants. */
  replyBody: string;
  /** The media type of `replyBody`. */
  replyType: string;
  /** How long the flow may take to answer, in seconds. */
  replyTimeout: number | string;
  ignoreDuplicates: boolean | string;
  /** By what a delivery is known again: see `DuplicateKey`. */
  duplicateKey: string;
  /** How long a delivery is known, in hours. */
  duplicateWindow: number | string;
  /** Addresses and blocks of them, by commas or lines; empty for all. */
  allowFrom: string;
  /** The most requests a minute from one address; 0 for any number. */
  rateLimit: number | string;
  /** How long it is expected at most until the next request is accepted, in hours, with decimals; 0 for any time. */
  alertWhenSilent: number | string;
  /** Whether the message has the bytes of the body as they were sent. */
  rawBody: boolean | string;
  /** Whether a delivery is kept before its sender is answered, and until the flow has finished with it. */
  guaranteed: boolean | string;
  /** How often the flow is started with a delivery in all, the first time included; with `guaranteed`. */
  attempts: number | string;
  /** How long after the first failure the flow is started again, in seconds; it doubles with each failure. */
  backoffFirst: number | string;
  /** The longest that this becomes, in seconds. */
  backoffLongest: number | string;
  /** How many flows run at once; 0 for any number. */
  concurrency: number | string;
  /** How many attempts start per minute; 0 for any number. */
  ratePerMinute: number | string;
  /** After how many failed attempts in a row the node is paused; 0 for never. */
  breaker: number | string;
  /** After how long an attempt without an end has failed, in seconds. */
  attemptTimeout: number | string;
}

export const handlingDefaults = {
  reply: "now",
  replyStatus: 200,
  replyBody: "",
  replyType: "application/json",
  replyTimeout: 10,
  ignoreDuplicates: false,
  duplicateKey: "",
  duplicateWindow: 72,
  allowFrom: "",
  rateLimit: 0,
  alertWhenSilent: 0,
  rawBody: false,
  guaranteed: false,
  attempts: 10,
  backoffFirst: 10,
  backoffLongest: 3600,
  concurrency: 0,
  ratePerMinute: 0,
  breaker: 0,
  attemptTimeout: 300,
} as const satisfies HandlingFields;

export const defaults = {
  name: "",
  relativePath: "",
  returnQueryParams: false,
  verificationMethod: "header",
  queryParameter: "state",
  headerParameter: "Authorization",
  sender: "",
  scheme: null,
  senderSettings: {},
  ...handlingDefaults,
} as const satisfies SavedFields;

/** The field that names the place of the token, for each Verification Method that looks for one. */
export const placementField = {
  header: "headerParameter",
  query: "queryParameter",
} as const satisfies Record<TokenMethod, keyof SavedFields>;

/** What Node-RED keeps apart from the flow file, encrypted, and never shows again. */
export const credentialNames = ["token", "secondToken", "secret", "secondSecret", "verifyToken"] as const;
export type CredentialName = (typeof credentialNames)[number];

/** The credentials as Node-RED hands them to the node, with their environment variables resolved. */
export type SavedCredentials = Readonly<Partial<Record<CredentialName, unknown>>>;

/** What a user enters for a sender besides the secrets; what is empty counts as not given. */
export interface Settings {
  /** The URL that the sender was given, where it signs that. */
  publicUrl?: string;
  signatureHeader?: string;
  timestampHeader?: string;
  /** The topic that was subscribed (WebSub §5.3). */
  topicUrl?: string;
  /** `sha1`, `sha256`, `sha384` or `sha512`. */
  alg?: string;
  /** Whether a sender that brings the secret itself may do so now. */
  arm?: boolean;
}
