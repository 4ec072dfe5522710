// The rules of the runtime, applied to the form.

import { hasKeyFormat } from "../../../src/auth/senders/sender";
import { parseScheme, settledScheme } from "../../../src/auth/signature/scheme";
import { findUnreadable } from "../../../src/config/blocks";
import { defaults, placementField, type SavedFields, type TokenMethod } from "../../../src/config/fields";
import { adminRule, parseBaseUrl, type Roots } from "../../../src/config/host";
import {
  type BrokenRule,
  isEnvironmentValue,
  isHandlingUsed,
  isTrue,
  normalisePath,
  rules,
  text,
} from "../../../src/config/rules";
import type { StoreKind } from "../../../src/config/stores";
import type { Editor, Validator } from "../host";
import {
  type Field,
  fieldValue,
  input,
  inputValue,
  isCredential,
  isOpen,
  keptPassword,
  findRow,
  savedValues,
  findSender,
  type SettingField,
  valuesInForm,
  type WebhookNode,
} from "./fields";

declare const RED: Editor;

/** The editor sees `httpNodeRoot: false` as `/`, so the runtime passes the roots on. */
export function roots(): Roots {
  return RED.settings.webhookTriggerRoots;
}

/** Where the runtime can store deliveries. */
export function keeping(): StoreKind {
  return RED.settings.webhookTriggerGuaranteed;
}

/** The values of the open form, or the saved ones. */
function getValues(node: WebhookNode): SavedFields {
  return isOpen(node) ? valuesInForm(node) : savedValues(node);
}

export function validator(field: Field): Validator<SavedFields> {
  return function (value, _options) {
    const usual: Partial<Record<Field, unknown>> = defaults;
    // The node may be older than the field.
    const broken = brokenRule(this, field, value === undefined ? usual[field] : value);
    return broken ? ruleText(this, broken) : true;
  };
}

/** The settings are saved as one property. */
export function settingsValidator(): Validator<SavedFields> {
  return function (value, _options) {
    const settings = (value ?? {}) as SavedFields["senderSettings"];
    const broken = checkedSettings
      .map((field) => brokenRule(this, field, settings[field] ?? ""))
      .find((rule) => rule !== undefined);
    return broken ? this._(`rules.${broken}`) : true;
  };
}

const checkedSettings = ["publicUrl", "signatureHeader", "timestampHeader", "alg"] as const;

/** Only the runtime knows the version of Node.js. */
function ruleText(node: WebhookNode, rule: BrokenRule): string {
  return rule === "storeMissing" ? node._("guaranteed.closed") : node._(`rules.${rule}`);
}

export function brokenRule(node: WebhookNode, field: Field, value: unknown): BrokenRule | undefined {
  const values = getValues(node);
  if (isEnvironmentValue(value) || !isUsed(field, values)) return undefined;
  if (isCredential(field) && value === keptPassword) return undefined;
  return checks[field]?.(value, values);
}

/** The rules, with what only the form knows. */
const checks: Partial<Record<Field, (value: unknown, values: SavedFields) => BrokenRule | undefined>> = {
  ...rules,
  guaranteed: (value) =>
    rules.guaranteed(value) ?? (isTrue(value) && keeping() === "none" ? "storeMissing" : undefined),
  relativePath: (value) => rules.relativePath(value) ?? adminRule(text(value), roots()),
  sender(value, { verificationMethod }) {
    if (text(value) === "") return verificationMethod === "signature" ? "sender.required" : undefined;
    return findSender(value) ? undefined : "sender.unknown";
  },
  // An environment variable decides whether it is needed.
  token: (value, { verificationMethod }) =>
    value === "" && isEnvironmentValue(verificationMethod) ? undefined : rules.token(value),
  secret(value, values) {
    const { verificationMethod, sender, senderSettings } = values;
    const isArmed = hasSetting(sender, "arm") && (String(senderSettings.arm) === "true" || isEnvironmentValue(senderSettings.arm)); // prettier-ignore
    const isRequired = !isArmed && !isEnvironmentValue(verificationMethod);
    return (isRequired ? rules.secret(value) : undefined) ?? (isReadable(value, values) ? undefined : "secret.format");
  },
  secondSecret: (value, values) => (isReadable(value, values) ? undefined : "secondSecret.format"),
  scheme(value, values) {
    if (typeof value === "object" && hasEnvironmentValue(value)) return undefined;
    const scheme = parseScheme(value, composePublicUrl(values));
    return "rule" in scheme && scheme.rule !== "publicUrl" ? scheme.rule : undefined;
  },
  publicUrl(value, values) {
    const broken = rules.publicUrl(value);
    const sender = findSender(values.sender);
    if (broken || !sender) return broken;
    const publicUrl = text(value) || composePublicUrl(values);
    const settled =
      values.sender === "custom" ? parseScheme(values.scheme, publicUrl) : settledScheme(sender, { publicUrl });
    return "rule" in settled && settled.rule === "publicUrl" ? "publicUrl" : undefined;
  },
};

/** Whether a secret has the format of the sender's key. */
function isReadable(secret: unknown, { sender, scheme }: SavedFields): boolean {
  const parsed = sender === "custom" ? parseScheme(scheme) : findSender(sender)?.scheme;
  return text(secret) === "" || !parsed || "rule" in parsed || hasKeyFormat(text(secret), parsed.key);
}

function hasEnvironmentValue(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isEnvironmentValue(value);
  return Object.values(value).some(hasEnvironmentValue);
}

/** From `webhookTriggerBaseUrl`; empty where it is not set. */
export function composePublicUrl({ relativePath }: Pick<SavedFields, "relativePath">): string {
  const { node } = roots();
  const base = parseBaseUrl(RED.settings.webhookTriggerBaseUrl);
  return base === undefined || node === false ? "" : base + normalisePath(node) + normalisePath(text(relativePath));
}

function hasSetting(sender: string, name: SettingField | "verifyToken"): boolean {
  return findSender(sender)?.settings?.includes(name) ?? false;
}

/** Whether a field is used with the others; with a method from the environment, the fields of all methods. */
export function isUsed(field: Field, values: SavedFields): boolean {
  const { verificationMethod: method, sender } = values;
  const isOpen = isEnvironmentValue(method);
  const signs = isOpen || method === "signature";
  switch (field) {
    case "headerParameter":
    case "queryParameter":
      return isOpen || placementField[method as TokenMethod] === field;
    case "token":
    case "secondToken":
      return isOpen || !signs;
    case "secret":
    case "secondSecret":
      return signs;
    case "scheme":
      return signs && sender === "custom";
    case "publicUrl":
      return signs && hasSetting(sender, field) && (sender !== "custom" || usesSignedUrl(values));
    case "signatureHeader":
    case "timestampHeader":
    case "topicUrl":
    case "alg":
    case "arm":
    case "verifyToken":
      return signs && hasSetting(sender, field);
    case "name":
    case "relativePath":
    case "returnQueryParams":
    case "verificationMethod":
    case "sender":
      return true;
    default:
      return isHandlingUsed(field, values);
  }
}

/** Whether a custom scheme needs the URL. */
function usesSignedUrl({ scheme, senderSettings }: SavedFields): boolean {
  const parsed = parseScheme(scheme);
  return text(senderSettings.publicUrl) !== "" || ("rule" in parsed && parsed.rule === "publicUrl");
}

const checkedFields = Object.keys(checks) as readonly Field[];

export function brokenRules(node: WebhookNode): Map<Field, BrokenRule> {
  const found = new Map<Field, BrokenRule>();
  for (const field of checkedFields) {
    const broken = brokenRule(node, field, field === "scheme" ? getValues(node).scheme : fieldValue(field));
    if (broken) found.set(field, broken);
  }
  return found;
}

// Messages under the fields.

export function showMessages(node: WebhookNode): void {
  const broken = brokenRules(node);
  for (const field of checkedFields) {
    const rule = broken.get(field);
    input(field).attr("aria-invalid", String(rule !== undefined));
    // Node-RED marks a field only when it changes itself.
    input(field).toggleClass("input-error", rule !== undefined);
    $(`#webhook-trigger-message-${field}`).text(rule ? asText(node, rule) : "");
  }
}

/** Names the wrong entry of a list. */
function asText(node: WebhookNode, rule: BrokenRule): string {
  const entry = rule === "allowFrom" ? findUnreadable(inputValue("allowFrom")) : undefined;
  return entry === undefined ? ruleText(node, rule) : node._("limits.unreadable", { entry });
}

/** Adds a message element under each field, for screen readers, too. */
export function prepareMessages(): void {
  for (const field of checkedFields) {
    const id = `webhook-trigger-message-${field}`;
    const control = input(field);
    const beside = control.closest(".webhook-trigger-credential").add(control.next("span"));
    $("<div>", { id, class: "webhook-trigger-message", role: "status" }).insertAfter(
      beside.length > 0 ? beside : control,
    );
    const hints = findRow(field).find(".webhook-trigger-hint").toArray();
    // Descriptions outside of the row.
    const others = control.attr("aria-describedby")?.split(" ") ?? [];
    control.attr("aria-describedby", [id, ...hints.map((hint) => hint.id), ...others].join(" "));
  }
}
