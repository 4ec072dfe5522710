// From saved fields to a configuration that cannot be wrong.

import type { BodyDigest, KeySource, Settings } from "../auth/senders/sender";
import { findJwtPreset } from "../auth/senders/table";
import { type Block, parseBlocks } from "./blocks";
import { type Caller, parseCallers } from "./callers";
import {
  type Breach,
  type BrokenRule,
  defaults,
  type DuplicateKey,
  fieldNames,
  identityRule,
  isDuplicateKey,
  isFieldUsed,
  needsValue,
  type Operator,
  type PlainConfig,
  plainFields,
  placementField,
  rules,
  type SavedCredentials,
  type SavedCondition,
  type SavedFields,
  settingNames,
  type TokenMethod,
  withDefaults,
} from "./fields";
import { composePublicUrl, isAdminPath, normalisePath, type Roots } from "./paths";
import { isEnvironmentValue, isTrue, isWithoutContent, text } from "./values";

/** A configuration without a broken rule, but for those of the sender and its secrets: `createAuthenticator` has them. */
export interface WebhookConfig extends PlainConfig {
  /** With its leading slash and without a trailing one, in the letter case it was given; `:id` is a parameter. */
  path: string;
  /** The methods whose requests start the flow. */
  methods: readonly string[];
  /** The events that start the flow, in the order of their outputs; empty for all. */
  events: readonly string[];
  /** What must hold for a request to start the flow. */
  conditions: readonly FilterCondition[];
  /** Empty for any sender. */
  sender: string;
  access: TokenAccess | BasicAccess | JwtAccess | SignatureAccess;
  reply: ReplyNow | ReplyByFlow;
  /** Missing where duplicates start the flow. */
  duplicates: DuplicatePolicy | undefined;
  /** Allowed addresses; empty for all. */
  allowFrom: readonly Block[];
  /** How fast, how often and for how long the flow is started with stored deliveries. */
  pace: Pace;
  rateLimitBy: "address" | "caller";
  /** Whether there is an alert for each silent caller, too. */
  alertPerCaller: boolean;
  /** After how long an attempt without an end has failed, in ms. */
  attemptTimeoutMs: number;
  /** Whether an attempt fails where an API that the flow calls has answered with an error. */
  httpErrorsFail: boolean;
}

export interface FilterCondition {
  /** `event`, or as a duplicate key says. */
  readonly place: string;
  readonly operator: Operator;
  /** Empty for `exists` and `missing`. */
  readonly value: string;
}

/** The credentials of a node. */
export interface OwnCredentials {
  /** Token, password or secret; empty where only callers have one, or the sender has not brought it yet. */
  first: string;
  /** Accepted as well, so that a change of secret loses nothing; missing or empty for none. */
  second?: string;
}

/** What all ways to authenticate have. */
interface CommonAccess extends OwnCredentials {
  callers: readonly Caller[];
}

/** Authentication by a token. */
export interface TokenAccess extends CommonAccess {
  method: TokenMethod;
  /** The header field, or the query parameter, that has the token. */
  name: string;
}

/** Authentication by user and password (RFC 7617). Each caller is a user whose password is its token. */
export interface BasicAccess extends CommonAccess {
  method: "basic";
  /** Empty, as the password is, where only callers may send. */
  user: string;
}

/** Authentication by a JSON Web Token (RFC 7519). */
export interface JwtAccess extends CommonAccess {
  method: "jwt";
  /** The header field that has the token. */
  name: string;
  keySource: KeySource;
  jwksUrl: string;
  publicKey: string;
  /** Empty where it is not checked. */
  issuer: string;
  /** Empty where it is not checked. */
  audience: string;
  /** The claims that a token must have, with their values as texts. */
  claims: Readonly<Record<string, string>>;
  bodyDigest: BodyDigest | undefined;
}

/** Authentication by the sender's signature. */
export interface SignatureAccess extends CommonAccess {
  method: "signature";
  scheme: unknown;
  settings: Settings;
  verifyToken: string;
}

/** What a configuration depends on beside its own fields. */
interface ConfigContext {
  roots: Roots;
  /** The address that senders use, without a slash at its end; missing where it is not known. */
  baseUrl?: string | undefined;
}

/**
 * Turns saved fields into a configuration, or returns the first rule that they break.
 *
 * @param given the fields that the node has, with their environment variables resolved; those that are not used beside
 *   the others may have any value
 * @param credentials those with their environment variables resolved
 */
export function parseConfig(
  given: Readonly<Partial<SavedFields>>,
  credentials: SavedCredentials,
  host: ConfigContext,
): WebhookConfig | Breach {
  const saved = withDefaults(given);
  const used = fieldNames.filter((field) => field !== "name" && isFieldUsed(field, saved));
  const breach = findBreach(Object.fromEntries(used.map((field) => [field, saved[field]])));
  if (breach) return breach;
  const path = normalisePath(text(saved.relativePath));
  if (isAdminPath(path, host.roots)) return { rule: "relativePath.admin", value: "" };
  const access = parseAccess(saved, credentials, composePublicUrl(path, host.roots.node, host.baseUrl));
  if ("rule" in access) return access;
  const hasCallers = access.callers.length > 0;
  // What was stored before is started at the usual pace.
  const paced = isTrue(saved.guaranteed) ? saved : defaults;
  const { duplicateKey: key } = saved;
  return {
    ...parsePlain(saved),
    path,
    methods: saved.methods,
    events: saved.events,
    conditions: parseConditions(saved.conditions),
    outputPerEvent: isTrue(saved.outputPerEvent) && saved.events.length > 0,
    sender: text(saved.sender),
    access,
    reply: parseReply(saved),
    duplicates:
      isTrue(saved.ignoreDuplicates) && isDuplicateKey(key)
        ? { key, keptForMs: Number(saved.duplicateWindow) * 3_600_000 }
        : undefined,
    allowFrom: parseBlocks(saved.allowFrom) ?? [],
    rateLimitBy: hasCallers && saved.rateLimitBy === "caller" ? "caller" : "address",
    alertPerCaller: hasCallers && isTrue(saved.alertPerCaller),
    pace: {
      attempts: Number(paced.attempts),
      backoffFirstMs: Number(paced.backoffFirst) * 1000,
      backoffLongestMs: Number(paced.backoffLongest) * 1000,
      concurrency: Number(paced.concurrency),
      ratePerMinute: Number(paced.ratePerMinute),
      breaker: Number(paced.breaker),
    },
    attemptTimeoutMs: Number(paced.attemptTimeout) * 1000,
    httpErrorsFail: isTrue(paced.httpErrorsFail),
  };
}

/** Each by what its default is. */
function parsePlain(saved: SavedFields): PlainConfig {
  const parsed = plainFields.map((name) => {
    const value = saved[name];
    return [name, typeof defaults[name] === "boolean" ? isTrue(value) : Number(value)];
  });
  return Object.fromEntries(parsed) as PlainConfig;
}

export function parseConditions(saved: readonly SavedCondition[]): FilterCondition[] {
  return saved.map(({ place, operator, value }) => ({
    place,
    operator,
    value: needsValue(operator) ? text(value) : "",
  }));
}

function parseAccess(
  saved: SavedFields,
  credentials: SavedCredentials,
  usualUrl: string,
): WebhookConfig["access"] | Breach {
  const { verificationMethod: method } = saved;
  if (method === "signature") return signatureAccess(saved, credentials, usualUrl);
  return method === "jwt" ? jwtAccess(saved, credentials) : tokenAccess(saved, credentials);
}

/** With callers, a node needs no credential of its own. */
function tokenAccess(
  saved: SavedFields,
  { token, user, password, secondPassword, callers }: SavedCredentials,
): TokenAccess | BasicAccess | Breach {
  const isBasic = saved.verificationMethod === "basic";
  const own = isBasic ? { user, password, secondPassword } : { token };
  const unresolved = findUnresolved(callers);
  if (unresolved) return unresolved;
  const known = parseCallers(callers);
  if (typeof known === "string") return { rule: known, value: "" };
  const isOwnNeeded = known.length === 0 || Object.values(own).some((value) => text(value) !== "");
  const breach = isOwnNeeded ? findBreach(own) : undefined;
  if (breach) return breach;
  if (isBasic) {
    return { method: "basic", user: text(user), first: text(password), second: text(secondPassword), callers: known };
  }
  const method = saved.verificationMethod as TokenMethod;
  return { method, name: text(saved[placementField[method]]), first: text(token), callers: known };
}

function jwtAccess(given: SavedFields, { secret, secondSecret }: SavedCredentials): JwtAccess | Breach {
  const preset = findJwtPreset(given.sender);
  const { keySource, headerParameter, jwksUrl, publicKey, issuer, audience, requiredClaim } = { ...given, ...preset };
  const secrets = keySource === "secret" ? { secret, secondSecret } : {};
  const breach = findBreach(secrets);
  if (breach) return breach;
  const rule = identityRule(requiredClaim, given.sender);
  if (rule) return { rule, value: "" };
  const [, name, value = ""] = /^([^=]+)=([^]+)$/.exec(text(requiredClaim)) ?? [];
  return {
    method: "jwt",
    name: text(headerParameter),
    keySource: keySource as KeySource,
    jwksUrl: text(jwksUrl),
    publicKey: text(publicKey),
    first: text(secrets.secret),
    second: text(secrets.secondSecret),
    callers: [],
    issuer: text(issuer),
    audience: text(audience),
    claims: { ...preset?.claims, ...(name !== undefined && { [name]: value }) },
    bodyDigest: preset?.bodyDigest,
  };
}

/** What is entered for a sender besides secrets, as a text. */
const textSettings = settingNames.filter((name) => name !== "arm");

function signatureAccess(
  { scheme, senderSettings }: Readonly<SavedFields>,
  credentials: SavedCredentials,
  usualUrl: string,
): SignatureAccess | Breach {
  const { secret, secondSecret, verifyToken } = credentials;
  // A flow file may have been written by hand.
  const given = (senderSettings as SavedFields["senderSettings"] | null | undefined) ?? {};
  const { arm } = given;
  const texts = textSettings.map((name) => [name, given[name]] as const);
  const breach =
    [secret, secondSecret, verifyToken].map(findUnresolved).find((each) => each !== undefined) ??
    findBreach({ ...Object.fromEntries(texts), arm });
  if (breach) return breach;
  const settings: Settings = Object.fromEntries(texts.map(([name, value]) => [name, text(value)]));
  settings.publicUrl ||= usualUrl;
  settings.arm = isTrue(arm);
  const own = { first: text(secret), second: text(secondSecret), verifyToken: text(verifyToken) };
  return { method: "signature", scheme, settings, ...own, callers: [] };
}

/** This node replies, at once. */
export interface ReplyNow {
  by: "now";
  /** 200 to 299; 204 and 205 have no content. */
  status: number;
  /** Empty for the reply with the id, or for the one that the sender expects; and where there is no content. */
  body: string;
  /** The media type of the body. */
  type: string;
}

/** The flow replies. */
export interface ReplyByFlow {
  by: "flow";
  /** How long it may take, in ms. */
  timeoutMs: number;
}

/** How fast, how often and for how long a flow is started with its deliveries: the node's section *Guaranteed delivery*. */
export interface Pace {
  /** The starts of the flow for a delivery in all, the first one included. */
  readonly attempts: number;
  /** The time from the first failure until the second start, in ms. It doubles with each failure. */
  readonly backoffFirstMs: number;
  /** The longest that this time becomes, in ms. */
  readonly backoffLongestMs: number;
  /** How many attempts run at once, over all instances; 0 for any number. With 1, first attempts start in order of arrival. */
  readonly concurrency: number;
  /** How many attempts start per minute, over all instances, spread evenly; 0 for any number. */
  readonly ratePerMinute: number;
  /** After so many failed attempts in a row the node is paused by itself; 0 for never. */
  readonly breaker: number;
}

/**
 * The time from a failure until the next attempt, in ms.
 *
 * @param failures how many there were, this one included
 */
export function backoffAfter(
  { backoffFirstMs, backoffLongestMs }: Pick<Pace, "backoffFirstMs" | "backoffLongestMs">,
  failures: number,
): number {
  return Math.min(backoffLongestMs, backoffFirstMs * 2 ** (failures - 1));
}

/** How duplicates are recognized. */
export interface DuplicatePolicy {
  key: DuplicateKey;
  /** How long a delivery is remembered, in ms. */
  keptForMs: number;
}

function parseReply({ reply, replyStatus, replyBody, replyType, replyTimeout }: SavedFields): WebhookConfig["reply"] {
  if (reply === "flow") return { by: "flow", timeoutMs: Number(replyTimeout) * 1000 };
  const status = Number(replyStatus);
  if (isWithoutContent(status)) return { by: "now", status, body: "", type: defaults.replyType };
  return { by: "now", status, body: text(replyBody), type: replyType };
}

/** The first rule that fields, credentials or settings break. */
function findBreach(values: Readonly<Record<string, unknown>>): Breach | undefined {
  const byName: Partial<Record<string, (value: unknown) => BrokenRule | undefined>> = rules;
  for (const [name, value] of Object.entries(values)) {
    const unresolved = findUnresolved(value);
    if (unresolved) return unresolved;
    const rule = byName[name]?.(value);
    if (rule) return { rule, value: "" };
  }
  return undefined;
}

function findUnresolved(value: unknown): Breach | undefined {
  if (typeof value === "object" && value !== null)
    return Object.values(value)
      .map(findUnresolved)
      .find((each) => each !== undefined);
  return isEnvironmentValue(value) ? { rule: "environment", value: String(value) } : undefined;
}
