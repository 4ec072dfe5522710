// The URL of the node, what the user gives to the sender, and the curl command.

import { joinQueries, present, type Presentation, testBody, testQuery } from "../../../src/auth/present";
import type { Scheme } from "../../../src/auth/senders/sender";
import { type CredentialName, credentialNames, type SavedFields } from "../../../src/config/fields";
import { isPattern, normalisePath, parseBaseUrl } from "../../../src/config/paths";
import { isEnvironmentValue, text } from "../../../src/config/values";
import { getPatternKey } from "../../../src/request/path-patterns";
import { findJwtPreset } from "../../../src/auth/senders/table";
import { docsUrl, type Editor, type EditorNode, prepareCopyButton } from "../node-red";
import { quote } from "../shell";
import { credentialToGive, isShown } from "./credentials";
import {
  findRecipe,
  findSecretHeader,
  findSender,
  findTokenPlace,
  type FormState,
  readForm,
  roots,
  showElement,
  showNote,
  type WebhookNode,
} from "./form-state";

declare const RED: Editor;

/** Nothing when the node cannot be reached, or an environment variable has the path. */
function composeUrl({ values: { relativePath: path }, broken }: FormState): string | undefined {
  const { node: root } = roots();
  if (root === false || isEnvironmentValue(path) || broken.has("relativePath")) return undefined;
  return composeUrlOfPath(normalisePath(root) + normalisePath(path));
}

/** @param path with `httpNodeRoot` */
export function composeUrlOfPath(path: string): string {
  return (parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin) + path;
}

/** The URL for the sender: the entered one, where the signature covers it. */
function composeSenderUrl(state: FormState): string | undefined {
  const { values, used, broken } = state;
  const entered = text(values.senderSettings.publicUrl);
  const url = composeUrl(state);
  if (url === undefined || entered === "" || !used.has("publicUrl")) return url;
  return isEnvironmentValue(entered) || broken.has("publicUrl") ? url : entered;
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
    prepareCopyButton(node, copy, name, () => {
      const state = readForm(node);
      return composeHandover(state, (each) => credentialToGive(state, each))[item] ?? "";
    });
    const row = $("<div>", { class: "webhook-trigger-given" }).appendTo("#webhook-trigger-given");
    row.append($("<span>").text(name), " ", $("<code>", { id }), " ", copy);
  }
  $("#webhook-trigger-reaching").attr("href", docsUrl("reaching-node-red.md"));
}

/** Shows the values, and what keeps senders from reaching this node. */
export function showHandover(state: FormState): void {
  const { node } = state;
  const shown = composeHandover(state, (name) => {
    const value = credentialToGive(state, name);
    return value === undefined || isShown(name) ? value : bullets;
  });
  for (const item of items) {
    const row = $(`#webhook-trigger-given-${item}`).text(shown[item] ?? "");
    showElement(row.parent(), shown[item] !== undefined);
  }
  showNote("#webhook-trigger-note-yours", describeMissing(state, Object.values(shown)));
  showNote("#webhook-trigger-note-seen", describeNew(state));
  showElement($("#webhook-trigger-note-token-guarded"), isTokenGuarded(state.values));
  showElement($("#webhook-trigger-note-closed"), roots().node === false);
  const url = composeSenderUrl(state);
  showNote("#webhook-trigger-note-reach", url === undefined ? "" : describeReach(node, url));
  showNote("#webhook-trigger-note-taken", describeRival(state));
  $("#webhook-trigger-hint-methods").text(describeMethods(state));
}

/** Whether `httpNodeAuth` checks the header field of the token. */
function isTokenGuarded({ verificationMethod, sender, headerParameter }: SavedFields): boolean {
  const name = findJwtPreset(sender)?.headerParameter ?? headerParameter;
  return (
    RED.settings.webhookTriggerHasNodeAuth &&
    ["header", "jwt"].includes(verificationMethod) &&
    /^authorization$/i.test(name)
  );
}

/** What GET means for the message, and for a token in the URL. */
function describeMethods({ node, values: { methods, verificationMethod } }: FormState): string {
  if (!methods.includes("GET") || verificationMethod === "signature") return "";
  return node._(verificationMethod === "query" ? "methods.tokenInUrl" : "methods.get");
}

/** Values that the form does not know. */
function describeMissing({ node, values }: FormState, shown: readonly string[]): string {
  if (isEnvironmentValue(values.relativePath)) return node._("handover.pathFromEnvironment");
  const said = isPattern(values.relativePath) ? [node._("handover.parameters")] : [];
  const placeholder = node._("testRequest.placeholder");
  if (shown.some((text) => text.includes(placeholder))) said.push(node._("handover.yourToken"));
  return said.join(" ");
}

/** Credentials that cannot be shown after the deploy. */
function describeNew(state: FormState): string {
  const { node, values, used } = state;
  const first = credentialNames.find((name) => {
    // A secret that the sender shows can be copied there again.
    const isOurs = name === "secret" ? isSecretChosen(values) : name !== "secondSecret" && name !== "user";
    return isOurs && used.has(name) && credentialToGive(state, name) !== undefined;
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
  state: FormState,
  getCredential: (name: CredentialName) => string | undefined,
): Partial<Record<HandoverItem, string>> {
  const { node, values, used, sender } = state;
  const url = composeSenderUrl(state);
  const given: Partial<Record<HandoverItem, string>> = {};
  const give = (item: HandoverItem, value: string | undefined) => {
    if (value !== undefined) given[item] = value;
  };
  give("url", url);
  give("contentType", sender?.contentType);
  if (used.has("verifyToken")) give("verifyToken", getCredential("verifyToken"));
  if (values.verificationMethod === "basic") {
    give("user", getCredential("user"));
    give("password", getCredential("password"));
  }
  const placeholder = node._("testRequest.placeholder");
  // Bullets are not encoded.
  const giveInUrl = ({ search }: Presentation) =>
    give("url", url && url + search.replace(encodeURIComponent(bullets), bullets));
  if (used.has("secret") && isSecretChosen(values)) {
    const secret = getCredential("secret");
    const [name, header] = [findSecretParameter(values), findSecretHeader(values)];
    if (name !== undefined) giveInUrl(present({ method: "query", name }, secret ?? placeholder));
    else if (header === undefined) give("secret", secret);
    else give("header", `${header}: ${secret ?? placeholder}`);
  }
  const place = findTokenPlace(state);
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
function describeRival({ node, values }: FormState): string {
  const rival = findRival(node, values);
  if (!rival) return "";
  const isWebhook = rival.type === node.type;
  const type = isWebhook ? node._("paletteLabel") : rival.type;
  const name = node._("url.rival", { name: rival.name || type, flow: getFlowName(rival) });
  return node._(isWebhook ? "url.takenByWebhook" : "url.takenByHttpIn", { name });
}

export function getFlowName({ z }: EditorNode): string {
  return RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name ?? "";
}

function findRival(node: WebhookNode, { relativePath, methods }: SavedFields): EditorNode | undefined {
  const getKey = (path: string) => getPatternKey(normalisePath(path));
  const own = getKey(relativePath);
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
export function showCommand(state: FormState): void {
  const { node, values, credentials } = state;
  const command = composeCommand(state);
  const place = $("#webhook-trigger-command").text(command ?? "");
  showElement(place.closest(".webhook-trigger-command"), command !== undefined);
  const isBasic = values.verificationMethod === "basic";
  const isMissing = credentials.token === "" && !isBasic;
  const hint = isMissing ? "tokenMissing" : isBasic ? "passwordHidden" : "tokenHidden";
  const isKnown = credentialToGive(state, isBasic ? "password" : "token") !== undefined;
  $("#webhook-trigger-command-token").text(isKnown ? "" : node._(`testRequest.${hint}`));
  const none = isSigned(values) ? "testRequest.commandSigned" : "testRequest.commandUnknown";
  $("#webhook-trigger-command-none").text(command === undefined ? node._(none) : "");
}

export function describeCommand(state: FormState): string {
  const { node, values } = state;
  if (composeCommand(state) !== undefined) return node._("section.line");
  return node._(isSigned(values) ? "section.noLine" : "section.lineUnknown");
}

/** Whether each request needs a signature or a signed token. */
function isSigned({ verificationMethod }: SavedFields): boolean {
  return ["signature", "jwt"].includes(verificationMethod);
}

function composeCommand(state: FormState): string | undefined {
  const { node, values, credentials } = state;
  const url = composeUrl(state);
  const place = findTokenPlace(state);
  const isBasic = values.verificationMethod === "basic";
  if (url === undefined || !(place ?? isBasic)) return undefined;
  const token = credentialToGive(state, "token") ?? node._("testRequest.placeholder");
  const { headers, search } = place ? present(place, token) : { headers: {}, search: "" };
  const password = credentialToGive(state, "password") ?? node._("testRequest.passwordPlaceholder");
  const [method = ""] = values.methods;
  const isByUrl = method === "GET";
  return [
    method === "POST" || isByUrl ? "curl" : `curl -X ${method}`,
    quote(url + (isByUrl ? joinQueries(search, testQuery) : search)),
    ...(isBasic ? [`--user ${quote(`${credentials.user}:${password}`)}`] : []),
    ...Object.entries(headers).map(([field, value]) => `-H ${quote(`${field}: ${value}`)}`),
    ...(isByUrl ? [] : [`--data ${quote(testBody)}`]),
  ].join(" ");
}
