// Times, as the user of the editor writes them.

import type { Editor } from "./host";

declare const RED: Editor;

/** The time, and the day as well where that is not today. */
export function timeOf(at: number): string {
  const date = new Date(at);
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  if (date.toDateString() === new Date().toDateString()) return date.toLocaleTimeString(undefined, time);
  return date.toLocaleString(undefined, { ...time, day: "numeric", month: "short" });
}

/** A time span in one unit that is large enough, such as "85 minutes". @param seconds how long it is */
export function durationOf(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  // Two of a unit at least: 85 minutes say more than one hour.
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? units[3];
  return Math.round(seconds / length).toLocaleString(RED.i18n.lang(), { style: "unit", unit, unitDisplay: "long" });
}
