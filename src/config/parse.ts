// From saved fields to a configuration that cannot be wrong.

import { type Block, parseBlocks } from "./blocks";
import {
  handlingDefaults,
  type HandlingFields,
  placementField,
  type SavedCredentials,
  type SavedFields,
  type Settings,
  type TokenMethod,
} from "./fields";
import { adminRule, type Roots } from "./host";
import {
  type Breach,
  type DuplicateKey,
  type HandlingRule,
  handlingRules,
  isEnvironmentValue,
  normalisePath,
  parseDuplicateKey,
  rules,
  text,
} from "./rules";

/** A configuration that keeps every rule of its fields. Whether a sender is known, and its secret a key, tells the gate. */
export interface WebhookConfig extends Handling {
  /** With its leading slash and without a trailing one, in the letter case it was given. */
  path: string;
  returnQueryParams: boolean;
  /** Who sends: empty for anybody. */
  sender: string;
  access: TokenAccess | SignatureAccess;
}

/** Whoever has the token may come in. */
export interface TokenAccess {
  method: TokenMethod;
  /** The one place where the token is looked for: a header field, or a query parameter. */
  name: string;
  token: string;
  /** Accepted as well; empty for none. */
  secondToken: string;
}

/** What the sender has signed may come in. */
export interface SignatureAccess {
  method: "signature";
  scheme: unknown;
  settings: Settings;
  /** Empty while the sender has not brought it yet. */
  secret: string;
  /** Accepted as well; empty for none. */
  secondSecret: string;
  verifyToken: string;
}

/** What a configuration depends on beside its own fields. */
interface Host {
  roots: Roots;
  /** The address that callers use, without a slash at its end; nothing where it is not known. */
  baseUrl?: string | undefined;
}

/**
 * Turns saved fields into a configuration, or names the first rule that they break.
 *
 * @param saved the fields with their environment variables resolved
 * @param credentials those with their environment variables resolved
 */
export function parseConfig(
  saved: Readonly<SavedFields>,
  credentials: SavedCredentials,
  host: Host,
): WebhookConfig | Breach {
  const { relativePath, returnQueryParams, verificationMethod, sender } = saved;
  const breach =
    findBreach("relativePath", relativePath) ??
    adminBreach(text(relativePath), host.roots) ??
    findBreach("verificationMethod", verificationMethod) ??
    unresolved(sender) ??
    findBreach("returnQueryParams", returnQueryParams);
  if (breach) return breach;
  const path = normalisePath(text(relativePath));
  const access =
    verificationMethod === "signature"
      ? signatureAccess(saved, credentials, composePublicUrl(path, host))
      : tokenAccess(saved, credentials, verificationMethod as TokenMethod);
  if ("rule" in access) return access;
  const handling = parseHandling(saved);
  if ("rule" in handling) return handling;
  return { path, returnQueryParams: String(returnQueryParams) === "true", sender: text(sender), access, ...handling };
}

function tokenAccess(
  saved: Readonly<SavedFields>,
  { token, secondToken }: SavedCredentials,
  method: TokenMethod,
): TokenAccess | Breach {
  const field = placementField[method];
  const breach =
    findBreach("token", token) ?? findBreach("secondToken", secondToken) ?? findBreach(field, saved[field]);
  return breach ?? { method, name: text(saved[field]), token: text(token), secondToken: text(secondToken) };
}

/** The names of the settings that are texts. */
const settingNames = ["publicUrl", "signatureHeader", "timestampHeader", "alg"] as const;

function signatureAccess(
  { scheme, senderSettings }: Readonly<SavedFields>,
  credentials: SavedCredentials,
  publicUrl: string,
): SignatureAccess | Breach {
  const { secret, secondSecret, verifyToken } = credentials;
  // A flow file may have been written by hand.
  const given = (senderSettings as SavedFields["senderSettings"] | null | undefined) ?? {};
  for (const value of [secret, secondSecret, verifyToken, given.topicUrl, given.arm]) {
    const breach = unresolved(value);
    if (breach) return breach;
  }
  for (const name of settingNames) {
    const breach = findBreach(name, given[name]);
    if (breach) return breach;
  }
  const settings = {
    publicUrl: text(given.publicUrl) || publicUrl,
    signatureHeader: text(given.signatureHeader),
    timestampHeader: text(given.timestampHeader),
    topicUrl: text(given.topicUrl),
    alg: text(given.alg),
    arm: String(given.arm) === "true",
  };
  const secrets = { secret: text(secret), secondSecret: text(secondSecret), verifyToken: text(verifyToken) };
  return { method: "signature", scheme, settings, ...secrets };
}

/** The URL that a sender was given, as far as the settings file tells it; empty where that does not. */
function composePublicUrl(path: string, { roots, baseUrl }: Host): string {
  return baseUrl === undefined || roots.node === false ? "" : baseUrl + normalisePath(roots.node) + path;
}

function findBreach(field: keyof typeof rules, value: unknown): Breach | undefined {
  const breach = unresolved(value);
  if (breach) return breach;
  const rule = rules[field](value);
  return rule && { rule, value: "" };
}

function unresolved(value: unknown): Breach | undefined {
  return isEnvironmentValue(value) ? { rule: "environment", value: String(value) } : undefined;
}

function adminBreach(path: string, roots: Roots): Breach | undefined {
  const rule = adminRule(path, roots);
  return rule && { rule, value: "" };
}

// From the saved fields that say what becomes of requests, to what cannot be wrong.

/** What becomes of requests. */
export interface Handling {
  reply: ReplyNow | ReplyByFlow;
  /** Nothing where a repeated delivery is as good as the first. */
  duplicates: DuplicatePolicy | undefined;
  /** Which addresses may send; empty for all. */
  allowFrom: readonly Block[];
  /** The most requests a minute from one address; 0 for any number. */
  rateLimit: number;
  /** How long it is expected at most until the next request is accepted, in hours; 0 for any time. */
  alertWhenSilent: number;
  /** Whether the message has the bytes of the body as they were sent. */
  rawBody: boolean;
  /** Whether a delivery is kept before its sender is answered, and until the flow has finished with it. */
  guaranteed: boolean;
  /** How fast, how often and for how long the flow is started with stored deliveries. */
  pace: Pace;
  /** After how long an attempt without an end has failed, in ms. */
  attemptTimeoutMs: number;
}

/** This node answers, at once. */
export interface ReplyNow {
  by: "now";
  /** 200 to 299; 204 and 205 have no content. */
  status: number;
  /** Empty for the reply that tells the id, or for what the sender wants; and where there is no content. */
  body: string;
  /** The media type of the body. */
  type: string;
}

/** The flow answers. */
export interface ReplyByFlow {
  by: "flow";
  /** How long it may take, in ms. */
  timeout: number;
}

/** How fast, how often and for how long a flow is started with its deliveries: the node's section *Guaranteed delivery*. */
export interface Pace {
  /** The starts of the flow for a delivery in all, the first one included. */
  readonly attempts: number;
  /** The time from the first failure until the second start, in ms. It doubles with each failure. */
  readonly backoffFirst: number;
  /** The longest that this time becomes, in ms. */
  readonly backoffLongest: number;
  /** How many attempts run at once, over all instances; 0 for any number. With 1, first attempts start in order of arrival. */
  readonly concurrency: number;
  /** How many attempts start per minute, over all instances, spread evenly; 0 for any number. */
  readonly ratePerMinute: number;
  /** After so many failed attempts in a row the node is paused by itself; 0 for never. */
  readonly breaker: number;
}

/**
 * The time from a failure until the next attempt, in the unit of the pace.
 *
 * @param failures how many there were, this one included
 */
export function backoffAfter(
  { backoffFirst, backoffLongest }: Pick<Pace, "backoffFirst" | "backoffLongest">,
  failures: number,
): number {
  return Math.min(backoffLongest, backoffFirst * 2 ** (failures - 1));
}

/** How repeated deliveries are known. */
export interface DuplicatePolicy {
  key: DuplicateKey;
  /** How long a delivery is known, in ms. */
  keptFor: number;
}

/**
 * Turns saved fields into what becomes of requests, or names the first rule that they break. Fields that are not used
 * beside the others may hold anything.
 *
 * @param given those that the node has, with their environment variables resolved
 */
export function parseHandling(given: Partial<HandlingFields>): Handling | Breach {
  const saved = withDefaults(given);
  for (const field of fields) {
    const breach = isHandlingUsed(field, saved) ? findHandlingBreach(field, saved[field]) : undefined;
    if (breach) return breach;
  }
  return {
    reply: parseReply(saved),
    duplicates: isTrue(saved.ignoreDuplicates) ? parseDuplicatePolicy(saved) : undefined,
    allowFrom: parseBlocks(saved.allowFrom) ?? [],
    rateLimit: Number(saved.rateLimit),
    alertWhenSilent: Number(saved.alertWhenSilent),
    rawBody: isTrue(saved.rawBody),
    guaranteed: isTrue(saved.guaranteed),
    // What was stored before is started at the usual pace.
    pace: parsePace(isTrue(saved.guaranteed) ? saved : handlingDefaults),
    attemptTimeoutMs: Number((isTrue(saved.guaranteed) ? saved : handlingDefaults).attemptTimeout) * 1000,
  };
}

const fields = Object.keys(handlingDefaults) as (keyof HandlingFields)[];

/** Whether a field has a meaning beside the others; where an environment variable decides, those of each choice have. */
export function isHandlingUsed(
  field: keyof HandlingFields,
  {
    reply,
    replyStatus,
    ignoreDuplicates,
    guaranteed,
  }: Pick<HandlingFields, "reply" | "replyStatus" | "ignoreDuplicates" | "guaranteed">,
): boolean {
  switch (field) {
    case "replyStatus":
      return reply === "now" || isEnvironmentValue(reply);
    case "replyBody":
    case "replyType":
      return (reply === "now" || isEnvironmentValue(reply)) && !isWithoutContent(replyStatus);
    case "replyTimeout":
      return reply === "flow" || isEnvironmentValue(reply);
    case "duplicateKey":
    case "duplicateWindow":
      return isTrue(ignoreDuplicates) || isEnvironmentValue(ignoreDuplicates);
    case "attempts":
    case "backoffFirst":
    case "backoffLongest":
    case "concurrency":
    case "ratePerMinute":
    case "breaker":
    case "attemptTimeout":
      return isTrue(guaranteed) || isEnvironmentValue(guaranteed);
    default:
      return true;
  }
}

/** RFC 9110 §15.3.5 and §15.3.6: 204 and 205 have no content. */
export function isWithoutContent(status: unknown): boolean {
  return ["204", "205"].includes(text(status));
}

function withDefaults(given: Partial<HandlingFields>): HandlingFields {
  const saved: HandlingFields = { ...handlingDefaults };
  for (const name of fields) if (given[name] !== undefined) Object.assign(saved, { [name]: given[name] });
  return saved;
}

function parseReply({ reply, replyStatus, replyBody, replyType, replyTimeout }: HandlingFields): Handling["reply"] {
  if (reply === "flow") return { by: "flow", timeout: Number(replyTimeout) * 1000 };
  const status = Number(replyStatus);
  if (isWithoutContent(status)) return { by: "now", status, body: "", type: handlingDefaults.replyType };
  return { by: "now", status, body: text(replyBody), type: replyType };
}

function parseDuplicatePolicy({ duplicateKey, duplicateWindow }: HandlingFields): DuplicatePolicy {
  return { key: parseDuplicateKey(duplicateKey) ?? "", keptFor: Number(duplicateWindow) * 60 * 60 * 1000 };
}

function parsePace(saved: Omit<{ [Name in keyof Pace]: number | string }, never>): Pace {
  return {
    attempts: Number(saved.attempts),
    backoffFirst: Number(saved.backoffFirst) * 1000,
    backoffLongest: Number(saved.backoffLongest) * 1000,
    concurrency: Number(saved.concurrency),
    ratePerMinute: Number(saved.ratePerMinute),
    breaker: Number(saved.breaker),
  };
}

function findHandlingBreach(field: keyof HandlingFields, value: unknown): Breach | undefined {
  if (isEnvironmentValue(value)) return { rule: "environment", value: String(value) };
  const rule = hasRule(field) ? handlingRules[field](value) : undefined;
  return rule && { rule, value: "" };
}

function hasRule(field: keyof HandlingFields): field is HandlingRule {
  return field in handlingRules;
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}
