// How the tab puts things: its texts, times and numbers, in the language of the editor.

import type { Summary } from "../../../src/deliveries/summary";
import type { Translate } from "../../../src/deliveries/wording";
import type { Editor } from "../host";

declare const RED: Editor;

/** A text of the type's: the tab belongs to no node. */
export const text: Translate = (...asked) => RED.nodes.getType("webhook-trigger")._.call(undefined, ...asked);

export function numberText(value: number): string {
  return formats().number.format(value);
}

/** The time of the day, and the date where that is not today. */
export function timeText(at: number): string {
  const date = new Date(at);
  const { time, dated } = formats();
  return (date.toDateString() === new Date().toDateString() ? time : dated).format(date);
}

/** The time of the day without its seconds, and the date where that is not today. */
export function minuteText(at: number): string {
  const date = new Date(at);
  const { minute, datedMinute } = formats();
  return (date.toDateString() === new Date().toDateString() ? minute : datedMinute).format(date);
}

/** How long something took: in ms below a second. */
export function durationText(milliseconds: number): string {
  const { milliseconds: small, seconds } = formats();
  return milliseconds < 1000 ? small.format(Math.round(milliseconds)) : seconds.format(milliseconds / 1000);
}

/** Which attempt it is, and when the next one is, where that is known; nothing without guaranteed delivery. */
export function attemptText({ attempt, maxAttempts, nextAt, pause }: Summary): string | undefined {
  if (maxAttempts === null || attempt === 0) return undefined;
  const values = { attempt: numberText(attempt), max: numberText(maxAttempts) };
  // While its node is paused, it waits longer than that.
  if (nextAt === null || pause !== null) return text("tab.attempt", values);
  return text("tab.retrying", { ...values, time: timeText(nextAt) });
}

/** How long ago something was. */
export function agoText(minutes: number): string {
  return formats().relative.format(-minutes, "minute");
}

let known: ReturnType<typeof formatsOf> | undefined;

/** To make a format takes longer than to use it a hundred times. */
function formats() {
  return (known ??= formatsOf(RED.i18n.lang()));
}

function formatsOf(language: string) {
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
    relative: new Intl.RelativeTimeFormat(language, { numeric: "auto" }),
  };
}
