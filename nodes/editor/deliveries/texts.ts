// Texts, times and numbers in the language of the editor.

import { normalisePath } from "../../../src/config/rules";
import type { Summary, Translate } from "../../../src/deliveries/summary";
import { getFlowName } from "../form/addresses";
import { roots } from "../form/checks";
import type { Editor, EditorNode } from "../host";

declare const RED: Editor;

/** A text of the node type: the tab belongs to no node. */
export const text: Translate = (...asked) => RED.nodes.getType("webhook-trigger")._.call(undefined, ...asked);

export function numberText(value: number): string {
  return formats().number.format(value);
}

/** With the date where that is not today. */
export function timeText(at: number): string {
  const date = new Date(at);
  const { time, dated } = formats();
  return (date.toDateString() === new Date().toDateString() ? time : dated).format(date);
}

/** Without seconds, with the date where that is not today. */
export function minuteText(at: number): string {
  const date = new Date(at);
  const { minute, datedMinute } = formats();
  return (date.toDateString() === new Date().toDateString() ? minute : datedMinute).format(date);
}

/** In ms below a second. */
export function durationText(milliseconds: number): string {
  const { milliseconds: small, seconds } = formats();
  return milliseconds < 1000 ? small.format(Math.round(milliseconds)) : seconds.format(milliseconds / 1000);
}

/** Attempt and next attempt; nothing without guaranteed delivery. */
export function attemptText({ attempt, maxAttempts, nextAt, pause }: Summary): string | undefined {
  if (maxAttempts === null || attempt === 0) return undefined;
  const values = { attempt: numberText(attempt), max: numberText(maxAttempts) };
  // A paused node has no next attempt.
  if (nextAt === null || pause !== null) return text("tab.attempt", values);
  return text("tab.retrying", { ...values, time: timeText(nextAt) });
}

let known: ReturnType<typeof getFormats> | undefined;

/** Creating a format takes longer than using it a hundred times. */
function formats() {
  return (known ??= getFormats(RED.i18n.lang()));
}

function getFormats(language: string) {
  const minute: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const time: Intl.DateTimeFormatOptions = { ...minute, second: "2-digit" };
  const day: Intl.DateTimeFormatOptions = { day: "2-digit", month: "2-digit" };
  const unit = { style: "unit", unitDisplay: "narrow" } as const;
  return {
    number: new Intl.NumberFormat(language),
    time: new Intl.DateTimeFormat(language, time),
    dated: new Intl.DateTimeFormat(language, { ...day, ...time }),
    minute: new Intl.DateTimeFormat(language, minute),
    datedMinute: new Intl.DateTimeFormat(language, { ...day, ...minute }),
    milliseconds: new Intl.NumberFormat(language, { ...unit, unit: "millisecond" }),
    seconds: new Intl.NumberFormat(language, { ...unit, unit: "second", maximumFractionDigits: 1 }),
  };
}

/** Date and time. */
export function momentText(at: number): string {
  return new Date(at).toLocaleString(RED.i18n.lang(), { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
}

export function bytesText(bytes: number): string {
  return bytes.toLocaleString(RED.i18n.lang(), { style: "unit", unit: "byte", unitDisplay: "long" });
}

// Names of nodes.

/** Its id where the node was deleted. */
export function getNodeLabel(id: string): string {
  const node = RED.nodes.node(id);
  return node ? RED.utils.getNodeLabel(node, id) : id;
}

/** With its flow; its id where the node was deleted. */
export function getNodeName(id: string): string {
  const node = RED.nodes.node(id);
  return node ? inFlow(node) : id;
}

/** All nodes of the type by id, with their flows. */
export function namedNodes(): Map<string, string> {
  const named = RED.nodes.filterNodes({ type: "webhook-trigger" }).map((node) => [node.id, inFlow(node)] as const);
  return new Map(named.sort(([, one], [, other]) => one.localeCompare(other)));
}

function inFlow(node: EditorNode): string {
  return text("url.rival", { name: RED.utils.getNodeLabel(node, node.id), flow: getFlowName(node) });
}

// Icons of states.

type StateName = Summary["state"];

/** In the order of the filter, with good or bad news. */
const looks: Readonly<Record<StateName, readonly [icon: string, news?: "good" | "bad"]>> = {
  refused: ["fa-ban", "bad"],
  failed: ["fa-times-circle", "bad"],
  queued: ["fa-inbox"],
  running: ["fa-play"],
  retrying: ["fa-repeat"],
  succeeded: ["fa-check", "good"],
  duplicate: ["fa-clone"],
  handshake: ["fa-handshake-o"],
};

export const states = Object.keys(looks) as StateName[];

export function getStateIcon(state: StateName): string {
  const [icon, news] = looks[state];
  return `fa fa-fw ${icon}${news ? ` webhook-deliveries-${news}` : ""}`;
}

// The path of a delivery as in the sender's URL.

type SentTo = Pick<Summary, "path" | "cause">;

/** Whether it reached no endpoint: its node is a guess. */
export function isElsewhere({ cause }: Pick<SentTo, "cause">): boolean {
  return cause?.problem === "noEndpoint";
}

/** Missed requests have their whole path already. */
export function composeFullPath(sent: SentTo): string {
  const { node: root } = roots();
  return isElsewhere(sent) || root === false ? sent.path : normalisePath(root) + sent.path;
}
