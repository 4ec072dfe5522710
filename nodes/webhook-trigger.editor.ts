import {
  adminRule,
  type BrokenRule,
  defaults,
  isEnvironmentValue,
  normalisePath,
  placementField,
  rules,
  type SavedFields,
  tokenLength,
  type VerificationMethod,
} from "../src/config";
import { pathKey } from "../src/target";
import type { Editor, EditorNode, Validator } from "./editor-host";

declare const RED: Editor;

type WebhookNode = EditorNode & SavedFields;
type Field = keyof typeof rules;

/** What the editor shows in place of a password that is set: it does not know the password itself. */
const keptPassword = "__PWRD__";

/** The id of the node whose form is open. */
let edited: string | undefined;

RED.nodes.registerType<SavedFields>("webhook-trigger", {
  category: "network",
  color: "#E7E7AE",
  inputs: 0,
  outputs: 1,
  icon: "webhook-trigger.svg",
  defaults: {
    name: { value: defaults.name },
    relativePath: { value: defaults.relativePath, validate: validator("relativePath") },
    returnQueryParams: { value: defaults.returnQueryParams, validate: validator("returnQueryParams") },
    verificationMethod: { value: defaults.verificationMethod, validate: validator("verificationMethod") },
    queryParameter: { value: defaults.queryParameter, validate: validator("queryParameter") },
    headerParameter: { value: defaults.headerParameter, validate: validator("headerParameter") },
  },
  credentials: {
    token: { type: "password", validate: validator("token") },
  },
  paletteLabel() {
    return this._("paletteLabel");
  },
  label() {
    return this.name || this.relativePath || this._("paletteLabel");
  },
  labelStyle() {
    return this.name ? "node_label_italic" : "";
  },
  oneditprepare() {
    edited = this.id;
    prepareEnvironmentValues(this);
    prepareToken(this);
    prepareMessages(this);
    input("relativePath").on("input", () => showUrl(this));
    showUrl(this);
    input("verificationMethod").on("change", showPlacement);
    showPlacement();
  },
  oneditsave() {
    edited = undefined;
  },
  oneditcancel() {
    edited = undefined;
  },
});

function input(field: Field | "name"): JQuery {
  return $(`#node-input-${field}`);
}

function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** Checks a field by the rule that the runtime uses. */
function validator(field: Field): Validator<SavedFields> {
  return function (value, _options) {
    const broken = brokenRule(this, field, value);
    return broken ? this._(`rules.${broken}`) : true;
  };
}

function brokenRule(node: WebhookNode, field: Field, value: unknown): BrokenRule | undefined {
  if (isEnvironmentValue(value) || !isUsed(node, field)) return undefined;
  if (field === "token" && value === keptPassword) return undefined;
  return rules[field](value) ?? (field === "relativePath" ? adminRule(String(value), roots()) : undefined);
}

/** Of the two parameter fields, only the one of the chosen method is used. */
function isUsed(node: WebhookNode, field: Field): boolean {
  const method = edited === node.id ? inputValue("verificationMethod") : node.verificationMethod;
  const other: VerificationMethod = method === "query" ? "header" : "query";
  return field !== placementField[other];
}

/** Node-RED serves its editor at the admin root. */
function roots() {
  return { admin: location.pathname, node: RED.settings.httpNodeRoot ?? "/" };
}

/** A select and a checkbox cannot show `${NAME}`: the select gets an option for it, the checkbox becomes a text field. */
function prepareEnvironmentValues({ verificationMethod, returnQueryParams }: WebhookNode): void {
  if (isEnvironmentValue(verificationMethod)) {
    input("verificationMethod").append(new Option(verificationMethod)).val(verificationMethod);
  }
  const checkbox = input("returnQueryParams");
  if (isEnvironmentValue(returnQueryParams)) checkbox.attr("type", "text").val(String(returnQueryParams));
  else checkbox.prop("checked", String(returnQueryParams) === "true");
}

/** Says under each field what is wrong with it, as soon as it is. */
function prepareMessages(node: WebhookNode): void {
  for (const field of Object.keys(rules) as Field[]) {
    const message = $(`#webhook-trigger-message-${field}`);
    const show = () => {
      const broken = field === "returnQueryParams" ? undefined : brokenRule(node, field, input(field).val());
      message.text(broken ? node._(`rules.${broken}`) : "").toggle(broken !== undefined);
    };
    input(field).on("input change", show);
    show();
  }
}

/** Shows the URL that callers use, and who else has the path. */
function showUrl(node: WebhookNode): void {
  const path = normalisePath(inputValue("relativePath"));
  const { httpNodeRoot = "/" } = RED.settings;
  const url = httpNodeRoot === false ? node._("url.closed") : location.origin + normalisePath(httpNodeRoot) + path;
  $("#webhook-trigger-url").text(url);
  const rival = rivalOf(node, path);
  $("#webhook-trigger-rival")
    .text(rival ?? "")
    .toggle(rival !== undefined);
}

function rivalOf(node: WebhookNode, path: string): string | undefined {
  const taken = (other: EditorNode, url: unknown) =>
    other.id !== node.id && !other.d && typeof url === "string" && url !== "" && samePath(url, path);
  const webhook = RED.nodes.filterNodes({ type: node.type }).find((other) => taken(other, other.relativePath));
  if (webhook) return node._("url.takenByWebhook", { name: webhook.name || webhook.id });
  const httpIn = RED.nodes
    .filterNodes({ type: "http in" })
    .find((other) => other.method === "post" && taken(other, other.url));
  return httpIn && node._("url.takenByHttpIn", { name: httpIn.name || httpIn.id });
}

function samePath(one: string, other: string): boolean {
  return pathKey(normalisePath(one)) === pathKey(normalisePath(other));
}

/** Shows only the parameter field that the chosen method uses; both for a method that is not known yet. */
function showPlacement(): void {
  const method = inputValue("verificationMethod");
  for (const [used, field] of Object.entries(placementField)) {
    input(field)
      .closest(".form-row")
      .toggle(method === used || isEnvironmentValue(method));
  }
}

/** A token can be shown and copied only while it is new: once it is saved, the editor does not know it. */
function prepareToken(node: WebhookNode): void {
  const token = input("token");
  const show = $("#webhook-trigger-token-show");
  const copy = $("#webhook-trigger-token-copy");
  const reveal = (visible: boolean) => {
    token.attr("type", visible ? "text" : "password");
    show.attr("aria-label", node._(visible ? "token.hide" : "token.show"));
    show.find("i").toggleClass("fa-eye", !visible).toggleClass("fa-eye-slash", visible);
  };
  const update = () => {
    const isNew = inputValue("token") !== keptPassword && inputValue("token") !== "";
    show.add(copy).prop("disabled", !isNew);
    if (!isNew) reveal(false);
  };

  $("#webhook-trigger-token-make").on("click", () => {
    token.val(makeToken()).trigger("change");
    reveal(true);
  });
  show.on("click", () => reveal(token.attr("type") === "password"));
  copy.on("click", () => RED.clipboard.copyText(inputValue("token"), copy, node._("token.copied")));
  for (const button of [show, copy, $("#webhook-trigger-token-make")]) {
    RED.popover.tooltip(button, () => button.attr("aria-label") ?? "");
  }
  token.on("input change", update);
  update();
}

/** 30 random bytes are exactly 40 characters of base64url (RFC 4648 §5). */
function makeToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array((tokenLength * 3) / 4));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
