// Tokens and secrets in the form.

import { shortName } from "../../../src/auth/senders/table";
import { type CredentialName, credentialNames, rules, tokenLength } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/values";
import type { Editor } from "../node-red";
import {
  findRecipe,
  findSender,
  form,
  type FormState,
  input,
  inputValue,
  keptPassword,
  linkToDocs,
  readForm,
  showElement,
  showNote,
  updateEvent,
  type WebhookNode,
} from "./form-state";

declare const RED: Editor;

/** Whether a credential is neither missing nor saved. */
function isNewCredential(value: string): boolean {
  return value !== "" && value !== keptPassword;
}

/** A new credential that is no environment variable and breaks no rule. */
export function credentialToGive({ credentials }: FormState, name: CredentialName): string | undefined {
  const value = credentials[name];
  if (!isNewCredential(value) || isEnvironmentValue(value)) return undefined;
  return (name === "token" || name === "secondToken") && rules[name](value) ? undefined : value;
}

/** Whether a credential is visible. */
export function isShown(name: CredentialName): boolean {
  return input(name).attr("type") === "text";
}

/** The value with which the form was opened. */
const openedWith = "opened-with";

export function isCredentialChanged(name: CredentialName): boolean {
  return inputValue(name) !== input(name).data(openedWith);
}

/** Gives each credential its buttons. */
export function prepareCredentials(node: WebhookNode): void {
  for (const name of credentialNames) {
    // Node-RED shows a user again, so that field is an ordinary one.
    if (name === "user") input(name).data(openedWith, inputValue(name));
    else prepareCredential(node, name);
  }
}

/** Only a new credential can be shown: the editor does not know saved ones. */
function prepareCredential(node: WebhookNode, name: Exclude<CredentialName, "user">): void {
  const field = input(name).data(openedWith, inputValue(name));
  const show = $("<button>", { type: "button", id: `webhook-trigger-${name}-show`, class: "red-ui-button" });
  show.append($("<i>")).insertAfter(field);
  const update = (isVisible: boolean) => {
    const isNew = isNewCredential(inputValue(name));
    const visible = isVisible && isNew;
    field.attr("type", visible ? "text" : "password");
    const label = node._(`label.${name}`);
    show.attr("aria-label", node._(visible ? "credential.hide" : "credential.show", { name: label }));
    show.prop("disabled", !isNew);
    show.find("i").attr("class", `fa ${visible ? "fa-eye-slash" : "fa-eye"}`);
  };
  show.on("click", () => {
    update(!isShown(name));
    // The box *Give this to the sender* shows it, too.
    form().trigger(updateEvent);
  });
  RED.popover.tooltip(show, () => show.attr("aria-label") ?? "");
  // A saved credential can only be replaced.
  field.on("focus", () => {
    if (inputValue(name) === keptPassword) field.trigger("select");
  });
  field.on("input change", () => update(isShown(name)));
  update(false);
  // It is copied from the sender.
  if (name === "secondSecret") return;
  const generate = $("<button>", { type: "button", id: `webhook-trigger-${name}-make`, class: "red-ui-button" });
  generate.text(node._(`make.${name}`)).insertAfter(show);
  generate.on("click", () => enterCredential(name, generateToken()));
}

const generated = "generated";

/** Enters a credential that the user has to copy. */
export function enterCredential(name: CredentialName, value: string): void {
  input(name).data(generated, value).val(value).trigger("change");
  if (!isShown(name)) $(`#webhook-trigger-${name}-show`).trigger("click");
}

/** Removes a generated credential: the sender that is chosen now has its own. */
export function removeGenerated(name: CredentialName): void {
  const value = inputValue(name);
  if (value !== "" && value === input(name).data(generated)) input(name).val("").trigger("change");
}

/** Generates missing credentials that the user chooses. */
export function enterMissing(node: WebhookNode): void {
  const { used, credentials, sender } = readForm(node);
  const isChosen = sender?.secretIsChosen ?? false;
  const chosen: CredentialName[] = ["token", "password", "verifyToken", ...(isChosen ? (["secret"] as const) : [])];
  for (const name of chosen) {
    if (used.has(name) && credentials[name] === "") enterCredential(name, generateToken());
  }
}

/** 30 random bytes are exactly 40 characters of base64url (RFC 4648 §5). */
function generateToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array((tokenLength * 3) / 4));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

/** Random, and no secret. */
export function generatePath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `/hook-${Array.from(bytes, (byte) => (byte % 36).toString(36)).join("")}`;
}

// Hints about credentials.

export function showCredentialHints(state: FormState): void {
  const { node, credentials } = state;
  const { sender } = state.values;
  const name = shortName(sender);
  const known = name === "" ? undefined : state.sender;
  const kind = classifySecret(sender);
  const { secretBegins: begins, where } = known ?? {};
  const secretHints = [
    node._(`secret.${kind}`, { name }),
    ...(where ? [node._("sender.where", { name, where })] : []),
    ...(begins ? [node._("secret.begins", { begins })] : []),
  ];
  const isSecretSaved = credentials.secret === keptPassword;
  $("#webhook-trigger-hint-token").text(composeTokenHint(state, name));
  $("#webhook-trigger-hint-password").text(credentials.password === keptPassword ? node._("credential.kept") : "");
  $("#webhook-trigger-hint-secret").text(isSecretSaved ? node._("credential.kept") : secretHints.join(" "));
  showNote("#webhook-trigger-note-secret", describeDoubt(state));
  showElement($("#webhook-trigger-secret-make"), ["chosen", "anyLength", "shared"].includes(kind));
  if (!known) return;
  $("#webhook-trigger-hint-token, #webhook-trigger-hint-secret").append(" ", linkToDocs(node, known.docs, name));
}

function composeTokenHint({ node, values, credentials: { token } }: FormState, name: string): string {
  if (token === keptPassword) return node._("credential.kept");
  // A copied or imported node has lost its token.
  if (token === "" && !isCredentialChanged("token")) return node._("token.lost");
  // A recipe says more, below the list.
  return name === "" || findRecipe(values.sender) ? "" : node._("secret.chosen", { name });
}

/** Says why a new secret is hardly the sender's; empty where it may be. */
function describeDoubt(state: FormState): string {
  const { node, sender } = state;
  const secret = credentialToGive(state, "secret");
  if (secret === undefined) return "";
  if (secret.trim() !== secret) return node._("whyNot.secretBlank");
  const { secretBegins: prefix, scheme } = sender ?? {};
  // What is no part of the key may be left out.
  if (prefix === undefined || [scheme?.key.strip].flat().includes(prefix) || secret.startsWith(prefix)) return "";
  return node._("whyNot.secretPrefixMissing", { prefix });
}

/** Where the secret comes from: a key under `secret` in the message catalog. */
function classifySecret(sender: string): "chosen" | "anyLength" | "shown" | "publicKey" | "brought" | "shared" {
  const known = findSender(sender);
  if (!known || sender === "custom") return "shared";
  if (sender === "shared-secret") return "anyLength";
  if (known.settings?.includes("arm")) return "brought";
  if (known.secretIsChosen) return "chosen";
  return known.scheme.key.format === "utf8" || known.scheme.alg.startsWith("hmac-") ? "shown" : "publicKey";
}
