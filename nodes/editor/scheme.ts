// How a sender signs that nobody knows yet: written by its user, most easily after one that is known.

import { isSenderId, senderIds, senders } from "../../src/trust/senders/table";
import { input, savedValues, schemeText, type WebhookNode } from "./fields";

export function prepareScheme(node: WebhookNode): void {
  const text = input("scheme").val(schemeText(savedValues(node).scheme));
  const ids = senderIds.filter((id) => id !== "custom");
  const sorted = ids.sort((one, other) => senders[one].name.localeCompare(senders[other].name));
  const choice = $("#webhook-trigger-schemeOf");
  choice.append(new Option(node._("scheme.choose"), ""), ...sorted.map((id) => new Option(senders[id].name, id)));
  choice.on("change", () => {
    const id = choice.val();
    if (isSenderId(id)) text.val(schemeText(senders[id].scheme)).trigger("change");
  });
}
