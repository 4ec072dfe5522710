// Whether deliveries are kept until the flow has finished with them, and where.

import { backoffAfter } from "../../src/config/handling";
import { handlingRules } from "../../src/config/handling-rules";
import { isEnvironmentValue } from "../../src/config/rules";
import { keeping } from "./checks";
import { fieldValue, inputValue, isTicked, prepareBox, type WebhookNode } from "./fields";
import { suggestedFor } from "./duplicates";
import { durationOf } from "./times";

export function prepareGuaranteed(node: WebhookNode): void {
  prepareBox(node, "guaranteed");
  $("#webhook-trigger-guaranteed-in-file").toggle(keeping() === "file");
  $("#webhook-trigger-guaranteed-on-server").toggle(keeping() === "server");
  $("#webhook-trigger-note-no-store").toggle(keeping() === "none");
}

/** Says what it means beside the other fields. */
export function showGuaranteed(node: WebhookNode): void {
  $("#webhook-trigger-guaranteed-by-flow").toggle(inputValue("reply") === "flow");
  showSpan(node);
  const name = isTicked("guaranteed") ? suggestedFor() : "";
  $("#webhook-trigger-note-guaranteed-duplicates")
    .toggle(name !== "")
    .children("span")
    .text(name === "" ? "" : node._("guaranteed.duplicates", { name }));
}

/** Says for how long a delivery is tried that fails each time. */
function showSpan(node: WebhookNode): void {
  const [attempts = 0, backoffFirst = 0, backoffLongest = 0] = (
    ["attempts", "backoffFirst", "backoffLongest"] as const
  ).map((field) => (hasValidNumber(field) ? Number(inputValue(field)) : NaN));
  let seconds = 0;
  for (let failures = 1; failures < attempts; failures++) {
    seconds += backoffAfter({ backoffFirst, backoffLongest }, failures);
  }
  const isKnown = isTicked("guaranteed") && seconds > 0;
  const text = isKnown ? node._("guaranteed.span", { time: durationOf(seconds) }) : "";
  $("#webhook-trigger-guaranteed-span").toggle(isKnown).text(text);
}

function hasValidNumber(field: "attempts" | "backoffFirst" | "backoffLongest"): boolean {
  return handlingRules[field](inputValue(field)) === undefined;
}

/** What the heading says of it. */
export function guaranteedState(node: WebhookNode): string {
  const value = fieldValue("guaranteed");
  if (isEnvironmentValue(value)) return String(value);
  if (!isTicked("guaranteed")) return node._("section.guaranteedOff");
  const [count, rate, failures] = [inputValue("concurrency"), inputValue("ratePerMinute"), inputValue("breaker")];
  return [
    node._(keeping() === "server" ? "section.guaranteedOnServer" : "section.guaranteedInFile"),
    ...(Number(count) === 0 ? [] : [node._("section.concurrency", { count })]),
    ...(Number(rate) === 0 ? [] : [node._("section.rate", { rate })]),
    ...(Number(failures) === 0 ? [] : [node._("section.breaker", { failures })]),
  ].join(", ");
}
