// The box *Give this to the sender*, and the curl command.

import { present, testBody } from "../../../src/auth/present";
import type { Scheme } from "../../../src/auth/senders/sender";
import { type CredentialName, placementField } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/rules";
import { docsUrl, prepareCopyButton, quoted } from "../host";
import { getHost, classifyReach, showRival, composeUrl, urlToGive } from "./addresses";
import { brokenRule, isUsed, roots } from "./checks";
import { credentialToGive, isShown, newCredentials } from "./credentials";
import { inputValue, isSame, findSender, valuesInForm, type WebhookNode } from "./fields";

const items = ["url", "header", "token", "secret", "verifyToken"] as const;
type Item = (typeof items)[number];

/** Stands for a hidden credential. */
const bullets = "•".repeat(8);

export function prepareHandover(node: WebhookNode): void {
  for (const item of items) {
    const name = node._(`handover.${item}`);
    prepareCopyButton(node, $(`#webhook-trigger-given-${item}-copy`), name, () => given(node, hidesNone)[item] ?? "");
  }
  $("#webhook-trigger-reaching").attr("href", docsUrl("reaching-node-red.md"));
}

/** Shows the values, and what keeps senders from reaching this node. */
export function showHandover(node: WebhookNode): void {
  const shown = given(node, (name) => !isShown(name));
  for (const item of items) {
    const row = $(`#webhook-trigger-given-${item}`).text(shown[item] ?? "");
    row.parent().toggle(shown[item] !== undefined);
  }
  const url = urlToGive(node);
  const reach = url === undefined ? undefined : classifyReach(url);
  note("yours", missing(node, Object.values(shown)));
  note("seen", seen(node));
  $("#webhook-trigger-note-closed").toggle(roots().node === false);
  $("#webhook-trigger-reach").text(url && reach ? node._(`url.${reach}`, { host: getHost(url) }) : "");
  $("#webhook-trigger-note-reach").toggle(reach !== undefined);
  showRival(node);
}

/** Credentials that cannot be shown after the deploy. */
function seen(node: WebhookNode): string {
  const whole = given(node, hidesNone);
  // A secret that the sender shows can be copied there again.
  // A second token is ours.
  const isOurs = (name: CredentialName) =>
    name === "secondToken" || !isSame(given(node, (each) => each === name), whole); // prettier-ignore
  const first = newCredentials(node).find(isOurs);
  if (first === undefined) return "";
  return node._(first === "secret" ? "handover.secretSeen" : "handover.tokenSeen");
}

function note(name: string, text: string): void {
  $(`#webhook-trigger-note-${name}`)
    .toggle(text !== "")
    .find("span")
    .text(text);
}

/** Values that the form does not know. */
function missing(node: WebhookNode, shown: readonly string[]): string {
  if (isEnvironmentValue(inputValue("relativePath"))) return node._("handover.pathFromEnvironment");
  const placeholder = node._("trial.placeholder");
  return shown.some((text) => text.includes(placeholder)) ? node._("handover.yourToken") : "";
}

const hidesNone = () => false;

/** @param hides whether a credential is hidden */
function given(node: WebhookNode, hides: (name: CredentialName) => boolean): Partial<Record<Item, string>> {
  const values = valuesInForm(node);
  const url = urlToGive(node);
  const credential = (name: CredentialName) => {
    const value = isUsed(name, values) ? credentialToGive(name) : undefined;
    return value === undefined || !hides(name) ? value : bullets;
  };
  const verifyToken = credential("verifyToken");
  const shared = {
    ...(url !== undefined && { url }),
    ...(verifyToken !== undefined && { verifyToken }),
  };
  const method = values.verificationMethod;
  if (method !== "header" && method !== "query") {
    const isChosen = values.sender === "custom" || findSender(values.sender)?.secretIsChosen;
    const secret = isChosen ? credential("secret") : undefined;
    return { ...shared, ...(secret !== undefined && { secret }) };
  }
  const name = values[placementField[method]];
  const known = credential("token");
  const token = known ?? node._("trial.placeholder");
  if (isEnvironmentValue(name) || brokenRule(node, placementField[method], name)) return shared;
  if (url !== undefined && method === "query") {
    // Bullets are not encoded.
    if (token === bullets) return { ...shared, url: url + present({ method, name }, "").search + bullets };
    return { ...shared, url: url + present({ method, name }, token).search };
  }
  if (sendsTokenItself(values.sender, name)) return known === undefined ? shared : { ...shared, token };
  const [[field, value] = []] = Object.entries(present({ method, name }, token).headers);
  return { ...shared, header: `${field}: ${value}` };
}

/** Whether a sender needs the token alone, for its own header field. */
function sendsTokenItself(sender: string, field: string): boolean {
  const scheme: Scheme | undefined = findSender(sender)?.scheme;
  if (scheme?.alg !== "token" || scheme.sig.pick) return false;
  return scheme.sig.headers.some((name) => name.toLowerCase() === field.toLowerCase());
}

// The curl command.

export function prepareCommand(node: WebhookNode): void {
  const command = $("#webhook-trigger-command");
  prepareCopyButton(node, $("#webhook-trigger-command-copy"), node._("section.terminal"), () => command.text());
}

/** As far as the form knows its parts. */
export function showCommand(node: WebhookNode): void {
  const command = composeCommand(node);
  $("#webhook-trigger-command")
    .text(command ?? "")
    .closest(".webhook-trigger-command")
    .toggle(command !== undefined);
  const hint = inputValue("token") === "" ? "trial.tokenMissing" : "trial.tokenHidden";
  $("#webhook-trigger-command-token").text(credentialToGive("token") === undefined ? node._(hint) : "");
  const none = noCommandBecause();
  $("#webhook-trigger-command-none").text(command === undefined ? node._(`trial.${none}`) : "");
}

/** A key under `section` in the message catalog. */
export function lineState(node: WebhookNode): "line" | "noLine" | "lineUnknown" {
  if (composeCommand(node) !== undefined) return "line";
  return noCommandBecause() === "commandSigned" ? "noLine" : "lineUnknown";
}

function noCommandBecause(): "commandSigned" | "commandUnknown" {
  return inputValue("verificationMethod") === "signature" ? "commandSigned" : "commandUnknown";
}

function composeCommand(node: WebhookNode): string | undefined {
  const url = composeUrl(node);
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
