// The fields of the node, the only place where one is declared: its default, its rule, when it is used, and its row in the
// form, which the build writes (nodes/editor/form/rows.mjs). The runtime and the form both read them here.

import { parseBlocks } from "./blocks";
import { parseCallers } from "./callers";
import { type JwtPreset, type KeySource, keySources, type Settings, usesCertificate } from "../auth/senders/sender"; // prettier-ignore
import { findJwtPreset, findSender } from "../auth/senders/table";
import { isEnvironmentValue, isFieldName, isObject, isWithoutContent, parseNumber, text } from "./values";
import { normalisePath } from "./paths";

/** The exact length of a token, in characters. */
export const tokenLength = 40;
/** The longest relative path, in characters, its leading slash included. */
export const maxPathLength = 255;
/** The methods that may start a flow. */
export const flowMethods = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;
/** The hash functions of HMAC that a sender may be set to (WebSub §7.1.1). */
export const hashes = ["sha1", "sha256", "sha384", "sha512"] as const;

/** The fields that decide whether others are used. */
type Choice =
  "verificationMethod" | "sender" | "keySource" | "reply" | "replyStatus" | "ignoreDuplicates" | "guaranteed";
type Choices = Readonly<Record<Choice, unknown>>;

/** A field as the form has it: its label is the text `label.<name>`, its hint `hint.<name>`. */
export interface FormRow {
  /** Where in the form its row is. Missing: the form has more than a row for it. */
  readonly section?: string;
  /** Of Font Awesome 4. */
  readonly icon?: string;
  /** Of a text that may have several. */
  readonly lines?: number;
  /** To choose from, with the texts `<name>.<option>`; empty where the form adds them itself. */
  readonly options?: readonly string[];
  /** Whether the field is used. Missing: always. Where an environment variable decides, the fields of each choice are used. */
  readonly isUsed?: (choices: Choices) => boolean;
}

interface SavedField extends FormRow {
  readonly default: unknown;
  /** Whether a value is valid, after environment variables are resolved. Missing: any value is, or the field has rules of its own. */
  readonly accepts?: (value: unknown) => boolean;
}

interface CredentialField extends FormRow {
  /** A text is encrypted as well, but the form shows it again. */
  readonly type: "password" | "text";
}

/** Where the environment decides, the fields of all choices are used. */
const where =
  (name: Choice, ...wanted: readonly unknown[]) =>
  ({ [name]: given }: Choices) =>
    wanted.includes(given) || isEnvironmentValue(given);
const verifying = (...methods: readonly string[]) => where("verificationMethod", ...methods);
/** Not where the sender presets it. */
const byJwt = (name: keyof JwtPreset) => (choices: Choices) =>
  verifying("jwt")(choices) && findJwtPreset(choices.sender)?.[name] === undefined;
const byKey = (source: KeySource) => (choices: Choices) =>
  byJwt("keySource")(choices) && where("keySource", source)(choices);
const byCustomSender = (choices: Choices) => verifying("signature")(choices) && choices.sender === "custom";
const byNode = where("reply", "now");
const withContent = (choices: Choices) => byNode(choices) && !isWithoutContent(choices.replyStatus);
const withCallers = verifying("header", "query", "basic");
/** Not of a sender that signs without a shared secret. */
const bySecret = (choices: Choices) => {
  const sender = findSender(choices.sender);
  if (verifying("signature")(choices) && !(sender && usesCertificate(sender.scheme))) return true;
  const source = findJwtPreset(choices.sender)?.keySource ?? choices.keySource;
  return choices.verificationMethod === "jwt" && (source === "secret" || isEnvironmentValue(source));
};
/** With senders that need it. */
const bySender = (name: keyof Settings | "verifyToken") => (choices: Choices) =>
  verifying("signature")(choices) && (findSender(choices.sender)?.settings?.includes(name) ?? false);
const withoutDuplicates = where("ignoreDuplicates", true, "true");
const withGuarantee = where("guaranteed", true, "true");
/** Where the flow replies, the reply says how an attempt has ended. */
const whereFlowIsFollowed = (choices: Choices) => withGuarantee(choices) && byNode(choices);

const isGiven = (value: unknown) => text(value) !== "";

const noScheme: unknown = null;
const noSettings: Readonly<Record<string, unknown>> = {};

/** Nodes may be older than a field: then its default holds. */
export const fields = {
  name: { default: "", section: "name", icon: "bookmark" },
  relativePath: { default: "", section: "path", icon: "globe" },
  /** The methods whose requests start the flow. */
  methods: { default: ["POST"] as readonly string[], accepts: isMethodList },
  returnQueryParams: { ...flag(), section: "message", icon: "list" },
  /** The events that start the flow; empty for all. One may end in `*`, for all that begin so. */
  events: { default: [] as readonly string[], accepts: isEventList },
  /** What must hold for a request to start the flow. */
  conditions: { default: [] as readonly SavedCondition[], accepts: isConditionList },
  /** Whether each of the events has an output of its own. */
  outputPerEvent: { ...flag(), section: "filter", icon: "random" },
  /** How many outputs the node has: Node-RED's editor needs it. */
  outputs: { default: 1 },
  verificationMethod: {
    ...oneOf("header", "query", "basic", "jwt", "signature"),
    section: "credential",
    icon: "shield",
  },
  queryParameter: {
    default: "state",
    accepts: isGiven,
    isUsed: verifying("query"),
    section: "credential",
    icon: "tag",
  },
  headerParameter: {
    default: "Authorization",
    accepts: (value) => isFieldName(text(value)),
    isUsed: (choices) => verifying("header")(choices) || byJwt("headerParameter")(choices),
    section: "credential",
    icon: "tag",
  },
  /** Where the key of a JSON Web Token is from. */
  keySource: { ...oneOf(...keySources), isUsed: byJwt("keySource"), section: "jwt", icon: "key" },
  /** Where the issuer publishes its keys. */
  jwksUrl: { default: "", accepts: isHttpsUrl, isUsed: byKey("jwks"), section: "jwt", icon: "link" },
  /** In PEM. */
  publicKey: { default: "", accepts: isPublicKey, isUsed: byKey("publicKey"), section: "jwt", icon: "key", lines: 4 },
  issuer: { default: "", accepts: isGiven, isUsed: byJwt("issuer"), section: "jwt", icon: "building-o" },
  audience: { default: "", accepts: isGiven, isUsed: byJwt("audience"), section: "jwt", icon: "bullseye" },
  /** `name=value`, or empty. */
  requiredClaim: { default: "", isUsed: byJwt("requiredClaim"), section: "jwt", icon: "id-card-o" },
  /** Empty for any sender, the id of a known one, or `custom`. */
  sender: { default: "" },
  /** How a custom sender signs; `null` for all others. */
  scheme: { default: noScheme, isUsed: byCustomSender },
  /** What a sender needs besides secrets. */
  senderSettings: { default: noSettings },
  /** Who replies: `now` this node, at once, or `flow` its flow. */
  reply: { ...oneOf("now", "flow"), section: "reply", icon: "reply" },
  /** The successful statuses (RFC 9110 §15.3). */
  replyStatus: { ...wholeNumber(200, 200, 299), isUsed: byNode, section: "reply", icon: "flag-o" },
  /** Empty for the reply with the id, or for the one that the sender expects. */
  replyBody: { default: "", isUsed: withContent, section: "reply", icon: "file-text-o", lines: 3 },
  /** The media type of `replyBody`. */
  replyType: { default: "application/json", accepts: isMediaType, isUsed: withContent, section: "reply", icon: "tag" },
  /** How long the flow may take to reply, in seconds. */
  replyTimeout: { ...wholeNumber(10, 1, 300), isUsed: where("reply", "flow"), section: "reply", icon: "clock-o" },
  ignoreDuplicates: { ...flag(), section: "duplicates", icon: "clone" },
  duplicateKey: { default: "", accepts: isDuplicateKey, isUsed: withoutDuplicates, section: "duplicates", icon: "key" },
  /** How long a delivery is remembered, in hours. */
  duplicateWindow: { ...wholeNumber(72, 1, 720), isUsed: withoutDuplicates, section: "duplicates", icon: "clock-o" },
  /** Addresses and blocks of them, separated by commas or lines; empty for all. */
  allowFrom: {
    default: "",
    accepts: (value) => parseBlocks(value) !== undefined,
    section: "limits",
    icon: "filter",
    lines: 3,
  },
  /** The maximum of requests per minute from one address or caller; 0 for any number. */
  rateLimit: { ...wholeNumber(0, 0, 1_000_000_000), section: "limits", icon: "tachometer" },
  /** Requests without a caller's token are counted by address in any case. */
  rateLimitBy: { ...oneOf("address", "caller"), isUsed: withCallers, section: "limits", icon: "users" },
  /** After how many hours without an accepted request there is an alert, with decimals; 0 for never. */
  alertWhenSilent: { default: 0, accepts: (value) => isWithin(value, 0, 8760), section: "limits", icon: "bell-o" },
  /** Whether there is an alert for each caller that was not heard for so long, too. */
  alertPerCaller: { ...flag(), isUsed: withCallers, section: "limits", icon: "bell-o" },
  /** Whether the message has the bytes of the body as they were sent. */
  rawBody: { ...flag(), section: "message", icon: "file-o" },
  /** Whether a delivery is stored before the sender gets a reply, and until the flow has finished with it. */
  guaranteed: { ...flag(), section: "guaranteed", icon: "life-ring" },
  /** Starts of the flow for a delivery in all, the first one included. */
  attempts: { ...wholeNumber(10, 1, 50), isUsed: withGuarantee, section: "retries", icon: "repeat" },
  /** The time from the first failure to the next start, in seconds; it doubles with each failure. */
  backoffFirst: { ...wholeNumber(10, 1, 3600), isUsed: withGuarantee, section: "retries", icon: "hourglass-start" },
  /** The longest that this time becomes, in seconds. */
  backoffLongest: {
    ...wholeNumber(3600, 1, 86_400),
    isUsed: withGuarantee,
    section: "retries",
    icon: "hourglass-end",
  },
  /** After how long an attempt without an end has failed, in seconds. */
  attemptTimeout: { ...wholeNumber(300, 1, 86_400), isUsed: withGuarantee, section: "retries", icon: "clock-o" },
  /** Whether an attempt fails where an API that the flow calls has answered with an error, or not at all. */
  httpErrorsFail: { ...flag(true), isUsed: whereFlowIsFollowed, section: "retries", icon: "cloud" },
  /** How many flows run at once; 0 for any number. */
  concurrency: { ...wholeNumber(0, 0, 1000), isUsed: withGuarantee, section: "pace", icon: "random" },
  /** How many attempts start per minute; 0 for any number. */
  ratePerMinute: { ...wholeNumber(0, 0, 6000), isUsed: withGuarantee, section: "pace", icon: "tachometer" },
  /** After how many failed attempts in a row the node is paused; 0 for never. */
  breaker: { ...wholeNumber(0, 0, 1000), isUsed: withGuarantee, section: "pace", icon: "pause" },
} satisfies Record<string, SavedField>;

/** Node-RED stores credentials apart from the flow file, encrypted, and never shows passwords again. */
export const credentials = {
  token: { type: "password", isUsed: verifying("header", "query"), section: "credential", icon: "lock" },
  user: { type: "text", isUsed: verifying("basic"), section: "credential", icon: "user" },
  password: { type: "password", isUsed: verifying("basic"), section: "credential", icon: "lock" },
  secondPassword: { type: "password", isUsed: verifying("basic"), section: "rotation", icon: "lock" },
  secret: { type: "password", isUsed: bySecret, section: "secret", icon: "lock" },
  secondSecret: { type: "password", isUsed: bySecret, section: "rotation", icon: "lock" },
  /** See `parseCallers`. Digests are no secrets that must be hidden from those who may edit the flow. */
  callers: { type: "text", isUsed: withCallers },
  /** The sender shows that it knows it with its first request. */
  verifyToken: { type: "password", isUsed: bySender("verifyToken"), section: "sender", icon: "lock" },
} satisfies Record<string, CredentialField>;
export type CredentialName = keyof typeof credentials;
export const credentialNames = Object.keys(credentials) as CredentialName[];

/** What a sender needs besides secrets: the members of `senderSettings`. */
export const settings = {
  arm: { default: false, isUsed: bySender("arm"), section: "sender", icon: "handshake-o" },
  publicUrl: { isUsed: bySender("publicUrl"), section: "sender", icon: "link" },
  signatureHeader: { isUsed: bySender("signatureHeader"), section: "sender", icon: "tag" },
  timestampHeader: { isUsed: bySender("timestampHeader"), section: "sender", icon: "tag" },
  topicUrl: { isUsed: bySender("topicUrl"), section: "sender", icon: "link" },
  topicArn: { isUsed: bySender("topicArn"), section: "sender", icon: "bullhorn" },
  webhookId: { isUsed: bySender("webhookId"), section: "sender", icon: "id-card-o" },
  alg: { isUsed: bySender("alg"), section: "sender", icon: "key", options: [] },
} satisfies Record<keyof Settings, FormRow & { default?: boolean }>;
export const settingNames = Object.keys(settings) as (keyof Settings)[];

type FieldTable = typeof fields;
type FieldsWith<Shape> = {
  [Name in keyof FieldTable]: FieldTable[Name] extends Shape ? Name : never;
}[keyof FieldTable];

/** A broken rule, by the key of its text under `rules` in the message catalog. */
export type BrokenRule =
  | NonNullable<ReturnType<(typeof rules)[keyof typeof rules]>>
  | "environment"
  | "relativePath.admin"
  | `sender.${"required" | "unknown"}`
  | "requiredClaim.required"
  | "secret.format"
  | "secondSecret.format"
  | `scheme.${"required" | "alg" | "key" | "sig" | "enc" | "content" | "ts" | "requires" | "handshake"}`
  | "httpNodeMiddleware"
  | "storeMissing"
  | "storeInvalid";

/** A rule that a configuration breaks. */
export interface Breach {
  rule: BrokenRule;
  /**
   * The `${NAME}` whose variable is not set, the version of Node.js that has no store, or the name of a setting's field
   * that is not understood; empty for all other rules, for a value may be the token.
   */
  value: string;
}

const fieldRules = Object.fromEntries(
  Object.entries<SavedField>(fields).flatMap(([name, { accepts }]) =>
    accepts ? [[name, (value: unknown) => (accepts(value) ? undefined : name)]] : [],
  ),
) as { readonly [Name in FieldsWith<{ accepts: unknown }>]: (value: unknown) => Name | undefined };

/** The rule of the claim that some senders make necessary. */
export function identityRule(value: unknown, sender: unknown): BrokenRule | undefined {
  const { identity } = findJwtPreset(sender) ?? {};
  return identity === undefined || text(value).startsWith(`${identity}=`) ? undefined : "requiredClaim.required";
}

/**
 * The rules of fields, credentials and settings, for values whose environment variables are already resolved: each returns
 * the rule that a value breaks.
 */
export const rules = {
  ...fieldRules,
  relativePath(value) {
    const path = normalisePath(text(value));
    if (path === "") return "relativePath.required";
    if (path.length > maxPathLength) return "relativePath.length";
    const segments = path.slice(1).split("/");
    // RFC 3986 §2.3: the unreserved characters. Or a whole segment is a parameter, as `:id`.
    const isKnown = (segment: string) => /^(?:[A-Za-z0-9\-._~]*|:[A-Za-z0-9_]+)$/.test(segment);
    if (!segments.every(isKnown)) return "relativePath.characters";
    if (segments.some((segment) => ["", ".", ".."].includes(segment))) return "relativePath.segments";
    const parameters = segments.filter((segment) => segment.startsWith(":"));
    return new Set(parameters).size < parameters.length ? "relativePath.parameters" : undefined;
  },
  token: (value) => {
    const token = text(value);
    if (token === "") return "token.required";
    if (token.length !== tokenLength) return "token.length";
    return /^[\x21-\x7e]+$/.test(token) ? undefined : "token.characters";
  },
  callers(value) {
    const parsed = parseCallers(value);
    return typeof parsed === "string" ? parsed : undefined;
  },
  user: (value) => {
    if (text(value) === "") return "user.required";
    // RFC 7617 §2: the first colon ends the user.
    return text(value).includes(":") ? "user.colon" : undefined;
  },
  password: (value) => (text(value) === "" ? "password.required" : undefined),
  requiredClaim: (value) => (/^(?:[^=]+=[^]+)?$/.test(text(value)) ? undefined : "requiredClaim.format"),
  secret: (value) => (text(value) === "" ? "secret.required" : undefined),
  publicUrl: (value) => (text(value) === "" || /^https?:\/\/[^\s/?#]+/i.test(text(value)) ? undefined : "publicUrl"),
  signatureHeader: (value) => (text(value) === "" || isFieldName(text(value)) ? undefined : "signatureHeader"),
  timestampHeader: (value) => (text(value) === "" || isFieldName(text(value)) ? undefined : "timestampHeader"),
  topicArn: (value) => (/^(?:arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[\w.-]+)?$/.test(text(value)) ? undefined : "topicArn"),
  webhookId: (value) => (/^[A-Za-z0-9]*$/.test(text(value)) ? undefined : "webhookId"),
  alg: (value) => (text(value) === "" || hashes.some((hash) => hash === value) ? undefined : "alg"),
} satisfies Record<string, (value: unknown) => string | undefined>;

/** Whether a field is used with the values of the others. */
export function isFieldUsed(field: keyof FieldTable, choices: Choices): boolean {
  const { isUsed }: SavedField = fields[field];
  return isUsed?.(choices) ?? true;
}

// What is saved.

/** Where a request has its token. */
export type TokenMethod = "header" | "query";

/** Numbers and booleans are strings where they are the `${NAME}` of an environment variable. */
type SavedValue<Value> = Value extends boolean ? boolean | string : Value extends number ? number | string : Value;

/** The fields as a flow file has them. */
export type SavedFields = { [Name in keyof FieldTable]: SavedValue<FieldTable[Name]["default"]> };

/** A condition as it is saved; the value may be a number or an environment variable, and `exists` and `missing` need none. */
export interface SavedCondition {
  readonly place: string;
  readonly operator: Operator;
  readonly value?: unknown;
}

export const fieldNames = Object.keys(fields) as (keyof SavedFields)[];

export const defaults = Object.fromEntries(fieldNames.map((name) => [name, fields[name].default])) as {
  readonly [Name in keyof FieldTable]: FieldTable[Name]["default"];
};

/** With the defaults of fields that are newer than the node. */
export function withDefaults(node: Readonly<Partial<SavedFields>>): SavedFields {
  const saved = fieldNames.filter((name) => node[name] !== undefined).map((name) => [name, node[name]]);
  return { ...defaults, ...Object.fromEntries(saved) } as SavedFields;
}

/** Switches and numbers that are always used, but for those that the configuration has in another form. */
type PlainField = Exclude<
  FieldsWith<{ default: boolean | number }>,
  FieldsWith<{ isUsed: unknown }> | "outputs" | "ignoreDuplicates"
>;
/** What they are in the configuration. */
export type PlainConfig = { [Name in PlainField]: FieldTable[Name]["default"] };
export const plainFields = fieldNames.filter((name): name is PlainField => {
  const { default: usual, isUsed }: SavedField = fields[name];
  const isPlain = ["boolean", "number"].includes(typeof usual) && isUsed === undefined;
  return isPlain && name !== "outputs" && name !== "ignoreDuplicates";
});

/** Fields with two states, which the form shows as checkboxes. */
export type BoxField = FieldsWith<{ default: boolean }>;
export const boxFields = fieldNames.filter((name): name is BoxField => typeof defaults[name] === "boolean");

/** Fields whose value is one of a few, which the form shows as lists. */
export const choiceFields = fieldNames.filter(
  (name): name is FieldsWith<{ options: unknown }> => "options" in fields[name],
);

/** The field with the name of the header field or parameter that has the token. */
export const placementField = {
  header: "headerParameter",
  query: "queryParameter",
} as const satisfies Record<TokenMethod, keyof SavedFields>;

/** The credentials as Node-RED passes them to the node, with their environment variables resolved. */
export type SavedCredentials = Readonly<Partial<Record<CredentialName, unknown>>>;

// Rules of single fields.

/** Without user information and fragment. */
function isHttpsUrl(value: unknown): boolean {
  return /^https:\/\/[^\s/?#@]+(?:[/?][^\s#]*)?$/i.test(text(value));
}

/** RFC 7468 §5 and §13. Whether it is one, only Node.js can tell. */
function isPublicKey(value: unknown): boolean {
  return /^\s*-----BEGIN (?:PUBLIC KEY|CERTIFICATE)-----\s/.test(text(value));
}

function isMethodList(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => flowMethods.some((method) => method === each))
  );
}

/** The names of events have no blanks around them, and an asterisk at the end only. */
function isEventList(value: unknown): boolean {
  const isEvent = (each: unknown) => typeof each === "string" && /^(?!\s)[^*]*(?:[^*\s]|\*)$/.test(each);
  return Array.isArray(value) && value.every(isEvent) && new Set(value).size === value.length;
}

/** What a condition does with the value at its place. */
export const operators = ["is", "isNot", "contains", "exists", "missing", "above", "below"] as const;
export type Operator = (typeof operators)[number];

/** Whether an operator compares with a value. */
export function needsValue(operator: Operator): boolean {
  return operator !== "exists" && operator !== "missing";
}

function isConditionList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isCondition);
}

function isCondition(value: unknown): boolean {
  if (!isObject(value) || !isPlace(value.place)) return false;
  const operator = operators.find((each) => each === value.operator);
  if (operator === "above" || operator === "below") return parseNumber(text(value.value)) !== undefined;
  return operator !== undefined && (!needsValue(operator) || text(value.value) !== "");
}

/** Whether a condition can look there: at the event, or where a duplicate key may be. */
function isPlace(value: unknown): boolean {
  return value === "event" || (value !== "" && isDuplicateKey(value));
}

/** A boolean, or what an environment variable resolves to. */
function flag(usual = false) {
  return { default: usual, accepts: (value: unknown) => [true, false, "true", "false"].some((each) => each === value) };
}

function oneOf(usual: string, ...others: readonly string[]) {
  const options = [usual, ...others];
  return { default: usual, options, accepts: (value: unknown) => options.some((each) => each === value) };
}

function wholeNumber(usual: number, min: number, max: number) {
  const accepts = (value: unknown) => isWithin(value, min, max) && /^\d+$/.test(String(value));
  return { default: usual, accepts };
}

/** Environment variables resolve to texts. What `Number` makes of other texts, such as blanks and `0x10`, is refused. */
function isWithin(value: unknown, min: number, max: number): boolean {
  const number = typeof value === "string" && /^\d{1,10}(?:\.\d{1,10})?$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= min && number <= max;
}

/** RFC 9110 §8.3.1: media-type = type "/" subtype parameters, with tokens and quoted strings of §5.6. */
function isMediaType(value: unknown): boolean {
  const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
  const quoted = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`;
  const mediaType = new RegExp(`^${token}/${token}(?:[\\t ]*;[\\t ]*${token}=(?:${token}|${quoted}))*$`);
  return typeof value === "string" && mediaType.test(value);
}

/**
 * What all duplicates of a delivery have in common:
 *
 * - empty: the sender's own id of the delivery
 * - `header:NAME`: the only field of that name
 * - `query:NAME`: the only parameter of the URL of that name
 * - `json:a.0.b`: a string or number in the body, which is JSON
 * - `body`: the bytes of the body as they were sent
 */
export type DuplicateKey = "" | "body" | `${"header" | "query" | "json"}:${string}`;

export function isDuplicateKey(key: unknown): key is DuplicateKey {
  if (typeof key !== "string") return false;
  const [, from, name = ""] = /^(header|query|json):(.+)$/s.exec(key) ?? [];
  if (from === "header") return isFieldName(name);
  if (from === "json") return name.split(".").every((step) => step !== "");
  return from === "query" || key === "body" || key === "";
}
