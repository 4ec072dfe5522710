// The fields of the form and their values.

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

/** Node-RED's placeholder for a saved password. */
export const keptPassword = "__PWRD__";

export function form(): JQuery {
  return $(".webhook-trigger-form");
}

/** Node-RED fills and reads the fields with these ids; the scheme is ours. */
export function input(field: Field): JQuery {
  return $(field === "scheme" ? "#node-input-scheme-text" : `#node-input-${field}`);
}

export function inputValue(field: Field): string {
  return String(input(field).val() ?? "");
}

/** The same, or whether a checkbox is ticked. */
export function fieldValue(field: Field): string | boolean {
  return input(field).is(":checkbox") ? Boolean(input(field).prop("checked")) : inputValue(field);
}

export function findRow(field: Field): JQuery {
  return input(field).closest(".form-row");
}

/** Whether the open form is that of a node. */
export function isOpen(node: EditorNode): boolean {
  return form().data("node") === node.id;
}

export function isCredential(field: Field): field is CredentialName {
  return credentialNames.some((name) => name === field);
}

/** Nothing for any sender, and for an environment variable. */
export function findSender(id: unknown): (typeof senders)[SenderId] | undefined {
  return isSenderId(id) ? senders[id] : undefined;
}

const savedFields = Object.keys(defaults) as (keyof SavedFields)[];

/** Filled and read by Node-RED itself. */
const plainFields = savedFields.filter((field) => field !== "scheme" && field !== "senderSettings");

/** As it would be saved. */
export function valuesInForm(node: WebhookNode): SavedFields {
  const saved = savedValues(node);
  const values = { ...saved, scheme: schemeInForm(node), senderSettings: settingsInForm(node) };
  for (const field of plainFields) {
    const value = fieldValue(field);
    // A ticked box equals the text `true`, and digits equal a number.
    if (String(saved[field]) !== String(value)) Object.assign(values, { [field]: value });
  }
  return values;
}

/** With the defaults of fields that are newer than the node. */
export function savedValues(node: WebhookNode): SavedFields {
  const values: SavedFields = { ...defaults };
  for (const field of savedFields) if (!lacks(node, field)) Object.assign(values, { [field]: node[field] });
  return values;
}

function lacks(node: Partial<WebhookNode>, field: keyof SavedFields): boolean {
  return node[field] === undefined;
}

/** Shows the defaults of fields that are newer than the node. */
export function fillInDefaults(node: WebhookNode): void {
  for (const field of plainFields) if (lacks(node, field)) input(field).val(String(defaults[field]));
}

/** Does not save unchanged fields that are newer than the node: it would count as changed. */
export function leaveOutDefaults(node: WebhookNode): void {
  const values = valuesInForm(node);
  for (const field of plainFields) {
    // Node-RED saves what has this id.
    if (lacks(node, field) && isSame(values[field], defaults[field])) input(field).removeAttr("id");
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Anything but an object stays as typed. */
export function schemeText(scheme: unknown): string {
  if (typeof scheme !== "object" || scheme === null) return text(scheme);
  const inOneLine = (value: unknown) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  const members = Object.entries(scheme).map(([name, value]) => `  ${JSON.stringify(name)}: ${inOneLine(value)}`);
  return `{\n${members.join(",\n")}\n}`;
}

/** A text where it is no JSON. Other senders' schemes stay unchanged. */
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

export function settingText(value: unknown): string {
  return typeof value === "boolean" ? String(value) : text(value);
}

/** Settings of other senders stay unchanged. */
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
 * A select cannot show unlisted values, nor a checkbox `${NAME}`: the select gets an option, the checkbox becomes a
 * text field.
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

/** Checkboxes that may hold a text. */
type BoxField = "returnQueryParams" | "rawBody" | "ignoreDuplicates" | "guaranteed";

/** Node-RED ticks a box for any text. */
export function prepareBox(node: WebhookNode, field: BoxField): void {
  const value = savedValues(node)[field];
  input(field).prop("checked", String(value) === "true");
  showUnlisted(field, value);
}

/** Unknown for an environment variable. */
export function isTicked(field: BoxField): boolean {
  return String(fieldValue(field)) === "true";
}
