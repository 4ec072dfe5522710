// From the saved fields that say what becomes of requests, to what cannot be wrong.

import { type Block, parseBlocks } from "./blocks";
import { type HandlingFields, handlingDefaults } from "./fields";
import { type HandlingRule, handlingRules } from "./handling-rules";
import { parseDuplicateKey, type DuplicateKey } from "./duplicate-key";
import { type Breach, isEnvironmentValue, text } from "./rules";

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
    const breach = isHandlingUsed(field, saved) ? breachOf(field, saved[field]) : undefined;
    if (breach) return breach;
  }
  return {
    reply: replyOf(saved),
    duplicates: isTrue(saved.ignoreDuplicates) ? duplicatesOf(saved) : undefined,
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

function replyOf({ reply, replyStatus, replyBody, replyType, replyTimeout }: HandlingFields): Handling["reply"] {
  if (reply === "flow") return { by: "flow", timeout: Number(replyTimeout) * 1000 };
  const status = Number(replyStatus);
  if (isWithoutContent(status)) return { by: "now", status, body: "", type: handlingDefaults.replyType };
  return { by: "now", status, body: text(replyBody), type: replyType };
}

function duplicatesOf({ duplicateKey, duplicateWindow }: HandlingFields): DuplicatePolicy {
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

function breachOf(field: keyof HandlingFields, value: unknown): Breach | undefined {
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
