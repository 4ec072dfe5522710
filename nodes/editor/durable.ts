// Whether deliveries are kept until the flow has finished with them, and where.

import { isEnvironmentValue } from "../../src/config/rules";
import { keeping } from "./checks";
import { fieldValue, inputValue, isTicked, prepareBox, type WebhookNode } from "./fields";
import { suggestedFor } from "./repeats";

export function prepareDurable(node: WebhookNode): void {
  prepareBox(node, "durable");
  $("#webhook-trigger-durable-in-file").toggle(keeping() === "file");
  $("#webhook-trigger-durable-on-server").toggle(keeping() === "server");
  $("#webhook-trigger-note-no-store").toggle(keeping() === "none");
}

/** Says what it means beside the other fields. */
export function showDurable(node: WebhookNode): void {
  $("#webhook-trigger-durable-by-flow").toggle(inputValue("reply") === "flow");
  const name = isTicked("durable") ? suggestedFor() : "";
  $("#webhook-trigger-note-durable-repeats")
    .toggle(name !== "")
    .children("span")
    .text(name === "" ? "" : node._("durable.repeats", { name }));
}

/** What the heading says of it. */
export function durableState(node: WebhookNode): string {
  const value = fieldValue("durable");
  if (isEnvironmentValue(value)) return String(value);
  if (!isTicked("durable")) return node._("section.durableOff");
  return node._(keeping() === "server" ? "section.durableOnServer" : "section.durableInFile");
}
