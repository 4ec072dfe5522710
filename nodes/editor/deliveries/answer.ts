// What was answered to a delivery.

import type { Detail } from "../../../src/deliveries/summary";
import { bodyOf } from "./body";
import { listOf, noteOf } from "./pieces";
import { durationText, text } from "./texts";

/** RFC 9110 §15, of what webhooks are answered with. */
const phrases: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  205: "Reset Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** A status with what it is called in English, as in the protocol itself. */
export function statusText(status: number): string {
  const phrase = phrases[status];
  return phrase === undefined ? String(status) : `${status} ${phrase}`;
}

export function answerOf({ answer }: Pick<Detail, "answer">): JQuery {
  if (!answer) return noteOf(text("delivery.noAnswer"));
  const { status, milliseconds, body } = answer;
  const rows: [string, string][] = [[text("label.replyStatus"), statusText(status)]];
  if (milliseconds !== null) rows.push([text("delivery.took"), durationText(milliseconds)]);
  const view = $("<div>").append(listOf(rows));
  if (body === null || body === "") return view;
  return view.append(bodyOf({ body: { encoding: "utf8", data: body, truncated: false }, size: body.length }));
}
