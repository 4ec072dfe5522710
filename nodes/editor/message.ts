// What the flow will get of a request.

import { isEnvironmentValue } from "../../src/config/rules";
import { testBody } from "../../src/trust/present";
import { fieldValue, isTicked, prepareBox, type WebhookNode } from "./fields";

export function prepareMessage(node: WebhookNode): void {
  prepareBox(node, "returnQueryParams");
  prepareBox(node, "rawBody");
}

/** Shows the message that a test request becomes. */
export function showPicture(): void {
  const payload = isTicked("returnQueryParams") ? { body: testBody, query: {} } : testBody;
  const picture = $("#webhook-trigger-picture").toggle(!isEnvironmentValue(fieldValue("returnQueryParams")));
  const lines = [`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`];
  if (isTicked("rawBody")) lines.push(`msg.rawBody = Buffer.from(${JSON.stringify(testBody)})`);
  picture.text(lines.join("\n"));
}

/** What the heading says of the message. */
export function messageState(node: WebhookNode): string {
  const query = fieldValue("returnQueryParams");
  const raw = fieldValue("rawBody");
  const payload = node._(isTicked("returnQueryParams") ? "section.bodyAndQuery" : "section.body");
  const parts = [isEnvironmentValue(query) ? String(query) : payload];
  if (isTicked("rawBody")) parts.push(node._("section.rawBody"));
  else if (isEnvironmentValue(raw)) parts.push(String(raw));
  return parts.join(" · ");
}
