// Tokens and secrets in the form: made, shown, and missing.

import { shortName } from "../../../src/auth/senders/table";
import { type CredentialName, credentialNames } from "../../../src/config/fields";
import { isEnvironmentValue, rules, tokenLength } from "../../../src/config/rules";
import type { Editor } from "../host";
import { isUsed } from "./checks";
import { input, inputValue, keptPassword, findSender, valuesInForm, type WebhookNode } from "./fields";

declare const RED: Editor;

/** What the form knows of a credential: one that is new. Nothing when none is set, or when it is saved and kept. */
export function knownCredential(name: CredentialName): string | undefined {
  const value = inputValue(name);
  return value === "" || value === keptPassword ? undefined : value;
}

/** A credential that can be handed over as it stands: the value of an environment variable is known to the runtime alone. */
export function credentialToGive(name: CredentialName): string | undefined {
  const value = knownCredential(name);
  if (value === undefined || isEnvironmentValue(value)) return undefined;
  return (name === "token" || name === "secondToken") && rules[name](value) ? undefined : value;
}

/** Whether the form shows a credential as it is. */
export function isShown(name: CredentialName): boolean {
  return input(name).attr("type") === "text";
}

/** Happens to a field when it comes to show its credential, or to hide it. */
export const shownEvent = "webhook-trigger-shown";

/** What the form opened with: the sign for one that is kept, one that is not deployed yet, or none. */
const openedWith = "opened-with";

/** Whether a credential is another one than when the form was opened. */
export function isCredentialChanged(name: CredentialName): boolean {
  return inputValue(name) !== input(name).data(openedWith);
}

/** A credential can be shown only while it is new: once it is deployed, the editor does not know it. */
export function prepareCredentials(node: WebhookNode): void {
  for (const name of credentialNames) {
    prepareCredential(node, name);
    if (canBeMade(name)) prepareMaking(node, name);
  }
}

function prepareCredential(node: WebhookNode, name: CredentialName): void {
  const field = input(name).data(openedWith, inputValue(name));
  const show = $("<button>", { type: "button", id: `webhook-trigger-${name}-show`, class: "red-ui-button" });
  show.append($("<i>")).insertAfter(field);
  const update = (isVisible: boolean) => {
    const isNew = knownCredential(name) !== undefined;
    const visible = isVisible && isNew;
    field.attr("type", visible ? "text" : "password");
    const label = node._(`label.${name}`);
    show.attr("aria-label", node._(visible ? "credential.hide" : "credential.show", { name: label }));
    show.prop("disabled", !isNew);
    show.find("i").attr("class", `fa ${visible ? "fa-eye-slash" : "fa-eye"}`);
  };
  show.on("click", () => {
    update(!isShown(name));
    // What is handed over is shown with it.
    field.trigger(shownEvent);
  });
  RED.popover.tooltip(show, () => show.attr("aria-label") ?? "");
  // What is typed replaces a kept one as a whole: it cannot be edited.
  field.on("focus", () => {
    if (inputValue(name) === keptPassword) field.trigger("select");
  });
  field.on("input change", () => update(isShown(name)));
  update(false);
}

type MadeCredential = "token" | "secret" | "verifyToken" | "secondToken";

function canBeMade(name: CredentialName): name is MadeCredential {
  return name !== "secondSecret";
}

function prepareMaking(node: WebhookNode, name: MadeCredential): void {
  const id = `webhook-trigger-${name}-make`;
  const make = $("<button>", { type: "button", id, class: "red-ui-button", text: node._(`make.${name}`) });
  $(`#webhook-trigger-${name}-show`).after(make);
  make.on("click", () => enter(name, makeToken()));
}

const generated = "generated";

/** Enters a credential that the user has to copy. */
export function enter(name: CredentialName, value: string): void {
  input(name).data(generated, value).val(value).trigger("change");
  if (!isShown(name)) $(`#webhook-trigger-${name}-show`).trigger("click");
}

/** Removes a generated credential: the sender that is chosen now has its own. */
export function dropGenerated(name: CredentialName): void {
  if (inputValue(name) !== "" && inputValue(name) === input(name).data(generated))
    input(name).val("").trigger("change");
}

/** Makes what a sender is to be told, where its user chooses that and none is set. */
export function enterMissing(node: WebhookNode): void {
  const values = valuesInForm(node);
  const isChosen = findSender(values.sender)?.secretIsChosen ?? false;
  for (const name of credentialNames) {
    const isWanted = name === "token" || name === "verifyToken" || (name === "secret" && isChosen);
    if (isWanted && isUsed(name, values) && inputValue(name) === "") enter(name, makeToken());
  }
}

/** Which credentials are new, and used: they can be seen until they are deployed. */
export function newCredentials(node: WebhookNode): CredentialName[] {
  const values = valuesInForm(node);
  return credentialNames.filter((name) => isUsed(name, values) && credentialToGive(name) !== undefined);
}

/** Whether a node has no credential at all. */
export function hasNoCredential(): boolean {
  return credentialNames.every((name) => inputValue(name) === "");
}

/** 30 random bytes are exactly 40 characters of base64url (RFC 4648 §5). */
function makeToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array((tokenLength * 3) / 4));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

/** A path that nobody has by chance, and that has no secret in it. */
export function makePath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `/hook-${Array.from(bytes, (byte) => (byte % 36).toString(36)).join("")}`;
}

// What there is to do about a token or a secret: where it comes from, and what it looks like.

/** Says of each credential what there is to do about it. */
export function showCredentialHints(node: WebhookNode): void {
  const { sender } = valuesInForm(node);
  const known = findSender(sender);
  const name = shortName(sender);
  $("#webhook-trigger-hint-token").text(tokenHint(node, name));
  const begins = known?.secretBegins;
  const beginning = begins === undefined ? "" : ` ${node._("secret.begins", { begins })}`;
  const kind = secretKind(sender);
  $("#webhook-trigger-hint-secret").text(
    inputValue("secret") === keptPassword ? node._("credential.kept") : node._(`secret.${kind}`, { name }) + beginning,
  );
  if (known && sender !== "custom") {
    const docs = $("<a>", {
      href: known.docs,
      target: "_blank",
      rel: "noopener",
      text: node._("secret.docs", { name }),
    });
    $("#webhook-trigger-hint-token, #webhook-trigger-hint-secret").append(" ", docs);
  }
  $("#webhook-trigger-secret-make").toggle(kind === "chosen" || kind === "shared");
}

function tokenHint(node: WebhookNode, name: string): string {
  if (inputValue("token") === keptPassword) return node._("credential.kept");
  // A node that was set up before has lost its token when it was copied or imported.
  if (inputValue("token") === "" && !isCredentialChanged("token")) return node._("token.lost");
  return name === "" ? "" : node._("secret.chosen", { name });
}

/** Who has the secret first. */
function secretKind(sender: string): "chosen" | "shown" | "publicKey" | "brought" | "shared" {
  const known = findSender(sender);
  if (!known || sender === "custom") return "shared";
  if (known.settings?.includes("arm")) return "brought";
  if (known.secretIsChosen) return "chosen";
  return known.scheme.key.format === "utf8" || known.scheme.alg.startsWith("hmac-") ? "shown" : "publicKey";
}
