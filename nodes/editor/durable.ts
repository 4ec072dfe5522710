// Whether deliveries are kept until the flow has finished with them, and where.

import { backoffAfter } from "../../src/config/handling";
import { handlingRules } from "../../src/config/handling-rules";
import { isEnvironmentValue } from "../../src/config/rules";
import { keeping } from "./checks";
import { fieldValue, inputValue, isTicked, prepareBox, type WebhookNode } from "./fields";
import { suggestedFor } from "./repeats";
import { durationOf } from "./times";

export function prepareDurable(node: WebhookNode): void {
  prepareBox(node, "durable");
  $("#webhook-trigger-durable-in-file").toggle(keeping() === "file");
  $("#webhook-trigger-durable-on-server").toggle(keeping() === "server");
  $("#webhook-trigger-note-no-store").toggle(keeping() === "none");
}

/** Says what it means beside the other fields. */
export function showDurable(node: WebhookNode): void {
  $("#webhook-trigger-durable-by-flow").toggle(inputValue("reply") === "flow");
  showSpan(node);
  const name = isTicked("durable") ? suggestedFor() : "";
  $("#webhook-trigger-note-durable-repeats")
    .toggle(name !== "")
    .children("span")
    .text(name === "" ? "" : node._("durable.repeats", { name }));
}

/** Says for how long a delivery is tried that fails each time. */
function showSpan(node: WebhookNode): void {
  const [attempts = 0, backoffFirst = 0, backoffLongest = 0] = (
    ["attempts", "backoffFirst", "backoffLongest"] as const
  ).map((field) => (hasValidNumber(field) ? Number(inputValue(field)) : NaN));
  let seconds = 0;
  for (let failures = 1; failures < attempts; failures++) {
    seconds += backoffAfter({ attempts, backoffFirst, backoffLongest }, failures);
  }
  const isKnown = isTicked("durable") && seconds > 0;
  const text = isKnown ? node._("durable.span", { time: durationOf(seconds) }) : "";
  $("#webhook-trigger-durable-span").toggle(isKnown).text(text);
}

function hasValidNumber(field: "attempts" | "backoffFirst" | "backoffLongest"): boolean {
  return handlingRules[field](inputValue(field)) === undefined;
}

/** What the heading says of it. */
export function durableState(node: WebhookNode): string {
  const value = fieldValue("durable");
  if (isEnvironmentValue(value)) return String(value);
  if (!isTicked("durable")) return node._("section.durableOff");
  return node._(keeping() === "server" ? "section.durableOnServer" : "section.durableInFile");
}
