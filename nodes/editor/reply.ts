// Who answers the caller, and what it is told.

import { fieldValue, inputValue, type WebhookNode } from "./fields";

/** Says what the flow has to do where it answers. */
export function showReply(node: WebhookNode): void {
  $("#webhook-trigger-hint-reply").text(inputValue("reply") === "flow" ? node._("hint.replyByFlow") : "");
}

/** What the heading says of the reply. */
export function replyState(node: WebhookNode): string {
  const reply = fieldValue("reply");
  if (reply === "flow") return node._("section.byFlow", { seconds: inputValue("replyTimeout") });
  return reply === "now" ? node._("section.atOnce", { status: inputValue("replyStatus") }) : String(reply);
}
