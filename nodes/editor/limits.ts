// Who may send, and how often.

import { parseBlocks } from "../../src/config/blocks";
import { isEnvironmentValue } from "../../src/config/rules";
import { form, inputValue, type WebhookNode } from "./fields";

/** Happens to the form when it has come to know something of the node that bears on what it shows. */
export const learntEvent = "webhook-trigger-learnt";

const loopbackData = "only-loopback";

/** Remembers whether all requests seem to come from this computer itself: then limits by address do not limit. */
export function learnLoopback(hasOnlyLoopback: boolean): void {
  if (form().data(loopbackData) === hasOnlyLoopback) return;
  form().data(loopbackData, hasOnlyLoopback).trigger(learntEvent);
}

/** Whether there is a limit, and Node-RED seems not to see whom it is for. */
function isBlind(): boolean {
  const hasLimit = inputValue("allowFrom").trim() !== "" || !/^0*$/.test(inputValue("rateLimit"));
  return hasLimit && form().data(loopbackData) === true;
}

/** Warns of a proxy that Node-RED is not told of. */
export function showLimits(): void {
  $("#webhook-trigger-note-loopback").toggle(isBlind());
}

/** What the heading says of the limits. */
export function limitsState(node: WebhookNode): string {
  const parts = [addressesOf(node, inputValue("allowFrom")), rateOf(node, inputValue("rateLimit"))];
  if (isBlind()) parts.push(node._("section.blind"));
  return parts.join(", ");
}

function addressesOf(node: WebhookNode, list: string): string {
  if (isEnvironmentValue(list)) return list;
  const { length } = parseBlocks(list) ?? [];
  if (length === 0) return node._("section.anyAddress");
  return length === 1 ? list.replace(/[\s,]/g, "") : node._("section.addresses", { count: String(length) });
}

function rateOf(node: WebhookNode, rate: string): string {
  return Number(rate) === 0 ? node._("section.noRate") : node._("section.rate", { rate });
}
