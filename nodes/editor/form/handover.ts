// The URL of the node, what the user gives to the sender, and the curl command.

import { joinQueries, present, type Presentation, testBody, testQuery } from "../../../src/auth/present";
import type { Scheme, Sender } from "../../../src/auth/senders/sender";
import { type CredentialName, credentialNames, type SavedFields } from "../../../src/config/fields";
import { isPattern, normalisePath, parseBaseUrl } from "../../../src/config/paths";
import { isEnvironmentValue } from "../../../src/config/values";
import { getPatternKey } from "../../../src/request/path-patterns";
import { findJwtPreset } from "../../../src/auth/senders/table";
import { docsUrl, type Editor, type EditorNode, prepareCopyButton } from "../node-red";
import { quote } from "../shell";
import { credentialToGive, isShown } from "./credentials";
import {
  brokenRule,
  findRecipe,
  findSecretHeader,
  findSender,
  findTokenPlace,
  inputValue,
  isUsed,
  roots,
  showNote,
  valuesInForm,
  type WebhookNode,
} from "./form-state";

declare const RED: Editor;

/** Nothing when the node cannot be reached, or an environment variable has the path. */
function composeUrl(node: WebhookNode): string | undefined {
  const path = inputValue("relativePath");
  const { node: root } = roots();
  if (root === false || isEnvironmentValue(path) || brokenRule(node, "relativePath", path)) return undefined;
  return composeUrlOfPath(normalisePath(root) + normalisePath(path));
}

/** @param path with `httpNodeRoot` */
export function composeUrlOfPath(path: string): string {
  return (parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin) + path;
}

/** The URL for the sender: the entered one, where the signature covers it. */
function composeSenderUrl(node: WebhookNode): string | undefined {
  const entered = inputValue("publicUrl");
  const url = composeUrl(node);
  if (url === undefined || entered === "" || !isUsed("publicUrl", valuesInForm(node))) return url;
  return isEnvironmentValue(entered) || brokenRule(node, "publicUrl", entered) ? url : entered;
}

/** Loopback addresses: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3. */
const loopback = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/;
/** Local networks: RFC 1918 §3, RFC 3927 §2.1, RFC 4193 §3.1, RFC 6762 §3. */
const local =
  /^(?:10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[f[cd].*\]|.+\.local)$/;

/** Says who cannot reach an address; empty where that is unknown. */
function describeReach(node: WebhookNode, url: string): string {
  const { hostname: host } = new URL(url);
  if (loopback.test(host)) return node._("url.computer", { host });
  return local.test(host) ? node._("url.network", { host }) : "";
}

// The box *Give this to the sender*.

const items = ["url", "contentType", "header", "token", "user", "password", "secret", "verifyToken"] as const;
type HandoverItem = (typeof items)[number];

/** Stands for a hidden credential. */
const bullets = "•".repeat(8);

export function prepareHandover(node: WebhookNode): void {
  for (const item of items) {
    const name = node._(`handover.${item}`);
    const id = `webhook-trigger-given-${item}`;
    const copy = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small", id: `${id}-copy` });
    prepareCopyButton(node, copy, name, () => composeHandover(node, credentialToGive)[item] ?? "");
    const row = $("<div>", { class: "webhook-trigger-given" }).appendTo("#webhook-trigger-given");
    row.append($("<span>").text(name), " ", $("<code>", { id }), " ", copy);
  }
  $("#webhook-trigger-reaching").attr("href", docsUrl("reaching-node-red.md"));
}

/** Shows the values, and what keeps senders from reaching this node. */
export function showHandover(node: WebhookNode): void {
  const shown = composeHandover(node, (name) => {
    const value = credentialToGive(name);
    return value === undefined || isShown(name) ? value : bullets;
  });
  for (const item of items) {
    const row = $(`#webhook-trigger-given-${item}`).text(shown[item] ?? "");
    row.parent().toggle(shown[item] !== undefined);
  }
  showNote("#webhook-trigger-note-yours", describeMissing(node, Object.values(shown)));
  showNote("#webhook-trigger-note-seen", describeNew(node));
  $("#webhook-trigger-note-token-guarded").toggle(isTokenGuarded(node));
  $("#webhook-trigger-note-closed").toggle(roots().node === false);
  const url = composeSenderUrl(node);
  showNote("#webhook-trigger-note-reach", url === undefined ? "" : describeReach(node, url));
  showNote("#webhook-trigger-note-taken", describeRival(node));
  $("#webhook-trigger-hint-methods").text(describeMethods(node));
}

/** Whether `httpNodeAuth` checks the header field of the token. */
function isTokenGuarded(node: WebhookNode): boolean {
  const { verificationMethod, sender, headerParameter } = valuesInForm(node);
  const name = findJwtPreset(sender)?.headerParameter ?? headerParameter;
  return (
    RED.settings.webhookTriggerHasNodeAuth &&
    ["header", "jwt"].includes(verificationMethod) &&
    /^authorization$/i.test(name)
  );
}

/** What GET means for the message, and for a token in the URL. */
function describeMethods(node: WebhookNode): string {
  const { methods, verificationMethod } = valuesInForm(node);
  if (!methods.includes("GET") || verificationMethod === "signature") return "";
  return node._(verificationMethod === "query" ? "methods.tokenInUrl" : "methods.get");
}

/** Values that the form does not know. */
function describeMissing(node: WebhookNode, shown: readonly string[]): string {
  if (isEnvironmentValue(inputValue("relativePath"))) return node._("handover.pathFromEnvironment");
  const said = isPattern(inputValue("relativePath")) ? [node._("handover.parameters")] : [];
  const placeholder = node._("testRequest.placeholder");
  if (shown.some((text) => text.includes(placeholder))) said.push(node._("handover.yourToken"));
  return said.join(" ");
}

/** Credentials that cannot be shown after the deploy. */
function describeNew(node: WebhookNode): string {
  const values = valuesInForm(node);
  const first = credentialNames.find((name) => {
    // A secret that the sender shows can be copied there again.
    const isOurs = name === "secret" ? isSecretChosen(values) : name !== "secondSecret" && name !== "user";
    return isOurs && isUsed(name, values) && credentialToGive(name) !== undefined;
  });
  if (first === undefined) return "";
  if (first === "password" || first === "secondPassword") return node._("handover.passwordSeen");
  return node._(first === "secret" ? "handover.secretSeen" : "handover.tokenSeen");
}

function isSecretChosen({ sender }: Pick<SavedFields, "sender">): boolean {
  return sender === "custom" || findSender(sender)?.secretIsChosen === true;
}

/** @param getCredential the value, or what stands for it; nothing where it is not known */
function composeHandover(
  node: WebhookNode,
  getCredential: (name: CredentialName) => string | undefined,
): Partial<Record<HandoverItem, string>> {
  const values = valuesInForm(node);
  const url = composeSenderUrl(node);
  const given: Partial<Record<HandoverItem, string>> = {};
  const give = (item: HandoverItem, value: string | undefined) => {
    if (value !== undefined) given[item] = value;
  };
  const sender: Sender | undefined = findSender(values.sender);
  give("url", url);
  give("contentType", sender?.contentType);
  if (isUsed("verifyToken", values)) give("verifyToken", getCredential("verifyToken"));
  if (values.verificationMethod === "basic") {
    give("user", getCredential("user"));
    give("password", getCredential("password"));
  }
  const placeholder = node._("testRequest.placeholder");
  // Bullets are not encoded.
  const giveInUrl = ({ search }: Presentation) =>
    give("url", url && url + search.replace(encodeURIComponent(bullets), bullets));
  if (isUsed("secret", values) && isSecretChosen(values)) {
    const secret = getCredential("secret");
    const [name, header] = [findSecretParameter(values), findSecretHeader(values)];
    if (name !== undefined) giveInUrl(present({ method: "query", name }, secret ?? placeholder));
    else if (header === undefined) give("secret", secret);
    else give("header", `${header}: ${secret ?? placeholder}`);
  }
  const place = findTokenPlace(node, values);
  if (!place) return given;
  const token = getCredential("token");
  const presentation = present(place, token ?? placeholder);
  const [[field, value] = []] = Object.entries(presentation.headers);
  if (place.method === "query") giveInUrl(presentation);
  else if (sendsTokenItself(values.sender, place.name)) give("token", token);
  else give("header", `${field}: ${value}`);
  return given;
}

/** The query parameter that has the secret; nothing where it is entered at the sender. */
function findSecretParameter({ sender }: Pick<SavedFields, "sender">): string | undefined {
  const scheme: Scheme | undefined = findSender(sender)?.scheme;
  return /^query:(.+)$/.exec(scheme?.sig.source ?? "")?.[1];
}

/** Whether a sender needs the token alone, for its own header field. */
function sendsTokenItself(sender: string, field: string): boolean {
  if (findRecipe(sender)?.tokenAlone) return true;
  const scheme: Scheme | undefined = findSender(sender)?.scheme;
  if (scheme?.alg !== "token" || scheme.sig.pick) return false;
  return scheme.sig.headers.some((name) => name.toLowerCase() === field.toLowerCase());
}

// Another node with the same path.

/** Names it; empty where there is none. */
function describeRival(node: WebhookNode): string {
  const rival = findRival(node);
  if (!rival) return "";
  const isWebhook = rival.type === node.type;
  const type = isWebhook ? node._("paletteLabel") : rival.type;
  const name = node._("url.rival", { name: rival.name || type, flow: getFlowName(rival) });
  return node._(isWebhook ? "url.takenByWebhook" : "url.takenByHttpIn", { name });
}

export function getFlowName({ z }: EditorNode): string {
  return RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name ?? "";
}

function findRival(node: WebhookNode): EditorNode | undefined {
  const getKey = (path: string) => getPatternKey(normalisePath(path));
  const own = getKey(inputValue("relativePath"));
  const { methods } = valuesInForm(node);
  const isSameMethod = ({ method }: EditorNode) => methods.some((each) => each.toLowerCase() === method);
  const isRival = (other: EditorNode, path: unknown) =>
    other.id !== node.id &&
    !other.d &&
    !RED.nodes.workspace(other.z)?.disabled &&
    typeof path === "string" &&
    path !== "" &&
    getKey(path) === own;
  return (
    RED.nodes.filterNodes({ type: node.type }).find((other) => isRival(other, other.relativePath)) ??
    RED.nodes.filterNodes({ type: "http in" }).find((other) => isSameMethod(other) && isRival(other, other.url))
  );
}

// The curl command.

export function prepareCommand(node: WebhookNode): void {
  const command = $("#webhook-trigger-command");
  prepareCopyButton(node, $("#webhook-trigger-command-copy"), node._("section.terminal"), () => command.text());
}

/** As far as the form knows its parts. */
export function showCommand(node: WebhookNode): void {
  const command = composeCommand(node);
  const place = $("#webhook-trigger-command").text(command ?? "");
  place.closest(".webhook-trigger-command").toggle(command !== undefined);
  const isBasic = inputValue("verificationMethod") === "basic";
  const isMissing = inputValue("token") === "" && !isBasic;
  const hint = isMissing ? "tokenMissing" : isBasic ? "passwordHidden" : "tokenHidden";
  const isKnown = credentialToGive(isBasic ? "password" : "token") !== undefined;
  $("#webhook-trigger-command-token").text(isKnown ? "" : node._(`testRequest.${hint}`));
  const none = isSigned() ? "testRequest.commandSigned" : "testRequest.commandUnknown";
  $("#webhook-trigger-command-none").text(command === undefined ? node._(none) : "");
}

export function describeCommand(node: WebhookNode): string {
  if (composeCommand(node) !== undefined) return node._("section.line");
  return node._(isSigned() ? "section.noLine" : "section.lineUnknown");
}

/** Whether each request needs a signature or a signed token. */
function isSigned(): boolean {
  return ["signature", "jwt"].includes(inputValue("verificationMethod"));
}

function composeCommand(node: WebhookNode): string | undefined {
  const url = composeUrl(node);
  const values = valuesInForm(node);
  const place = findTokenPlace(node, values);
  const isBasic = values.verificationMethod === "basic";
  if (url === undefined || !(place ?? isBasic)) return undefined;
  const token = credentialToGive("token") ?? node._("testRequest.placeholder");
  const { headers, search } = place ? present(place, token) : { headers: {}, search: "" };
  const password = credentialToGive("password") ?? node._("testRequest.passwordPlaceholder");
  const [method = ""] = values.methods;
  const isByUrl = method === "GET";
  return [
    method === "POST" || isByUrl ? "curl" : `curl -X ${method}`,
    quote(url + (isByUrl ? joinQueries(search, testQuery) : search)),
    ...(isBasic ? [`--user ${quote(`${inputValue("user")}:${password}`)}`] : []),
    ...Object.entries(headers).map(([field, value]) => `-H ${quote(`${field}: ${value}`)}`),
    ...(isByUrl ? [] : [`--data ${quote(testBody)}`]),
  ].join(" ");
}
