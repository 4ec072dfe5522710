// Who may send, and how often; and how often they are expected to.

import { parseBlocks } from "../../src/config/blocks";
import { isEnvironmentValue } from "../../src/config/rules";
import { docsUrl } from "./docs";
import { inputValue, type WebhookNode } from "./fields";
import { learnt } from "./learnt";

export function prepareLimits(): void {
  $("#webhook-trigger-section-limits .webhook-trigger-note a").attr("href", docsUrl("replies.md#behind-a-proxy"));
}

/** Whether there is a limit; what comes from the environment may be one. */
export function hasLimit(): boolean {
  return inputValue("allowFrom").trim() !== "" || !/^0*$/.test(inputValue("rateLimit"));
}

/** Whether there is a limit by address, and Node-RED has seen no other address than this computer's own. */
function isOnlyLocal(): boolean {
  return hasLimit() && learnt().hasOnlyLoopback === true;
}

/** Whether there is a limit by address, and any sender can claim any address. */
function isForgeable(): boolean {
  return hasLimit() && learnt().trustsEveryProxy === true;
}

/** Warns of a proxy that Node-RED may not be told of, and of proxies that it must not trust. */
export function showLimits(): void {
  $("#webhook-trigger-note-loopback").toggle(isOnlyLocal());
  $("#webhook-trigger-note-forgeable").toggle(isForgeable());
}

/** What the heading says of the limits. */
export function limitsState(node: WebhookNode): string {
  const parts = [addressesOf(node, inputValue("allowFrom")), rateOf(node, inputValue("rateLimit"))];
  const hours = inputValue("alertWhenSilent");
  if (Number(hours) !== 0) parts.push(node._("section.expected", { hours }));
  if (isOnlyLocal()) parts.push(node._("section.onlyLocal"));
  if (isForgeable()) parts.push(node._("section.forgeable"));
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
