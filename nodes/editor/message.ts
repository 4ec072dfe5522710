// What the flow will get of a request.

import { isEnvironmentValue } from "../../src/config/rules";
import { testBody } from "../../src/trust/present";
import { fieldValue, input, savedValues, showUnlisted, type WebhookNode } from "./fields";

export function prepareMessage(node: WebhookNode): void {
  const { returnQueryParams } = savedValues(node);
  input("returnQueryParams").prop("checked", String(returnQueryParams) === "true");
  showUnlisted("returnQueryParams", returnQueryParams);
}

export function returnsQuery(): boolean {
  return String(fieldValue("returnQueryParams")) === "true";
}

/** Shows the message that a test request becomes. */
export function showPicture(): void {
  const payload = returnsQuery() ? { body: testBody, query: {} } : testBody;
  const picture = $("#webhook-trigger-picture").toggle(!isEnvironmentValue(fieldValue("returnQueryParams")));
  picture.text(`msg.payload = ${JSON.stringify(payload, null, 1).replace(/\n\s*/g, " ")}`);
}
