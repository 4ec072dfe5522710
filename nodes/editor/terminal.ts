// A line for a terminal that sends a request.

import { placementField } from "../../src/config/fields";
import { isEnvironmentValue } from "../../src/config/rules";
import { present, testBody } from "../../src/trust/present";
import { brokenRule } from "./checks";
import { prepareCopyButton } from "./copy";
import { credentialToGive } from "./credentials";
import { inputValue, type WebhookNode } from "./fields";
import { quoted } from "./shell";
import { urlOf } from "./url";

export function prepareCommand(node: WebhookNode): void {
  const command = $("#webhook-trigger-command");
  prepareCopyButton(node, $("#webhook-trigger-command-copy"), node._("section.terminal"), () => command.text());
}

/** Shows the line that sends a request to the node as the form has it, as far as that is known here. */
export function showCommand(node: WebhookNode): void {
  const command = commandOf(node);
  $("#webhook-trigger-command")
    .text(command ?? "")
    .closest(".webhook-trigger-command")
    .toggle(command !== undefined);
  const hint = inputValue("token") === "" ? "trial.tokenMissing" : "trial.tokenHidden";
  $("#webhook-trigger-command-token").text(credentialToGive("token") === undefined ? node._(hint) : "");
  const none = noCommandBecause();
  $("#webhook-trigger-command-none").text(command === undefined ? node._(`trial.${none}`) : "");
}

/** What a heading says of the line, by the key of its text under `section` in the message catalog. */
export function lineState(node: WebhookNode): "line" | "noLine" | "lineUnknown" {
  if (commandOf(node) !== undefined) return "line";
  return noCommandBecause() === "commandSigned" ? "noLine" : "lineUnknown";
}

function noCommandBecause(): "commandSigned" | "commandUnknown" {
  return inputValue("verificationMethod") === "signature" ? "commandSigned" : "commandUnknown";
}

function commandOf(node: WebhookNode): string | undefined {
  const url = urlOf(node);
  const method = inputValue("verificationMethod");
  if (url === undefined || (method !== "header" && method !== "query")) return undefined;
  const name = inputValue(placementField[method]);
  if (isEnvironmentValue(name) || brokenRule(node, placementField[method], name)) return undefined;
  const { headers, search } = present({ method, name }, credentialToGive("token") ?? node._("trial.placeholder"));
  return [
    `curl ${quoted(url + search)}`,
    ...Object.entries(headers).map(([field, value]) => `-H ${quoted(`${field}: ${value}`)}`),
    `--data ${quoted(testBody)}`,
  ].join(" ");
}
