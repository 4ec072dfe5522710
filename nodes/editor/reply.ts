// Who answers the caller, and what it is told.

import { isEnvironmentValue } from "../../src/config/rules";
import { fieldValue, inputValue, type WebhookNode } from "./fields";

/** Says what the flow has to do where it answers, and whether the body is what its type says. */
export function showReply(node: WebhookNode): void {
  $("#webhook-trigger-hint-reply").text(inputValue("reply") === "flow" ? node._("hint.replyByFlow") : "");
  $("#webhook-trigger-note-json").toggle(isBrokenJson(inputValue("replyType"), inputValue("replyBody")));
}

/** RFC 6839 §3.1: types whose name ends in +json are JSON as well. */
const jsonType = /^application\/json\b|^[^;]*\+json[\t ]*(?:;|$)/i;

/** @returns false as well where there is nothing, or only the runtime knows it */
function isBrokenJson(type: string, body: string): boolean {
  if (body === "" || isEnvironmentValue(body) || !jsonType.test(type)) return false;
  try {
    JSON.parse(body);
    return false;
  } catch {
    return true;
  }
}

/** What the heading says of the reply. */
export function replyState(node: WebhookNode): string {
  const reply = fieldValue("reply");
  if (reply === "flow") return node._("section.byFlow", { seconds: inputValue("replyTimeout") });
  return reply === "now" ? node._("section.atOnce", { status: inputValue("replyStatus") }) : String(reply);
}
