// The fields of the form, and what stands in them.

import { isSenderId, type SenderId, senders } from "../../../src/auth/senders/table";
import {
  type CredentialName,
  credentialNames,
  defaults,
  type SavedFields,
  type Settings,
} from "../../../src/config/fields";
import { isEnvironmentValue, text } from "../../../src/config/rules";
import type { EditorNode } from "../host";

export type WebhookNode = EditorNode & SavedFields;
export type SettingField = keyof Settings;
export type Field = Exclude<keyof SavedFields, "senderSettings"> | CredentialName | SettingField;

/** What the editor shows in place of a password that is set: it does not know the password itself. */
export const keptPassword = "__PWRD__";

export function form(): JQuery {
  return $(".webhook-trigger-form");
}

/** Node-RED itself fills and reads the fields that are saved as they stand. The scheme is not. */
export function input(field: Field): JQuery {
  return $(field === "scheme" ? "#node-input-scheme-text" : `#node-input-${field}`);
}

/** What stands in a field of the open form. */
export function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** The same, or whether the field is ticked. */
export function fieldValue(field: Field): string | boolean {
  return input(field).is(":checkbox") ? Boolean(input(field).prop("checked")) : inputValue(field);
}

export function findRow(field: Field): JQuery {
  return input(field).closest(".form-row");
}

/** Whether the form that is open is that of a node. */
export function isOpen(node: EditorNode): boolean {
  return form().data("node") === node.id;
}

export function isCredential(field: Field): field is CredentialName {
  return credentialNames.some((name) => name === field);
}

/** What is known of a sender; nothing of anybody, and of the name of an environment variable. */
export function findSender(id: unknown): (typeof senders)[SenderId] | undefined {
  return isSenderId(id) ? senders[id] : undefined;
}

const savedFields = Object.keys(defaults) as (keyof SavedFields)[];

/** The fields that Node-RED itself fills and reads, as they are saved as they stand. */
const plainFields = savedFields.filter((field) => field !== "scheme" && field !== "senderSettings");

/** What stands in the open form, as it would be saved. */
export function valuesInForm(node: WebhookNode): SavedFields {
  const saved = savedValues(node);
  const values = { ...saved, scheme: schemeInForm(node), senderSettings: settingsInForm(node) };
  for (const field of plainFields) {
    const value = fieldValue(field);
    // A box that is ticked stands for the text `true` as well, and digits for a number.
    if (String(saved[field]) !== String(value)) Object.assign(values, { [field]: value });
  }
  return values;
}

/** What a node has saved; one that is older than a field has the field's default. */
export function savedValues(node: WebhookNode): SavedFields {
  const values: SavedFields = { ...defaults };
  for (const field of savedFields) if (!lacks(node, field)) Object.assign(values, { [field]: node[field] });
  return values;
}

/** Whether a node is older than a field. */
function lacks(node: Partial<WebhookNode>, field: keyof SavedFields): boolean {
  return node[field] === undefined;
}

/** Shows in the fields that a node is older than what holds for it. */
export function fillInDefaults(node: WebhookNode): void {
  for (const field of plainFields) if (lacks(node, field)) input(field).val(String(defaults[field]));
}

/** Leaves a node without the fields that it is older than, unless they were changed: it would count as changed itself. */
export function leaveOutDefaults(node: WebhookNode): void {
  const values = valuesInForm(node);
  for (const field of plainFields) {
    // Node-RED saves what it finds by its id.
    if (lacks(node, field) && isSame(values[field], defaults[field])) input(field).removeAttr("id");
  }
}

/** Whether two values that are saved are one. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** How a scheme is written in the form; what is no scheme stays as it was typed. */
export function schemeText(scheme: unknown): string {
  if (typeof scheme !== "object" || scheme === null) return text(scheme);
  const inOneLine = (value: unknown) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  const members = Object.entries(scheme).map(([name, value]) => `  ${JSON.stringify(name)}: ${inOneLine(value)}`);
  return `{\n${members.join(",\n")}\n}`;
}

/** The scheme that a user has written; a text where it is no JSON. That of other senders is left as it is. */
function schemeInForm(node: WebhookNode): unknown {
  const { scheme } = savedValues(node);
  const typed = inputValue("scheme");
  if (inputValue("sender") !== "custom" || typed === schemeText(scheme)) return scheme;
  try {
    return typed.trim() === "" ? null : (JSON.parse(typed) as unknown);
  } catch {
    return typed;
  }
}

/** How a setting is written in the form. */
export function settingText(value: unknown): string {
  return typeof value === "boolean" ? String(value) : text(value);
}

/** The settings of the sender; those that only other senders have are left as they are. */
function settingsInForm(node: WebhookNode): Readonly<Record<string, unknown>> {
  const { senderSettings } = savedValues(node);
  const names = findSender(inputValue("sender"))?.settings ?? [];
  const entries = new Map(Object.entries(senderSettings));
  for (const name of names) {
    if (name === "verifyToken") continue;
    const value = fieldValue(name);
    if (String(value) === settingText(senderSettings[name]) || (!value && senderSettings[name] === undefined)) continue;
    if (value === "" || value === false) entries.delete(name);
    else entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

/**
 * A select shows only what it lists, and a checkbox no `${NAME}`: the select gets an option for what is saved, the
 * checkbox becomes a text field.
 */
export function showUnlisted(field: Field, value: unknown): void {
  const control = input(field);
  if (control.is("select")) {
    const listed = control
      .find("option")
      .map((_, option) => String($(option).val()))
      .toArray();
    if (!listed.includes(text(value))) control.append(new Option(text(value)));
    control.val(text(value));
  } else if (isEnvironmentValue(value)) {
    control.attr("type", "text").val(text(value));
  }
}

/** The fields that are ticked, and may be texts. */
type BoxField = "returnQueryParams" | "rawBody" | "ignoreDuplicates" | "guaranteed";

/** Node-RED ticks a box for any text. */
export function prepareBox(node: WebhookNode, field: BoxField): void {
  const value = savedValues(node)[field];
  input(field).prop("checked", String(value) === "true");
  showUnlisted(field, value);
}

/** Whether a box is ticked; an environment variable is not known here. */
export function isTicked(field: BoxField): boolean {
  return String(fieldValue(field)) === "true";
}
