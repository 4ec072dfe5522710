// Moments and sizes, in the language of the editor.

import type { Editor } from "../host";

declare const RED: Editor;

/** The day and the time, to the second. */
export function momentText(at: number): string {
  return new Date(at).toLocaleString(RED.i18n.lang(), { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
}

export function bytesText(bytes: number): string {
  return bytes.toLocaleString(RED.i18n.lang(), { style: "unit", unit: "byte", unitDisplay: "long" });
}
