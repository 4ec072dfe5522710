// The types of the saved fields; their defaults and rules are in rules.ts.

import { fields } from "./rules";

/** Where a request has its token. */
export type TokenMethod = "header" | "query";

/** Numbers and booleans are strings where they are the `${NAME}` of an environment variable. */
type SavedValue<Value> = Value extends boolean ? boolean | string : Value extends number ? number | string : Value;

/** The fields as a flow file has them. */
export type SavedFields = {
  [Name in Exclude<keyof typeof fields, "scheme" | "senderSettings">]: SavedValue<(typeof fields)[Name]["default"]>;
} & { scheme: unknown; senderSettings: Readonly<Record<string, unknown>> };

export const fieldNames = Object.keys(fields) as (keyof SavedFields)[];

export const defaults = Object.fromEntries(fieldNames.map((name) => [name, fields[name].default])) as {
  [Name in keyof typeof fields]: (typeof fields)[Name]["default"];
};

/** With the defaults of fields that are newer than the node. */
export function withDefaults(node: Readonly<Partial<SavedFields>>): SavedFields {
  const saved = fieldNames.filter((name) => node[name] !== undefined).map((name) => [name, node[name]]);
  return { ...defaults, ...Object.fromEntries(saved) } as SavedFields;
}

/** Fields with two states, which the form shows as checkboxes. */
export type BoxField = {
  [Name in keyof typeof defaults]: (typeof defaults)[Name] extends boolean ? Name : never;
}[keyof typeof defaults];
export const boxFields = Object.entries(defaults).flatMap(([name, value]) =>
  typeof value === "boolean" ? [name as BoxField] : [],
);

/** The field with the name of the header field or parameter that has the token. */
export const placementField = {
  header: "headerParameter",
  query: "queryParameter",
} as const satisfies Record<TokenMethod, keyof SavedFields>;

/** Node-RED stores credentials apart from the flow file, encrypted, and never shows them again. */
export const credentialNames = ["token", "secondToken", "secret", "secondSecret", "verifyToken"] as const;
export type CredentialName = (typeof credentialNames)[number];

/** The credentials as Node-RED passes them to the node, with their environment variables resolved. */
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
