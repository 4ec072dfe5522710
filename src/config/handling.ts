// From the saved fields that say what becomes of requests, to what cannot be wrong.

import { type Block, parseBlocks } from "./blocks";
import { type HandlingFields, handlingDefaults } from "./fields";
import { type HandlingRule, handlingRules } from "./handling-rules";
import { parseRepeatKey, type RepeatKey } from "./repeat-key";
import { type Breach, isEnvironmentValue, text } from "./rules";

/** What becomes of requests. */
export interface Handling {
  reply: ReplyNow | ReplyByFlow;
  /** Nothing where a repeated delivery is as good as the first. */
  repeats: RepeatPolicy | undefined;
  /** Which addresses may send; empty for all. */
  allowFrom: readonly Block[];
  /** The most requests a minute from one address; 0 for any number. */
  rateLimit: number;
  /** Whether the message has the bytes of the body as they were sent. */
  rawBody: boolean;
}

/** This node answers, at once. */
export interface ReplyNow {
  by: "now";
  /** 200 to 299; 204 and 205 have no content, whatever `body` says (RFC 9110 §15.3). */
  status: number;
  /** Empty for the reply that tells the id, or for what the sender wants. */
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

/** How repeated deliveries are known. */
export interface RepeatPolicy {
  key: RepeatKey;
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
  const ignoresRepeats = isTrue(saved.ignoreRepeats);
  const used: (keyof HandlingFields)[] = [
    "reply",
    ...(saved.reply === "flow" ? (["replyTimeout"] as const) : (["replyStatus", "replyBody", "replyType"] as const)),
    "ignoreRepeats",
    ...(ignoresRepeats ? (["repeatKey", "repeatWindow"] as const) : []),
    ...(["allowFrom", "rateLimit", "rawBody"] as const),
  ];
  for (const field of used) {
    const breach = breachOf(field, saved[field]);
    if (breach) return breach;
  }
  return {
    reply: replyOf(saved),
    repeats: ignoresRepeats ? repeatsOf(saved) : undefined,
    allowFrom: parseBlocks(saved.allowFrom) ?? [],
    rateLimit: Number(saved.rateLimit),
    rawBody: isTrue(saved.rawBody),
  };
}

function withDefaults(given: Partial<HandlingFields>): HandlingFields {
  const saved: HandlingFields = { ...handlingDefaults };
  const names = Object.keys(handlingDefaults) as (keyof HandlingFields)[];
  for (const name of names) if (given[name] !== undefined) Object.assign(saved, { [name]: given[name] });
  return saved;
}

function replyOf({ reply, replyStatus, replyBody, replyType, replyTimeout }: HandlingFields): Handling["reply"] {
  if (reply === "flow") return { by: "flow", timeout: Number(replyTimeout) * 1000 };
  return { by: "now", status: Number(replyStatus), body: text(replyBody), type: replyType };
}

function repeatsOf({ repeatKey, repeatWindow }: HandlingFields): RepeatPolicy {
  return { key: parseRepeatKey(repeatKey) ?? "", keptFor: Number(repeatWindow) * 60 * 60 * 1000 };
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
