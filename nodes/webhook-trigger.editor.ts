import {
  adminRule,
  type BrokenRule,
  defaults,
  isEnvironmentValue,
  normalisePath,
  placementField,
  type Roots,
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
    form().data("node", this.id);
    prepareEnvironmentValues(this);
    prepareToken(this);
    form().on("input change", () => showState(this));
    showState(this);
  },
});

function form(): JQuery {
  return $(".webhook-trigger-form");
}

function input(field: Field | "name"): JQuery {
  return $(`#node-input-${field}`);
}

function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** Shows all that follows from what the form holds: every field may bear on the others. */
function showState(node: WebhookNode): void {
  showPlacement();
  showMessages(node);
  showUrl(node);
}

/** Checks a field by the rule that the runtime uses. */
function validator(field: Field): Validator<SavedFields> {
  return function (value, _options) {
    const broken = brokenRule(this, field, value);
    return broken ? this._(`rules.${broken}`) : true;
  };
}

function brokenRule(node: WebhookNode, field: Field, value: unknown): BrokenRule | undefined {
  if (isEnvironmentValue(value) || !isUsed(field, methodOf(node))) return undefined;
  if (field === "token" && value === keptPassword) return undefined;
  return rules[field](value) ?? (field === "relativePath" ? adminRule(String(value), roots()) : undefined);
}

/** The Verification Method of a node; while its form is open, the one that is chosen there. */
function methodOf(node: WebhookNode): string {
  return form().data("node") === node.id ? inputValue("verificationMethod") : node.verificationMethod;
}

/** Of the two parameter fields, only the one of the method is used; with an environment value it may be either. */
function isUsed(field: Field, method: string): boolean {
  const parameters: Field[] = Object.values(placementField);
  if (!parameters.includes(field) || isEnvironmentValue(method)) return true;
  return field === placementField[method as VerificationMethod];
}

/** The editor knows `httpNodeRoot` as `/` even if it is `false`, so the runtime half of this node passes the roots on. */
function roots(): Roots {
  return RED.settings.webhookTriggerRoots;
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

/** Shows only the parameter field that the chosen method uses. */
function showPlacement(): void {
  const method = inputValue("verificationMethod");
  for (const field of Object.values(placementField)) {
    input(field).closest(".form-row").toggle(isUsed(field, method));
  }
}

/** Says under each field what is wrong with it, as soon as it is. */
function showMessages(node: WebhookNode): void {
  for (const field of Object.keys(rules) as Field[]) {
    const value: unknown = input(field).is(":checkbox") ? input(field).prop("checked") : input(field).val();
    const broken = brokenRule(node, field, value);
    $(`#webhook-trigger-message-${field}`).text(broken ? node._(`rules.${broken}`) : "");
  }
}

/** Shows the URL that callers use, or warns of what keeps them from reaching this node there. */
function showUrl(node: WebhookNode): void {
  const { node: nodeRoot } = roots();
  const path = inputValue("relativePath");
  const reachable = nodeRoot !== false && brokenRule(node, "relativePath", path) === undefined;
  const url = reachable ? location.origin + normalisePath(nodeRoot) + normalisePath(path) : "";
  $("#webhook-trigger-url").text(url).parent().toggle(reachable);

  const warning = nodeRoot === false ? node._("url.closed") : rivalOf(node, path);
  $("#webhook-trigger-warning")
    .text(warning ?? "")
    .parent()
    .toggle(warning !== undefined);
}

/** Says which other node has the same path. */
function rivalOf(node: WebhookNode, path: string): string | undefined {
  const hasPath = (other: EditorNode, itsPath: unknown) =>
    other.id !== node.id &&
    isEnabled(other) &&
    typeof itsPath === "string" &&
    itsPath !== "" &&
    samePath(itsPath, path);
  const webhook = RED.nodes.filterNodes({ type: node.type }).find((other) => hasPath(other, other.relativePath));
  if (webhook) return node._("url.takenByWebhook", { name: webhook.name || webhook.id });
  const httpIn = RED.nodes
    .filterNodes({ type: "http in" })
    .find((other) => other.method === "post" && hasPath(other, other.url));
  return httpIn && node._("url.takenByHttpIn", { name: httpIn.name || httpIn.id });
}

function isEnabled(node: EditorNode): boolean {
  return !node.d && !RED.nodes.workspace(node.z)?.disabled;
}

function samePath(one: string, other: string): boolean {
  return pathKey(normalisePath(one)) === pathKey(normalisePath(other));
}

/** A token can be shown and copied only while it is new: once it is deployed, the editor does not know it. */
function prepareToken(node: WebhookNode): void {
  const token = input("token");
  const make = $("#webhook-trigger-token-make");
  const show = $("#webhook-trigger-token-show");
  const copy = $("#webhook-trigger-token-copy");
  const reveal = (visible: boolean) => {
    token.attr("type", visible ? "text" : "password");
    show.attr("aria-label", node._(visible ? "token.hide" : "token.show"));
    show.find("i").toggleClass("fa-eye", !visible).toggleClass("fa-eye-slash", visible);
  };
  const update = () => {
    const isKept = inputValue("token") === keptPassword;
    const isNew = !isKept && inputValue("token") !== "";
    show.add(copy).prop("disabled", !isNew);
    if (!isNew) reveal(false);
    $("#webhook-trigger-token-hint").text(isKept ? node._("token.kept") : isNew ? node._("token.new") : "");
  };

  make.on("click", () => {
    token.val(makeToken()).trigger("change");
    reveal(true);
  });
  show.on("click", () => reveal(token.attr("type") === "password"));
  copy.on("click", () => RED.clipboard.copyText(inputValue("token"), copy, node._("token.copied")));
  for (const button of [show, copy]) RED.popover.tooltip(button, () => button.attr("aria-label") ?? "");
  // What is typed replaces a kept token as a whole: it cannot be edited.
  token.on("focus", () => {
    if (inputValue("token") === keptPassword) token.trigger("select");
  });
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
