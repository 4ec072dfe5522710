// Texts, times, numbers and names in the language of the page.

import { normalisePath, parseBaseUrl } from "../../../src/config/paths";
import { formatPlace, type Place } from "../../../src/admin/place";
import type { Summary, Translate } from "../../../src/admin/summary";
import { host, type KnownNode } from "./host";

const texts = new Map<string, string>();

/** A text of the node type. Looking all those of a form up would take as long as all else that a key in it causes. */
export const text: Translate = (key, values) => {
  if (values) return host().translate(key, values);
  const found = texts.get(key) ?? host().translate(key);
  texts.set(key, found);
  return found;
};

const day: Intl.DateTimeFormatOptions = { day: "2-digit", month: "2-digit" };
const minute: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const second: Intl.DateTimeFormatOptions = { ...minute, second: "2-digit" };
const unit = { style: "unit", unitDisplay: "narrow" } as const;

/** Creating a format takes longer than using it a hundred times. */
function createFormats(language: string) {
  return {
    numbers: new Intl.NumberFormat(language),
    milliseconds: new Intl.NumberFormat(language, { ...unit, unit: "millisecond", maximumFractionDigits: 0 }),
    seconds: new Intl.NumberFormat(language, { ...unit, unit: "second", maximumFractionDigits: 1 }),
    time: createTimeFormat(language, second),
    minute: createTimeFormat(language, minute),
    day: new Intl.DateTimeFormat(language, { dateStyle: "full" }),
    moment: new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" }),
    ago: new Intl.RelativeTimeFormat(language, { style: "short", numeric: "auto" }),
  };
}

let created: ReturnType<typeof createFormats> | undefined;

function formats(): ReturnType<typeof createFormats> {
  return (created ??= createFormats(host().language));
}

/** With the date where that is not today. */
function createTimeFormat(language: string, options: Intl.DateTimeFormatOptions): (at: number) => string {
  const time = new Intl.DateTimeFormat(language, options);
  const dated = new Intl.DateTimeFormat(language, { ...day, ...options });
  return (at) => (new Date(at).toDateString() === new Date().toDateString() ? time : dated).format(at);
}

export function timeText(at: number): string {
  return formats().time(at);
}

/** Without seconds. */
export function minuteText(at: number): string {
  return formats().minute(at);
}

/** Such as "2 min. ago"; nothing where that was not within a day. */
export function agoText(at: number): string | undefined {
  const minutes = Math.floor((Date.now() - at) / 60_000);
  // The clock of the runtime may be ahead.
  if (minutes < 1) return formats().ago.format(0, "second");
  if (minutes < 60) return formats().ago.format(-minutes, "minute");
  return minutes < 24 * 60 ? formats().ago.format(-Math.floor(minutes / 60), "hour") : undefined;
}

export function numberText(value: number): string {
  return formats().numbers.format(value);
}

export function durationText(duration: number): string {
  const { milliseconds, seconds } = formats();
  return duration < 1000 ? milliseconds.format(duration) : seconds.format(duration / 1000);
}

export function dayText(at: number): string {
  return formats().day.format(at);
}

/** Date and time. */
export function momentText(at: number): string {
  return formats().moment.format(at);
}

export function bytesText(bytes: number): string {
  return bytes.toLocaleString(host().language, { style: "unit", unit: "byte", unitDisplay: "long" });
}

/** Attempt and next attempt; nothing without guaranteed delivery. */
export function attemptText({ attempt, maxAttempts, nextAt, pause }: Summary): string | undefined {
  if (maxAttempts === null || attempt === 0) return undefined;
  const values = { attempt: numberText(attempt), max: numberText(maxAttempts) };
  // A paused node has no next attempt.
  if (nextAt === null || pause !== null) return text("tab.attempt", values);
  return text("tab.retrying", { ...values, time: timeText(nextAt) });
}

/** The id of the node where it was deleted. */
export function getNodeLabel(id: string): string {
  return host().findNode(id)?.label ?? id;
}

/** With the flow of the node; its id where it was deleted. */
export function getNodeName(id: string): string {
  const node = host().findNode(id);
  return node ? composeNodeName(node) : id;
}

/** The names of all nodes of the type by id, in their order. */
export function listNodeNames(): Map<string, string> {
  const named = host()
    .listNodes()
    .map((node) => [node.id, composeNodeName(node)] as const);
  return new Map(named.sort(([, one], [, other]) => one.localeCompare(other)));
}

function composeNodeName({ label, flow }: KnownNode): string {
  return text("url.rival", { name: label, flow });
}

/** In the order of the filter, with the classes of its icon. */
export const stateIcons: Readonly<Record<Summary["state"], string>> = {
  refused: "fa-ban webhook-deliveries-bad",
  failed: "fa-times-circle webhook-deliveries-bad",
  queued: "fa-inbox",
  running: "fa-play",
  retrying: "fa-repeat webhook-deliveries-warning",
  succeeded: "fa-check webhook-deliveries-good",
  duplicate: "fa-clone",
  handshake: "fa-handshake-o",
  filtered: "fa-filter",
};

export const states = Object.keys(stateIcons) as Summary["state"][];

type RequestTarget = Pick<Summary, "path" | "cause">;

/** Whether it reached no endpoint: its node is a guess. */
export function isElsewhere({ cause }: Pick<RequestTarget, "cause">): boolean {
  return cause?.problem === "noEndpoint";
}

/** The path as in the sender's URL. A request that reached no endpoint has its whole path already. */
export function composeFullPath(target: RequestTarget): string {
  const { node: root } = host().settings.roots;
  return isElsewhere(target) || root === false ? target.path : normalisePath(root) + target.path;
}

/** The address of a place on the page. */
export function composePageUrl(place: Place): string {
  const found = formatPlace(place);
  return (host().isPage ? "./" : "webhook-trigger/") + (found && `#${found}`);
}

/** @param path with `httpNodeRoot` */
export function composeUrlOfPath(path: string): string {
  return (parseBaseUrl(host().settings.baseUrl) ?? location.origin) + path;
}
